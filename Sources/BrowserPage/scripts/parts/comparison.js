import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../texts.js';
import { across } from './crop.js';
import { fieldRow, switchRow } from './fields.js';
import { fingersOn } from './fingers.js';
import { viewKeys } from './view-keys.js';

const LARGEST = 8;

/**
 * Two photographs that are enlarged and moved together, beside each other or one over the other with a slider between them.
 * @param {[HTMLCanvasElement, HTMLCanvasElement]} photographs the earlier one first
 * @param {string[]} labels
 */
export function comparison(photographs, labels) {
  const stages = photographs.map((canvas, index) => {
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', labels[index]);
    return h('div', { class: 'heatmap-stage compare-stage', tabindex: 0, role: 'group', 'aria-label': t('compare.stage') }, canvas);
  });
  const [, later] = stages;
  const root = h('div', { class: 'compare-photographs' }, stages.map((stage, index) =>
    h('figure', { class: 'stack close' }, stage, h('figcaption', { class: 'small soft' }, labels[index]))));
  const view = sharedView(photographs, (scale) => {
    out.disabled = scale === 1;
    closer.disabled = scale === LARGEST;
  });
  for (const stage of stages) moveBy(stage, view);

  const share = h('input', { class: 'slider', type: 'range', min: 0, max: 100, step: 1, value: 50, oninput: () => divide() });
  const shareRow = fieldRow(t('compare.share'), share);
  let isOver = false;
  function divide() {
    root.classList.toggle('over', isOver);
    shareRow.hidden = !isOver;
    later.style.clipPath = isOver ? `inset(0 0 0 ${100 - Number(share.value)}%)` : '';
    share.setAttribute('aria-valuetext', t('compare.shareValue', { percent: Number(share.value) }));
  }
  const out = h('button', { type: 'button', class: 'button plain square', 'aria-label': t('scan.zoomOut'), onclick: () => view.step(false) }, icon('minus'));
  const closer = h('button', { type: 'button', class: 'button plain square', 'aria-label': t('scan.zoomIn'), onclick: () => view.step(true) }, icon('plus'));
  view.move(0, 0);
  divide();
  return h('section', { class: 'card stack', 'aria-label': t('compare.photographs') }, root,
    h('div', { class: 'row spread no-print' }, switchRow(t('compare.over'), isOver, (isOn) => {
      isOver = isOn;
      divide();
    }), h('div', { class: 'row' }, out, closer)),
    shareRow, h('p', { class: 'small soft no-print' }, t('compare.hint')));
}

/** The view that several photographs share: how much they are enlarged, and where the middle of the view lies in them, 0...1. */
function sharedView(/** @type {HTMLCanvasElement[]} */ photographs, /** @type {(scale: number) => void} */ changed) {
  const view = { scale: 1, x: 0.5, y: 0.5 };
  function show() {
    const half = 0.5 / view.scale;
    view.x = Math.min(Math.max(view.x, half), 1 - half);
    view.y = Math.min(Math.max(view.y, half), 1 - half);
    for (const canvas of photographs) canvas.style.transform = `scale(${view.scale}) translate(${(0.5 - view.x) * 100}%, ${(0.5 - view.y) * 100}%)`;
    changed(view.scale);
  }
  /** @param {number} factor @param {{x: number, y: number}} [point] of the view, -0.5...0.5 from its middle, that stays where it is */
  function zoom(factor, point = { x: 0, y: 0 }) {
    const scale = Math.min(Math.max(view.scale * factor, 1), LARGEST);
    view.x += point.x * (1 / view.scale - 1 / scale);
    view.y += point.y * (1 / view.scale - 1 / scale);
    view.scale = scale;
    show();
  }
  return {
    zoom, step: (/** @type {boolean} */ isCloser) => zoom(isCloser ? 1.25 : 0.8),
    /** @param {number} x @param {number} y shares of the window of the view */
    move(x, y) {
      view.x += x / view.scale;
      view.y += y / view.scale;
      show();
    },
  };
}

/** Moves and enlarges by the wheel with Ctrl, by dragging, and by the keyboard. */
function moveBy(/** @type {HTMLElement} */ stage, /** @type {ReturnType<typeof sharedView>} */ view) {
  fingersOn(stage, () => ({ x: 0, y: 0 }), (seen, { x, y }) => {
    view.move((seen.x - x) / stage.clientWidth, (seen.y - y) / stage.clientHeight);
    Object.assign(seen, { x, y });
  });
  viewKeys(stage, { move: (x, y) => view.move(x / 10, y / 10), zoom: view.step, wheel: (factor, point) => {
    const { x, y } = across(stage, point);
    view.zoom(1 / factor, { x: x - 0.5, y: y - 0.5 });
  } });
}
