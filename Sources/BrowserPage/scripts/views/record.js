import { app } from '../app.js';
import { blobAddresses, fileName, h, replace } from '../dom.js';
import { correctScan } from '../actions.js';
import { placeOfLesion } from '../state.js';
import { go } from '../store.js';
import { icon } from '../icons.js';
import { formatDate, t } from '../texts.js';
import { drawn, probe } from '../image.js';
import { confirmAction, message } from '../parts/dialog.js';
import { keptSquare } from '../parts/crop-geometry.js';
import { printLetter } from '../parts/letter.js';
import { printReport } from '../parts/report.js';
import { actionBar } from '../parts/action-bar.js';
import { exits, resultPanel, wordFields } from '../parts/result-panel.js';
import { storingFailed, tell } from '../parts/saving.js';
import { failureWords } from '../wording.js';
import { scanSummary } from '../parts/scan-summary.js';
import { whatIf } from '../parts/what-if.js';

/** @typedef {import('../types.js').Scan} Scan */

/** What stands where a scan is not in the history. */
export function missingRecord() {
  return h('div', { class: 'view stack wide' }, h('h1', {}, t('record.missing')), h('p', {}, t('record.missingText')),
    h('div', {}, h('a', { class: 'button primary', href: '#history' }, icon('back'), t('record.back'))));
}

/**
 * The square of a stored photograph, which may be smaller than the one that was classified.
 * @param {Scan} scan
 * @param {Blob | null} blob
 * @returns {Promise<{canvas: HTMLCanvasElement, square: import('../types.js').Square, size: {width: number, height: number}} | null>}
 */
export async function storedSquare(scan, blob) {
  if (!blob) return null;
  try {
    const size = await probe(blob);
    const square = keptSquare(scan, size);
    const { side } = square;
    // Only the square is decoded into memory at its own size.
    const bitmap = await createImageBitmap(blob, square.left, square.top, side, side, { colorSpaceConversion: 'none' });
    const canvas = drawn(bitmap, 1200);
    bitmap.close();
    return { canvas, square, size };
  } catch {
    return null;
  }
}

/**
 * @param {string} id
 * @returns {Promise<import('../shell.js').View>}
 */
