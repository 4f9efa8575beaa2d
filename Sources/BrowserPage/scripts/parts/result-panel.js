import { app } from '../app.js';
import { fileName, h, replace, uniqueID } from '../dom.js';
import { baseName, exportScans } from '../exports.js';
import { LESION_LENGTH, NOTE_LENGTH } from '../history/records.js';
import { icon } from '../icons.js';
import { drawn as copyOf } from '../image.js';
import { formatDate, formatNumber, t } from '../texts.js';
import { disclaimer, message } from './dialog.js';
import { heatmap } from './heatmap.js';
import { metadataWords } from './metadata-form.js';
import { bars, headline, metadataEffect, setSentence, unreliable } from './result.js';

/** The side of the photograph beside the risk, which a phone shows before one scrolls. */
const SMALL_SIDE = 240;

/**
 * A result with everything that a reader needs to judge it.
 * @param {object} options
 * @param {import('../types.js').Scan} options.scan
 * @param {HTMLCanvasElement | null} options.photograph the square that the model saw; null where it was not kept
 * @param {(lesionClass: string, trust: boolean) => Promise<any>} options.request a map
 * @param {import('./heatmap.js').Options['trustOf']} options.trustOf
 * @param {import('./heatmap.js').Options['checked']} options.checked
 * @param {(canvas: HTMLCanvasElement | null, lesionClass: string) => void} [options.drawn]
 * @param {{decode: number, engine: number}} [options.milliseconds]
 * @param {(Node | null)[]} [options.beside] what stands under the picture and the figures
 */
export function resultPanel({ scan, photograph, request, trustOf, checked, drawn, milliseconds, beside = [] }) {
  const { result, classes, square } = scan;
  const map = photograph ? heatmap({ photograph, result, classes, request, trustOf, checked, drawn, milliseconds: milliseconds?.engine }) : null;
  const effect = h('div', { 'aria-live': 'polite' });
  const showEffect = (/** @type {import('../types.js').Result} */ known) => replace(effect, metadataEffect(known, classes, app.description?.temperature ?? 1));
  showEffect(result);
  /** Says that what the metadata did is on its way. */
  const expectEffect = () => replace(effect, h('p', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('effect.pending')));
  const notes = [
    ...(square.moved ? [t('result.moved', { side: square.side, left: square.left, top: square.top })] : []),
    ...(scan.reduced ? [t('result.reduced', { width: square.width, height: square.height })] : []),
  ];
  return {
    mapReady: map?.ready ?? Promise.resolve(),
    showEffect,
    expectEffect,
    element: h('div', { class: 'result' },
      h('section', { class: `result-head card stack${photograph && !result.abstain ? ' has-photograph' : ''}`, 'aria-label': t('result.heading') },
        photograph ? h('div', { class: 'head-photograph no-print', 'aria-hidden': 'true' }, copyOf(photograph, SMALL_SIDE)) : null, headline(result), disclaimer()),
      h('section', { class: 'result-picture card stack', 'aria-label': t('heatmap.heading') },
        h('h2', {}, t('heatmap.heading')),
        map ? map.element : message('notice', t('heatmap.noPhotograph')),
        ...notes.map((note) => message('notice', note))),
      h('div', { class: 'result-words stack wide' },
        h('section', { class: 'card stack', 'aria-label': t('result.probabilities') },
          h('h2', {}, t('result.probabilities')),
          unreliable(result), bars(result, classes), setSentence(result, classes)),
        h('section', { class: 'card stack', 'aria-label': effectTitle(result) },
          h('h2', {}, effectTitle(result)), metadataList(result.metadata), effect)),
      h('div', { class: 'result-rest stack wide' },
        ...beside,
        h('details', { class: 'card' },
          h('summary', {}, t('result.more')),
          modelFacts(scan, { milliseconds })))),
  };
}

