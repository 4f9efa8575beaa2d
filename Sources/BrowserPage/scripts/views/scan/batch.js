import { app } from '../../app.js';
import { blobAddresses, fileName, h, redraw, replace } from '../../dom.js';
import { exportScans } from '../../exports.js';
import { closeList, leaveDetailsOut, openFiles, openItem, runList, saveList, useTables } from '../../actions.js';
import { rowOf } from '../../history/records.js';
import { icon, riskIcon } from '../../icons.js';
import { disclaimer, message } from '../../parts/dialog.js';
import { fieldRow, filePicker } from '../../parts/fields.js';
import { metadataLine } from '../../parts/metadata-form.js';
import { printList } from '../../parts/report.js';
import { suggestion } from '../../parts/scan-summary.js';
import { currentScan, isStale, sortedItems, unsavedItems } from '../../state.js';
import { store } from '../../store.js';
import { listChanged } from '../../transitions.js';
import { t } from '../../texts.js';
import { failureWords, inLanguage, riskWords } from '../../wording.js';

/**
 * Several photographs: how far they are, and their results.
 * @param {List} first
 * @returns {Part}
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
  const order = h('select', { class: 'input', onchange: () => store.apply(listChanged, { order: order.value === 'risk' ? 'risk' : 'given' }) },
    /** @type {const} */ (['given', 'risk']).map((each) => h('option', { value: each, selected: each === first.order }, t(`batch.orders.${each}`))));
  const picker = filePicker({ accept: '.csv,.tsv,text/csv', 'data-role': 'table' }, useTables);
  // Photographs that are chosen here take the list's place.
  const more = filePicker({ accept: 'image/*', multiple: true, 'data-role': 'choose' }, openFiles);
  let saving = false;

  async function saveAll() {
    saving = true;
    draw();
    await saveList();
    saving = false;
    draw();
    app.announce(unsavedItems(now()).length === 0 ? t('batch.allSaved') : t('history.notSaved'));
  }

  function draw() {
    const list = now();
    const done = list.items.filter(isFinished).length;
    bar.value = done;
    const words = t('batch.count', { done, all: list.items.length });
    if (count.textContent !== words) count.textContent = words;
    replace(table, tableWords(list));
    replace(failed, list.problem ? message('danger', t('scan.cannotOpen', { name: list.problem.name }), failureWords(list.problem.error)) : null);
    replace(unfinished, unfinishedWork());
    redraw(rows, 'data-item', sortedItems(list).map((item) => row(item, addresses.of)));
    redraw(actions, 'data-action', listActions(list, { saving, saveAll, addTable: () => picker.click() }));
  }

  draw();
  const ignore = store.listen(draw);
  return { leave: () => {
    ignore();
    addresses.forget();
  }, content: h('div', { class: 'stack wide' },
    h('div', { class: 'stack close measure' }, h('h1', {}, t('batch.title')), h('p', { class: 'soft' }, t('batch.lead'))),
    count, bar, table, failed, unfinished, actions, picker, more,
    fieldRow(t('batch.order'), order), disclaimer(), rows) };
}

/** @param {Item} item */
function isFinished({ status }) {
  return status === 'done' || status === 'failed';
}

/** @param {Item} item true if its row in the table cannot be read */
function isRefusedByTable({ status, error }) {
  return status === 'failed' && /** @type {{code?: string} | null} */ (error)?.code === 'table_cell';
}

/** The number of photographs that the table has rows for, and the engine's notes on it. */
function tableWords(/** @type {List} */ { table, items }) {
  if (!table) return null;
  const { name, used, columns, notes } = table;
  return message(used < items.length || !columns ? 'warning' : 'notice', t('batch.tableUsed', { name, used, all: items.length }),
    columns ? null : t('batch.tableEmpty'), notes.length > 0 ? h('ul', {}, notes.map((note) => h('li', {}, inLanguage(note)))) : null);
}

