import { app } from '../app.js';
import { Session } from '../session.js';
import { h, replace } from '../dom.js';
import { icon } from '../icons.js';
import { formatDate, t } from '../texts.js';
import { failureWords, riskWords, summary } from '../wording.js';
import { isCancelled } from '../engine/client.js';
import { drawn } from '../image.js';
import { cameraObstacle, takePhotograph } from '../parts/camera.js';
import { cropEditor } from '../parts/crop.js';
import { confirmAction, message } from '../parts/dialog.js';
import { metadataForm } from '../parts/metadata-form.js';
import { dropReport, printReport } from '../parts/report.js';
import { resultPanel } from '../parts/result-panel.js';
import { riskIcon } from '../icons.js';
import { className } from '../texts.js';
import { exportScans, baseName } from '../exports.js';
import { saveScan, tell } from '../parts/saving.js';
import { Batch } from '../batch.js';

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
  /** @type {(() => void)[]} */
  const leaving = [];
  const onLeave = (/** @type {() => void} */ action) => leaving.push(action);
  const left = () => leaving.splice(0).forEach((action) => action());

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
    if (!session) return put(batch ? batchList() : await landing(), moved ? t('scan.title') : '');
    const steps = { review, details, result };
    put(steps[session.step](session), moved ? t(`scan.steps.${session.step}`) : '');
  }

  /** @param {Node | null} [problem] */
  async function landing(problem = null) {
    const picker = h('input', { type: 'file', accept: 'image/*', multiple: true, class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true',
      'data-role': 'choose', onchange: () => take([...(picker.files ?? [])]) });
    const phone = h('input', { type: 'file', accept: 'image/*', capture: 'environment', class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true',
      onchange: () => take([...(phone.files ?? [])]) });
    const obstacle = cameraObstacle();
    const notes = h('div', { class: 'stack', 'aria-live': 'polite' }, problem);
    const camera = h('button', { class: 'button', onclick: async () => {
      if (obstacle) {
        replace(notes, message('warning', obstacle));
        // Phones take a photograph with their own camera program, whatever the page's origin.
        if (navigator.maxTouchPoints > 0) phone.click();
        return;
      }
      camera.disabled = true;
      const taken = await takePhotograph();
      camera.disabled = false;
      if (!taken) return;
      if ('problem' in taken) replace(notes, message('warning', taken.problem));
      else take([taken.file]);
    } }, icon('camera'), t('scan.camera'));
    // Nothing is dropped on a phone.
    const isTouch = matchMedia('(hover: none) and (pointer: coarse)').matches;
    const zone = h('div', { class: 'drop-zone' },
      h('div', { class: 'drop-icon' }, icon('image')),
      h('p', { class: 'lead strong' }, t(isTouch ? 'scan.open' : 'scan.drop')),
      h('p', { class: 'soft' }, t(isTouch ? 'scan.openHint' : 'scan.dropHint')),
      h('div', { class: 'row centre' },
        h('button', { class: 'button primary', onclick: () => picker.click() }, icon('image'), t('scan.choose')),
        camera,
        h('button', { class: 'button', onclick: () => pasteFromClipboard(notes) }, icon('paste'), t('scan.paste'))),
      picker, phone);
    return h('div', { class: 'stack wide' },
      h('div', { class: 'stack close measure' }, h('h1', {}, t('scan.title')), h('p', { class: 'lead soft' }, t('scan.lead'))),
      engineState(), zone, notes,
      h('ul', { role: 'list', class: 'promises' },
        h('li', {}, icon('lock'), h('span', {}, t('scan.promisePrivate'))),
        h('li', {}, icon('scan'), h('span', {}, t('scan.promiseDermoscopy'))),
        h('li', {}, icon('person'), h('span', {}, t('scan.promiseDoctor')))),
      await lastScan());
  }

  /** What keeps the page from classifying: nothing, time, or an error. */
  function engineState() {
    const box = h('div', { class: 'engine-state', 'aria-live': 'polite' });
    replace(box, h('p', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('scan.loading')));
    app.engine.ready.then(() => replace(box), (error) => replace(box, message('danger', failureWords(error))));
    return box;
  }

  async function lastScan() {
    if (await app.store.state() === 'off') return null;
    const [scan] = (await app.store.list()).scans;
    if (!scan) return null;
    const risk = riskWords(scan.result);
    const address = URL.createObjectURL(scan.thumbnail);
    onLeave(() => URL.revokeObjectURL(address));
    return h('section', { class: 'stack close' }, h('h2', {}, t('scan.last')),
      h('a', { class: 'scan-card', href: `#history/${scan.id}` },
        h('img', { src: address, alt: '', width: 72, height: 72 }),
        h('span', { class: 'stack close' },
          h('span', { class: 'strong' }, scan.lesion || scan.name), h('span', { class: 'soft small' }, formatDate(scan.created)),
          h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word))));
  }

  /** @param {HTMLElement} notes */
  async function pasteFromClipboard(notes) {
    try {
      for (const item of await navigator.clipboard.read()) {
        const type = item.types.find((each) => each.startsWith('image/'));
        if (type) return take([new File([await item.getType(type)], t('scan.pasted'), { type })]);
      }
      replace(notes, message('notice', t('scan.pasteNothing')));
    } catch {
      replace(notes, message('notice', t('scan.pasteKeys')));
    }
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
      put(await landing(message('danger', t('scan.cannotOpen', { name: files[0].name }), failureWords(error))), t('scan.cannotOpen', { name: files[0].name }));
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

  /** @param {'review' | 'details' | 'result'} step */
  function progress(step) {
    const steps = /** @type {const} */ (['review', 'details', 'result']);
    return h('ol', { role: 'list', class: 'steps', 'aria-label': t('scan.progress') }, steps.map((each) =>
      h('li', { class: 'step', 'aria-current': each === step ? 'step' : null, 'data-done': steps.indexOf(each) < steps.indexOf(step) },
        h('span', { class: 'step-dot', 'aria-hidden': 'true' }, steps.indexOf(each) < steps.indexOf(step) ? icon('check') : String(steps.indexOf(each) + 1)),
        h('span', { class: 'step-name' }, t(`scan.steps.${each}`)))));
  }

  /** @param {Session} session */
  function review(session) {
    const notes = [
      ...(session.isSmall ? [message('warning', t('scan.small', { width: session.width, height: session.height }))] : []),
      ...(session.reduced ? [message('notice', t('scan.reducedNow', { width: session.width, height: session.height }))] : []),
    ];
    return h('div', { class: 'stack wide' }, progress('review'),
      h('div', { class: 'stack close measure' }, h('h1', {}, t('scan.reviewTitle')), h('p', { class: 'soft' }, t('scan.reviewHint'))),
      ...notes,
      cropEditor(session, session.square, (square, moved) => {
        session.square = square;
        session.moved = moved;
      }),
      h('div', { class: 'actions' },
        h('button', { class: 'button', onclick: discard }, icon('back'), t('scan.another')),
        h('button', { class: 'button primary', onclick: () => {
          session.step = 'details';
          render();
        } }, t('common.next'), icon('forward'))));
  }

  /** @param {Session} session */
  function details(session) {
    const hint = h('p', { class: 'soft', 'aria-live': 'polite' });
    const tell = () => { hint.textContent = session.metadata.site === 'unknown' ? t('metadata.siteHelps') : ''; };
    const analyse = h('button', { class: 'button primary', onclick: () => run(session) }, icon('scan'), t('scan.analyse'));
    tell();
    return h('div', { class: 'stack wide' }, progress('details'),
      h('div', { class: 'stack close measure' }, h('h1', {}, t('metadata.title')), h('p', { class: 'soft' }, t('metadata.lead'))),
      app.description && !app.description.metadataUsed ? message('notice', t('metadata.unused')) : null,
      h('div', { class: 'card' }, metadataForm(session.metadata, (metadata, valid) => {
        session.metadata = metadata;
        session.metadataValid = valid;
        analyse.disabled = !valid;
        tell();
      })), hint,
      h('div', { class: 'actions' },
        h('button', { class: 'button', onclick: () => {
          session.step = 'review';
          render();
        } }, icon('back'), t('common.back')), analyse));
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

  /** @param {Session} session */
  function result(session) {
    const { scan, milliseconds, maps } = /** @type {NonNullable<Session['outcome']>} */ (session.outcome);
    const shown = { ...JSON.parse(/** @type {any} */ (session.outcome).square) };
    const scale = session.preview.width / session.width;
    const photograph = drawn(session.preview, 1200, { left: shown.left * scale, top: shown.top * scale, side: shown.side * scale });
    /** @type {{canvas: HTMLCanvasElement, name: string} | null} */
    let map = null;
    const stale = h('div', { 'aria-live': 'polite' });
    const save = h('button', { class: 'button primary', onclick: async () => {
      save.disabled = true;
      session.saved = await saveScan(scan, session.file, session.preview) || session.saved;
      save.disabled = session.saved;
      if (session.saved) replace(save, icon('check'), t('result.saved'));
    } }, icon('save'), t('result.save'));
    if (session.saved) {
      save.disabled = true;
      replace(save, icon('check'), t('result.saved'));
    }
    const again = () => h('button', { class: 'button primary', disabled: !session.metadataValid, onclick: () => run(session) }, icon('refresh'), t('result.update'));
    const mark = () => {
      panel.element.classList.toggle('stale', session.isStale);
      replace(stale, session.isStale ? message('warning', t('result.stale'), h('div', {}, again())) : null);
    };
    const panel = resultPanel({
      scan, photograph, milliseconds, request: (lesionClass, trust) => session.map(lesionClass, trust),
      drawn: (canvas, id) => { map = canvas && { canvas, name: className(id, scan.classes.find((each) => each.class === id)?.name ?? id) }; },
      beside: [h('details', { class: 'card' }, h('summary', {}, t('result.change')),
        metadataForm(session.metadata, (metadata, valid) => {
          session.metadata = metadata;
          session.metadataValid = valid;
          mark();
        }))],
    });
    // The map first: it costs nothing more, what the metadata did costs another run of the network.
    if (session.lacksEffect) panel.expectEffect();
    panel.mapReady.then(() => session.loadEffect()).then(panel.showEffect, panel.showEffect);
    if (maps === null) app.announce(t('heatmap.failed'));
    mark();
    return h('div', { class: 'stack wide' }, progress('result'),
      h('div', { class: 'row spread' }, h('h1', {}, t('result.title')), batch ? h('button', { class: 'button plain', onclick: async () => {
        if (!await mayDiscard()) return;
        session.release();
        app.session = undefined;
        render();
      } }, icon('back'), t('batch.back')) : null),
      stale, panel.element,
      h('div', { class: 'actions' },
        h('button', { class: 'button danger-plain', onclick: discard }, icon('trash'), t('scan.discard')),
        h('div', { class: 'row' },
          h('button', { class: 'button', onclick: () => {
            session.step = 'review';
            render();
          } }, icon('scan'), t('result.square')),
          h('button', { class: 'button', onclick: () => exportScans([scan], 'json', baseName(scan.name)) }, icon('export'), 'JSON'),
          h('button', { class: 'button', onclick: () => exportScans([scan], 'csv', baseName(scan.name)) }, icon('export'), 'CSV'),
          h('button', { class: 'button', onclick: () => printReport(scan, photograph, map) }, icon('print'), t('result.report')),
          save)));
  }

  function batchList() {
    const list = /** @type {Batch} */ (batch);
    const rows = h('ul', { role: 'list', class: 'batch-rows' });
    const bar = h('progress', { class: 'progress', max: list.items.length, 'aria-label': t('batch.progress') });
    const count = h('p', { class: 'soft numbers', role: 'status' });
    const exports = h('div', { class: 'row' });
    const refresh = () => {
      const finished = list.items.filter(({ state }) => state === 'done' || state === 'failed');
      bar.value = finished.length;
      count.textContent = t('batch.count', { done: finished.length, all: list.items.length });
      replace(rows, list.items.map((item) => {
        const risk = item.scan ? riskWords(item.scan.result) : null;
        return h('li', { class: 'scan-card' },
          item.thumbnail ? h('img', { src: item.thumbnail, alt: '', width: 72, height: 72 }) : h('span', { class: 'thumb-space' }, icon('image')),
          h('span', { class: 'stack close grow' }, h('span', { class: 'strong' }, item.file.name),
            item.scan && risk ? [h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word), h('span', { class: 'small' }, summary(item.scan.result, item.scan.classes))] : null,
            item.state === 'failed' ? h('span', { class: 'field-error' }, failureWords(item.error)) : null,
            item.state === 'running' ? h('span', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('scan.analysing')) : null,
            item.state === 'waiting' ? h('span', { class: 'soft' }, t('batch.waiting')) : null),
          item.state === 'done' ? h('button', { class: 'button', 'aria-label': t('batch.openNamed', { name: item.file.name }), onclick: () => openItem(item) }, t('batch.open')) : null);
      }));
      const scans = list.items.flatMap(({ scan }) => (scan ? [scan] : []));
      replace(exports, list.running ? h('button', { class: 'button', onclick: () => list.stop() }, t('common.cancel')) : null,
        scans.length > 0 ? [
          h('button', { class: 'button', onclick: () => exportScans(scans, 'json', 'dermafusion-results') }, icon('export'), 'JSON'),
          h('button', { class: 'button', onclick: () => exportScans(scans, 'csv', 'dermafusion-results') }, icon('export'), 'CSV')] : null,
        h('button', { class: 'button', onclick: () => {
          list.stop();
          batch = undefined;
          render();
        } }, t('batch.close')));
    };
    list.changed = refresh;
    onLeave(() => { list.changed = () => {}; });
    refresh();
    return h('div', { class: 'stack wide' },
      h('div', { class: 'stack close measure' }, h('h1', {}, t('batch.title')), h('p', { class: 'soft' }, t('batch.lead'))),
      count, bar, exports, rows,
      h('aside', { class: 'disclaimer' }, icon('about'), h('p', { lang: 'en' }, app.facts.disclaimer)));
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

  const dropped = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    root.classList.remove('dragging');
    take([...(event.dataTransfer?.files ?? [])]);
  };
  const over = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    root.classList.add('dragging');
  };
  const out = (/** @type {DragEvent} */ event) => { if (!event.relatedTarget) root.classList.remove('dragging'); };
  const pasted = (/** @type {ClipboardEvent} */ event) => {
    const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith('image/'));
    if (files.length > 0) take(files);
  };
  document.addEventListener('drop', dropped);
  document.addEventListener('dragover', over);
  document.addEventListener('dragleave', out);
  document.addEventListener('paste', pasted);
  await render(false);
  return {
    title: t('tabs.scan'), content: root,
    leave: () => {
      document.removeEventListener('drop', dropped);
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', out);
      document.removeEventListener('paste', pasted);
      left();
    },
  };
}
