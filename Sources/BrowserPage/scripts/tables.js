import { has } from './texts.js';

/**
 * Tables of what is known of the patients, with the columns that the command line reads: see contract.md, and OUTPUT.md.
 *
 * @typedef {{metadata: import('./types.js').Metadata, flaw: string}} Row `flaw`: what is wrong with the row; empty where nothing is
 * @typedef {{rows: Map<string, Row>, columns: boolean}} Table the rows by what their photograph is known by; `columns`: whether there is any for age, sex or place
 */

const NAMES = {
  image: ['image_id', 'isic_id', 'image'],
  age: ['age', 'age_approx', 'age (years)', 'age_years'],
  sex: ['sex', 'gender'],
  site: ['localization', 'anatom_site_general', 'site', 'location', 'localisation', 'anatom_site', 'anatom_site_general_challenge'],
};
const MISSING = new Set(['', 'na', 'nan', 'null', 'none', '-', '?', 'unknown']);
const SEXES = new Map([['m', 'male'], ['male', 'male'], ['f', 'female'], ['w', 'female'], ['female', 'female']]);
/** The ISIC archive's regions in which several of the model's lie: which of them it is is not known. */
const SEVERAL = new Set(['anterior torso', 'posterior torso', 'lateral torso', 'torso', 'head/neck', 'oral/genital', 'palms/soles']);

/**
 * What a photograph is known by in a table: its file's name without the ending.
 * @param {string} name
 */
export function imageID(name) {
  return name.replace(/\.[^.]*$/, '');
}

/**
 * The cells of a table (RFC 4180), separated by what its first line holds: a tab, a semicolon or a comma.
 * @param {string} text
 * @returns {{cells: string[], line: number}[]}
 */
export function cellsOf(text) {
  const content = text.replace(/^\ufeff/, '');
  const [head] = content.split('\n', 1);
  const separator = ['\t', ';', ','].find((each) => head.includes(each)) ?? ',';
  /** @type {{cells: string[], line: number}[]} */
  const rows = [];
  let cells = [''];
  let quoted = false;
  let line = 1;
  let start = 1;
  const add = (/** @type {string} */ character) => { cells[cells.length - 1] += character; };
  const end = () => {
    if (cells.length > 1 || cells[0].trim() !== '') rows.push({ cells: cells.map((cell) => cell.trim()), line: start });
    cells = [''];
    start = line;
  };
  for (let at = 0; at < content.length; at += 1) {
    const character = content[at];
    if (character === '\n') line += 1;
    if (quoted) {
      if (character !== '"') add(character);
      else if (content[at + 1] === '"') {
        add('"');
        at += 1;
      } else quoted = false;
    } else if (character === '"' && cells[cells.length - 1].trim() === '') quoted = true;
    else if (character === separator) cells.push('');
    else if (character === '\n') end();
    else if (character !== '\r') add(character);
  }
  end();
  return rows;
}

/**
 * @param {string} text
 * @returns {Table}
 */
export function readTable(text) {
  const [head, ...body] = cellsOf(text);
  const names = (head?.cells ?? []).map((name) => name.toLowerCase());
  const column = (/** @type {string[]} */ wanted) => wanted.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1;
  const at = { image: column(NAMES.image), age: column(NAMES.age), sex: column(NAMES.sex), site: column(NAMES.site) };
  if (at.image < 0) throw Object.assign(new Error(names.join(', ').slice(0, 200)), { code: 'table_without_images' });
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const { cells, line } of body) {
    const cell = (/** @type {number} */ index) => (index < 0 ? '' : cells[index] ?? '');
    const id = cell(at.image);
    if (rows.has(id)) throw Object.assign(new Error(`line ${line}: ${id}`), { code: 'table_row_twice' });
    rows.set(id, rowOf(cell(at.age), cell(at.sex), cell(at.site), line));
  }
  return { rows, columns: at.age >= 0 || at.sex >= 0 || at.site >= 0 };
}

/**
 * @param {string} ageText
 * @param {string} sexText
 * @param {string} siteText
 * @param {number} line
 * @returns {Row}
 */
function rowOf(ageText, sexText, siteText, line) {
  const isMissing = (/** @type {string} */ text) => MISSING.has(text.toLowerCase());
  const age = isMissing(ageText) ? null : Number(ageText.replace(/^(\d+),(\d+)$/, '$1.$2'));
  const sex = isMissing(sexText) ? 'unknown' : SEXES.get(sexText.toLowerCase());
  const siteName = siteText.toLowerCase();
  const site = isMissing(siteText) || SEVERAL.has(siteName) ? 'unknown' : has(`sites.${siteName}`) ? siteName : undefined;
  const flaws = [
    age !== null && !(age >= 0 && age <= 130) ? `age "${ageText}"` : '',
    sex === undefined ? `sex "${sexText}"` : '',
    site === undefined ? `site "${siteText}"` : '',
  ].filter(Boolean);
  return {
    metadata: { age, sex: /** @type {'unknown'} */ (sex ?? 'unknown'), site: site ?? 'unknown' },
    flaw: flaws.length > 0 ? `line ${line}: ${flaws.join(', ')}` : '',
  };
}
