import { focusHeading, h, replace, uniqueID } from '../../dom.js';
import { icon } from '../../icons.js';
import { bodyCounts } from '../../parts/body-map.js';
import { actionBar } from '../../parts/action-bar.js';
import { labelled, switchRow } from '../../parts/fields.js';
import { deleteScans } from '../../parts/saving.js';
import { finder, scanSummary } from '../../parts/scan-summary.js';
import { groupsOf, ORDERS, PAGE, placeOfLesion, sortedRows } from '../../state.js';
import { go, store } from '../../store.js';
import { chose, sought } from '../../transitions.js';
import { currentLanguage, formatDate, t } from '../../texts.js';
import { exportPlain } from './management.js';

const RISKS = ['high', 'moderate', 'low', 'none'];

/**
 * The scans that are looked for, and what looks for them.
 * @param {HistoryPage} page
 * @param {Row[]} scans all of the history, the newest first
 */
export function scanList(page, scans) {
  const list = h('div', { class: 'stack' });
  const count = h('p', { class: 'soft', role: 'status' });
  const finds = finder(scans);
  const chosen = selection(page, scans, draw);
  const row = (/** @type {Row} */ scan) => scanRow(page, scan, () => chosen.tell());

  /** @param {number} [focus] the row that has the focus next */
  function draw(focus) {
    page.thumbnails.forget();
    const { looking } = store.state;
    const found = sortedRows(scans.filter(finds(looking)), looking.order, currentLanguage());
    // All scans are grouped, then as many are shown as were asked for: a lesion counts all of its scans.
    const groups = looking.grouped ? groupsOf(found) : [{ lesion: null, scans: found }];
    const rest = Math.max(0, found.length - looking.count);
    const isFiltered = Boolean(looking.query || looking.risk || looking.site);
    count.textContent = isFiltered ? t('history.found', { count: found.length, all: scans.length })
      : t(looking.order === 'newest' ? 'history.count' : 'history.scans', { count: scans.length });
    let left = looking.count;
    replace(list, groups.map(({ lesion, scans: all }) => {
      const shown = all.slice(0, left);
      left -= shown.length;
      return shown.length > 0 ? group(lesion, all, shown.map(row)) : null;
    }),
      found.length === 0 ? h('p', { class: 'soft' }, t('history.nothingFound')) : null,
      rest > 0 ? h('div', {}, h('button', { class: 'button', onclick: () => seek({ count: looking.count + PAGE }, looking.count) },
        t('history.more', { count: Math.min(PAGE, rest) }))) : null);
    chosen.tell(found);
    if (focus !== undefined) /** @type {HTMLElement} */ (list.querySelectorAll('a.scan-card')[focus])?.focus({ preventScroll: true });
  }

  /** @param {Partial<Looking>} wishes @param {number} [focus] */
  function seek(wishes, focus) {
    store.apply(sought, wishes);
    draw(focus);
  }

  draw();
  return h('div', { class: 'stack' }, filters(scans, seek), h('div', { class: 'row spread' }, count, chosen.all), chosen.hint, chosen.bar, list);
}

/** @param {Row[]} scans @param {(wishes: Partial<Looking>) => void} seek */
function filters(scans, seek) {
  const { looking } = store.state;
  const search = h('input', { class: 'input', type: 'search', value: looking.query, autocomplete: 'off',
    oninput: () => seek({ query: search.value.trim() }) });
  const risk = h('select', { class: 'input', onchange: () => seek({ risk: risk.value }) },
    ['', ...RISKS].map((level) => h('option', { value: level, selected: level === looking.risk },
      level === '' ? t('history.anyRisk') : t(`risk.${level === 'none' ? 'abstain' : level}.word`))));
  const order = h('select', { class: 'input', onchange: () => seek({ order: ORDERS[order.selectedIndex] }) },
    ORDERS.map((each) => h('option', { selected: each === looking.order }, t(`history.orders.${each}`))));
  return [
    h('div', { class: 'filters' }, labelled(t('history.search'), search), labelled(t('history.risk'), risk), labelled(t('batch.order'), order),
      switchRow(t('history.group'), looking.grouped, (grouped) => seek({ grouped }))),
    h('details', { class: 'card', open: looking.site !== '' }, h('summary', {}, t('history.bodyMap')),
      bodyCounts(scans, looking.site, (site) => seek({ site }))),
  ];
}

