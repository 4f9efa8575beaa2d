import { app } from '../../app.js';
import { h, replace } from '../../dom.js';
import { exportScans } from '../../exports.js';
import { icon, riskIcon } from '../../icons.js';
import { t } from '../../texts.js';
import { failureWords, riskWords, summary } from '../../wording.js';

/**
 * Several photographs: how far they are, and their results.
 * @param {import('../../batch.js').Batch} list
 * @param {import('../scan.js').Flow} flow
 */
export function batchList(list, { openItem, closeBatch, onLeave }) {
  const rows = h('ul', { role: 'list', class: 'batch-rows' });
  const bar = h('progress', { class: 'progress', max: list.items.length, 'aria-label': t('batch.progress') });
  const count = h('p', { class: 'soft numbers', role: 'status' });
  const exports = h('div', { class: 'row' });
  const refresh = () => {
    const finished = list.items.filter(({ state }) => state === 'done' || state === 'failed');
    bar.value = finished.length;
    count.textContent = t('batch.count', { done: finished.length, all: list.items.length });
    replace(rows, list.items.map((item) => {
      const risk = item.scan ? riskWords(item.scan.result) : null;
      return h('li', { class: 'scan-card' },
        item.thumbnail ? h('img', { src: item.thumbnail, alt: '', width: 72, height: 72 }) : h('span', { class: 'thumb-space' }, icon('image')),
        h('span', { class: 'stack close grow' }, h('span', { class: 'strong' }, item.file.name),
          item.scan && risk ? [h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word), h('span', { class: 'small' }, summary(item.scan.result, item.scan.classes))] : null,
          item.state === 'failed' ? h('span', { class: 'field-error' }, failureWords(item.error)) : null,
          item.state === 'running' ? h('span', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('scan.analysing')) : null,
          item.state === 'waiting' ? h('span', { class: 'soft' }, t('batch.waiting')) : null),
        item.state === 'done' ? h('button', { class: 'button', 'aria-label': t('batch.openNamed', { name: item.file.name }), onclick: () => openItem(item) }, t('batch.open')) : null);
    }));
    const scans = list.items.flatMap(({ scan }) => (scan ? [scan] : []));
    replace(exports, list.running ? h('button', { class: 'button', onclick: () => list.stop() }, t('common.cancel')) : null,
      scans.length > 0 ? [
        h('button', { class: 'button', onclick: () => exportScans(scans, 'json', 'dermafusion-results') }, icon('export'), 'JSON'),
        h('button', { class: 'button', onclick: () => exportScans(scans, 'csv', 'dermafusion-results') }, icon('export'), 'CSV')] : null,
      h('button', { class: 'button', onclick: closeBatch }, t('batch.close')));
  };
  list.changed = refresh;
  onLeave(() => { list.changed = () => {}; });
  refresh();
  return h('div', { class: 'stack wide' },
    h('div', { class: 'stack close measure' }, h('h1', {}, t('batch.title')), h('p', { class: 'soft' }, t('batch.lead'))),
    count, bar, exports, rows,
    h('aside', { class: 'disclaimer' }, icon('about'), h('p', { lang: 'en' }, app.facts.disclaimer)));
}
