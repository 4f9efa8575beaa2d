import { app } from '../app.js';
import { h, replace } from '../dom.js';
import { isCancelled } from '../engine/client.js';
import { formatNumber, t } from '../texts.js';
import { failureWords } from '../wording.js';
import { message } from './dialog.js';
import { waitingLine } from './pieces.js';

/** The number of runs of the network that the checks of one map take. */
const CHECK_RUNS = 140;
/** A plain run's share of the time of one that makes the maps of all classes too; after a check as it was measured. */
let plainShare = 0.5;

/** The measurements of the three checks of a map, a sentence each. */
function measurements(/** @type {Trust} */ trust) {
  const number = (/** @type {number} */ value) => formatNumber(value, 3, 3);
  return [
    t('heatmap.deletion', { value: number(trust.deletionAUC), random: number(trust.randomDeletionAUC) }),
    t('heatmap.insertion', { value: number(trust.insertionAUC), random: number(trust.randomInsertionAUC) }),
    trust.shuffledHeadCorrelation === null ? t('heatmap.noVariance')
      : t('heatmap.shuffled', { value: number(trust.shuffledHeadCorrelation) }),
  ];
}

/** The verdict of the checks of a map, in a sentence. */
export function verdict(/** @type {Trust | undefined} */ trust) {
  return t(trust ? (trust.passes ? 'heatmap.passes' : 'heatmap.fails') : 'heatmap.unchecked');
}

/**
 * The caption of a map, as far as its checks allow one.
 * @param {string} name of the class
 * @param {Trust | undefined} trust
 */
export function mapCaption(name, trust) {
  return t(trust && !trust.passes ? 'heatmap.captionFailed' : 'heatmap.caption', { name });
}

/**
 * Checks the map of a class when asked to. The verdict is kept with the map and is shown again with its class.
 * @param {object} options
 * @param {(lesionClass: string) => Promise<Trust | undefined>} options.request
 * @param {(lesionClass: string) => Trust | undefined} options.trustOf what is known already
 * @param {(lesionClass: string, trust: Trust) => void} options.checked
 * @param {number} options.milliseconds how long a run of the network with all maps takes
 */
export function mapChecks({ request, trustOf, checked, milliseconds }) {
  const box = h('div', { class: 'stack close' });
  // Only what a check found is read out by itself.
  const live = h('div', { class: 'stack close', 'aria-live': 'polite' });
  const expect = () => Math.max(1, Math.round(CHECK_RUNS * plainShare * milliseconds / 1000));
  let lesionClass = '';

  /** The checks of one map take many runs of the network, so they are made only when asked for. */
  const offer = () => h('div', { class: 'stack close' }, h('p', { class: 'small soft' }, t('heatmap.checks', { count: expect() })),
    h('div', {}, h('button', { type: 'button', class: 'button', onclick: check }, t('heatmap.check'))));

  /** @param {Trust} trust */
  const found = (trust) => message(trust.passes ? 'notice' : 'warning', verdict(trust),
    h('details', {}, h('summary', {}, t('heatmap.measurements')), h('ul', {}, measurements(trust).map((sentence) => h('li', {}, sentence)))));

  async function check() {
    const mine = lesionClass;
    const [started, expected] = [performance.now(), expect()];
    // The engine says nothing while it computes: the bar follows the time that its runs have taken so far.
    const bar = h('progress', { class: 'progress', max: 100, value: 0, 'aria-label': t('heatmap.checking') });
    const passed = h('span', { class: 'numbers', 'aria-hidden': 'true' });
    const tick = () => {
      const seconds = (performance.now() - started) / 1000;
      bar.value = Math.min(95, 100 * seconds / expected);
      passed.textContent = t('heatmap.elapsed', { seconds: Math.round(seconds), count: expected });
    };
    const stop = h('button', { type: 'button', class: 'button', onclick: () => app.engine.cancel('map') }, t('common.cancel'));
    replace(box, waitingLine(t('heatmap.checking'), passed), bar, h('div', {}, stop));
    stop.focus({ preventScroll: true });
    tick();
    const timer = setInterval(tick, 500);
    try {
      const trust = await request(mine);
      if (!trust) return;
      plainShare = (performance.now() - started) / CHECK_RUNS / milliseconds;
      checked(mine, trust);
      if (mine !== lesionClass) return;
      end(null, found(trust));
    } catch (error) {
      if (mine === lesionClass) end(offer(), isCancelled(error) ? null : message('warning', failureWords(error)));
    } finally {
      clearInterval(timer);
    }
  }

  /** Puts the end of a check in the place of its progress; who waited there goes on there. */
  function end(/** @type {HTMLElement | null} */ content, /** @type {HTMLElement | null} */ told) {
    const waited = box.contains(document.activeElement);
    replace(box, content);
    replace(live, told);
    if (waited) /** @type {HTMLElement | null} */ (element.querySelector('button, summary'))?.focus({ preventScroll: true });
  }

  const element = h('div', { class: 'stack close' }, live, box);

  return {
    element,
    /** @param {string | null} id the class whose map is judged; null for none */
    show(id) {
      lesionClass = id ?? '';
      const trust = id === null ? undefined : trustOf(id);
      replace(live);
      replace(box, id === null ? null : trust ? found(trust) : [h('p', { class: 'small soft' }, t('heatmap.trust')), offer()]);
    },
  };
}
