import { fileName, h } from '../dom.js';
import { riskIcon } from '../icons.js';
import { className, formatDate, formatPercent, nameOfClass, siteName, t } from '../texts.js';
import { riskWords } from '../wording.js';

/** @typedef {import('../types.js').Scan} Scan */

/**
 * A scan in a list: thumbnail, name, date, what the result suggests.
 * @param {Scan} scan
 * @param {string} address of the thumbnail
 */
export function scanSummary(scan, address) {
  const risk = riskWords(scan.result);
  const { prediction, concern } = scan.result;
  return [
    h('img', { src: address, alt: '', width: 72, height: 72, loading: 'lazy', decoding: 'async' }),
    h('span', { class: 'stack close grow' },
      h('span', { class: 'strong file-name' }, fileName(scan.lesion || scan.name)),
      h('span', { class: 'soft small' }, formatDate(scan.created)),
      h('span', { class: 'small' }, prediction && !scan.result.abstain
        ? t('history.suggests', { name: className(prediction.class, prediction.name), percent: formatPercent(prediction.probability) }) : t('history.noSuggestion')),
      concern ? h('span', { class: 'small' }, t('history.concern', { name: nameOfClass(scan.classes, concern), percent: formatPercent(scan.result.probabilities[concern]) })) : null),
    h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), h('span', {}, risk.word)),
  ];
}

/**
 * Whether a scan is one of those that somebody looks for: every word is in it somewhere.
 * @param {Scan} scan
 * @param {{query: string, risk: string, site: string}} looking empty where nothing is asked of it
 */
export function isLookedFor(scan, looking) {
  const { result: { prediction, concern, risk, metadata }, lesion, name, note, classes } = scan;
  if (looking.risk && (risk ?? 'none') !== looking.risk) return false;
  if (looking.site && metadata.site !== looking.site) return false;
  const words = [lesion, name, note, formatDate(scan.created), prediction ? className(prediction.class, prediction.name) : '', concern ? nameOfClass(classes, concern) : '',
    riskWords(scan.result).word, siteName(metadata.site)].join(' ').toLowerCase();
  return looking.query.toLowerCase().split(/\s+/).every((word) => words.includes(word));
}
