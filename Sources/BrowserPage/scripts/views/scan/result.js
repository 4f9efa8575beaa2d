import { app } from '../../app.js';
import { h, replace, uniqueID } from '../../dom.js';
import { baseName, exportScans } from '../../exports.js';
import { discard, run, work } from '../../flow.js';
import { icon } from '../../icons.js';
import { message } from '../../parts/dialog.js';
import { metadataForm } from '../../parts/metadata-form.js';
import { printReport } from '../../parts/report.js';
import { resultPanel } from '../../parts/result-panel.js';
import { saveScan } from '../../parts/saving.js';
import { className, t } from '../../texts.js';
import { progress } from './steps.js';

/** @typedef {import('../../session.js').Session} Session */

/**
 * What the engine answered, and what can be done with it.
 * @param {Session} session
 * @returns {import('../scan.js').Part}
 */
export function result(session) {
  const { picture, milliseconds, maps } = /** @type {NonNullable<Session['outcome']>} */ (session.outcome);
  const { classes } = session.scan;
  /** @type {{canvas: HTMLCanvasElement, name: string} | null} */
  let map = null;
  const stale = h('div', { 'aria-live': 'polite' });
  const save = h('button', { class: 'button primary', onclick: async () => {
    if (save.getAttribute('aria-disabled') === 'true') return;
    save.setAttribute('aria-disabled', 'true');
    const stored = await saveScan(session.scan, session.source, JSON.parse(/** @type {any} */ (session.outcome).square));
    if (stored) {
      session.keptAs(stored);
      app.announce(t('result.saved'));
    }
    mark();
  } });
  // What leaves the page is what is shown as current.
  const exits = [
    h('button', { class: 'button', onclick: () => exportScans([session.scan], 'json', baseName(session.name)) }, icon('export'), 'JSON'),
    h('button', { class: 'button', onclick: () => exportScans([session.scan], 'csv', baseName(session.name)) }, icon('export'), 'CSV'),
    h('button', { class: 'button', onclick: () => printReport(session.scan, picture, map) }, icon('print'), t('result.report')),
  ];
  const why = uniqueID('stale');
  const next = h('span', {});
  const again = () => h('button', { class: 'button primary', disabled: !session.metadataValid, onclick: () => run(session) }, icon('refresh'), t('result.update'));
  function mark() {
    const { isStale, saved } = session;
    panel.element.classList.toggle('stale', isStale);
    replace(stale, isStale ? message('warning', h('p', { id: why }, t('result.stale')), h('div', {}, again())) : null);
    for (const button of exits) button.disabled = isStale;
    save.setAttribute('aria-disabled', String(isStale || saved));
    if (isStale) save.setAttribute('aria-describedby', why);
    else save.removeAttribute('aria-describedby');
    replace(save, icon(saved ? 'check' : 'save'), t(saved ? 'result.saved' : session.wasSaved ? 'result.saveAgain' : 'result.save'));
    replace(next, saved && !isStale && !session.item ? h('button', { class: 'button', onclick: () => discard() }, icon('scan'), t('result.next')) : null);
  }
  const typed = (/** @type {'lesion' | 'note'} */ key) => (/** @type {Event} */ event) => {
    session.words[key] = /** @type {HTMLInputElement} */ (event.target).value;
    if (!session.isStale) session.item?.take(session);
    mark();
  };
  const ids = { lesion: uniqueID('lesion'), note: uniqueID('note') };
  const panel = resultPanel({
    scan: session.scan, photograph: picture, milliseconds, request: (lesionClass, trust) => session.map(lesionClass, trust),
    drawn: (canvas, id) => { map = canvas && { canvas, name: className(id, classes.find((each) => each.class === id)?.name ?? id) }; },
    beside: [h('details', { class: 'card', open: session.isStale }, h('summary', {}, t('result.change')),
      metadataForm(app.description, session.metadata, (metadata, valid) => {
        session.metadata = metadata;
        session.metadataValid = valid;
        mark();
      })),
    h('section', { class: 'card stack', 'aria-label': t('record.notes') }, h('h2', {}, t('record.notes')),
      h('div', { class: 'stack close' }, h('label', { class: 'label', for: ids.lesion }, t('record.lesion')),
        h('input', { class: 'input', id: ids.lesion, value: session.words.lesion, maxlength: 80, autocomplete: 'off', oninput: typed('lesion') })),
      h('div', { class: 'stack close' }, h('label', { class: 'label', for: ids.note }, t('record.note')),
        h('textarea', { class: 'input', id: ids.note, rows: 3, value: session.words.note, maxlength: 4000, oninput: typed('note') })))],
  });
  // The map first: it costs nothing more, what the metadata did costs another run of the network.
  if (session.lacksEffect) panel.expectEffect();
  panel.mapReady.then(() => session.loadEffect()).then(panel.showEffect, panel.showEffect);
  if (maps === null) app.announce(t('heatmap.failed'));
  mark();
  return { content: h('div', { class: 'stack wide' }, progress('result'),
    h('div', { class: 'row spread' }, h('h1', {}, t('result.title')),
      work.batch ? h('button', { class: 'button plain', onclick: () => (session.item ? backToList(session) : app.go('scan/list')) }, icon('back'), t('batch.back')) : null),
    stale, panel.element,
    h('div', { class: 'actions' },
      session.item ? h('span', {}) : h('button', { class: 'button danger-plain', onclick: () => discard() }, icon('trash'), t('scan.discard')),
      h('div', { class: 'row' },
        h('button', { class: 'button', onclick: () => app.go('scan/review') }, icon('scan'), t('result.square')),
        ...exits, next, save))) };
}

/**
 * What was answered is in the list already.
 * @param {Session} session
 */
function backToList(session) {
  return session.isStale ? discard('scan/list') : app.go('scan/list');
}
