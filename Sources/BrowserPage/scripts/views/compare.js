import { app } from '../app.js';
import { h } from '../dom.js';
import { icon, riskIcon } from '../icons.js';
import { formatDate, t } from '../texts.js';
import { riskWords, summary } from '../wording.js';
import { disclaimer, message } from '../parts/dialog.js';
import { bars, unreliable } from '../parts/result.js';
import { missingRecord, storedSquare } from './record.js';

const DAY = 86_400_000;

/**
 * Two scans side by side.
 * @param {string} firstID
 * @param {string} secondID
 * @returns {Promise<import('../shell.js').View>}
 */
export async function compareView(firstID, secondID) {
  const off = await app.store.state() === 'off';
  const scans = off ? [] : (await Promise.all([firstID, secondID].map((id) => app.store.get(id)))).flatMap((scan) => scan ?? []);
  if (scans.length < 2) return { title: t('record.missing'), content: missingRecord() };
  scans.sort((first, second) => Date.parse(first.created) - Date.parse(second.created));
  const days = Math.round((Date.parse(scans[1].created) - Date.parse(scans[0].created)) / DAY);
  const [first, second] = scans;
  const columns = await Promise.all(scans.map(async (scan) => {
    const stored = await storedSquare(scan, await app.store.photograph(scan.id));
    stored?.canvas.setAttribute('role', 'img');
    stored?.canvas.setAttribute('aria-label', t('compare.photograph', { date: formatDate(scan.created) }));
    const risk = riskWords(scan.result);
    return h('section', { class: 'card stack' },
      h('h2', {}, h('a', { href: `#history/${scan.id}` }, formatDate(scan.created))),
      stored ? h('div', { class: 'heatmap-stage' }, stored.canvas) : message('notice', t('heatmap.noPhotograph')),
      h('p', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word),
      h('p', {}, summary(scan.result, scan.classes)),
      unreliable(scan.result), bars(scan.result, scan.classes));
  }));
  return {
    title: t('compare.title'),
    content: h('div', { class: 'view stack wide' },
      h('div', {}, h('a', { class: 'back-link', href: '#history' }, icon('back'), t('record.back'))),
      h('div', { class: 'stack close' }, h('h1', {}, first.lesion && first.lesion === second.lesion ? t('compare.of', { name: first.lesion }) : t('compare.title')),
        h('p', { class: 'lead' }, t('compare.days', { count: days }))),
      first.result.model.sha256 === second.result.model.sha256 ? null : message('warning', t('compare.models')),
      first.lesion && first.lesion === second.lesion ? null : message('notice', t('compare.lesions')),
      h('div', { class: 'compare' }, columns),
      message('notice', t('compare.caution')),
      disclaimer(second.result.disclaimer)),
  };
}
