import { wheelFactor } from './crop-geometry.js';

/**
 * The wheel with Ctrl, and the keys that move and enlarge a picture which has the focus: arrows, plus and minus, Home.
 * @param {HTMLElement} stage
 * @param {object} actions
 * @param {(x: number, y: number, isFine: boolean) => void} actions.move by -1, 0 or 1 to the right and down; fine with Shift
 * @param {(isCloser: boolean) => void} actions.zoom
 * @param {(factor: number, point: {x: number, y: number}) => void} actions.wheel how much smaller it is, about which point of the window
 * @param {() => void} [actions.home]
 */
export function viewKeys(stage, { move, zoom, wheel, home }) {
  stage.addEventListener('wheel', (event) => {
    // Without Ctrl the wheel scrolls the page.
    if (!event.ctrlKey) return;
    event.preventDefault();
    wheel(wheelFactor(event), { x: event.clientX, y: event.clientY });
  }, { passive: false });
  stage.addEventListener('keydown', (event) => {
    const by = (/** @type {number} */ x, /** @type {number} */ y) => () => move(x, y, event.shiftKey);
    /** @type {Record<string, (() => void) | undefined>} */
    const keys = {
      ArrowLeft: by(-1, 0), ArrowRight: by(1, 0), ArrowUp: by(0, -1), ArrowDown: by(0, 1),
      '+': () => zoom(true), '=': () => zoom(true), '-': () => zoom(false), Home: home,
    };
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}
