import facts from '../facts.js';
import { h } from '../dom.js';
import { formatDate, nameOfClass, t } from '../texts.js';
import { drawn } from '../image.js';
import { disclaimer, tell } from './dialog.js';
import { mapCaption, verdict } from './map-checks.js';
import { colourBar } from './map-colours.js';
import { metadataLine } from './metadata-form.js';
import { bars, headline, metadataList, modelFacts, setSentence, unreliable } from './result.js';

/**
 * The map that a report shows, and its class.
 * @typedef {{canvas: HTMLCanvasElement, class: string}} ReportMap
 */

/** @param {HTMLCanvasElement} canvas */
export const copyOf = (canvas) => drawn(canvas, Infinity);

/** Puts an article into the page, where only a printer sees it, and prints it. */
export function printOnPaper(/** @type {HTMLElement} */ article) {
  dropReport();
  document.body.append(article);
  print();
}

/** Prints several results, a few lines each. */
export async function printList(/** @type {Scan[]} */ scans) {
  const addresses = scans.map(({ thumbnail }) => URL.createObjectURL(thumbnail));
  const pictures = addresses.map((address) => h('img', { src: address, alt: '', width: 96, height: 96 }));
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
  printOnPaper(h('article', { class: 'report', 'aria-hidden': 'true' },
    disclaimer(),
    h('header', { class: 'report-head' }, h('h1', {}, t('report.title')), h('p', {}, t('report.scans', { count: scans.length }))),
    ...scans.map((scan, index) => h('section', { class: 'report-item' }, pictures[index],
      h('div', {}, h('h2', {}, [scan.lesion, scan.name].filter(Boolean).join(' · ')),
        h('p', { class: 'small' }, [formatDate(scan.created), metadataLine(scan.result.metadata)].join(' · ')),
        headline(scan.result), scan.note ? h('p', { class: 'report-note' }, scan.note) : null))),
    h('section', {}, h('p', { class: 'small' }, t('report.page', { hash: facts.hash })))));
  addresses.forEach((address) => URL.revokeObjectURL(address));
}

function print() {
  try {
    // The browsers inside of other apps often have no way to print.
    window.print();
  } catch {
    dropReport();
    tell(t('result.report'), t('report.failed'));
  }
}

/** Takes the last report out of the page: the browser's own command prints what is shown. */
export function dropReport() {
  document.querySelector('.report')?.remove();
}

/**
 * Prints a result, or stores it as PDF by the browser's own dialog.
 * @param {Scan} scan
 * @param {HTMLCanvasElement | null} photograph the square that the model saw
 * @param {ReportMap | null} map
 */
export function printReport(scan, photograph, map) {
  const { result, classes, created, note, lesion } = scan;
  // Where the model abstains, paper shows no map that somebody could rely on.
  const shown = result.abstain ? null : map;
  printOnPaper(h('article', { class: 'report', 'aria-hidden': 'true' },
    disclaimer(),
    h('header', { class: 'report-head' },
      h('h1', {}, t('report.title')),
      h('p', {}, [formatDate(created), lesion, scan.name].filter(Boolean).join(' · '))),
    h('div', { class: 'report-result' }, headline(result)),
    h('div', { class: 'report-pictures' },
      h('figure', {}, photograph ? copyOf(photograph) : h('p', { class: 'report-missing' }, t('report.noPhotograph'))),
      h('figure', {}, photograph && shown
        ? h('div', { class: 'heatmap-stage' }, copyOf(photograph), h('div', { class: 'report-overlay' }, copyOf(shown.canvas)))
        : h('p', { class: 'report-missing' }, result.abstain ? t('heatmap.abstains') : t('report.noHeatmap'))),
      h('div', { class: 'report-captions' }, h('p', {}, t('report.photograph')), shown ? mapWords(scan, shown.class) : null)),
    h('section', {}, h('h2', {}, t('result.probabilities')), unreliable(result), bars(result, classes), setSentence(result, classes)),
    h('section', {}, h('h2', {}, t('effect.given')), metadataList(result.metadata)),
    note ? h('section', {}, h('h2', {}, t('record.note')), h('p', { class: 'report-note' }, note)) : null,
    h('section', {}, h('h2', {}, t('report.made')), modelFacts(scan, { isNamed: false }),
      h('p', { class: 'small' }, t('report.page', { hash: facts.hash })))));
}

/**
 * The report's sentences on a map: what its bright areas are, and how its checks ended.
 * @param {Scan} scan
 * @param {string} lesionClass
 */
function mapWords({ classes, trust }, lesionClass) {
  const found = trust?.[lesionClass];
  return [h('p', {}, mapCaption(nameOfClass(classes, lesionClass), found)), found?.passes === false ? null : h('p', {}, verdict(found)), colourBar()];
}
