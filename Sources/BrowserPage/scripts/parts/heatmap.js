import { h, replace, uniqueID } from '../dom.js';
import { icon } from '../icons.js';
import { className, formatNumber, formatPercent, nameOfClass, t } from '../texts.js';
import { failureWords } from '../wording.js';
import { app } from '../app.js';
import { isCancelled } from '../engine/client.js';
import { message } from './dialog.js';
import { INFERNO } from './inferno.js';

/** How many runs of the network the checks of one map take. */
const CHECK_RUNS = 140;

/** Below this share of the map's maximum nothing is drawn, so that skin stays as it is. */
const FLOOR = 0.15;

/**
 * Draws a map: the colour by the value, and the more opaque the greater the value.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} values `[height, width]`, 0...1
 * @param {number} width
 * @param {number} height
 */
export function drawMap(canvas, values, width, height) {
  canvas.width = width;
  canvas.height = height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const image = context.createImageData(width, height);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    const colour = Math.min(Math.floor(value * 256), 255) * 3;
    image.data[index * 4] = INFERNO[colour];
    image.data[index * 4 + 1] = INFERNO[colour + 1];
    image.data[index * 4 + 2] = INFERNO[colour + 2];
    image.data[index * 4 + 3] = 255 * Math.min(1, Math.max(0, (value - FLOOR) / (0.6 - FLOOR)));
  }
  context.putImageData(image, 0, 0);
}

/**
 * What the three checks of a map measured, a sentence each.
 * @param {import('../types.js').Trust} trust
 */
function measurements(trust) {
  const number = (/** @type {number} */ value) => formatNumber(value, 3, 3);
  return [
    t('heatmap.deletion', { value: number(trust.deletionAUC), random: number(trust.randomDeletionAUC) }),
    t('heatmap.insertion', { value: number(trust.insertionAUC), random: number(trust.randomInsertionAUC) }),
    trust.shuffledHeadCorrelation === null ? t('heatmap.noVariance')
      : t('heatmap.shuffled', { value: number(trust.shuffledHeadCorrelation) }),
  ];
}

/** The scale of the colours, from weak to strong. */
export function colourBar() {
  const canvas = h('canvas', { width: 256, height: 1, class: 'colour-scale', 'aria-hidden': 'true' });
  const ramp = Float32Array.from({ length: 256 }, (_, index) => index / 255);
  drawMap(canvas, ramp, 256, 1);
  return h('div', { class: 'colour-bar' }, canvas,
    h('div', { class: 'colour-words small' }, h('span', {}, t('heatmap.weak')), h('span', {}, t('heatmap.title')), h('span', {}, t('heatmap.strong'))));
}

/**
 * The photograph's square with the map over it, and what chooses and judges the map.
 * @param {object} options
 * @param {HTMLCanvasElement} options.photograph the square that the model saw
 * @param {import('../types.js').Result} options.result
 * @param {import('../types.js').Scan['classes']} options.classes
 * @param {(lesionClass: string, trust: boolean) => Promise<{facts: import('../types.js').MapFacts, values: Float32Array, milliseconds: number}>} options.request
 * @param {(canvas: HTMLCanvasElement | null, lesionClass: string) => void} [options.drawn] what a report shows
 * @param {number} [options.milliseconds] how long one run of the network takes
 */
