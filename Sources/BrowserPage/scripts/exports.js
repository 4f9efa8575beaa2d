import { download } from './dom.js';

/**
 * A cell of a table, by RFC 4180: quoted where the text holds a comma, a quote or a line break. What a spreadsheet would take
 * for a formula gets an apostrophe before it: file names and notes come from anywhere.
 * @param {string | number} value
 */
export function csvCell(value) {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The columns of `dermafusion classify --format csv`, and behind them what only the page knows.
 * @param {import('./types.js').Scan} scan
 * @returns {[string, string | number][]}
 */
function cells({ result, classes, created, square, lesion, note, trust = {} }) {
  const words = (/** @type {string[] | null} */ list) => (list ?? []).join(' ');
  return [
    ['image_id', result.image.replace(/(?<=.)\.[^.]*$/, '')], ['image', result.image], ['class', result.prediction?.class ?? ''], ['name', result.prediction?.name ?? ''],
    ['probability', result.prediction?.probability ?? ''],
    ...classes.map(({ class: id }) => /** @type {[string, number]} */ ([id, result.probabilities[id]])),
    ['risk', result.risk ?? ''], ['concern', result.concern ?? ''], ['urgent', String(result.urgent ?? '')], ['confidence', result.confidence],
    ['age', result.metadata.age ?? ''], ['sex', result.metadata.sex], ['site', result.metadata.site],
    ['missing', words(result.metadata.missing)], ['warnings', words(result.warnings)],
    ['model', result.model.name], ['modelVersion', result.model.version], ['modelSHA256', result.model.sha256],
    ['summary', result.summary], ['disclaimer', result.disclaimer], ['abstain', String(result.abstain)],
    ['abstainReasons', words(result.abstainReasons)], ['conformalSet', words(result.abstain ? [] : result.conformalSet)],
    ['created', created], ['square', `${square.left} ${square.top} ${square.side}`], ['squareMoved', String(square.moved)],
    ['lesion', lesion], ['note', note], ['mapChecks', words(Object.entries(trust).map(([id, { passes }]) => `${id}:${passes ? 'passed' : 'failed'}`))],
  ];
}

/**
 * Scans of several models have columns of their own, so each model gets a table of its own in the file. What could not be
 * classified is there with the reason in the last column.
 * @param {import('./types.js').Scan[]} scans
 * @param {{name: string, error: string}[]} [failures]
 * @param {string} [disclaimer]
 */
export function csvOf(scans, failures = [], disclaimer = '') {
  let header = '';
  const hasFailures = failures.length > 0;
  const lines = scans.map((scan) => {
    const row = cells(scan);
    const columns = [...row.map(([column]) => column), ...(hasFailures ? ['error'] : [])].join(',');
    const prefix = columns === header ? '' : `${header ? '\n' : ''}${columns}\n`;
    header = columns;
    return `${prefix}${[...row.map(([, value]) => csvCell(value)), ...(hasFailures ? [''] : [])].join(',')}\n`;
  });
  if (hasFailures && !header) {
    header = 'image_id,image,disclaimer,error';
    lines.push(`${header}\n`);
  }
  for (const { name, error } of failures) {
    /** @type {Record<string, string>} */
    const known = { image_id: name.replace(/(?<=.)\.[^.]*$/, ''), image: name, disclaimer, error };
    lines.push(`${header.split(',').map((column) => csvCell(known[column] ?? '')).join(',')}\n`);
  }
  // Excel takes a table without this mark for one in the machine's old encoding.
  return `\ufeff${lines.join('')}`;
}

/**
 * The object that OUTPUT.md describes, with what only the page knows in a member of its own.
 * @param {import('./types.js').Scan} scan
 */
function objectOf({ result, created, square, reduced, lesion, note, trust = {} }) {
  return { ...result, page: { created, square, reduced, lesion, note, trust } };
}

/**
 * One object a line.
 * @param {import('./types.js').Scan[]} scans
 */
export function jsonOf(scans) {
  return scans.map((scan) => `${JSON.stringify(objectOf(scan))}\n`).join('');
}

/**
 * @param {import('./types.js').Scan[]} scans
 * @param {'json' | 'csv'} format
 * @param {string} name without its ending
 * @param {{name: string, error: string}[]} [failures] what could not be classified, and why
 */
export function exportScans(scans, format, name, failures = []) {
  const text = format === 'json' ? jsonOf(scans) : csvOf(scans, failures, scans[0]?.result.disclaimer);
  download(`${name}.${format === 'json' && scans.length > 1 ? 'jsonl' : format}`, new Blob([text], { type: format === 'json' ? 'application/json' : 'text/csv' }));
}

/**
 * A file's name without its ending, safe on every disk.
 * @param {string} name
 */
export function baseName(name) {
  return name.replace(/\.[^.]*$/, '').replace(/[^\p{L}\p{N} _-]+/gu, '_').slice(0, 80) || 'dermafusion';
}