/**
 * What takes a result out of the page.
 * @param {() => import('../types.js').Scan} scanOf
 * @param {{report: () => void, letter: () => void}} print
 */
export function exits(scanOf, { report, letter }) {
  const exported = (/** @type {'json' | 'csv'} */ format) => () => exportScans([scanOf()], format, baseName(scanOf().name), app.description);
  return {
    files: [
      h('button', { class: 'button', onclick: exported('json') }, icon('export'), 'JSON'),
      h('button', { class: 'button', onclick: exported('csv') }, icon('export'), 'CSV'),
      h('button', { class: 'button', onclick: letter }, icon('print'), t('letter.title')),
    ],
    report: h('button', { class: 'button', onclick: report }, icon('print'), t('result.report')),
  };
}

/**
 * What the person writes beside a result.
 * @param {{lesion: string, note: string}} words
 * @param {(words: {lesion?: string, note?: string}) => void} typed
 * @param {{names?: string[], left?: () => void, rows?: number}} options `names`: offered for the lesion; `left`: a field was left
 * @param {...Node} more
 */
export function wordFields(words, typed, { names, left, rows = 3 }, ...more) {
  const ids = { lesion: uniqueID('lesion'), note: uniqueID('note'), names: uniqueID('names') };
  const lesion = h('input', { class: 'input', id: ids.lesion, value: words.lesion, list: names && ids.names, maxlength: LESION_LENGTH, autocomplete: 'off', oninput: () => typed({ lesion: lesion.value }), onchange: left });
  const note = h('textarea', { class: 'input', id: ids.note, rows, value: words.note, maxlength: NOTE_LENGTH, autocomplete: 'off', oninput: () => typed({ note: note.value }), onchange: left });
  return h('section', { class: 'card stack', 'aria-label': t('record.notes') }, h('h2', {}, t('record.notes')),
    h('div', { class: 'stack close' }, h('label', { class: 'label', for: ids.lesion }, t('record.lesion')), lesion,
      names ? h('datalist', { id: ids.names }, names.map((name) => h('option', { value: name }))) : null),
    h('div', { class: 'stack close' }, h('label', { class: 'label', for: ids.note }, t('record.note')), note), ...more);
}

/**
 * Where the model abstains nothing is said of what the metadata did.
 * @param {import('../types.js').Result} result
 */
function effectTitle(result) {
  return t(result.abstain ? 'effect.given' : 'effect.heading');
}

/** @param {import('../types.js').Result['metadata']} metadata */
export function metadataList(metadata) {
  return h('div', { class: 'stack close' },
    h('dl', { class: 'facts' }, metadataWords(metadata).map(({ label, value }) => h('div', {}, h('dt', {}, label), h('dd', {}, value)))),
    metadata.missing.length > 0 ? h('p', { class: 'small soft' }, t('effect.missing')) : null);
}

/**
 * What made the result, to check it by.
 * @param {import('../types.js').Scan} scan
 * @param {{milliseconds?: {decode: number, engine: number}, isNamed?: boolean}} options `isNamed`: whether image and date are told here
 */
export function modelFacts({ result, square, created, name }, { milliseconds, isNamed = true } = {}) {
  const rows = [
    ...(isNamed ? [[t('facts.image'), fileName(name)], [t('facts.date'), formatDate(created)]] : []),
    [t('facts.imageHash'), h('code', {}, result.imageSHA256 ?? '')],
    [t('facts.square'), t('facts.squareValue', { side: square.side, left: square.left, top: square.top, width: square.width, height: square.height })],
    [t('facts.model'), `${result.model.name} ${result.model.version}`], [t('facts.modelHash'), h('code', {}, result.model.sha256)],
    ...(milliseconds ? [[t('facts.time'), t('facts.timeValue', { decode: formatNumber(milliseconds.decode), engine: formatNumber(milliseconds.engine) })]] : []),
  ];
  return h('dl', { class: 'facts long' }, rows.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))));
}
