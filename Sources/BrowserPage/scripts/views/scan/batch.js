import { app } from '../../app.js';
import { blobAddresses, fileName, h, replace } from '../../dom.js';
import { exportScans } from '../../exports.js';
import { closeList, openFiles, openItem, runList, saveList, useTables } from '../../actions.js';
import { icon, riskIcon } from '../../icons.js';
import { disclaimer, message } from '../../parts/dialog.js';
import { metadataLine } from '../../parts/metadata-form.js';
import { printList } from '../../parts/report.js';
import { currentScan, isStale, sortedItems, unsavedItems } from '../../state.js';
import { store } from '../../store.js';
import { listOrdered, listStopped } from '../../transitions.js';
import { t } from '../../texts.js';
import { failureWords, riskWords, summary } from '../../wording.js';

/**
 * @typedef {import('../../state.js').Item} Item
 * @typedef {import('../../state.js').List} List
 */

/**
 * Several photographs: how far they are, and their results.
 * @param {List} first
 * @returns {import('../scan.js').Part}
 */
export function batchList(first) {
  const addresses = blobAddresses();
  /** The list as it is now; the one that this view showed where it has been closed. */
  const now = () => store.state.list ?? first;
  const rows = h('ul', { role: 'list', class: 'batch-rows' });
  const bar = h('progress', { class: 'progress', max: first.items.length, 'aria-label': t('batch.progress') });
  const count = h('p', { class: 'soft numbers', role: 'status' });
  const actions = h('div', { class: 'row' });
  const table = h('div', { 'aria-live': 'polite' });
  const failed = h('div', { class: 'stack', 'aria-live': 'polite' });
  const unfinished = h('div', {});
  const order = h('select', { class: 'input', id: 'batch-order', onchange: () => store.apply(listOrdered, order.value === 'risk' ? 'risk' : 'given') }, /** @type {const} */ (['given', 'risk']).map((each) => h('option', { value: each, selected: each === first.order }, t(`batch.orders.${each}`))));
  const picker = h('input', { type: 'file', accept: '.csv,.tsv,text/csv', class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true', 'data-role': 'table',
    onchange: async () => {
      const files = [...(picker.files ?? [])];
      picker.value = '';
      if (files.length > 0) await useTables(files);
    } });
  const more = h('input', { type: 'file', accept: 'image/*', multiple: true, class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true', 'data-role': 'choose',
    onchange: () => openFiles([...(more.files ?? [])]) });
  let saving = false;

  async function saveAll() {
    saving = true;
    draw();
    await saveList();
    saving = false;
    draw();
    app.announce(unsavedItems(now()).length === 0 ? t('batch.allSaved') : t('history.notSaved'));
  }

  /** @param {'json' | 'csv'} format */
  const exported = (format) => exportScans(sortedItems(now()).flatMap((item) => currentScan(item) ?? []), format, 'dermafusion-results',
    now().items.filter(({ status }) => status !== 'done').map(({ file, status, error }) => ({ name: file.name, error: status === 'failed' ? failureWords(error) : t('batch.notYet') })));

  function draw() {
    const list = now();
    const items = sortedItems(list);
    const finished = items.filter(({ status }) => status === 'done' || status === 'failed');
    const isSaved = unsavedItems(list).length === 0;
    const scans = items.flatMap((item) => currentScan(item) ?? []);
    bar.value = finished.length;
    const words = t('batch.count', { done: finished.length, all: list.items.length });
    if (count.textContent !== words) count.textContent = words;
    replace(table, list.table ? message(list.table.used < list.items.length || !list.table.columns ? 'warning' : 'notice',
      t('batch.tableUsed', { name: list.table.name, used: list.table.used, all: list.items.length }), list.table.columns ? null : t('batch.tableEmpty'),
      list.table.notes.length > 0 ? h('ul', { lang: 'en' }, list.table.notes.map((note) => h('li', {}, note))) : null) : null);
    replace(failed, list.problem ? message('danger', t('scan.cannotOpen', { name: list.problem.name }), failureWords(list.problem.error)) : null);
    const { work } = store.state;
    replace(unfinished, work && isStale(work) ? message('warning', t('batch.unfinished', { name: work.photograph.name }),
      h('div', {}, h('a', { class: 'button', href: '#scan/result' }, t('scan.continue'), icon('forward')))) : null);
    // The row that has the focus keeps it.
    const focused = rows.contains(document.activeElement) ? document.activeElement?.getAttribute('data-item') : null;
    const acting = actions.contains(document.activeElement) ? document.activeElement?.getAttribute('data-action') : null;
    replace(rows, items.map(row));
    replace(actions,
      list.running ? h('button', { class: 'button', 'data-action': 'stop', onclick: () => store.apply(listStopped) }, t('common.cancel'))
        : finished.length < list.items.length ? h('button', { class: 'button primary', 'data-action': 'stop', onclick: runList }, icon('refresh'), t('batch.goOn')) : null,
      scans.length > 0 ? [
        h('button', { class: 'button primary', 'data-action': 'save', 'aria-disabled': String(saving || isSaved),
          onclick: () => { if (!saving && !isSaved) saveAll(); } },
        icon(isSaved ? 'check' : 'save'), t(saving ? 'batch.saving' : isSaved ? 'batch.allSaved' : 'batch.saveAll')),
        h('button', { class: 'button', 'data-action': 'json', onclick: () => exported('json') }, icon('export'), 'JSON'),
        h('button', { class: 'button', 'data-action': 'csv', onclick: () => exported('csv') }, icon('export'), 'CSV'),
        h('button', { class: 'button', 'data-action': 'print', onclick: () => printList(scans) }, icon('print'), t('batch.report'))] : null,
      h('button', { class: 'button', 'data-action': 'table', onclick: () => picker.click() }, icon('import'), t('batch.table')),
      h('button', { class: 'button plain', 'data-action': 'close', onclick: closeList }, t('batch.close')));
    const again = focused ? rows.querySelector(`[data-item="${focused}"]`) : acting ? actions.querySelector(`[data-action="${acting}"]`) : null;
    /** @type {HTMLElement | null} */ (again)?.focus({ preventScroll: true });
  }

  /** @param {Item} item */
  function row(item) {
    const { status, file } = item;
    const scan = currentScan(item);
    const risk = scan ? riskWords(scan.result) : null;
    return h('li', { class: 'scan-card' },
      scan ? h('img', { src: addresses.of(scan.thumbnail), alt: '', width: 72, height: 72 }) : h('span', { class: 'thumb-space' }, icon('image')),
      h('span', { class: 'stack close grow' }, h('span', { class: 'strong file-name' }, fileName(item.scan?.lesion || file.name)),
        scan && risk ? [h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word), h('span', { class: 'small' }, summary(scan.result, scan.classes)),
          h('span', { class: 'small soft' }, metadataLine(scan.result.metadata))] : null,
        status === 'failed' ? h('span', { class: 'field-error' }, failureWords(item.error)) : null,
        status === 'running' ? h('span', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('scan.analysing')) : null,
        status === 'waiting' ? h('span', { class: 'soft' }, t('batch.waiting')) : null),
      status === 'done' ? h('button', { class: 'button', 'data-item': item.id, 'aria-label': t('batch.openNamed', { name: file.name }), onclick: () => openItem(item) }, t('batch.open')) : null);
  }

  draw();
  const ignore = store.listen(draw);
  return { leave: () => {
    ignore();
    addresses.forget();
  }, content: h('div', { class: 'stack wide' },
    h('div', { class: 'stack close measure' }, h('h1', {}, t('batch.title')), h('p', { class: 'soft' }, t('batch.lead'))),
    count, bar, table, failed, unfinished, actions, picker, more,
    h('div', { class: 'field-row' }, h('label', { for: order.id }, t('batch.order')), order), rows,
    disclaimer()) };
}
