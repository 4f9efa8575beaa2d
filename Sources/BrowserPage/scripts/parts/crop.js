import { h } from '../dom.js';
import { icon } from '../icons.js';
import { centreSquare } from '../engine/decode.js';
import { t } from '../texts.js';

/** The smallest square: the network enlarges below its own input anyway, and the engine refuses less than 32. */
const SMALLEST = 100;

/**
 * The photograph with the square that the model sees, to be moved and zoomed by pointer, wheel or buttons.
 * @param {{width: number, height: number, preview: ImageBitmap, name: string}} photograph
 * @param {import('../types.js').Square} start
 * @param {(square: import('../types.js').Square, moved: boolean) => void} changed
 */
export function cropEditor(photograph, start, changed) {
  const { width, height, preview } = photograph;
  const whole = centreSquare(photograph);
  const smallest = Math.min(whole.side, SMALLEST);
  let square = { ...start };

  const canvas = h('canvas', { width: preview.width, height: preview.height, role: 'img',
    'aria-label': t('scan.photographOf', { name: photograph.name, width, height }) });
  canvas.getContext('2d')?.drawImage(preview, 0, 0);
  const frame = h('div', { class: 'crop-square', 'aria-hidden': 'true' });
  const stage = h('div', { class: 'crop-stage', style: { 'aspect-ratio': `${width} / ${height}`, '--ratio': `${width / height}` } }, canvas, frame);
  const zoom = h('input', { class: 'slider', type: 'range', min: 0, max: 100, step: 1, value: 0, 'aria-label': t('scan.zoom'),
    oninput: () => resize(sideOf(Number(zoom.value))) });

  const sideOf = (/** @type {number} */ value) => Math.round(whole.side * (smallest / whole.side) ** (value / 100));
  const valueOf = (/** @type {number} */ side) => (smallest === whole.side ? 0 : 100 * Math.log(side / whole.side) / Math.log(smallest / whole.side));

  /**
   * @param {number} left
   * @param {number} top
   * @param {number} [side]
   */
  function place(left, top, side = square.side) {
    square = {
      side,
      left: Math.round(Math.min(Math.max(left, 0), width - side)),
      top: Math.round(Math.min(Math.max(top, 0), height - side)),
    };
    show();
    changed(square, isMoved());
  }

  /**
   * About its centre.
   * @param {number} side
   */
  function resize(side) {
    const bounded = Math.min(Math.max(Math.round(side), smallest), whole.side);
    place(square.left + (square.side - bounded) / 2, square.top + (square.side - bounded) / 2, bounded);
  }

  function isMoved() {
    return square.side !== whole.side || square.left !== whole.left || square.top !== whole.top;
  }

  function show() {
    frame.style.left = `${100 * square.left / width}%`;
    frame.style.top = `${100 * square.top / height}%`;
    frame.style.width = `${100 * square.side / width}%`;
    frame.style.height = `${100 * square.side / height}%`;
    zoom.value = String(valueOf(square.side));
    zoom.setAttribute('aria-valuetext', t('scan.zoomValue', { percent: Math.round(100 * whole.side / square.side) }));
    reset.disabled = !isMoved();
  }

  stage.addEventListener('pointerdown', (event) => {
    const from = { x: event.clientX, y: event.clientY, left: square.left, top: square.top };
    const scale = width / stage.getBoundingClientRect().width;
    stage.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ now) =>
      place(from.left + (now.clientX - from.x) * scale, from.top + (now.clientY - from.y) * scale);
    const end = () => {
      stage.removeEventListener('pointermove', move);
      stage.removeEventListener('pointerup', end);
      stage.removeEventListener('pointercancel', end);
    };
    stage.addEventListener('pointermove', move);
    stage.addEventListener('pointerup', end);
    stage.addEventListener('pointercancel', end);
  });
  stage.addEventListener('wheel', (event) => {
    event.preventDefault();
    resize(square.side * (event.deltaY > 0 ? 1.06 : 1 / 1.06));
  }, { passive: false });

  const step = () => Math.max(1, Math.round(square.side / 20));
  const arrow = (/** @type {'back' | 'up' | 'down' | 'forward'} */ name, /** @type {number} */ x, /** @type {number} */ y) =>
    h('button', { type: 'button', class: 'button plain square', 'aria-label': t(`scan.move.${name}`),
      onclick: () => place(square.left + x * step(), square.top + y * step()) }, icon(name));
  const reset = h('button', { type: 'button', class: 'button plain', onclick: () => place(whole.left, whole.top, whole.side) }, t('scan.centre'));
  const bigger = h('button', { type: 'button', class: 'button plain square', 'aria-label': t('scan.zoomOut'), onclick: () => resize(square.side * 1.15) }, icon('minus'));
  const smaller = h('button', { type: 'button', class: 'button plain square', 'aria-label': t('scan.zoomIn'), onclick: () => resize(square.side / 1.15) }, icon('plus'));

  show();
  return h('div', { class: 'crop' },
    h('div', { class: 'crop-well' }, stage),
    h('div', { class: 'crop-controls', role: 'group', 'aria-label': t('scan.squareControls') },
      h('div', { class: 'zoom-row' }, bigger, zoom, smaller),
      h('div', { class: 'row' }, arrow('back', -1, 0), arrow('up', 0, -1), arrow('down', 0, 1), arrow('forward', 1, 0), reset)));
}
