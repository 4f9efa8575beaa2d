import { app } from '../app.js';
import { download, h, replace } from '../dom.js';
import { icon, riskIcon } from '../icons.js';
import { className, formatDate, formatPercent, t } from '../texts.js';
import { exportArchive, importArchive } from '../history/archive.js';
import { isFull } from '../history/store.js';
import { exportScans } from '../exports.js';
import { confirmAction, message } from '../parts/dialog.js';
import { ensureHistory, tell } from '../parts/saving.js';
import { failureWords, riskWords } from '../wording.js';

/** @typedef {import('../types.js').Scan} Scan */

/**
 * A scan in a list: thumbnail, name, date, what the result suggests.
 * @param {Scan} scan
 * @param {string} address of the thumbnail
 */
export function scanSummary(scan, address) {
  const risk = riskWords(scan.result);
  const { prediction } = scan.result;
  return [
    h('img', { src: address, alt: '', width: 72, height: 72, loading: 'lazy', decoding: 'async' }),
    h('span', { class: 'stack close grow' },
      h('span', { class: 'strong' }, scan.lesion || scan.name),
      h('span', { class: 'soft small' }, formatDate(scan.created)),
      h('span', { class: 'small' }, prediction && !scan.result.abstain
        ? `${className(prediction.class, prediction.name)}, ${formatPercent(prediction.probability)}` : t('history.noSuggestion'))),
    h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), h('span', {}, risk.word)),
  ];
}

