import { download } from './dom.js';

/**
 * A cell of a table as the command line writes it, whose tables the engine reads back: quoted where the text holds what separates
 * cells, a quote, a line break, or a blank at an end. What a spreadsheet would take for a formula, also behind a semicolon, a tab
 * or a line break, gets an apostrophe before it, and so does such an apostrophe: file names and notes come from anywhere.
 * @param {string | number} value
 */
export function csvCell(value) {
  if (typeof value === 'number') return String(value);
  const marked = value.replace(/(^|[;\t\n\r])('*)(?=[=@\uff1d\uff0b\uff0d\uff20]|([+-][^;\t\n\r]*))/g,
    (start, before, marks, signed = '') => (isNumber(signed) ? start : `${before}'${marks}`));
  const text = /^'*[\t\n\r]/.test(value) ? `'${marked}` : marked;
  return /^ |[",;\t\n\r]| $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {string} text */
function isNumber(text) {
  return /^[+-](\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
}

/**
 * The name by which tables know an image: its file's name without the ending of an image.
 * @param {string} name
 * @param {string[]} endings of images
 */
function imageId(name, endings) {
  const dot = name.lastIndexOf('.');
  return dot > 0 && endings.includes(name.slice(dot).toLowerCase()) ? name.slice(0, dot) : name;
}

/**
 * The columns of `dermafusion classify --format csv`, and behind them what only the page knows.
 * @param {Scan} scan
 * @param {string[]} endings of images
 * @returns {[string, string | number][]}
 */
function cells({ result, classes, created, square, lesion, note, trust = {} }, endings) {
  const words = (/** @type {string[] | null} */ list) => (list ?? []).join(' ');
  return [
    ['image_id', imageId(result.image, endings)], ['image', result.image], ['class', result.prediction?.class ?? ''], ['name', result.prediction?.name ?? ''],
    ['probability', result.prediction?.probability ?? ''],
    ...classes.map(({ class: id }) => /** @type {[string, number]} */ ([id, result.probabilities[id]])),
    ['risk', result.risk ?? ''], ['concern', result.concern ?? ''], ['urgent', String(result.urgent ?? '')], ['confidence', result.confidence],
    ['age', result.metadata.age ?? ''], ['sex', result.metadata.sex], ['site', result.metadata.site],
    ['missing', words(result.metadata.missing)], ['warnings', words(result.warnings)],
    ['model', result.model.name], ['modelVersion', result.model.version], ['modelSHA256', result.model.sha256],
    ['summary', result.summary], ['disclaimer', result.disclaimer], ['abstain', String(result.abstain)],
    ['abstainReasons', words(result.abstainReasons)], ['conformalSet', words(result.abstain ? [] : result.conformalSet)],
    ['instructionSet', result.instructionSet ?? ''], ['precision', result.precision ?? ''],
    ['created', created], ['square', `${square.left} ${square.top} ${square.side}`], ['squareMoved', String(square.moved)],
    ['lesion', lesion], ['note', note], ['mapChecks', words(Object.entries(trust).map(([id, { passes }]) => `${id}:${passes ? 'passed' : 'failed'}`))],
  ];
}

/**
 * Scans of several models have columns of their own, so each model gets a table of its own in the file. What could not be
 * classified is there with the reason in the last column.
 * @param {Scan[]} scans
 * @param {string[]} endings of images, as the engine knows them
 * @param {{name: string, error: string}[]} [failures]
 * @param {string} [disclaimer]
 */
export function csvOf(scans, endings, failures = [], disclaimer = '') {
  let text = '';
  /** @type {string[]} */
  let columns = [];
  const add = (/** @type {Map<string, string | number>} */ row, own = [...row.keys()]) => {
    if (own.join() !== columns.join()) text += `${text && '\n'}${own.join()}\n`;
    columns = own;
    text += `${own.map((column) => csvCell(row.get(column) ?? '')).join()}\n`;
  };
  for (const scan of scans) add(new Map([...cells(scan, endings), ...(failures.length > 0 ? [/** @type {const} */ (['error', ''])] : [])]));
  for (const { name, error } of failures) {
    add(new Map([['image_id', imageId(name, endings)], ['image', name], ['disclaimer', disclaimer], ['error', error]]),
      columns.length > 0 ? columns : undefined);
  }
  // Excel takes a table without this mark for one in the machine's old encoding.
  return `\ufeff${text}`;
}

/** One object a line, as OUTPUT.md describes it, with what only the page knows in a member of its own. */
export function jsonOf(/** @type {Scan[]} */ scans) {
  return scans.map(({ result: { summaries, ...result }, created, square, reduced, lesion, note, trust = {} }) => (
    `${JSON.stringify({ ...result, page: { created, square, reduced, lesion, note, trust } })}\n`)).join('');
}

/**
 * @param {Scan[]} scans
 * @param {'json' | 'csv'} format
 * @param {string} name without its ending
 * @param {{imageEndings: string[]} | undefined} description the engine's
 * @param {{name: string, error: string}[]} [failures] what could not be classified, and why
 */
export function exportScans(scans, format, name, description, failures = []) {
  const text = format === 'json' ? jsonOf(scans) : csvOf(scans, description?.imageEndings ?? [], failures, scans[0]?.result.disclaimer);
  download(`${name}.${format === 'json' && scans.length > 1 ? 'jsonl' : format}`,
    new Blob([text], { type: format === 'json' ? 'application/json' : 'text/csv' }));
}

/** A file's name without its ending, safe on every disk. */
export function baseName(/** @type {string} */ name) {
  return name.replace(/\.[^.]*$/, '').replace(/[^\p{L}\p{N} _-]+/gu, '_').slice(0, 80) || 'dermafusion';
}