/** The actions on the scans that are ticked: two are compared, any number is exported or deleted. */
function selection(/** @type {HistoryPage} */ page, /** @type {Row[]} */ scans, /** @type {() => void} */ drawRows) {
  const chosen = () => store.state.looking.chosen;
  const choose = (/** @type {string[]} */ ids, /** @type {boolean} */ isChosen) => {
    store.apply(chose, ids, isChosen);
    drawRows();
  };
  const known = new Set(scans.map(({ id }) => id));
  store.apply(chose, chosen().filter((id) => !known.has(id)), false);
  /** @type {Row[]} */
  let found = [];
  const hint = h('p', { class: 'small soft' }, t('history.compareHint'));
  const told = h('p', { class: 'small', role: 'status', id: uniqueID('ticked') });
  const all = h('button', { class: 'button plain', onclick: () => choose(found.map(({ id }) => id), true) }, icon('check'), t('history.chooseAll'));
  const compare = h('button', { class: 'button primary', 'aria-describedby': told.id, onclick: () => {
    if (chosen().length === 2) go(`compare/${chosen().join('/')}`);
  } }, icon('compare'), t('history.compare'));
  const bar = actionBar(t('history.ticked'), told,
    h('button', { class: 'button plain', onclick: () => {
      choose(chosen(), false);
      all.focus();
    } }, t('history.clearChosen')),
    h('button', { class: 'button danger-plain', onclick: async () => {
      if (!await deleteScans(chosen(), t('history.deleteTickedTitle'))) return;
      await page.draw();
      focusHeading(page.root);
    } }, icon('trash'), t('common.delete')),
    h('button', { class: 'button', onclick: () => exportPlain(chosen()) }, icon('export'), t('history.exportTicked')), compare);

  /** @param {Row[]} [listed] those that are found, shown or not */
  function tell(listed = found) {
    found = listed;
    const ticked = new Set(chosen());
    const { length } = chosen();
    const hidden = length - found.filter(({ id }) => ticked.has(id)).length;
    bar.hidden = length === 0;
    hint.hidden = length > 0;
    all.hidden = found.every(({ id }) => ticked.has(id));
    compare.setAttribute('aria-disabled', String(length !== 2));
    told.textContent = length === 0 ? '' : [t(length > 2 ? 'history.tooManyChosen' : 'history.chosen', { count: length }),
      ...(hidden > 0 ? [t('history.hiddenChosen', { count: hidden })] : [])].join(' ');
  }
  return { all, bar, hint, tell };
}

/** @param {HistoryPage} page @param {Row} scan @param {() => void} chosen called when it was ticked or not */
function scanRow(page, scan, chosen) {
  const words = { name: scan.lesion || scan.name, date: formatDate(scan.created) };
  const box = h('input', { type: 'checkbox', checked: store.state.looking.chosen.includes(scan.id), 'aria-label': t('history.choose', words), onchange: () => {
    store.apply(chose, [scan.id], box.checked);
    chosen();
  } });
  return h('li', { class: 'scan-row' },
    h('label', { class: 'check' }, box),
    h('a', { class: 'scan-card', href: `#history/${scan.id}` }, scanSummary(scan, page.thumbnails.of(scan.id))),
    h('button', { class: 'button plain square', 'aria-label': t('history.deleteNamed', words), onclick: () => deleteScan(page, scan) }, icon('trash')));
}

/** @param {HistoryPage} page @param {Row} scan */
async function deleteScan({ root, draw }, scan) {
  const place = [...root.querySelectorAll('.scan-row')].findIndex((each) => each.querySelector('a')?.hash === `#history/${scan.id}`);
  if (!await deleteScans([scan.id], t('history.deleteTitle'))) return;
  await draw();
  // The keyboard goes on at the scan that has taken the deleted one's place.
  const rows = root.querySelectorAll('a.scan-card');
  if (rows.length > 0) /** @type {HTMLElement} */ (rows[Math.min(place, rows.length - 1)]).focus();
  else focusHeading(root);
}

/**
 * @param {string | null} lesion the name over the scans, empty for those without one; null where they are not grouped
 * @param {Row[]} scans of the lesion, shown or not
 * @param {HTMLElement[]} rows
 */
function group(lesion, scans, rows) {
  const list = h('ul', { role: 'list', class: 'scan-list' }, rows);
  return lesion === null ? list : h('section', { class: 'stack close' },
    h('h2', {}, lesion ? h('a', { href: `#${placeOfLesion(scans[0])}` }, lesion) : t('history.withoutName'),
      ' ', h('span', { class: 'soft small numbers' }, t('history.scans', { count: scans.length }))), list);
}
