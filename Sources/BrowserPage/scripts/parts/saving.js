import { app } from '../app.js';
import { h } from '../dom.js';
import { withoutMetadata } from '../history/metadata.js';
import { t } from '../texts.js';
import { failureWords } from '../wording.js';
import { confirmAction, openDialog, passphrase, tell } from './dialog.js';

/** A photograph's picture is stored as it is up to here; of a larger one the square, with the pixels that the model saw. */
const STORED_BYTES = 1_500_000;

/**
 * Turns the history on, or unlocks it, where the person wants it.
 * @returns {Promise<boolean>} true if there is one that is open
 */
export async function ensureHistory() {
  const state = await app.history.state();
  if (state === 'locked') return unlock();
  if (state !== 'off') return true;
  const answer = await openDialog(t('history.turnOnTitle'), [h('p', {}, t('history.turnOnText'))], [
    { label: t('common.cancel'), value: '' }, { label: t('history.turnOn'), value: 'yes', kind: 'primary' }]);
  if (answer !== 'yes') return false;
  if (await app.history.turnOn() === 'memory') await tell(t('history.memoryTitle'), t('history.memory'));
  return true;
}

/** Asks for the passphrase until the history is open, or the person goes back. */
async function unlock() {
  for (let text = t('lock.saveText'); ;) {
    const words = await passphrase(t('lock.title'), text, false, t('lock.open'));
    if (!words) return false;
    try {
      await app.history.unlock(words, () => {});
      return true;
    } catch (error) {
      text = failureWords(error);
    }
  }
}

/** The progress of a change of the lock through the records. */
export function conversionBar() {
  const bar = h('progress', { class: 'progress', 'aria-label': t('lock.working') });
  return { bar, progress: (/** @type {number} */ value, /** @type {number} */ max) => { Object.assign(bar, { max, value }); } };
}

/**
 * Deletes scans after a question.
 * @param {string[]} ids
 * @param {string} question its title
 * @returns {Promise<boolean>} true if they are gone
 */
export async function deleteScans(ids, question) {
  if (!await confirmAction(question, t('history.deleteText', { count: ids.length }), t('common.delete'))) return false;
  await app.history.delete(ids);
  app.announce(t('history.deleted'));
  return true;
}

/** The reason why the browser did not store something, in a sentence. */
export function storingFailed(/** @type {unknown} */ error) {
  if (error instanceof DOMException && error.name === 'QuotaExceededError') return t('history.full');
  // The code of an error of the browser is a number.
  const { code, message } = /** @type {any} */ (error);
  return typeof code === 'string' ? failureWords(error) : t('history.saveFailed', { message: String(message) });
}

/**
 * Saves a scan with its photograph; a scan with the same identifier gets the place of the one before.
 * @param {Scan} scan
 * @param {Source} source
 * @param {Square} square of the photograph, in its own pixels
 * @returns {Promise<Scan | null>} as it was stored; null where it was not
 */
export async function saveScan(scan, source, square) {
  if (!await ensureHistory()) return null;
  try {
    const { width, height } = source.size ?? { width: 0, height: 0 };
    // Of what was kept of a larger photograph nothing is encoded a second time, unless a part of it was chosen.
    const isWhole = scan.kept === 'square' ? square.side === Math.min(width, height) : source.blob.size <= STORED_BYTES;
    const photograph = isWhole ? await withoutMetadata(source.blob, source.size)
      : await app.engine.request('jpegOfSquare', { source, square });
    const stored = isWhole ? scan : { ...scan, kept: /** @type {const} */ ('square') };
    await app.history.putAll([{ scan: stored, photograph }]);
    return stored;
  } catch (error) {
    await tell(t('history.notSaved'), storingFailed(error));
    return null;
  }
}
