import { app } from '../../app.js';
import { download, h } from '../../dom.js';
import { exportScans } from '../../exports.js';
import { exportArchive, importArchive } from '../../history/archive.js';
import { canSeal, isSealed, seal, unseal } from '../../history/sealed.js';
import { icon } from '../../icons.js';
import { confirmAction, message, passphrase } from '../../parts/dialog.js';
import { filePicker } from '../../parts/fields.js';
import { conversionBar, deleteScans, ensureHistory, storingFailed } from '../../parts/saving.js';
import { t } from '../../texts.js';
import { inLanguage } from '../../wording.js';

/** So many records of a file that were left out are named. */
const SHOWN_BROKEN = 20;

/**
 * The actions on the history as a whole.
 * @param {HistoryPage} page
 * @param {Row[]} rows
 * @param {Awaited<ReturnType<typeof app.history.state>>} state
 */
export function management(page, rows, state) {
  const hasScans = rows.length > 0;
  const ids = rows.map(({ id }) => id);
  const results = async (/** @type {'json' | 'csv'} */ format) => exportScans(await app.history.scans(ids), format, 'dermafusion-results', app.description);
  const part = (/** @type {string} */ title, /** @type {Child[]} */ ...buttons) =>
    h('div', { class: 'stack close' }, h('h3', {}, t(`history.${title}`)), h('div', { class: 'row' }, buttons));
  return h('section', { class: 'card stack' }, h('h2', {}, t('history.manage')),
    hasScans ? part('backUp',
      h('button', { class: 'button', onclick: () => exportPlain(ids) }, icon('export'), t('history.export')),
      canSeal() ? h('button', { class: 'button', onclick: () => exportSealed(ids) }, icon('lock'), t('history.exportSealed')) : null) : null,
    part('restore', importButton(page)),
    hasScans ? part('tables',
      h('button', { class: 'button', onclick: () => results('csv') }, icon('export'), t('history.exportCSV')),
      h('button', { class: 'button', onclick: () => results('json') }, icon('export'), t('history.exportJSON'))) : null,
    canSeal() && state !== 'memory' ? part('lock', ...lockButtons(page, state)) : null,
    h('hr'),
    part('erase', deleteAll(ids, page.draw),
      h('button', { class: 'button danger-plain', onclick: async () => {
        if (!await confirmAction(t('history.turnOffTitle'), t('history.turnOffText'), t('history.turnOff'))) return;
        await app.history.turnOff();
        page.draw();
      } }, icon('trash'), t('history.turnOff'))));
}

/**
 * The buttons that lock the history with a passphrase, and change the lock.
 * @param {HistoryPage} page
 * @param {string} state of the history
 */
function lockButtons(page, state) {
  const button = (/** @type {string} */ words, /** @type {() => Promise<string>} */ act) => h('button', { class: 'button', onclick: async () => {
    try {
      const told = await act();
      if (!told) return;
      await page.draw();
      page.note(message('notice', told));
    } catch (error) {
      await page.draw();
      page.note(message('danger', storingFailed(error)));
    }
  } }, icon('lock'), t(`lock.${words}`));
  const working = () => {
    const { bar, progress } = conversionBar();
    page.note(message('notice', t('lock.working'), bar));
    return progress;
  };
  if (state !== 'unlocked') {
    return [button('set', async () => {
      const words = await passphrase(t('lock.setTitle'), t('lock.setText'), true, t('lock.setAction'));
      if (words) await app.history.protect(words, working());
      return words && t('lock.isSet');
    })];
  }
  return [
    button('now', async () => {
      await app.history.lock();
      // Nothing that was shown or searched for stays in the memory of the page.
      location.reload();
      return '';
    }),
    button('change', async () => {
      const before = await passphrase(t('lock.change'), t('lock.changeFrom'), false, t('common.next'));
      const next = before && await passphrase(t('lock.change'), t('lock.changeTo'), true, t('lock.change'));
      if (next) await app.history.changePassphrase(before, next);
      return next && t('lock.changed');
    }),
    button('remove', async () => {
      if (!await confirmAction(t('lock.removeTitle'), t('lock.removeText'), t('lock.remove'))) return '';
      await app.history.unprotect(working());
      return t('lock.removed');
    })];
}

/** The button that deletes all scans after a question. */
export function deleteAll(/** @type {string[]} */ ids, /** @type {() => unknown} */ deleted) {
  return ids.length > 0 ? h('button', { class: 'button danger-plain', onclick: async () => {
    if (await deleteScans(ids, t('history.deleteAllTitle'))) deleted();
  } }, icon('trash'), t('history.deleteAll')) : null;
}

/** @param {HistoryPage} page */
export function importButton(page) {
  const picker = filePicker({ accept: '.jsonl,.ndjson,application/x-ndjson', 'data-role': 'import' }, async ([file]) => {
    if (await ensureHistory()) await importFile(page, file);
  });
  return h('div', {}, picker, h('button', { class: 'button', onclick: () => picker.click() }, icon('import'), t('history.import')));
}

/** @param {HistoryPage} page @param {File} file */
async function importFile(page, file) {
  try {
    let content = /** @type {Blob} */ (file);
    if (await isSealed(file)) {
      const words = await passphrase(t('history.decryptTitle'), t('history.decryptText', { name: file.name }), false, t('history.decrypt'));
      if (!words) return;
      content = await unseal(file, words);
    }
    // What follows is about the file, and the list is not true while it is read.
    for (const empty of page.root.querySelectorAll('.empty')) empty.remove();
    const bar = h('progress', { class: 'progress', 'aria-label': t('history.importing') });
    page.note(message('notice', t('history.importing'), bar));
    await app.engine.ready;
    const { added, known, broken } = await importArchive(app.history, content, (results) => app.engine.request('checkResults', { results }), (done, all) => {
      if (all > 0) Object.assign(bar, { max: all, value: Math.min(done, all) });
    });
    await page.draw();
    page.note(message(broken.length > 0 ? 'warning' : 'notice', t('history.imported', { added, known }), ...brokenWords(broken)));
  } catch (error) {
    await page.draw();
    const { added = 0 } = /** @type {any} */ (error);
    page.note(message('danger', storingFailed(error), added > 0 ? t('history.importStopped', { count: added }) : null));
  }
}

/** The records of a file that were left out, with the reasons; of very many the first. */
function brokenWords(/** @type {import('../../history/archive.js').Broken[]} */ broken) {
  if (broken.length === 0) return [];
  const more = broken.length - SHOWN_BROKEN;
  return [t('history.importBroken', { count: broken.length }),
    h('ul', {}, broken.slice(0, SHOWN_BROKEN).map(({ name, flaw, refused }) => h('li', {},
      refused === undefined ? t('history.brokenItem', { name, flaw: flaw ?? '' }) : `${name}: ${inLanguage(refused)}`))),
    ...(more > 0 ? [t('history.brokenMore', { count: more })] : [])];
}

/** @param {string[]} ids */
export async function exportPlain(ids) {
  download(`dermafusion-history-${today()}.jsonl`, await exportArchive(app.history, ids));
}

/** @param {string[]} ids */
async function exportSealed(ids) {
  const words = await passphrase(t('history.encryptTitle'), t('history.encryptText'), true, t('history.encrypt'));
  if (!words) return;
  download(`dermafusion-history-${today()}.sealed.jsonl`, await seal(await exportArchive(app.history, ids), words));
  app.announce(t('history.exported'));
}

/** The date in the names of files. */
function today() {
  return new Date().toISOString().slice(0, 10);
}
