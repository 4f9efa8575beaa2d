import { app } from '../app.js';
import { t } from '../texts.js';
import { storingFailed } from './saving.js';

/** So long nothing must be typed before it is said that all is stored, in milliseconds. */
const QUIET = 300;

/** @typedef {Pick<Scan, 'lesion' | 'note'>} Words */

/**
 * Stores the name and the note of a saved scan while they are typed.
 * @param {Scan} scan gets what was stored
 * @param {(words: string) => void} told what became of it
 * @param {(fields: Partial<Words>) => void} changed
 */
export function keptWords(scan, told, changed) {
  const { id } = scan;
  /** @type {Words} */
  let words = { lesion: scan.lesion, note: scan.note };
  let storing = Promise.resolve();
  let timer = 0;

  /** @param {string} [sentence] said when nothing more is typed: who reads by ear does not hear it after each letter */
  function tell(sentence = '') {
    clearTimeout(timer);
    if (sentence) timer = setTimeout(() => told(sentence), QUIET);
    else told('');
  }

  /** @returns {Partial<Words>} what was typed and is not in the history */
  const fresh = () => Object.fromEntries(Object.entries({ lesion: words.lesion.trim(), note: words.note })
    .filter(([key, value]) => value !== scan[/** @type {'note'} */ (key)]));

  async function storeFresh() {
    if (!isTyping()) return;
    const fields = fresh();
    try {
      if (!await app.history.change(id, fields)) return tell(t('record.gone'));
      Object.assign(scan, fields);
      tell(t('record.stored'));
      changed(fields);
    } catch (error) {
      tell(storingFailed(error));
    }
  }

  /** Stores what was typed since the last time: at once, and what is typed meanwhile when that is done. */
  function store() {
    storing = storing.then(storeFresh);
    return storing;
  }

  /** A browser that closes or reloads the page breaks off what is being stored, so it asks first. Nothing of it goes to another place. */
  function stay(/** @type {Event} */ event) {
    if (isTyping()) event.preventDefault();
  }

  const isTyping = () => Object.keys(fresh()).length > 0;

  window.addEventListener('beforeunload', stay);
  window.addEventListener('pagehide', store);
  return {
    store, isTyping,
    /** @param {Partial<Words>} typed */
    typing(typed) {
      words = { ...words, ...typed };
      tell();
      store();
    },
    leave() {
      clearTimeout(timer);
      window.removeEventListener('beforeunload', stay);
      window.removeEventListener('pagehide', store);
      store();
    },
  };
}
