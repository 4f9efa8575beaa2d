import { app } from '../app.js';
import { h, replace } from '../dom.js';
import { isCancelled } from '../engine/client.js';
import { icon } from '../icons.js';
import { drawn as copyOf } from '../image.js';
import { className, formatPercent, nameOfClass, t, texts } from '../texts.js';
import { failureWords } from '../wording.js';
import { ranked } from './classes.js';
import { message } from './dialog.js';
import { fieldRow, switchRow } from './fields.js';
import { mapCaption, mapChecks } from './map-checks.js';
import { colourBar, drawMap } from './map-colours.js';

/** The photograph stands beside its map where the window is at least that wide. */
const WIDE = '(min-width: 48rem)';
/** The side of the photograph beside the map. */
const BESIDE_SIDE = 600;

/**
 * @typedef {object} Options
 * @property {HTMLCanvasElement} photograph the square that the model saw
 * @property {Result} result
 * @property {Classes} classes
 * @property {(lesionClass: string, trust: boolean) => Promise<{facts: MapFacts, values: Float32Array}>} request
 * @property {(lesionClass: string) => Trust | undefined} trustOf what the checks of a class's map found
 * @property {(lesionClass: string, trust: Trust) => void} checked
 * @property {(canvas: HTMLCanvasElement | null, lesionClass: string) => void} [drawn] what a report shows
 * @property {number} [milliseconds] how long one run of the network takes
 */

/** The photograph's square with the map over it, and what chooses and judges the map. */
export function heatmap(/** @type {Options} */ { photograph, result, classes, request, trustOf, checked, drawn, milliseconds = 250 }) {
  const order = ranked(classes, result.probabilities);
  let lesionClass = result.prediction?.class ?? order[0].class;
  // Where the model abstains its map is shown only to who asks for it.
  let visible = !result.abstain;
  /** @type {MapFacts['status'] | null} */
  let status = null;
  let place = '';
  let turn = 0;

  const caption = h('div', { class: 'stack close small soft' });
  const problem = h('div', { 'aria-live': 'polite' });
  const pair = stages(photograph);
  const scale = colourBar();
  const verdict = (/** @type {string} */ id, /** @type {Trust} */ trust) => { checked(id, trust); describe(); };
  const checks = mapChecks({ milliseconds, trustOf, request: async (id) => (await request(id, true)).facts.trust, checked: verdict });

  /** Shows the map and the sentences on it; each class's map has a scale of its own. */
  function describe() {
    const name = nameOfClass(classes, lesionClass);
    const isShown = visible && status === 'ok';
    pair.overlay.hidden = scale.hidden = !isShown;
    photograph.setAttribute('aria-label', t(isShown ? 'heatmap.photographWithMap' : 'heatmap.photographAlone', { name }));
    if (status === null) return;
    const sentences = status !== 'ok' ? [t(`heatmap.${status}`, { name })]
      : visible ? shownWords(name, result.probabilities[lesionClass], trustOf(lesionClass), place)
      : result.abstain ? [] : [t('heatmap.hidden')];
    replace(caption, [...(result.abstain ? [t('heatmap.abstains')] : []), ...sentences].map((sentence) => h('p', {}, sentence)));
  }

  async function load() {
    turn += 1;
    const mine = turn;
    checks.show(null);
    replace(problem);
    try {
      const { facts, values } = await request(lesionClass, false);
      if (mine !== turn) return;
      status = facts.status;
      place = placeOfCentre(values, facts.width, facts.height);
      if (status === 'ok') drawMap(pair.overlay, values, facts.width, facts.height);
      describe();
      checks.show(status === 'ok' && !result.abstain ? lesionClass : null);
      drawn?.(status === 'ok' ? pair.overlay : null, lesionClass);
      if (mine > 1) app.announce(t('heatmap.shown', { name: nameOfClass(classes, lesionClass) }));
    } catch (error) {
      if (mine !== turn || isCancelled(error)) return;
      status = null;
      describe();
      drawn?.(null, lesionClass);
      replace(caption);
      replace(problem, message('warning', `${t('heatmap.failed')} ${failureWords(error)}`,
        h('button', { type: 'button', class: 'button plain', onclick: load }, icon('refresh'), t('common.retry'))));
    }
  }

  const controls = mapControls({
    order, lesionClass, visible, pair,
    chosen: (id) => { lesionClass = id; load(); }, shown: (isVisible) => { visible = isVisible; describe(); },
  });
  describe();
  const ready = load();
  return {
    ready,
    element: h('figure', { class: 'stack heatmap', 'aria-label': t('heatmap.figure') }, pair.element, scale, controls,
      h('figcaption', { class: 'stack close' }, caption, problem, checks.element)),
  };
}

