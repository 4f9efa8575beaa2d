import { app } from '../app.js';
import { h } from '../dom.js';
import { blobOf, drawn } from '../image.js';
import { isFull } from '../history/store.js';
import { t } from '../texts.js';
import { openDialog } from './dialog.js';

/** A photograph's file is stored as it is up to here; a larger one as JPEG of STORED_SIDE. */
const STORED_BYTES = 1_500_000;
const STORED_SIDE = 1600;
const STORED_QUALITY = 0.7;

/**
 * Tells what happened in a dialog with one button.
 * @param {string} title
 * @param {string} text
 */
export function tell(title, text) {
  return openDialog(title, [h('p', {}, text)], [{ label: t('common.close'), value: '', kind: 'primary' }]);
}

/**
 * Turns the history on where the person wants it.
 * @returns {Promise<boolean>} whether there is one
 */
export async function ensureHistory() {
  if (await app.store.state() !== 'off') return true;
  const answer = await openDialog(t('history.turnOnTitle'), [h('p', {}, t('history.turnOnText'))], [
    { label: t('common.cancel'), value: '' }, { label: t('history.turnOn'), value: 'yes', kind: 'primary' }]);
  if (answer !== 'yes') return false;
  if (await app.store.turnOn() === 'memory') await tell(t('history.memoryTitle'), t('history.memory'));
  return true;
}

/**
 * Saves a scan with its photograph.
 * @param {import('../types.js').Scan} scan
 * @param {Blob} file
 * @param {ImageBitmap} preview
 * @returns {Promise<boolean>} whether it was saved
 */
export async function saveScan(scan, file, preview) {
  if (!await ensureHistory()) return false;
  try {
    const photograph = file.size <= STORED_BYTES ? new Blob([await file.arrayBuffer()], { type: file.type })
      : await blobOf(drawn(preview, STORED_SIDE), 'image/jpeg', STORED_QUALITY);
    await app.store.put(scan, photograph);
    app.announce(t('result.saved'));
    return true;
  } catch (error) {
    await tell(t('history.notSaved'), isFull(error) ? t('history.full') : t('history.saveFailed', { message: String(/** @type {any} */ (error).message) }));
    return false;
  }
}
