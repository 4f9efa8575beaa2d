import { app } from '../../app.js';
import { fileName, h, replace } from '../../dom.js';
import { exportScans } from '../../exports.js';
import { closeBatch, openItem, take } from '../../flow.js';
import { icon, riskIcon } from '../../icons.js';
import { message } from '../../parts/dialog.js';
import { metadataLine } from '../../parts/metadata-form.js';
import { printList } from '../../parts/report.js';
import { saveScan } from '../../parts/saving.js';
import { t } from '../../texts.js';
import { failureWords, riskWords, summary } from '../../wording.js';

/** @typedef {import('../../batch.js').Item} Item */

/**
 * Several photographs: how far they are, and their results.
 * @param {import('../../batch.js').Batch} list
 * @returns {import('../scan.js').Part}
 */
export function batchList(list) {
  const rows = h('ul', { role: 'list', class: 'batch-rows' });
  const bar = h('progress', { class: 'progress', max: list.items.length, 'aria-label': t('batch.progress') });
  const count = h('p', { class: 'soft numbers', role: 'status' });
  const actions = h('div', { class: 'row' });
  const table = h('div', { 'aria-live': 'polite' });
  const failed = h('div', { class: 'stack', 'aria-live': 'polite' });
  const order = h('select', { class: 'input', id: 'batch-order', onchange: () => {
    list.order = order.value === 'risk' ? 'risk' : 'given';
    refresh();
  } }, /** @type {const} */ (['given', 'risk']).map((each) => h('option', { value: each, selected: each === list.order }, t(`batch.orders.${each}`))));
  const picker = h('input', { type: 'file', accept: '.csv,.tsv,text/csv', class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true', 'data-role': 'table',
    onchange: async () => {
      const [file] = picker.files ?? [];
      picker.value = '';
      if (!file) return;
      replace(failed);
      try {
        await list.useTable(file);
      } catch (error) {
        replace(failed, message('danger', t('scan.cannotOpen', { name: file.name }), failureWords(error)));
      }
    } });
  const more = h('input', { type: 'file', accept: 'image/*', multiple: true, class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true', 'data-role': 'choose',
    onchange: () => take([...(more.files ?? [])]) });
  let saving = false;

  async function saveAll() {
    saving = true;
    refresh();
    for (const item of list.unsaved) {
      const scan = /** @type {import('../../types.js').Scan} */ (item.scan);
      const stored = await saveScan(scan, { key: `list-${item.id}`, blob: item.file }, scan.square);
      if (!stored) break;
      item.scan = stored;
      item.saved = true;
    }
    saving = false;
    refresh();
    app.announce(list.unsaved.length === 0 ? t('batch.allSaved') : t('history.notSaved'));
  }

  /** @param {'json' | 'csv'} format */
  const exported = (format) => exportScans(list.sorted.flatMap(({ scan }) => scan ?? []), format, 'dermafusion-results',
    list.items.filter(({ state }) => state === 'failed').map(({ file, error }) => ({ name: file.name, error: failureWords(error) })));

  function refresh() {
    const finished = list.items.filter(({ state }) => state === 'done' || state === 'failed');
    const scans = list.sorted.flatMap(({ scan }) => scan ?? []);
    bar.value = finished.length;
    const words = t('batch.count', { done: finished.length, all: list.items.length });
    if (count.textContent !== words) count.textContent = words;
    replace(table, list.table ? message(list.table.used < list.items.length || !list.table.columns ? 'warning' : 'notice',
      t('batch.tableUsed', { name: list.table.name, used: list.table.used, all: list.items.length }), list.table.columns ? null : t('batch.tableEmpty')) : null);
    // The row that has the focus keeps it.
    const focused = rows.contains(document.activeElement) ? document.activeElement?.getAttribute('data-item') : null;
    const acting = actions.contains(document.activeElement) ? document.activeElement?.getAttribute('data-action') : null;
    replace(rows, list.sorted.map(row));
    replace(actions,
      list.running ? h('button', { class: 'button', 'data-action': 'stop', onclick: () => list.stop() }, t('common.cancel'))
        : finished.length < list.items.length ? h('button', { class: 'button primary', 'data-action': 'stop', onclick: () => list.start() }, icon('refresh'), t('batch.goOn')) : null,
      scans.length > 0 ? [
        h('button', { class: 'button primary', 'data-action': 'save', 'aria-disabled': String(saving || list.unsaved.length === 0),
          onclick: () => { if (!saving && list.unsaved.length > 0) saveAll(); } },
        icon(list.unsaved.length === 0 ? 'check' : 'save'), t(saving ? 'batch.saving' : list.unsaved.length === 0 ? 'batch.allSaved' : 'batch.saveAll')),
        h('button', { class: 'button', 'data-action': 'json', onclick: () => exported('json') }, icon('export'), 'JSON'),
        h('button', { class: 'button', 'data-action': 'csv', onclick: () => exported('csv') }, icon('export'), 'CSV'),
        h('button', { class: 'button', 'data-action': 'print', onclick: () => printList(scans) }, icon('print'), t('batch.report'))] : null,
      h('button', { class: 'button', 'data-action': 'table', onclick: () => picker.click() }, icon('import'), t('batch.table')),
      h('button', { class: 'button plain', 'data-action': 'close', onclick: closeBatch }, t('batch.close')));
    const again = focused ? rows.querySelector(`[data-item="${focused}"]`) : acting ? actions.querySelector(`[data-action="${acting}"]`) : null;
    /** @type {HTMLElement | null} */ (again)?.focus({ preventScroll: true });
  }

  /** @param {Item} item */
  function row(item) {
    const { scan, state, file } = item;
    const risk = scan ? riskWords(scan.result) : null;
    return h('li', { class: 'scan-card' },
      item.thumbnail ? h('img', { src: item.thumbnail, alt: '', width: 72, height: 72 }) : h('span', { class: 'thumb-space' }, icon('image')),
      h('span', { class: 'stack close grow' }, h('span', { class: 'strong file-name' }, fileName(scan?.lesion || file.name)),
        scan && risk ? [h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word), h('span', { class: 'small' }, summary(scan.result, scan.classes)),
          h('span', { class: 'small soft' }, metadataLine(scan.result.metadata))] : null,
        state === 'failed' ? h('span', { class: 'field-error' }, failureWords(item.error)) : null,
        state === 'running' ? h('span', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('scan.analysing')) : null,
        state === 'waiting' ? h('span', { class: 'soft' }, t('batch.waiting')) : null),
      state === 'done' ? h('button', { class: 'button', 'data-item': item.id, 'aria-label': t('batch.openNamed', { name: file.name }), onclick: () => openItem(item) }, t('batch.open')) : null);
  }

  list.changed = refresh;
  refresh();
  return { leave: () => { list.changed = () => {}; }, content: h('div', { class: 'stack wide' },
    h('div', { class: 'stack close measure' }, h('h1', {}, t('batch.title')), h('p', { class: 'soft' }, t('batch.lead'))),
    count, bar, table, failed, actions, picker, more,
    h('div', { class: 'field-row' }, h('label', { for: order.id }, t('batch.order')), order), rows,
    h('aside', { class: 'disclaimer' }, icon('about'), h('p', { lang: 'en' }, app.facts.disclaimer))) };
}
