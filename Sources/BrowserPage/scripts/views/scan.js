import { h, replace } from '../dom.js';
import { icon } from '../icons.js';
import { message } from '../parts/dialog.js';
import { t } from '../texts.js';
import { failureWords } from '../wording.js';
import { app } from '../app.js';
import { cancelOpening, cancelRun, run, work } from '../flow.js';
import { batchList } from './scan/batch.js';
import { landing } from './scan/landing.js';
import { result } from './scan/result.js';
import { details, progress, review } from './scan/steps.js';

/** After that many milliseconds the page says that the analysis takes long, and offers to begin again. */
const LONG = 5000;

/**
 * A part of the view, and what to let go of when it is left.
 * @typedef {{content: Node, leave?: () => void}} Part
 */

/**
 * @param {string} step of the address; empty where it names none
 * @returns {Promise<import('../shell.js').View>}
 */
export async function scanView(step) {
  const { content, leave } = await part(step);
  return { title: t('tabs.scan'), content: h('div', { class: 'view scan-view' }, content), leave };
}

/**
 * @param {string} step
 * @returns {Promise<Part>}
 */
async function part(step) {
  const { session, batch, opening } = work;
  if (opening) return waiting(t('scan.opening'), cancelOpening);
  if (step === 'list' && batch) return batchList(batch);
  if (session && (step === 'review' || step === 'details')) {
    session.step = step;
    return step === 'review' ? review(session) : details(session);
  }
  if (session && step === 'result') {
    if (session.running) return analysis(session);
    if (session.failure) return failed(session);
    if (session.outcome) {
      session.step = 'result';
      return result(session);
    }
    return details(session);
  }
  // A place that an earlier photograph left behind.
  if (step !== '') history.replaceState(null, '', '#scan');
  return landing();
}

/**
 * @param {string} title
 * @param {() => void} cancel
 * @param {Node} [more]
 * @returns {Part}
 */
function waiting(title, cancel, more) {
  return { content: h('div', { class: 'waiting' },
    h('span', { class: 'spinner large', 'aria-hidden': 'true' }), h('h1', {}, title), more ?? null,
    h('button', { class: 'button', onclick: cancel }, t('common.cancel'))) };
}

/**
 * @param {import('../session.js').Session} session
 * @returns {Part}
 */
function analysis(session) {
  const slow = h('div', { class: 'stack', 'aria-live': 'polite' });
  const timer = setTimeout(() => replace(slow, message('warning', t('scan.slow'),
    h('button', { class: 'button plain', onclick: () => run(session) }, icon('refresh'), t('common.retry')))), LONG);
  app.announce(t('scan.analysing'));
  return { ...waiting(t('scan.analysing'), () => cancelRun(session), slow), leave: () => clearTimeout(timer) };
}

/**
 * @param {import('../session.js').Session} session
 * @returns {Part}
 */
function failed(session) {
  return { content: h('div', { class: 'stack wide' }, progress('details'), h('h1', {}, t('scan.failed')), message('danger', failureWords(session.failure)),
    h('div', { class: 'actions' },
      h('button', { class: 'button', onclick: () => app.go('scan/details') }, icon('back'), t('common.back')),
      h('button', { class: 'button primary', onclick: () => run(session) }, icon('refresh'), t('common.retry')))) };
}
