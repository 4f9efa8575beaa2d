import { app } from '../app.js';
import { fileName, h } from '../dom.js';
import { riskIcon } from '../icons.js';
import { byTime } from '../state.js';
import { formatDate, formatDuration, t } from '../texts.js';
import { riskWords, summary } from '../wording.js';
import { comparison } from '../parts/comparison.js';
import { disclaimer, message } from '../parts/dialog.js';
import { metadataLine } from '../parts/metadata-form.js';
import { backLink } from '../parts/pieces.js';
import { bars, unreliable } from '../parts/result.js';
import { missingRecord, storedScan, storedSquare } from './record.js';

/**
 * Two scans side by side.
 * @param {string} firstID
 * @param {string} secondID
 * @returns {Promise<View>}
 */
export async function compareView(firstID, secondID) {
  const scans = (await Promise.all([firstID, secondID].map((id) => storedScan(id)))).flatMap((scan) => scan ?? []);
  if (scans.length < 2) return { title: t('record.missing'), content: missingRecord() };
  scans.sort(byTime);
  const passed = Date.parse(scans[1].created) - Date.parse(scans[0].created);
  const [first, second] = scans;
  const isOneModel = first.result.model.sha256 === second.result.model.sha256;
  const squares = await Promise.all(scans.map(async (scan) => (await storedSquare(scan, await app.history.photograph(scan.id)))?.canvas ?? null));
  const labels = scans.map((scan) => t('compare.photograph', { name: scan.lesion || scan.name, date: formatDate(scan.created) }));
  const columns = scans.map((scan) => {
    const risk = riskWords(scan.result);
    return h('section', { class: 'card stack' },
      h('h2', {}, h('a', { class: 'file-name', href: `#history/${scan.id}` }, fileName(scan.lesion || scan.name))),
      h('p', { class: 'soft' }, [formatDate(scan.created), scan.lesion ? scan.name : '', metadataLine(scan.result.metadata)].filter(Boolean).join(' · ')),
      h('p', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word),
      h('p', {}, summary(scan.result)),
      unreliable(scan.result), bars(scan.result, scan.classes, isOneModel ? second.result : scan.result));
  });
  const isOneLesion = Boolean(first.lesion) && first.lesion === second.lesion;
  return {
    title: t('compare.title'),
    content: h('div', { class: 'view stack wide' },
      backLink('history', t('record.back')),
      h('div', { class: 'stack close' }, h('h1', {}, isOneLesion ? t('compare.of', { name: first.lesion }) : t('compare.title')),
        h('p', { class: 'lead' }, passed < 60_000 ? t('compare.together') : t('compare.between', { duration: formatDuration(passed) }))),
      isOneModel ? null : message('warning', t('compare.models')),
      isOneLesion ? null : message('notice', t('compare.lesions')),
      squares[0] && squares[1] ? comparison([squares[0], squares[1]], labels) : message('notice', t('heatmap.noPhotograph')),
      h('div', { class: 'compare' }, columns),
      message('notice', t('compare.caution')),
      disclaimer()),
  };
}