/** @returns {Promise<import('../shell.js').View>} */
export async function historyView() {
  const root = h('div', { class: 'view stack wide' });
  const notes = h('div', { class: 'stack', 'aria-live': 'polite' });
  /** @type {string[]} */
  let addresses = [];
  const forget = () => addresses.splice(0).forEach((address) => URL.revokeObjectURL(address));
  const addressOf = (/** @type {Blob} */ blob) => {
    const address = URL.createObjectURL(blob);
    addresses.push(address);
    return address;
  };

  async function render() {
    forget();
    const state = await app.store.state();
    if (state === 'off') return replace(root, heading(), off());
    const { scans, broken } = await app.store.list();
    replace(root, heading(), state === 'memory' ? message('warning', t('history.memory')) : null, notes,
      broken.length > 0 ? brokenRecords(broken) : null,
      scans.length > 0 ? filled(scans) : empty(), settings(scans));
  }

  const heading = () => h('div', { class: 'stack close measure' }, h('h1', {}, t('history.title')), h('p', { class: 'soft' }, t('history.lead')));

  const off = () => h('div', { class: 'card empty' }, h('div', { class: 'drop-icon' }, icon('history')),
    h('h2', {}, t('history.offTitle')), h('p', { class: 'measure' }, t('history.turnOnText')),
    h('button', { class: 'button primary', onclick: async () => {
      if (await app.store.turnOn() === 'memory') await tell(t('history.memoryTitle'), t('history.memory'));
      render();
    } }, t('history.turnOn')),
    importButton());

  const empty = () => h('div', { class: 'card empty' }, h('div', { class: 'drop-icon' }, icon('history')),
    h('p', { class: 'lead' }, t('history.empty')), h('a', { class: 'button primary', href: '#scan' }, t('history.first')));

  /** @param {{key: string, name: string, flaw: string}[]} broken */
  const brokenRecords = (broken) => message('warning', t('history.broken', { count: broken.length }),
    h('ul', {}, broken.map(({ name, flaw }) => h('li', {}, t('history.brokenItem', { name, flaw })))),
    h('div', {}, h('button', { class: 'button plain', onclick: async () => {
      if (!await confirmAction(t('history.deleteBrokenTitle'), t('history.deleteText', { count: broken.length }), t('common.delete'))) return;
      await app.store.delete(broken.map(({ key }) => key));
      render();
    } }, icon('trash'), t('history.deleteBroken'))));

  /** @param {Scan[]} scans */
  function filled(scans) {
    /** @type {string[]} */
    const chosen = [];
    const compare = h('button', { class: 'button', disabled: true, onclick: () => app.go(`compare/${chosen[0]}/${chosen[1]}`) }, icon('compare'), t('history.compare'));
    const list = h('ul', { role: 'list', class: 'scan-list' }, scans.map((scan) => h('li', { class: 'scan-row' },
      h('label', { class: 'check' }, h('input', { type: 'checkbox', 'aria-label': t('history.choose', { name: scan.lesion || scan.name, date: formatDate(scan.created) }),
        onchange: (/** @type {Event} */ event) => {
          const box = /** @type {HTMLInputElement} */ (event.target);
          if (box.checked) chosen.push(scan.id);
          else chosen.splice(chosen.indexOf(scan.id), 1);
          compare.disabled = chosen.length !== 2;
        } })),
      h('a', { class: 'scan-card', href: `#history/${scan.id}` }, scanSummary(scan, addressOf(scan.thumbnail))),
      h('button', { class: 'button plain square', 'aria-label': t('history.deleteNamed', { name: scan.lesion || scan.name, date: formatDate(scan.created) }),
        onclick: async () => {
          if (!await confirmAction(t('history.deleteTitle'), t('history.deleteText', { count: 1 }), t('common.delete'))) return;
          await app.store.delete([scan.id]);
          app.announce(t('history.deleted'));
          render();
        } }, icon('trash')))));
    return h('div', { class: 'stack' },
      h('div', { class: 'row spread' }, h('p', { class: 'soft' }, t('history.count', { count: scans.length })), compare),
      h('p', { class: 'small soft' }, t('history.compareHint')), list);
  }

  function importButton() {
    const picker = h('input', { type: 'file', accept: '.jsonl,.ndjson,application/x-ndjson', class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true',
      'data-role': 'import', onchange: async () => {
        const [file] = picker.files ?? [];
        picker.value = '';
        if (!file || !await ensureHistory()) return;
        try {
          const { added, known, broken } = await importArchive(app.store, file);
          await render();
          replace(notes, message(broken.length > 0 ? 'warning' : 'notice', t('history.imported', { added, known }),
            broken.length > 0 ? `${t('history.importBroken', { count: broken.length })} ${broken.join('; ')}` : null));
        } catch (error) {
          await render();
          replace(notes, message('danger', isFull(error) ? t('history.full') : failureWords(error)));
        }
      } });
    return h('div', {}, picker, h('button', { class: 'button', onclick: () => picker.click() }, icon('import'), t('history.import')));
  }

  /** @param {Scan[]} scans */
  const settings = (scans) => h('section', { class: 'card stack' }, h('h2', {}, t('history.manage')),
    h('div', { class: 'row' },
      scans.length > 0 ? [
        h('button', { class: 'button', onclick: async () => download(`dermafusion-history-${new Date().toISOString().slice(0, 10)}.jsonl`, await exportArchive(app.store, scans)) }, icon('export'), t('history.export')),
        h('button', { class: 'button', onclick: () => exportScans(scans, 'json', 'dermafusion-results') }, icon('export'), t('history.exportJSON')),
        h('button', { class: 'button', onclick: () => exportScans(scans, 'csv', 'dermafusion-results') }, icon('export'), t('history.exportCSV'))] : null,
      importButton()),
    h('hr'),
    h('div', { class: 'row' },
      scans.length > 0 ? h('button', { class: 'button danger-plain', onclick: async () => {
        if (!await confirmAction(t('history.deleteAllTitle'), t('history.deleteText', { count: scans.length }), t('common.delete'))) return;
        await app.store.delete(scans.map(({ id }) => id));
        app.announce(t('history.deleted'));
        render();
      } }, icon('trash'), t('history.deleteAll')) : null,
      h('button', { class: 'button danger-plain', onclick: async () => {
        if (!await confirmAction(t('history.turnOffTitle'), t('history.turnOffText'), t('history.turnOff'))) return;
        await app.store.turnOff();
        render();
      } }, t('history.turnOff'))));

  // Another tab may have changed the history meanwhile.
  const seen = () => { if (!document.hidden) render(); };
  document.addEventListener('visibilitychange', seen);
  await render();
  return {
    title: t('tabs.history'), content: root,
    leave: () => {
      document.removeEventListener('visibilitychange', seen);
      forget();
    },
  };
}