/**
 * The sentences on a map that is seen.
 * @param {string} name of the class
 * @param {number} probability
 * @param {Trust | undefined} trust
 * @param {string} place
 */
function shownWords(name, probability, trust, place) {
  return [mapCaption(name, trust), t('heatmap.centre', { place }), t('heatmap.scale', { name, percent: formatPercent(probability) })];
}

/**
 * The place of a map's centre of mass, in words for people who do not see the map.
 * @param {Float32Array} values `[height, width]`, 0...1
 * @param {number} width
 * @param {number} height
 */
export function placeOfCentre(values, width, height) {
  let [sum, x, y] = [0, 0, 0];
  values.forEach((value, index) => {
    sum += value;
    x += value * (index % width + 0.5);
    y += value * (Math.floor(index / width) + 0.5);
  });
  const third = (/** @type {number} */ share) => Math.min(2, Math.floor(3 * share));
  return sum > 0 ? texts('heatmap.places')[3 * third(y / sum / height) + third(x / sum / width)] : '';
}

/** The photograph with the map over it, which a press takes away for as long as it lasts, and the photograph alone beside it. */
function stages(/** @type {HTMLCanvasElement} */ photograph) {
  photograph.setAttribute('role', 'img');
  const overlay = h('canvas', { class: 'heatmap-overlay', hidden: true });
  const stage = h('div', { class: 'heatmap-stage' }, photograph, overlay);
  const alone = h('div', { class: 'photograph-alone', 'aria-hidden': 'true' });
  const peek = (/** @type {boolean} */ isHeld) => stage.classList.toggle('peeking', isHeld);
  whileHeld(stage, peek);
  return {
    overlay, peek, element: h('div', { class: 'heatmap-pair' }, alone, stage),
    /** @param {boolean} isBeside */
    showBeside(isBeside) {
      alone.hidden = !isBeside;
      if (isBeside && !alone.firstChild) alone.append(copyOf(photograph, BESIDE_SIDE));
    },
  };
}

/** @param {HTMLElement} element @param {(isHeld: boolean) => void} changed */
function whileHeld(element, changed) {
  element.addEventListener('pointerdown', (event) => {
    element.setPointerCapture(event.pointerId);
    changed(true);
  });
  element.addEventListener('lostpointercapture', () => changed(false));
}

/**
 * The controls for the map's class and for how much of the photograph is seen.
 * @param {object} options
 * @param {Classes} options.order the likeliest first
 * @param {string} options.lesionClass
 * @param {boolean} options.visible
 * @param {ReturnType<typeof stages>} options.pair
 * @param {(lesionClass: string) => void} options.chosen
 * @param {(visible: boolean) => void} options.shown
 */
function mapControls({ order, lesionClass, visible, pair, chosen, shown }) {
  const opacity = h('input', { class: 'slider', type: 'range', min: 0, max: 100, step: 5, value: 65, oninput: () => setOpacity() });
  const setOpacity = () => {
    pair.overlay.style.opacity = String(Number(opacity.value) / 100);
    opacity.setAttribute('aria-valuetext', `${opacity.value} %`);
  };
  const picker = h('select', { class: 'input', onchange: () => chosen(picker.value) },
    order.map(({ class: id, name }) => h('option', { value: id, selected: id === lesionClass }, className(id, name))));
  const isWide = matchMedia(WIDE).matches;
  const isPress = (/** @type {KeyboardEvent} */ { key }) => key === ' ' || key === 'Enter';
  const hold = h('button', { type: 'button', class: 'button', onblur: () => pair.peek(false),
    onkeydown: (/** @type {KeyboardEvent} */ event) => { if (isPress(event)) pair.peek(true); },
    onkeyup: (/** @type {KeyboardEvent} */ event) => { if (isPress(event)) pair.peek(false); } }, t('heatmap.peek'));
  whileHeld(hold, pair.peek);
  pair.showBeside(isWide);
  setOpacity();
  return h('div', { class: 'stack close no-print' },
    h('div', { class: 'row spread' }, switchRow(t('heatmap.show'), visible, shown), hold),
    switchRow(t('heatmap.beside'), isWide, pair.showBeside),
    fieldRow(t('heatmap.opacity'), opacity), fieldRow(t('heatmap.class'), picker));
}
