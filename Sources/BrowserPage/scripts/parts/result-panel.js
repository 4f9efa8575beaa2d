import { app } from '../app.js';
import { h, replace, uniqueID } from '../dom.js';
import { baseName, exportScans } from '../exports.js';
import { LESION_LENGTH, NOTE_LENGTH } from '../history/records.js';
import { icon } from '../icons.js';
import { drawn as copyOf } from '../image.js';
import { t } from '../texts.js';
import { disclaimer, message } from './dialog.js';
import { labelled } from './fields.js';
import { heatmap } from './heatmap.js';
import { printLetter } from './letter.js';
import { waitingLine } from './pieces.js';
import { printReport } from './report.js';
import { bars, headline, metadataEffect, metadataList, modelFacts, setSentence, unreliable } from './result.js';

/** The side of the photograph beside the risk, which a phone shows before one scrolls. */
const SMALL_SIDE = 240;

/**
 * A result with everything that a reader needs to judge it, and the buttons that take it out of the page.
 * @param {object} options
 * @param {() => Scan} options.scanOf the scan with what was written beside it and found out about it since
 * @param {HTMLCanvasElement | null} options.photograph the square that the model saw; null where it was not kept
 * @param {import('./heatmap.js').Options['request']} options.request a map
 * @param {import('./heatmap.js').Options['checked']} options.checked
 * @param {{decode: number, engine: number}} [options.milliseconds]
 * @param {Node} options.words the fields for the name and the note
 * @param {(Node | null)[]} options.beside what stands under the picture and the figures
 */
export function resultPanel({ scanOf, photograph, request, checked, milliseconds, words, beside }) {
  const scan = scanOf();
  const { result, classes, square } = scan;
  /** @type {import('./report.js').ReportMap | null} */
  let shown = null;
  const map = photograph ? heatmap({
    photograph, result, classes, request, checked, milliseconds: milliseconds?.engine, trustOf: (lesionClass) => scanOf().trust?.[lesionClass],
    drawn: (canvas, lesionClass) => { shown = canvas && { canvas, class: lesionClass }; },
  }) : null;
  const effect = h('div', { 'aria-live': 'polite' });
  const showEffect = (/** @type {Result} */ known) => replace(effect, metadataEffect(known, classes, app.description?.temperature ?? 1));
  showEffect(result);
  /** Says that what the metadata did is on its way. */
  const expectEffect = () => replace(effect, waitingLine(t('effect.pending')));
  const notes = [
    ...(square.moved ? [t('result.moved', { side: square.side, left: square.left, top: square.top })] : []),
    ...(scan.reduced ? [t('result.reduced', { width: square.width, height: square.height })] : []),
  ];
  return {
    mapReady: map?.ready ?? Promise.resolve(),
    showEffect,
    expectEffect,
    files: [
      ...(/** @type {const} */ (['json', 'csv'])).map((format) => h('button', { class: 'button', onclick: () =>
        exportScans([scanOf()], format, baseName(scan.name), app.description) }, icon('export'), format.toUpperCase())),
      h('button', { class: 'button', onclick: () => printLetter(scanOf(), photograph) }, icon('print'), t('letter.title')),
    ],
    report: h('button', { class: 'button', onclick: () => printReport(scanOf(), photograph, shown) }, icon('print'), t('result.report')),
    element: h('div', { class: 'result' },
      h('section', { class: `result-head card stack${photograph && !result.abstain ? ' has-photograph' : ''}`, 'aria-label': t('result.heading') },
        photograph ? h('div', { class: 'head-photograph no-print', 'aria-hidden': 'true' }, copyOf(photograph, SMALL_SIDE)) : null,
        headline(result), disclaimer()),
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
      h('div', { class: 'result-notes' }, words),
      h('div', { class: 'result-rest stack wide' }, ...beside,
        h('details', { class: 'card' }, h('summary', {}, t('result.more')), modelFacts(scan, { milliseconds })))),
  };
}

/**
 * The fields for the person's words beside a result.
 * @param {{lesion: string, note: string}} words
 * @param {(words: {lesion?: string, note?: string}) => void} typed
 * @param {{names?: string[], left?: () => void, rows?: number}} options `names`: offered for the lesion; `left`: a field was left
 * @param {...Node} more
 */
export function wordFields(words, typed, { names, left, rows = 3 }, ...more) {
  const known = uniqueID('names');
  const lesion = h('input', { class: 'input', value: words.lesion, list: names && known, maxlength: LESION_LENGTH,
    autocomplete: 'off', oninput: () => typed({ lesion: lesion.value }), onchange: left });
  const note = h('textarea', { class: 'input', rows, value: words.note, maxlength: NOTE_LENGTH, autocomplete: 'off',
    oninput: () => typed({ note: note.value }), onchange: left });
  return h('section', { class: 'card stack', 'aria-label': t('record.notes') }, h('h2', {}, t('record.notes')),
    labelled(t('record.lesion'), lesion, names ? h('datalist', { id: known }, names.map((name) => h('option', { value: name }))) : null),
    labelled(t('record.note'), note), ...more);
}

/** The title over the metadata; where the model abstains it promises no effect. */
function effectTitle(/** @type {Result} */ result) {
  return t(result.abstain ? 'effect.given' : 'effect.heading');
}
