import { app } from '../app.js';
import { download, h, replace, uniqueID } from '../dom.js';
import { icon } from '../icons.js';
import { formatDate, t } from '../texts.js';
import { exportArchive, importArchive } from '../history/archive.js';
import { canSeal, isSealed, seal, unseal } from '../history/sealed.js';
import { exportScans } from '../exports.js';
import { bodyCounts } from '../parts/body-map.js';
import { confirmAction, message } from '../parts/dialog.js';
import { passphrase } from '../parts/passphrase.js';
import { ensureHistory, storingFailed, tell } from '../parts/saving.js';
import { isLookedFor, scanSummary } from '../parts/scan-summary.js';
import { failureWords } from '../wording.js';

/** @typedef {import('../types.js').Scan} Scan */

/** How many scans are listed at first, and each time that more are asked for. */
const PAGE = 40;
const RISKS = ['high', 'moderate', 'low', 'none'];

/** What the person was looking for, kept while a scan is looked at. */
const looking = { query: '', risk: '', site: '', grouped: false, count: PAGE, chosen: /** @type {string[]} */ ([]) };

/** @returns {Promise<import('../shell.js').View>} */
export async function historyView() {
  const root = h('div', { class: 'view stack wide' });
  const notes = h('div', { class: 'stack', 'aria-live': 'polite' });
  /** @type {string[]} */
  const addresses = [];
  const forget = () => addresses.splice(0).forEach((address) => URL.revokeObjectURL(address));
  const addressOf = (/** @type {Blob} */ blob) => {
    const address = URL.createObjectURL(blob);
    addresses.push(address);
    return address;
  };

  let turn = 0;
  async function render() {
    turn += 1;
    const mine = turn;
    const state = await app.store.state();
    const { scans, broken } = state === 'off' ? { scans: [], broken: [] } : await app.store.list();
    // What was asked for later is shown, whichever answer comes first.
    if (mine !== turn) return;
    const hadFocus = root.contains(document.activeElement);
    forget();
    if (state === 'off') replace(root, heading(), off(), notes);
    else {
      looking.chosen = looking.chosen.filter((id) => scans.some((scan) => scan.id === id));
      replace(root, heading(), state === 'memory' ? message('warning', t('history.memory')) : null, notes,
        broken.length > 0 ? brokenRecords(broken) : null,
        scans.length > 0 ? filled(scans) : empty(), settings(scans));
    }
    if (hadFocus && !root.contains(document.activeElement)) focusHeading();
  }

  function focusHeading() {
    const title = root.querySelector('h1');
    title?.setAttribute('tabindex', '-1');
    title?.focus({ preventScroll: true });
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
    const list = h('div', { class: 'stack' });
    const count = h('p', { class: 'soft', role: 'status' });
    const hint = h('p', { class: 'small soft', id: uniqueID('compare') });
    const compare = h('button', { class: 'button', 'aria-describedby': hint.id, onclick: () => {
      if (looking.chosen.length === 2) app.go(`compare/${looking.chosen.join('/')}`);
    } }, icon('compare'), t('history.compare'));

    function tellChosen() {
      const { length } = looking.chosen;
      compare.setAttribute('aria-disabled', String(length !== 2));
      hint.textContent = length === 0 ? t('history.compareHint') : t(length > 2 ? 'history.tooManyChosen' : 'history.chosen', { count: length });
    }

    /** @param {Scan} scan */
    const row = (scan) => h('li', { class: 'scan-row' },
      h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: looking.chosen.includes(scan.id),
        'aria-label': t('history.choose', { name: scan.lesion || scan.name, date: formatDate(scan.created) }),
        onchange: (/** @type {Event} */ event) => {
          const box = /** @type {HTMLInputElement} */ (event.target);
          if (box.checked) looking.chosen.push(scan.id);
          else looking.chosen.splice(looking.chosen.indexOf(scan.id), 1);
          tellChosen();
        } })),
      h('a', { class: 'scan-card', href: `#history/${scan.id}` }, scanSummary(scan, addressOf(scan.thumbnail))),
      h('button', { class: 'button plain square', 'aria-label': t('history.deleteNamed', { name: scan.lesion || scan.name, date: formatDate(scan.created) }),
        onclick: async () => {
          if (!await confirmAction(t('history.deleteTitle'), t('history.deleteText', { count: 1 }), t('common.delete'))) return;
          const place = [...root.querySelectorAll('.scan-row')].findIndex((each) => each.querySelector('a')?.hash === `#history/${scan.id}`);
          await app.store.delete([scan.id]);
          app.announce(t('history.deleted'));
          await render();
          // The keyboard goes on at the scan that has taken the deleted one's place.
          const rows = root.querySelectorAll('a.scan-card');
          if (rows.length > 0) /** @type {HTMLElement} */ (rows[Math.min(place, rows.length - 1)]).focus();
          else focusHeading();
        } }, icon('trash')));

    /** @param {number} [focus] the row that has the focus next */
    function draw(focus) {
      forget();
      const found = scans.filter((scan) => isLookedFor(scan, looking));
      const shown = found.slice(0, looking.count);
      const isFiltered = Boolean(looking.query || looking.risk || looking.site);
      count.textContent = isFiltered ? t('history.found', { count: found.length, all: scans.length }) : t('history.count', { count: scans.length });
      const rest = found.length - shown.length;
      replace(list, ...(looking.grouped ? groups(shown) : [h('ul', { role: 'list', class: 'scan-list' }, shown.map(row))]),
        found.length === 0 ? h('p', { class: 'soft' }, t('history.nothingFound')) : null,
        rest > 0 ? h('div', {}, h('button', { class: 'button', onclick: () => {
          looking.count += PAGE;
          draw(shown.length);
        } }, t('history.more', { count: Math.min(PAGE, rest) }))) : null);
      if (focus !== undefined) /** @type {HTMLElement} */ (list.querySelectorAll('a.scan-card')[focus])?.focus({ preventScroll: true });
      tellChosen();
    }

    /** @param {Scan[]} shown */
    function groups(shown) {
      const names = [...new Set(shown.map(({ lesion }) => lesion))].sort((first, second) => Number(first === '') - Number(second === ''));
      return names.map((name) => {
        const same = shown.filter(({ lesion }) => lesion === name);
        return h('section', { class: 'stack close' }, h('h2', {}, name || t('history.withoutName'), ' ', h('span', { class: 'soft small numbers' }, t('history.scans', { count: same.length }))),
          h('ul', { role: 'list', class: 'scan-list' }, same.map(row)));
      });
    }

    const search = h('input', { class: 'input', type: 'search', id: uniqueID('search'), value: looking.query, autocomplete: 'off', oninput: () => {
      Object.assign(looking, { query: search.value.trim(), count: PAGE });
      draw();
    } });
    const risk = h('select', { class: 'input', id: uniqueID('risk'), onchange: () => {
      Object.assign(looking, { risk: risk.value, count: PAGE });
      draw();
    } }, ['', ...RISKS].map((level) => h('option', { value: level, selected: level === looking.risk }, level === '' ? t('history.anyRisk') : t(`risk.${level === 'none' ? 'abstain' : level}.word`))));
    const grouped = h('input', { type: 'checkbox', role: 'switch', class: 'switch', checked: looking.grouped, onchange: () => {
      looking.grouped = grouped.checked;
      draw();
    } });
    const map = h('details', { class: 'card', open: looking.site !== '' }, h('summary', {}, t('history.bodyMap')),
      bodyCounts(scans, looking.site, (site) => {
        Object.assign(looking, { site, count: PAGE });
        draw();
      }));
    draw();
    return h('div', { class: 'stack' },
      h('div', { class: 'filters' },
        h('div', { class: 'stack close' }, h('label', { class: 'label', for: search.id }, t('history.search')), search),
        h('div', { class: 'stack close' }, h('label', { class: 'label', for: risk.id }, t('history.risk')), risk),
        h('label', { class: 'switch-row' }, grouped, h('span', {}, t('history.group')))),
      map,
      h('div', { class: 'row spread' }, count, compare), hint, list);
  }

  /** @param {Scan[]} scans */
  async function exportSealed(scans) {
    const words = await passphrase(t('history.encryptTitle'), t('history.encryptText'), true);
    if (!words) return;
    download(`dermafusion-history-${today()}.sealed.jsonl`, await seal(await exportArchive(app.store, scans), words));
    app.announce(t('history.exported'));
  }

  /** @param {File} file */
  async function importFile(file) {
    try {
      let content = /** @type {Blob} */ (file);
      if (await isSealed(file)) {
        const words = await passphrase(t('history.decryptTitle'), t('history.decryptText', { name: file.name }), false);
        if (!words) return;
        content = await unseal(file, words);
      }
      const { added, known, broken } = await importArchive(app.store, content);
      await render();
      replace(notes, message(broken.length > 0 ? 'warning' : 'notice', t('history.imported', { added, known }),
        broken.length > 0 ? `${t('history.importBroken', { count: broken.length })} ${broken.join('; ')}` : null));
    } catch (error) {
      await render();
      const { code } = /** @type {any} */ (error);
      replace(notes, message('danger', code && code !== 'history_off' ? failureWords(error) : storingFailed(error)));
    }
  }

  function importButton() {
    const picker = h('input', { type: 'file', accept: '.jsonl,.ndjson,application/x-ndjson', class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true',
      'data-role': 'import', onchange: async () => {
        const [file] = picker.files ?? [];
        picker.value = '';
        if (file && await ensureHistory()) await importFile(file);
      } });
    return h('div', {}, picker, h('button', { class: 'button', onclick: () => picker.click() }, icon('import'), t('history.import')));
  }

  /** @param {Scan[]} scans */
  const settings = (scans) => h('section', { class: 'card stack' }, h('h2', {}, t('history.manage')),
    h('div', { class: 'row' },
      scans.length > 0 ? [
        h('button', { class: 'button', onclick: async () => download(`dermafusion-history-${today()}.jsonl`, await exportArchive(app.store, scans)) }, icon('export'), t('history.export')),
        canSeal() ? h('button', { class: 'button', onclick: () => exportSealed(scans) }, icon('lock'), t('history.exportSealed')) : null,
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

/** The date in the names of files. */
function today() {
  return new Date().toISOString().slice(0, 10);
}
