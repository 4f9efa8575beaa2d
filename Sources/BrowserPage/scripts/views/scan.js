import { h, replace } from '../dom.js';
import { icon } from '../icons.js';
import { message } from '../parts/dialog.js';
import { t } from '../texts.js';
import { failureWords } from '../wording.js';
import { app } from '../app.js';
import { analyse, cancelAnalysis, cancelOpening } from '../actions.js';
import { screenOf } from '../state.js';
import { go, store } from '../store.js';
import { batchList } from './scan/batch.js';
import { landing } from './scan/landing.js';
import { result } from './scan/result.js';
import { details, progress, review } from './scan/steps.js';

/** After that many milliseconds the page says that the analysis takes long, and offers to begin again. */
const LONG = 5000;

/** @returns {Promise<View>} */
export async function scanView() {
  const { content, leave } = await part();
  return { title: t('tabs.scan'), content: h('div', { class: 'view scan-view' }, content), leave };
}

/** @returns {Promise<Part>} */
async function part() {
  const { state } = store;
  const { work, list } = state;
  const [kind] = screenOf(state);
  if (kind === 'opening') return waiting(t('scan.opening'), cancelOpening);
  if (kind === 'list' && list) return batchList(list);
  if (work) {
    switch (kind) {
      case 'review': return review(work);
      case 'details': return details(work);
      case 'analysis': return analysis();
      case 'failed': return failed(work.failure);
      case 'result': return result(work);
    }
  }
  return landing();
}

/** @param {string} title @param {() => void} cancel @param {Node} [more] @returns {Part} */
function waiting(title, cancel, more) {
  return { content: h('div', { class: 'waiting' },
    h('span', { class: 'spinner large', 'aria-hidden': 'true' }), h('h1', {}, title), more ?? null,
    h('button', { class: 'button', onclick: cancel }, t('common.cancel'))) };
}

/** @returns {Part} */
function analysis() {
  const slow = h('div', { class: 'stack', 'aria-live': 'polite' });
  const timer = setTimeout(() => replace(slow, message('warning', t('scan.slow'),
    h('button', { class: 'button plain', onclick: analyse }, icon('refresh'), t('common.retry')))), LONG);
  app.announce(t('scan.analysing'));
  return { ...waiting(t('scan.analysing'), cancelAnalysis, slow), leave: () => clearTimeout(timer) };
}

/** @param {unknown} failure @returns {Part} */
function failed(failure) {
  return { content: h('div', { class: 'stack wide' }, progress('details'), h('h1', {}, t('scan.failed')), message('danger', failureWords(failure)),
    h('div', { class: 'actions' },
      h('button', { class: 'button', onclick: () => go('scan/details') }, icon('back'), t('common.back')),
      h('button', { class: 'button primary', onclick: analyse }, icon('refresh'), t('common.retry')))) };
}