export async function recordView(id) {
  const scan = await app.history.state() === 'off' ? undefined : await app.history.get(id);
  if (!scan) return { title: t('record.missing'), content: missingRecord() };
  const blob = await app.history.photograph(id);
  const stored = await storedSquare(scan, blob);
  /** @type {import('../parts/report.js').ReportMap | null} */
  let map = null;

  const root = h('div', { class: 'view stack wide' });
  const title = h('h1', { class: 'file-name' }, fileName(scan.lesion || scan.name));
  const status = h('p', { class: 'small soft', role: 'status' });
  const addresses = blobAddresses();
  const { scans } = await app.history.list();

  /** @type {Pick<Scan, 'lesion' | 'note'>} */
  let known = { lesion: scan.lesion, note: scan.note };
  let words = known;
  /** @type {Promise<void> | null} */
  let storing = null;
  /** Stores what was typed since the last time: at once, and what is typed meanwhile when that is done. */
  const storeWords = async () => {
    while (storing) await storing;
    storing = storeTyped().finally(() => { storing = null; });
    return storing;
  };
  const storeTyped = async () => {
    const typed = { lesion: words.lesion.trim(), note: words.note };
    const fields = Object.fromEntries(Object.entries(typed).filter(([key, value]) => value !== known[/** @type {'note'} */ (key)]));
    if (Object.keys(fields).length === 0) return;
    const before = known;
    known = typed;
    try {
      if (!await app.history.change(id, fields)) {
        status.textContent = t('record.gone');
        return;
      }
      Object.assign(scan, fields);
      status.textContent = t('record.stored');
      replace(title, fileName(scan.lesion || scan.name));
      if ('lesion' in fields) drawTimeLine();
    } catch (error) {
      known = before;
      status.textContent = storingFailed(error);
    }
  };
  const typing = (/** @type {Partial<typeof words>} */ typed) => {
    words = { ...words, ...typed };
    storeWords();
  };
  // A browser that closes or reloads the page breaks off what is being stored: the entry of its own history keeps the last letters.
  const remember = () => { if (words !== known) history.replaceState({ id, words }, ''); };
  const remembered = history.state?.id === id ? history.state.words : null;
  if (remembered) {
    history.replaceState(null, '');
    words = { ...words, ...remembered };
    storeWords();
  }
  window.addEventListener('beforeunload', remember);
  window.addEventListener('pagehide', storeWords);
  const timeLine = h('div', { class: 'stack close' });
  function drawTimeLine() {
    const same = scan && scan.lesion ? [...scans.filter((each) => each.id !== id && each.lesion === scan.lesion), scan]
      .sort((first, second) => Date.parse(first.created) - Date.parse(second.created)) : [];
    replace(timeLine, same.length < 2 ? h('p', { class: 'soft small' }, t('record.timeLineHint')) : [
      h('h3', {}, t('record.timeLine', { name: /** @type {Scan} */ (scan).lesion })),
      h('div', {}, h('a', { class: 'back-link', href: `#${placeOfLesion(/** @type {Scan} */ (scan).lesion)}` }, t('lesion.open'), icon('forward'))),
      h('ol', { role: 'list', class: 'time-line' }, same.map((each) =>
        h('li', {}, h('a', { class: 'scan-card', href: `#history/${each.id}`, 'aria-current': each.id === id ? 'true' : null }, scanSummary(each, addresses.of(each.thumbnail))),
          each.id === id ? null : h('a', { class: 'button plain', href: `#compare/${[each, /** @type {Scan} */ (scan)].sort((first, second) => Date.parse(first.created) - Date.parse(second.created)).map((one) => one.id).join('/')}` }, icon('compare'), t('record.compareWith', { date: formatDate(each.created, false) })))))]);
  }
  drawTimeLine();

  /** Age, sex or place are corrected and the photograph is analysed again, in the Scan view; saving puts it in this scan's place. */
  async function again() {
    await storeWords();
    try {
      await correctScan(/** @type {Scan} */ (scan), /** @type {Blob} */ (blob));
    } catch (error) {
      await tell(t('scan.cannotOpen', { name: /** @type {Scan} */ (scan).name }), failureWords(error));
    }
  }

  const sameModel = app.description?.model.sha256 === scan.result.model.sha256;
  const { age, sex, site } = scan.result.metadata;
  const job = { source: { key: `record-${id}`, blob, size: stored?.size }, name: scan.name, square: stored?.square, metadata: { age, sex, site } };
  const panel = resultPanel({
    scan, photograph: stored?.canvas ?? null,
    request: async (lesionClass, trust) => {
      await app.engine.ready;
      if (app.description?.model.sha256 !== scan.result.model.sha256) throw Object.assign(new Error('another model'), { code: 'other_model' });
      return app.engine.request('map', { ...job, class: lesionClass, method: 'gradcam', trust }, 'map');
    },
    trustOf: (lesionClass) => scan.trust?.[lesionClass],
    checked: async (lesionClass, trust) => {
      scan.trust = { ...scan.trust, [lesionClass]: trust };
      try {
        status.textContent = await app.history.change(id, { trust: scan.trust }) ? t('record.stored') : t('record.gone');
      } catch (error) {
        status.textContent = storingFailed(error);
      }
    },
    drawn: (canvas, lesionClass) => { map = canvas && { canvas, class: lesionClass }; },
    beside: [stored && whatIf(scan, (metadata) => app.engine.request('probabilities', { ...job, metadata })), wordFields(words, typing, { names: [...new Set(scans.map((each) => each.lesion).filter(Boolean))], left: storeWords, rows: 4 }, timeLine)],
  });
  const leaving = exits(() => scan, { report: () => printReport(scan, stored?.canvas ?? null, map), letter: () => printLetter(scan, stored?.canvas ?? null) });

  replace(root,
    h('div', {}, h('a', { class: 'back-link', href: '#history' }, icon('back'), t('record.back'))),
    h('div', { class: 'stack close' }, title, h('p', { class: 'soft' }, formatDate(scan.created))),
    sameModel || !app.description ? null : message('notice', t('record.otherModel', { name: `${scan.result.model.name} ${scan.result.model.version}` })),
    panel.element,
    h('div', { class: 'row spread no-print' },
      h('button', { class: 'button danger-plain', onclick: async () => {
        if (!await confirmAction(t('history.deleteTitle'), t('history.deleteText', { count: 1 }), t('common.delete'))) return;
        await app.history.delete([id]);
        app.announce(t('history.deleted'));
        go('history');
      } }, icon('trash'), t('common.delete')),
      h('div', { class: 'row' }, ...leaving.files)),
    actionBar(status, blob ? h('button', { class: 'button', onclick: again }, icon('pencil'), t('record.again')) : null, leaving.report));
  return { title: scan.lesion || scan.name, content: root, leave: () => {
    window.removeEventListener('beforeunload', remember);
    window.removeEventListener('pagehide', storeWords);
    storeWords();
    addresses.forget();
  } };
}
