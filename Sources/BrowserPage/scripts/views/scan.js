import { app } from '../app.js';
import { Batch } from '../batch.js';
import { h, replace } from '../dom.js';
import { isCancelled } from '../engine/client.js';
import { icon } from '../icons.js';
import { confirmAction, message } from '../parts/dialog.js';
import { dropReport } from '../parts/report.js';
import { tell } from '../parts/saving.js';
import { Session } from '../session.js';
import { t } from '../texts.js';
import { failureWords, riskWords, summary } from '../wording.js';
import { batchList } from './scan/batch.js';
import { landing } from './scan/landing.js';
import { result } from './scan/result.js';
import { details, progress, review } from './scan/steps.js';

/**
 * What the steps of a scan ask of the view around them.
 * @typedef {object} Flow
 * @property {(files: File[]) => void} take opens one photograph, or begins a list of several
 * @property {(step: Session['step']) => void} go shows another step of the session
 * @property {(session: Session) => void} run has it classified and shows the result
 * @property {() => void} discard lets go of the session, after a question where a result would be lost
 * @property {(item: import('../batch.js').Item) => void} openItem shows the result of one photograph of the list
 * @property {() => void} closeBatch lets go of the list
 * @property {() => boolean} hasBatch whether there is a list to go back to
 * @property {(action: () => void) => void} onLeave has something done when the view is left
 */

/** After that many milliseconds the page says that the analysis takes long, and offers to begin again. */
const LONG = 5000;

/** @type {Batch | undefined} */
let batch;

// Whichever view is shown: a result that is not in the history goes with the page.
window.addEventListener('beforeunload', (event) => {
  if (app.session?.outcome && !app.session.saved) event.preventDefault();
});

/** @returns {Promise<import('../shell.js').View>} */
export async function scanView() {
  const root = h('div', { class: 'view scan-view' });
  const listening = new AbortController();
  /** @type {(() => void)[]} */
  const leaving = [];
  /** @type {Flow} */
  const flow = {
    take, run, discard, openItem,
    go: (step) => {
      /** @type {Session} */ (app.session).step = step;
      render();
    },
    closeBatch: () => {
      batch?.stop();
      batch = undefined;
      render();
    },
    hasBatch: () => batch !== undefined,
    onLeave: (action) => leaving.push(action),
  };

  /**
   * @param {Node} content
   * @param {string} [announcement]
   */
  function put(content, announcement) {
    replace(root, content);
    dropReport();
    if (announcement) {
      window.scrollTo(0, 0);
      const heading = root.querySelector('h1');
      heading?.setAttribute('tabindex', '-1');
      heading?.focus({ preventScroll: true });
      app.announce(announcement);
    }
  }

  /**
   * Shows the step that the session is at.
   * @param {boolean} [moved] whether the person has just got there
   */
  async function render(moved = true) {
    const { session } = app;
    if (!session) return put(batch ? batchList(batch, flow) : await landing(flow), moved ? t('scan.title') : '');
    const steps = { review, details, result };
    put(steps[session.step](session, flow), moved ? t(`scan.steps.${session.step}`) : '');
  }

  let opening = false;

  /** @param {File[]} files */
  async function take(files) {
    if (files.length === 0 || opening) return;
    if (files.length > 1) {
      batch?.stop();
      batch = new Batch(files);
      app.session?.release();
      app.session = undefined;
      batch.start();
      return render();
    }
    if (!await mayDiscard()) return;
    opening = true;
    put(h('div', { class: 'waiting' }, h('span', { class: 'spinner large', 'aria-hidden': 'true' }), h('h1', {}, t('scan.opening'))), t('scan.opening'));
    try {
      const session = await Session.open(files[0]);
      app.session?.release();
      app.session = session;
      await render();
    } catch (error) {
      if (isCancelled(error)) return;
      app.session = undefined;
      put(await landing(flow, message('danger', t('scan.cannotOpen', { name: files[0].name }), failureWords(error))), t('scan.cannotOpen', { name: files[0].name }));
    } finally {
      opening = false;
    }
  }

  /** Whether a result that is not in the history may go. */
  async function mayDiscard() {
    const { session } = app;
    if (!session?.outcome || session.saved) return true;
    return confirmAction(t('scan.discardTitle'), t('scan.discardText'), t('scan.discard'));
  }

  async function discard() {
    if (!await mayDiscard()) return;
    app.session?.release();
    app.session = undefined;
    await render();
  }

  /** @param {Session} session */
  async function run(session) {
    const slow = h('div', { class: 'stack', 'aria-live': 'polite' });
    put(h('div', { class: 'waiting' },
      h('span', { class: 'spinner large', 'aria-hidden': 'true' }), h('h1', {}, t('scan.analysing')), slow,
      h('button', { class: 'button', onclick: () => {
        app.engine.cancel('session');
        render();
      } }, t('common.cancel'))), t('scan.analysing'));
    const timer = setTimeout(() => replace(slow, message('warning', t('scan.slow'),
      h('button', { class: 'button plain', onclick: () => run(session) }, icon('refresh'), t('common.retry')))), LONG);
    try {
      await session.classify();
      await render();
      const outcome = session.outcome;
      if (outcome) app.announce(spoken(outcome.scan));
    } catch (error) {
      if (isCancelled(error)) return;
      put(h('div', { class: 'stack wide' }, progress('details'), h('h1', {}, t('scan.failed')), message('danger', failureWords(error)),
        h('div', { class: 'actions' },
          h('button', { class: 'button', onclick: () => render() }, icon('back'), t('common.back')),
          h('button', { class: 'button primary', onclick: () => run(session) }, icon('refresh'), t('common.retry')))), t('scan.failed'));
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {import('../batch.js').Item} item */
  async function openItem(item) {
    if (opening) return;
    opening = true;
    try {
      const session = await Session.open(item.file);
      app.session?.release();
      app.session = session;
    } catch (error) {
      if (!isCancelled(error)) await tell(t('scan.cannotOpen', { name: item.file.name }), failureWords(error));
      return;
    } finally {
      opening = false;
    }
    await run(app.session);
  }

  /** @param {import('../types.js').Scan} scan */
  const spoken = (scan) => (scan.result.abstain ? t('result.abstains') : `${summary(scan.result, scan.classes)} ${riskWords(scan.result).sentence}`);

  const { signal } = listening;
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    root.classList.remove('dragging');
    take([...(event.dataTransfer?.files ?? [])]);
  }, { signal });
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    root.classList.add('dragging');
  }, { signal });
  document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) root.classList.remove('dragging'); }, { signal });
  document.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith('image/'));
    if (files.length > 0) take(files);
  }, { signal });
  await render(false);
  return {
    title: t('tabs.scan'), content: root,
    leave: () => {
      listening.abort();
      leaving.forEach((action) => action());
    },
  };
}
