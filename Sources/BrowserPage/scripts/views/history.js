import { app } from '../app.js';
import { focusHeading, h, replace } from '../dom.js';
import { icon } from '../icons.js';
import { message, tell } from '../parts/dialog.js';
import { deleteScans } from '../parts/saving.js';
import { thumbnails } from '../parts/scan-summary.js';
import { t } from '../texts.js';
import { scanList } from './history/list.js';
import { importButton, management } from './history/management.js';

/** @returns {Promise<View>} */
export async function historyView() {
  const notes = h('div', { class: 'stack', 'aria-live': 'polite' });
  const root = h('div', { class: 'view stack wide' });
  const pictures = thumbnails();
  /** @type {HistoryPage} */
  const page = { root, thumbnails: pictures, draw, note: (...content) => replace(notes, ...content) };

  let turn = 0;
  let shown = '';
  const read = async () => ({ state: await app.history.state(), ...await app.history.list() });

  async function draw() {
    turn += 1;
    const mine = turn;
    const { state, rows, broken } = await read();
    // What was asked for later is shown, whichever answer comes first.
    if (mine !== turn) return;
    shown = JSON.stringify({ state, rows, broken });
    const hadFocus = root.contains(document.activeElement);
    pictures.forget();
    const heading = h('div', { class: 'stack close measure' }, h('h1', {}, t('history.title')),
      state === 'memory' ? null : h('p', { class: 'soft' }, t('history.lead')));
    if (state === 'off') replace(root, heading, turnedOff(page), notes);
    else {
      replace(root, heading, state === 'memory' ? message('warning', t('history.memory')) : null, notes,
        broken.length > 0 ? brokenRecords(page, broken) : null,
        rows.length > 0 ? scanList(page, rows) : empty(), management(page, rows, state));
    }
    if (hadFocus && !root.contains(document.activeElement)) focusHeading(root);
  }

  await draw();
  return { title: t('tabs.history'), content: root, leave: pictures.forget, async returned() {
    // What is told over the list stays, as during an import.
    if (JSON.stringify(await read()) !== shown) await draw();
    return false;
  } };
}

/** @param {HistoryPage} page */
function turnedOff(page) {
  return h('div', { class: 'card empty' }, h('div', { class: 'drop-icon' }, icon('history')),
    h('h2', {}, t('history.offTitle')), h('p', { class: 'measure' }, t('history.turnOnText')),
    h('button', { class: 'button primary', onclick: async () => {
      if (await app.history.turnOn() === 'memory') await tell(t('history.memoryTitle'), t('history.memory'));
      page.draw();
    } }, t('history.turnOn')),
    importButton(page));
}

function empty() {
  return h('div', { class: 'card empty' }, h('div', { class: 'drop-icon' }, icon('history')),
    h('p', { class: 'lead' }, t('history.empty')), h('a', { class: 'button primary', href: '#scan' }, t('history.first')));
}

/** @param {HistoryPage} page @param {BrokenRow[]} broken */
function brokenRecords(page, broken) {
  return message('warning', t('history.broken', { count: broken.length }),
    h('ul', {}, broken.map(({ name, flaw }) => h('li', {}, t('history.brokenItem', { name, flaw })))),
    h('div', {}, h('button', { class: 'button plain', onclick: async () => {
      if (await deleteScans(broken.map(({ id }) => id), t('history.deleteBrokenTitle'))) page.draw();
    } }, icon('trash'), t('history.deleteBroken'))));
}
