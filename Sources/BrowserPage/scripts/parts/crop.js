import { h } from '../dom.js';
import { centreSquare } from '../engine/decode.js';
import { icon } from '../icons.js';
import { t } from '../texts.js';
import { resized, sideOfZoom, within, zoomOf } from './crop-geometry.js';
import { cropPicture } from './crop-picture.js';
import { fingersOn } from './fingers.js';
import { viewKeys } from './view-keys.js';

/** The frame's share of the shorter side of the view; around it lies what the model does not see. */
const FRAME = 0.86;

/**
 * The photograph under a fixed square, to be moved and enlarged: by pointer, two fingers, the wheel with Ctrl, the keyboard or
 * buttons.
 * @param {Photograph} photograph
 * @param {Square} start
 * @param {(square: Square, moved: boolean) => void} changed
 * @returns {{element: HTMLElement, leave: () => void}}
 */
export function cropEditor(photograph, start, changed) {
  const { width, height, name } = photograph;
  const size = { width, height };
  const whole = centreSquare(size);
  let square = { ...start };

  const canvas = h('canvas', { role: 'img', 'aria-label': t('scan.photographOf', { name, width, height }) });
  const frame = h('div', { class: 'crop-square', 'aria-hidden': 'true' });
  const stage = h('div', { class: 'crop-stage', tabindex: 0, role: 'group', 'aria-label': t('scan.stage'),
    style: { '--ratio': String(Math.min(Math.max(width / height, 0.8), 1.8)) } }, canvas, frame);
  const picture = cropPicture(canvas, photograph, () => seen(stage, square));
  const controls = cropControls({
    move: (x, y) => move(x, y), zoomStep: (isCloser) => zoomStep(isCloser), zoomTo: (place) => resize(sideOfZoom(place, size)), reset: () => set(whole) });

  /** @param {Square} next */
  function set(next) {
    square = within(next, size);
    show();
    changed(square, isMoved());
  }

  const resize = (/** @type {number} */ side, /** @type {{x: number, y: number} | undefined} */ point = undefined) => set(resized(square, side, size, point));
  const isMoved = () => square.side !== whole.side || square.left !== whole.left || square.top !== whole.top;

  function draw() {
    frame.style.inlineSize = `${frameSide(stage)}px`;
    picture.draw();
  }

  function show() {
    stage.dataset.square = `${square.left} ${square.top} ${square.side}`;
    // A button that is disabled loses the focus.
    if (!isMoved() && document.activeElement === controls.reset) stage.focus({ preventScroll: true });
    controls.show(zoomOf(square.side, size), whole.side / square.side, isMoved());
    draw();
  }

  const step = () => Math.max(1, Math.round(square.side / 20));
  const move = (/** @type {number} */ x, /** @type {number} */ y, pixels = step()) =>
    set({ ...square, left: square.left + x * pixels, top: square.top + y * pixels });
  const zoomStep = (/** @type {boolean} */ isCloser) => resize(isCloser ? square.side / 1.15 : square.side * 1.15);
  // The photograph follows the middle of the fingers and grows about it.
  fingersOn(stage, () => ({ from: square, scale: seen(stage, square).scale }), ({ from, scale }, { x, y, ratio, middle }) => {
    const begun = within({ ...from, left: from.left - x / scale, top: from.top - y / scale }, size);
    set(ratio === 1 ? begun : resized(begun, from.side * ratio, size, across(frame, middle)));
  });
  viewKeys(stage, { move: (x, y, isFine) => move(x, y, isFine ? 1 : step()), zoom: zoomStep, home: () => set(whole),
    wheel: (factor, point) => resize(square.side * factor, across(frame, point)) });

  const observer = new ResizeObserver(draw);
  observer.observe(stage);
  show();
  return {
    leave: () => {
      observer.disconnect();
      picture.leave();
    },
    element: h('div', { class: 'crop' },
      h('div', { class: 'crop-well' }, stage),
      h('p', { class: 'small soft' }, t('scan.stageHint')), controls.element),
  };
}

/** @param {HTMLElement} frame @param {{x: number, y: number}} point of the window @returns its place across the frame: 0...1 */
export function across(frame, { x, y }) {
  const box = frame.getBoundingClientRect();
  return { x: (x - box.left) / box.width, y: (y - box.top) / box.height };
}

/** @param {HTMLElement} stage @returns the side of the frame in the screen's pixels */
function frameSide({ clientWidth, clientHeight }) {
  return FRAME * Math.min(clientWidth, clientHeight);
}

/** The part of the photograph that the view shows, and how many of the screen's pixels one of its pixels takes. */
function seen(/** @type {HTMLElement} */ stage, /** @type {Square} */ square) {
  const { clientWidth, clientHeight } = stage;
  const side = frameSide(stage);
  const scale = side / square.side;
  return { scale, left: square.left - (clientWidth - side) / 2 / scale, top: square.top - (clientHeight - side) / 2 / scale,
    width: clientWidth / scale, height: clientHeight / scale };
}

/**
 * The slider and the buttons that move and enlarge.
 * @param {object} actions
 * @param {(x: number, y: number) => void} actions.move
 * @param {(isCloser: boolean) => void} actions.zoomStep
 * @param {(place: number) => void} actions.zoomTo a place of the slider, 0...100
 * @param {() => void} actions.reset
 */
function cropControls(actions) {
  const zoom = h('input', { class: 'slider', type: 'range', min: 0, max: 100, step: 1, value: 0,
    'aria-label': t('scan.zoom'), oninput: () => actions.zoomTo(Number(zoom.value)) });
  const button = (/** @type {'back' | 'up' | 'down' | 'forward' | 'minus' | 'plus'} */ sign, /** @type {string} */ label, /** @type {() => void} */ act) =>
    h('button', { type: 'button', class: 'button plain square', 'aria-label': label, onclick: act }, icon(sign));
  const arrow = (/** @type {'back' | 'up' | 'down' | 'forward'} */ direction, /** @type {number} */ x, /** @type {number} */ y) =>
    button(direction, t(`scan.move.${direction}`), () => actions.move(x, y));
  const reset = h('button', { type: 'button', class: 'button plain', onclick: actions.reset }, t('scan.centre'));
  return {
    reset,
    /** @param {number} place of the slider @param {number} factor @param {boolean} isMoved */
    show(place, factor, isMoved) {
      zoom.value = String(place);
      zoom.setAttribute('aria-valuetext', t('scan.zoomValue', { percent: Math.round(100 * factor) }));
      reset.disabled = !isMoved;
    },
    element: h('div', { class: 'crop-controls', role: 'group', 'aria-label': t('scan.squareControls') },
      h('div', { class: 'zoom-row' }, button('minus', t('scan.zoomOut'), () => actions.zoomStep(false)),
        zoom, button('plus', t('scan.zoomIn'), () => actions.zoomStep(true))),
      h('div', { class: 'row' }, arrow('back', -1, 0), arrow('up', 0, -1), arrow('down', 0, 1), arrow('forward', 1, 0), reset)),
  };
}
