import { app } from '../app.js';
import { checkable } from '../history/archive.js';
import { fileName, h, replace } from '../dom.js';
import { correctScan } from '../actions.js';
import { questionsAbout } from '../analysis.js';
import { byTime, placeOfLesion } from '../state.js';
import { go } from '../store.js';
import { icon } from '../icons.js';
import { formatDate, t } from '../texts.js';
import { drawn, probe } from '../image.js';
import { message, tell } from '../parts/dialog.js';
import { keptSquare } from '../parts/crop-geometry.js';
import { keptWords } from '../parts/kept-words.js';
import { backLink } from '../parts/pieces.js';
import { actionBar } from '../parts/action-bar.js';
import { resultPanel, wordFields } from '../parts/result-panel.js';
import { deleteScans, storingFailed } from '../parts/saving.js';
import { failureWords } from '../wording.js';
import { scanSummary, thumbnails } from '../parts/scan-summary.js';
import { whatIf } from '../parts/what-if.js';

/** The view in place of a scan that is not in the history. */
export function missingRecord() {
  return h('div', { class: 'view stack wide' }, h('h1', {}, t('record.missing')), h('p', {}, t('record.missingText')),
    h('div', {}, h('a', { class: 'button primary', href: '#history' }, icon('back'), t('record.back'))));
}

/**
 * The square of a stored photograph, which may be smaller than the one that was classified.
 * @param {Scan} scan
 * @param {Blob | null} blob
 * @returns {Promise<{canvas: HTMLCanvasElement, square: Square, size: {width: number, height: number}} | null>}
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
 * A scan of the history. One that an older version stored has no sentences but English ones: the engine, where it is ready, gives it those
 * of all languages.
 * @param {string} id
 */
export async function storedScan(id) {
  const scan = await app.history.get(id);
  if (!scan || scan.result.summaries || !app.description) return scan;
  const [answer] = await app.engine.request('checkResults', { results: [checkable(scan)] });
  return 'result' in answer ? { ...scan, result: { ...scan.result, ...answer.result } } : scan;
}

/** @param {string} id @returns {Promise<View>} */
export async function recordView(id) {
  const scan = await storedScan(id);
  if (!scan) return { title: t('record.missing'), content: missingRecord() };
  const blob = await app.history.photograph(id);
  const stored = await storedSquare(scan, blob);
  const { rows } = await app.history.list();
  const pictures = thumbnails();
  const title = h('h1', { class: 'file-name' }, fileName(scan.lesion || scan.name));
  const status = h('p', { class: 'small soft', role: 'status' });
  const say = (/** @type {string} */ words) => { status.textContent = words; };
  const timeLine = h('div', { class: 'stack close' });
  const drawTimeLine = () => replace(timeLine, ...timeLineOf(scan, rows, pictures));
  const kept = keptWords(scan, say, (fields) => {
    replace(title, fileName(scan.lesion || scan.name));
    document.title = `${scan.lesion || scan.name} · DermaFusion`;
    if ('lesion' in fields) drawTimeLine();
  });
  drawTimeLine();

  const { age, sex, site } = scan.result.metadata;
  const source = { key: `record-${id}`, blob: /** @type {Blob} */ (blob), size: stored?.size };
  const ask = questionsAbout({ source, name: scan.name, square: stored?.square, metadata: { age, sex, site } }, scan.result);
  const names = [...new Set(rows.map(({ lesion }) => lesion).filter(Boolean))];
  const panel = resultPanel({
    scanOf: () => scan, photograph: stored?.canvas ?? null, request: ask.map, checked: (lesionClass, trust) => keepTrust(scan, lesionClass, trust, say),
    beside: [stored && whatIf(scan, ask.probabilities)], words: wordFields(scan, kept.typing, { names, left: kept.store, rows: 4 }, timeLine),
  });
  const isOther = app.description && app.description.model.sha256 !== scan.result.model.sha256;
  const again = blob && h('button', { class: 'button', onclick: () => kept.store().then(() => correct(scan, blob)) }, icon('pencil'), t('record.again'));
  const content = h('div', { class: 'view stack wide' },
    backLink('history', t('record.back')),
    h('div', { class: 'stack close' }, title, h('p', { class: 'soft' }, formatDate(scan.created))),
    isOther ? message('notice', t('record.otherModel', { name: `${scan.result.model.name} ${scan.result.model.version}` })) : null,
    panel.element,
    h('div', { class: 'row spread no-print' },
      h('button', { class: 'button danger-plain',
        onclick: async () => { if (await deleteScans([id], t('history.deleteTitle'))) go('history'); } },
        icon('trash'), t('common.delete')),
        h('div', { class: 'row' }, ...panel.files)),
    actionBar(t('result.actions'), status, again, panel.report));
  const returned = async () => {
    const current = await app.history.get(id);
    return !kept.isTyping() && (current?.lesion !== scan.lesion || current.note !== scan.note);
  };
  return { title: scan.lesion || scan.name, content, returned, leave: () => {
    kept.leave();
    pictures.forget();
  } };
}

/**
 * Stores what the checks of a map found.
 * @param {Scan} scan
 * @param {string} lesionClass
 * @param {Trust} trust
 * @param {(words: string) => void} told
 */
async function keepTrust(scan, lesionClass, trust, told) {
  scan.trust = { ...scan.trust, [lesionClass]: trust };
  try {
    told(await app.history.change(scan.id, { trust: scan.trust }) ? t('record.stored') : t('record.gone'));
  } catch (error) {
    told(storingFailed(error));
  }
}

/** Age, sex or place are corrected and the photograph is analysed again, in the Scan view; saving puts it in this scan's place. */
async function correct(/** @type {Scan} */ scan, /** @type {Blob} */ blob) {
  try {
    await correctScan(scan, blob);
  } catch (error) {
    await tell(t('scan.cannotOpen', { name: scan.name }), failureWords(error));
  }
}

/**
 * The scans of the same lesion, with what leads to a comparison.
 * @param {Scan} scan
 * @param {Row[]} rows of the history
 * @param {ReturnType<typeof thumbnails>} pictures
 */
function timeLineOf(scan, rows, pictures) {
  // The name may have changed since the row was read.
  const named = rows.map((row) => (row.id === scan.id ? { ...row, lesion: scan.lesion } : row));
  const same = scan.lesion ? named.filter(({ lesion }) => lesion === scan.lesion).sort(byTime) : [];
  if (same.length < 2) return [h('p', { class: 'soft small' }, t('record.timeLineHint'))];
  return [h('h3', {}, t('record.timeLine', { name: scan.lesion })),
    h('div', {}, h('a', { class: 'back-link', href: `#${placeOfLesion(scan)}` }, t('lesion.open'), icon('forward'))),
    h('ol', { role: 'list', class: 'time-line' }, same.map((each) => {
      const isOwn = each.id === scan.id;
      const both = [each, scan].sort(byTime).map(({ id }) => id).join('/');
      return h('li', {}, h('a', { class: 'scan-card', href: `#history/${each.id}`, 'aria-current': isOwn ? 'true' : null },
        scanSummary(each, pictures.of(each.id))),
        isOwn ? null : h('a', { class: 'button plain', href: `#compare/${both}` },
          icon('compare'), t('record.compareWith', { date: formatDate(each.created, false) })));
    }))];
}