export function heatmap({ photograph, result, classes, request, drawn, milliseconds = 250 }) {
  const overlay = h('canvas', { class: 'heatmap-overlay', hidden: true });
  const caption = h('div', { class: 'small soft', 'aria-live': 'polite' });
  const trustBox = h('div', { class: 'stack close', 'aria-live': 'polite' });
  const ranked = [...classes].sort((first, second) => result.probabilities[second.class] - result.probabilities[first.class]);
  let lesionClass = result.prediction?.class ?? ranked[0].class;
  // Where the model abstains its map is shown only to who asks for it.
  let visible = !result.abstain;
  let turn = 0;

  photograph.setAttribute('role', 'img');
  const opacity = h('input', { class: 'slider', type: 'range', id: uniqueID('opacity'), min: 0, max: 100, step: 5, value: 65,
    oninput: () => setOpacity() });
  const setOpacity = () => {
    overlay.style.opacity = String(Number(opacity.value) / 100);
    opacity.setAttribute('aria-valuetext', `${opacity.value} %`);
  };
  const toggle = h('input', { type: 'checkbox', role: 'switch', class: 'switch', checked: visible, onchange: () => {
    visible = toggle.checked;
    showOverlay();
    describe();
  } });
  const picker = h('select', { class: 'input', id: uniqueID('map-class'), onchange: () => {
    lesionClass = picker.value;
    load();
  } }, ranked.map(({ class: id, name }) => h('option', { value: id, selected: id === lesionClass },
    `${className(id, name)} (${formatPercent(result.probabilities[id])})`)));

  let available = false;
  function showOverlay() {
    overlay.hidden = !(visible && available);
    photograph.setAttribute('aria-label', t(overlay.hidden ? 'heatmap.photographAlone' : 'heatmap.photographWithMap', { name: nameOfClass(classes, lesionClass) }));
  }

  /** @type {import('../types.js').MapFacts['status']} */
  let status = 'ok';
  /** What the map says, where it is shown; each class's map has a scale of its own. */
  function describe() {
    const name = nameOfClass(classes, lesionClass);
    replace(caption, result.abstain ? h('p', {}, t('heatmap.abstains')) : null,
      !available ? h('p', {}, t(`heatmap.${status}`, { name }))
        : !visible ? (result.abstain ? null : h('p', {}, t('heatmap.hidden')))
          : [h('p', {}, t('heatmap.caption', { name })), h('p', {}, t('heatmap.scale', { name, percent: formatPercent(result.probabilities[lesionClass]) }))]);
  }

  async function load() {
    turn += 1;
    const mine = turn;
    replace(trustBox);
    try {
      const { facts, values } = await request(lesionClass, false);
      if (mine !== turn) return;
      available = facts.status === 'ok';
      if (available) drawMap(overlay, values, facts.width, facts.height);
      status = facts.status;
      describe();
      if (available) replace(trustBox, h('p', { class: 'small soft' }, t('heatmap.trust')), result.abstain ? null : trustOffer());
      drawn?.(available ? overlay : null, lesionClass);
    } catch (error) {
      if (mine !== turn || isCancelled(error)) return;
      available = false;
      drawn?.(null, lesionClass);
      replace(caption, message('warning', `${t('heatmap.failed')} ${failureWords(error)}`,
        h('button', { type: 'button', class: 'button plain', onclick: load }, icon('refresh'), t('common.retry'))));
    }
    showOverlay();
  }

  /** The checks of one map take many runs of the network, so they are made only when asked for. */
  function trustOffer() {
    const button = h('button', { type: 'button', class: 'button', onclick: check }, t('heatmap.check'));
    return h('div', { class: 'stack close' }, h('p', { class: 'small soft' }, t('heatmap.checks', { count: Math.max(1, Math.round(CHECK_RUNS * milliseconds / 1000)) })), h('div', {}, button));
  }

  async function check() {
    const mine = turn;
    const started = performance.now();
    const expected = CHECK_RUNS * milliseconds;
    // The engine says nothing while it computes: the bar follows the time that its runs have taken so far.
    const bar = h('progress', { class: 'progress', max: 100, value: 0, 'aria-label': t('heatmap.checking') });
    const passed = h('span', { class: 'numbers', 'aria-hidden': 'true' });
    const tick = () => {
      const elapsed = performance.now() - started;
      bar.value = Math.min(95, 100 * elapsed / expected);
      passed.textContent = t('heatmap.elapsed', { seconds: Math.round(elapsed / 1000), expected: Math.max(1, Math.round(expected / 1000)) });
    };
    const stop = h('button', { type: 'button', class: 'button', onclick: () => app.engine.cancel('map') }, t('common.cancel'));
    replace(trustBox, h('p', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('heatmap.checking'), passed), bar, h('div', {}, stop));
    stop.focus({ preventScroll: true });
    tick();
    const timer = setInterval(tick, 500);
    try {
      const { facts } = await request(lesionClass, true);
      if (mine !== turn) return;
      const { trust } = facts;
      if (!trust) return;
      const verdict = message(trust.passes ? 'notice' : 'warning', t(trust.passes ? 'heatmap.passes' : 'heatmap.fails'),
        h('details', {}, h('summary', {}, t('heatmap.measurements')), h('ul', {}, measurements(trust).map((sentence) => h('li', {}, sentence)))));
      showTrust(verdict, 'summary');
    } catch (error) {
      if (mine !== turn) return;
      if (isCancelled(error)) showTrust(trustOffer(), 'button');
      else showTrust(h('div', { class: 'stack close' }, message('warning', failureWords(error)), trustOffer()), 'button');
    } finally {
      clearInterval(timer);
    }
  }

  /**
   * Puts the end of a check in the place of its progress; who waited there goes on there.
   * @param {HTMLElement} content
   * @param {string} next
   */
  function showTrust(content, next) {
    const waited = trustBox.contains(document.activeElement);
    replace(trustBox, content);
    if (waited) /** @type {HTMLElement | null} */ (trustBox.querySelector(next))?.focus({ preventScroll: true });
  }

  setOpacity();
  showOverlay();
  const ready = load();
  return {
    ready,
    element: h('figure', { class: 'stack heatmap', 'aria-label': t('heatmap.figure') },
      h('div', { class: 'heatmap-stage' }, photograph, overlay),
      colourBar(),
      h('div', { class: 'stack close no-print' },
        h('label', { class: 'switch-row' }, toggle, h('span', {}, t('heatmap.show'))),
        h('div', { class: 'field-row' }, h('label', { for: opacity.id }, t('heatmap.opacity')), opacity),
        h('div', { class: 'field-row' }, h('label', { for: picker.id }, t('heatmap.class')), picker)),
      h('figcaption', { class: 'stack close' }, caption, trustBox)),
  };
}