/** The photograph of the list that was changed and not analysed again. */
function unfinishedWork() {
  const { work } = store.state;
  return work && isStale(work) ? message('warning', t('batch.unfinished', { name: work.photograph.name }),
    h('div', {}, h('a', { class: 'button', href: '#scan/result' }, t('scan.continue'), icon('forward')))) : null;
}

/**
 * The actions on the list as a whole.
 * @param {List} list
 * @param {{saving: boolean, saveAll: () => void, addTable: () => void}} options
 */
function listActions(list, { saving, saveAll, addTable }) {
  const scans = sortedItems(list).flatMap((item) => currentScan(item) ?? []);
  const isSaved = unsavedItems(list).length === 0;
  /** @param {string} name @param {() => void} act @param {Parameters<typeof h>[2][]} words */
  const button = (name, act, ...words) => h('button', { class: 'button', 'data-action': name, onclick: act }, ...words);
  const files = (/** @type {'json' | 'csv'} */ format) => button(format, () => exportList(list, format), icon('export'), format.toUpperCase());
  const isWaiting = !list.items.every(isFinished);
  return [
    list.running ? button('stop', () => store.apply(listChanged, { running: 0 }), t('common.cancel'))
      : isWaiting ? h('button', { class: 'button primary', 'data-action': 'stop', onclick: runList }, icon('refresh'), t('batch.goOn')) : null,
    ...(scans.length > 0 ? [
      h('button', { class: 'button primary', 'data-action': 'save', 'aria-disabled': String(saving || isSaved),
        onclick: () => { if (!saving && !isSaved) saveAll(); } },
        icon(isSaved ? 'check' : 'save'), t(saving ? 'batch.saving' : isSaved ? 'batch.allSaved' : 'batch.saveAll')),
      files('json'), files('csv'), button('print', () => printList(scans), icon('print'), t('batch.report'))] : []),
    button('table', addTable, icon('import'), t('batch.table')),
    h('button', { class: 'button plain', 'data-action': 'close', onclick: closeList }, t('batch.close')),
  ];
}

/** @param {List} list @param {'json' | 'csv'} format */
function exportList(list, format) {
  exportScans(sortedItems(list).flatMap((item) => currentScan(item) ?? []), format, 'dermafusion-results', app.description,
    list.items.filter(({ status }) => status !== 'done').map(({ file, status, error }) =>
      ({ name: file.name, error: status === 'failed' ? failureWords(error) : t('batch.notYet') })));
}

/** @param {Item} item @param {(thumbnail: Blob) => string} addressOf */
function row(item, addressOf) {
  const { status, file } = item;
  const scan = currentScan(item) ?? (status === 'failed' ? item.scan : null);
  const risk = scan ? riskWords(scan.result) : null;
  return h('li', { class: 'scan-card' },
    scan ? h('img', { src: addressOf(scan.thumbnail), alt: '', width: 72, height: 72 }) : h('span', { class: 'thumb-space' }, icon('image')),
    h('span', { class: 'stack close grow' }, h('span', { class: 'strong file-name' }, fileName(item.scan?.lesion || file.name)),
      scan && status === 'failed' ? h('span', { class: 'small soft' }, t('batch.earlier')) : null,
      scan && risk ? [h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word),
        ...suggestion(/** @type {any} */ (rowOf(scan))).map((words) => h('span', { class: 'small' }, words)),
        h('span', { class: 'small soft' }, metadataLine(scan.result.metadata))] : null,
      status === 'failed' ? h('span', { class: 'field-error' }, failureWords(item.error)) : null,
      status === 'running' ? h('span', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('scan.analysing')) : null,
      status === 'waiting' ? h('span', { class: 'soft' }, t('batch.waiting')) : null),
    isRefusedByTable(item) ? h('button', { class: 'button', 'data-item': item.id,
      'aria-label': t('batch.withoutDetailsNamed', { name: file.name }), onclick: () => leaveDetailsOut(item) }, t('batch.withoutDetails')) : null,
    status === 'done' ? h('button', { class: 'button', 'data-item': item.id,
      'aria-label': t('batch.openNamed', { name: file.name }), onclick: () => openItem(item) }, t('batch.open')) : null);
}
