import { app } from '../../app.js';
import { h, replace } from '../../dom.js';
import { baseName, exportScans } from '../../exports.js';
import { icon } from '../../icons.js';
import { drawn } from '../../image.js';
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
 * @param {import('../scan.js').Flow} flow
 */
export function result(session, { go, run, discard, hasBatch }) {
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
      metadataForm(app.description, session.metadata, (metadata, valid) => {
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
    h('div', { class: 'row spread' }, h('h1', {}, t('result.title')), hasBatch() ? h('button', { class: 'button plain', onclick: discard }, icon('back'), t('batch.back')) : null),
    stale, panel.element,
    h('div', { class: 'actions' },
      h('button', { class: 'button danger-plain', onclick: discard }, icon('trash'), t('scan.discard')),
      h('div', { class: 'row' },
        h('button', { class: 'button', onclick: () => go('review') }, icon('scan'), t('result.square')),
        h('button', { class: 'button', onclick: () => exportScans([scan], 'json', baseName(scan.name)) }, icon('export'), 'JSON'),
        h('button', { class: 'button', onclick: () => exportScans([scan], 'csv', baseName(scan.name)) }, icon('export'), 'CSV'),
        h('button', { class: 'button', onclick: () => printReport(scan, photograph, map) }, icon('print'), t('result.report')),
        save)));
}
