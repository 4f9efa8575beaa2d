import { app } from '../app.js';
import { h } from '../dom.js';
import { isFull } from '../history/database.js';
import { withoutMetadata } from '../history/metadata.js';
import { t } from '../texts.js';
import { confirmAction, openDialog, tell } from './dialog.js';

/** A photograph's picture is stored as it is up to here; of a larger one the square, with the pixels that the model saw. */
const STORED_BYTES = 1_500_000;

/**
 * Turns the history on where the person wants it.
 * @returns {Promise<boolean>} whether there is one
 */
export async function ensureHistory() {
  if (await app.history.state() !== 'off') return true;
  const answer = await openDialog(t('history.turnOnTitle'), [h('p', {}, t('history.turnOnText'))], [
    { label: t('common.cancel'), value: '' }, { label: t('history.turnOn'), value: 'yes', kind: 'primary' }]);
  if (answer !== 'yes') return false;
  if (await app.history.turnOn() === 'memory') await tell(t('history.memoryTitle'), t('history.memory'));
  return true;
}

/**
 * Deletes scans after a question.
 * @param {string[]} ids
 * @param {string} question its title
 * @returns {Promise<boolean>} whether they are gone
 */
export async function deleteScans(ids, question) {
  if (!await confirmAction(question, t('history.deleteText', { count: ids.length }), t('common.delete'))) return false;
  await app.history.delete(ids);
  app.announce(t('history.deleted'));
  return true;
}

/**
 * Why the browser did not store something, in a sentence.
 * @param {unknown} error
 */
export function storingFailed(error) {
  const { code, message } = /** @type {any} */ (error);
  if (isFull(error)) return t('history.full');
  return code === 'history_off' ? t('errors.history_off') : t('history.saveFailed', { message: String(message) });
}

/**
 * Saves a scan with its photograph; a scan with the same identifier gets the place of the one before.
 * @param {import('../types.js').Scan} scan
 * @param {import('../types.js').Source} source
 * @param {import('../types.js').Square} square of the photograph, in its own pixels
 * @returns {Promise<import('../types.js').Scan | null>} as it was stored; null where it was not
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
    await app.history.put(stored, photograph);
    return stored;
  } catch (error) {
    await tell(t('history.notSaved'), storingFailed(error));
    return null;
  }
}
