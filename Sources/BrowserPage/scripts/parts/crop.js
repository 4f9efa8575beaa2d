import { app } from '../app.js';
import { h } from '../dom.js';
import { centreSquare } from '../engine/decode.js';
import { icon } from '../icons.js';
import { t } from '../texts.js';
import { resized, sideOfZoom, wheelFactor, within, zoomOf } from './crop-geometry.js';
import { viewKeys } from './view-keys.js';

/** The frame's share of the shorter side of the view; around it lies what the model does not see. */
const FRAME = 0.86;
/** How long the photograph must lie still before it is drawn from its own pixels, in milliseconds. */
const STILL = 120;

/**
 * The photograph under a fixed square, to be moved and enlarged: by pointer, two fingers, the wheel with Ctrl, the keyboard or
 * buttons.
 * @param {import('../state.js').Photograph} photograph
 * @param {import('../types.js').Square} start
 * @param {(square: import('../types.js').Square, moved: boolean) => void} changed
 * @returns {{element: HTMLElement, leave: () => void}}
 */
export function cropEditor(photograph, start, changed) {
  const { width, height, preview, name, source } = photograph;
  const size = { width, height };
  const whole = centreSquare(size);
  let square = { ...start };
  /**
   * The part of the photograph that was drawn from its own pixels, in its pixels.
   * @type {{left: number, top: number, width: number, height: number, bitmap: ImageBitmap} | undefined}
   */
  let sharp;
  let timer = 0;

  const canvas = h('canvas', { role: 'img', 'aria-label': t('scan.photographOf', { name, width, height }) });
  const frame = h('div', { class: 'crop-square', 'aria-hidden': 'true' });
  const stage = h('div', { class: 'crop-stage', tabindex: 0, role: 'group', 'aria-label': t('scan.stage'), style: { '--ratio': String(Math.min(Math.max(width / height, 0.8), 1.8)) } }, canvas, frame);
  const zoom = h('input', { class: 'slider', type: 'range', min: 0, max: 100, step: 1, value: 0, 'aria-label': t('scan.zoom'),
    oninput: () => resize(sideOfZoom(Number(zoom.value), size)) });

  /** @param {import('../types.js').Square} next */
  function set(next) {
    square = within(next, size);
    show();
    changed(square, isMoved());
  }

  /**
   * @param {number} side
   * @param {{x: number, y: number}} [point]
   */
  function resize(side, point) {
    set(resized(square, side, size, point));
  }

  const isMoved = () => square.side !== whole.side || square.left !== whole.left || square.top !== whole.top;

  /** The part of the photograph that the view shows, and how many of the screen's pixels one of its pixels takes. */
  function seen() {
    const { clientWidth, clientHeight } = stage;
    const side = FRAME * Math.min(clientWidth, clientHeight);
    const scale = side / square.side;
    return { scale, side, left: square.left - (clientWidth - side) / 2 / scale, top: square.top - (clientHeight - side) / 2 / scale, width: clientWidth / scale, height: clientHeight / scale };
  }

  function draw() {
    const density = Math.min(devicePixelRatio || 1, 2);
    const [columns, rows] = [Math.round(stage.clientWidth * density), Math.round(stage.clientHeight * density)];
    if (columns === 0 || rows === 0) return;
    if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
    const view = seen();
    frame.style.inlineSize = `${view.side}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const factor = view.scale * density;
    const place = (/** @type {ImageBitmap} */ bitmap, /** @type {{left: number, top: number, width: number, height: number}} */ area) =>
      context.drawImage(bitmap, (area.left - view.left) * factor, (area.top - view.top) * factor, area.width * factor, area.height * factor);
    context.clearRect(0, 0, columns, rows);
    context.imageSmoothingQuality = 'high';
    place(preview, { left: 0, top: 0, width, height });
    if (sharp) place(sharp.bitmap, sharp);
    clearTimeout(timer);
    // The preview has fewer pixels than the photograph: what is enlarged is fetched.
    if (factor > preview.width / width && !covered(view)) timer = setTimeout(sharpen, STILL);
  }

  /** @param {{left: number, top: number, width: number, height: number, scale: number}} view */
  function covered({ left, top, width: across, height: down, scale }) {
    return sharp !== undefined && sharp.left <= Math.max(left, 0) && sharp.top <= Math.max(top, 0)
      && sharp.left + sharp.width >= Math.min(left + across, width) && sharp.top + sharp.height >= Math.min(top + down, height)
      && sharp.bitmap.width / sharp.width >= Math.min(1, scale) * 0.99;
  }

  async function sharpen() {
    const view = seen();
    const left = Math.max(0, Math.floor(view.left));
    const top = Math.max(0, Math.floor(view.top));
    const area = { left, top, width: Math.min(width, Math.ceil(view.left + view.width)) - left, height: Math.min(height, Math.ceil(view.top + view.height)) - top };
    if (area.width <= 0 || area.height <= 0) return;
    const scale = Math.min(1, view.scale * Math.min(devicePixelRatio || 1, 2));
    try {
      const { bitmap } = await app.engine.request('region', { source, area, scale }, 'region');
      sharp?.bitmap.close();
      sharp = { ...area, bitmap };
      draw();
    } catch {
      // The preview stays.
    }
  }

  function show() {
    stage.dataset.square = `${square.left} ${square.top} ${square.side}`;
    zoom.value = String(zoomOf(square.side, size));
    zoom.setAttribute('aria-valuetext', t('scan.zoomValue', { percent: Math.round(100 * whole.side / square.side) }));
    const idle = !isMoved();
    if (idle && document.activeElement === reset) stage.focus({ preventScroll: true });
    reset.disabled = idle;
    draw();
  }

  /**
   * Where a point of the screen lies across the square: 0...1.
   * @param {{x: number, y: number}} point
   */
  function across({ x, y }) {
    const box = frame.getBoundingClientRect();
    return { x: (x - box.left) / box.width, y: (y - box.top) / box.height };
  }

  /**
   * The fingers on the photograph, by their identifiers.
   * @type {Map<number, {x: number, y: number}>}
   */
  const fingers = new Map();
  /**
   * What the fingers began with.
   * @type {{square: import('../types.js').Square, x: number, y: number, distance: number, scale: number} | undefined}
   */
  let grip;
  function grasp() {
    const [first, second = first] = fingers.values();
    grip = first && { square, x: (first.x + second.x) / 2, y: (first.y + second.y) / 2, distance: Math.hypot(first.x - second.x, first.y - second.y), scale: seen().scale };
  }
  function follow() {
    if (!grip) return;
    const [first, second = first] = fingers.values();
    const distance = Math.hypot(first.x - second.x, first.y - second.y);
    const [x, y] = [(first.x + second.x) / 2, (first.y + second.y) / 2];
    const ratio = fingers.size > 1 && distance > 0 && grip.distance > 0 ? grip.distance / distance : 1;
    // The photograph follows the middle of the fingers and grows about it.
    const begun = within({ ...grip.square, left: grip.square.left - (x - grip.x) / grip.scale, top: grip.square.top - (y - grip.y) / grip.scale }, size);
    set(ratio === 1 ? begun : resized(begun, grip.square.side * ratio, size, across({ x, y })));
  }
  stage.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    grasp();
  });
  stage.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    follow();
  });
  for (const kind of /** @type {const} */ (['pointerup', 'pointercancel'])) {
    stage.addEventListener(kind, (event) => {
      fingers.delete(event.pointerId);
      grasp();
    });
  }
  stage.addEventListener('wheel', (event) => {
    // Without Ctrl the wheel scrolls the page.
    if (!event.ctrlKey) return;
    event.preventDefault();
    resize(square.side * wheelFactor(event), across({ x: event.clientX, y: event.clientY }));
  }, { passive: false });

  const step = () => Math.max(1, Math.round(square.side / 20));
  const move = (/** @type {number} */ x, /** @type {number} */ y, pixels = step()) => set({ ...square, left: square.left + x * pixels, top: square.top + y * pixels });
  const zoomStep = (/** @type {boolean} */ isCloser) => resize(isCloser ? square.side / 1.15 : square.side * 1.15);
  viewKeys(stage, { move: (x, y, isFine) => move(x, y, isFine ? 1 : step()), zoom: zoomStep, home: () => set(whole) });
  const arrow = (/** @type {'back' | 'up' | 'down' | 'forward'} */ direction, /** @type {number} */ x, /** @type {number} */ y) =>
    h('button', { type: 'button', class: 'button plain square', 'aria-label': t(`scan.move.${direction}`), onclick: () => move(x, y) }, icon(direction));
  const reset = h('button', { type: 'button', class: 'button plain', onclick: () => set(whole) }, t('scan.centre'));
  const out = h('button', { type: 'button', class: 'button plain square', 'aria-label': t('scan.zoomOut'), onclick: () => zoomStep(false) }, icon('minus'));
  const closer = h('button', { type: 'button', class: 'button plain square', 'aria-label': t('scan.zoomIn'), onclick: () => zoomStep(true) }, icon('plus'));

  const observer = new ResizeObserver(draw);
  observer.observe(stage);
  show();
  return {
    leave: () => {
      observer.disconnect();
      clearTimeout(timer);
      app.engine.cancel('region');
      sharp?.bitmap.close();
      sharp = undefined;
    },
    element: h('div', { class: 'crop' },
      h('div', { class: 'crop-well' }, stage),
      h('p', { class: 'small soft' }, t('scan.stageHint')),
      h('div', { class: 'crop-controls', role: 'group', 'aria-label': t('scan.squareControls') },
        h('div', { class: 'zoom-row' }, out, zoom, closer),
        h('div', { class: 'row' }, arrow('back', -1, 0), arrow('up', 0, -1), arrow('down', 0, 1), arrow('forward', 1, 0), reset))),
  };
}
