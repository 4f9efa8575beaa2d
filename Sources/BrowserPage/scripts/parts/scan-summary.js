import { app } from '../app.js';
import { blobAddresses, fileName, h } from '../dom.js';
import { riskIcon } from '../icons.js';
import { className, formatDate, formatPercent, siteName, t } from '../texts.js';
import { riskWords } from '../wording.js';

/** The suggestions of a scan's result, a sentence each. */
export function suggestion(/** @type {Pick<Row, 'prediction' | 'concern' | 'abstain'>} */ { prediction, concern, abstain }) {
  const words = (/** @type {string} */ key, /** @type {NonNullable<Row['concern']>} */ each) =>
    t(key, { name: className(each.class, each.name), percent: formatPercent(each.probability) });
  return [prediction && !abstain ? words('history.suggests', prediction) : t('history.noSuggestion'), ...(concern ? [words('history.concern', concern)] : [])];
}

/** A scan in a list: thumbnail, name, date, what the result suggests. */
export function scanSummary(/** @type {Row} */ scan, /** @type {HTMLElement} */ thumbnail) {
  const risk = riskWords(scan);
  return [
    thumbnail,
    h('span', { class: 'stack close grow' },
      h('span', { class: 'strong file-name' }, fileName(scan.lesion || scan.name)),
      h('span', { class: 'soft small' }, formatDate(scan.created)),
      suggestion(scan).map((words) => h('span', { class: 'small' }, words))),
    h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), h('span', {}, risk.word)),
  ];
}

/** The pictures of scans in lists. They are read when they are drawn, those of one drawing together. */
export function thumbnails() {
  const addresses = blobAddresses();
  /** @type {Map<HTMLElement, string>} */
  let wanted = new Map();
  let drawing = 0;
  async function load() {
    const [asked, mine] = [wanted, drawing];
    wanted = new Map();
    const scans = new Map((await app.history.scans([...new Set(asked.values())])).map((scan) => [scan.id, scan]));
    if (mine !== drawing) return;
    for (const [image, id] of asked) {
      const scan = scans.get(id);
      if (scan) image.setAttribute('src', addresses.of(scan.thumbnail));
    }
  }
  return {
    /** @param {string} id */
    of(id) {
      const image = h('img', { alt: '', width: 72, height: 72, decoding: 'async' });
      if (wanted.size === 0) queueMicrotask(() => load().catch(() => {}));
      wanted.set(image, id);
      return image;
    },
    forget() {
      drawing += 1;
      addresses.forget();
    },
  };
}

/** So many rows are prepared between two moments in which the page answers. */
const SLICE = 250;

/**
 * Finds the scans that somebody looks for: every word is in the row somewhere. The words of the rows are put together beside
 * what the person does.
 * @param {Row[]} rows
 */
export function finder(rows) {
  /** @type {Map<Row, string>} */
  const known = new Map();
  const wordsOf = (/** @type {Row} */ row) => {
    const { lesion, name, note, created, site } = row;
    const words = known.get(row) ?? [lesion, name, note, formatDate(created), ...suggestion(row), riskWords(row).word, siteName(site)].join(' ').toLowerCase();
    known.set(row, words);
    return words;
  };
  (async () => {
    for (let start = 0; start < rows.length; start += SLICE) {
      await new Promise((resolve) => { setTimeout(resolve); });
      rows.slice(start, start + SLICE).forEach(wordsOf);
    }
  })();
  /** @param {{query: string, risk: string, site: string}} looking empty where nothing is asked of it */
  return ({ query, risk, site }) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return (/** @type {Row} */ row) => (!risk || (row.risk ?? 'none') === risk) && (!site || row.site === site)
      && (words.length === 0 || words.every((word) => wordsOf(row).includes(word)));
  };
}
