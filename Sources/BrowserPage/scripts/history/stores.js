import { EngineError } from '../engine/module.js';
import { withoutMetadata } from './metadata.js';

export const NAME = 'dermafusion';
/** Version 1 stored the files of photographs with their metadata, version 2 had no rows, version 3 no lock. */
const VERSION = 4;
/** The scans, what lists show of them, their photographs, and the keys of the photographs that version 1 stored and that still have their metadata. */
export const STORES = /** @type {const} */ (['scans', 'rows', 'photographs', 'unstripped']);
/** The store of the lock, and the lock's key in it. */
export const LOCK = 'lock';

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
export function answer(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * A transaction's end: everything in it is stored, or nothing.
 * @param {IDBTransaction} transaction
 * @returns {Promise<void>}
 */
function done(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new DOMException('the transaction was aborted', 'AbortError'));
  });
}

/**
 * Changes several stores: everything is stored, or nothing.
 * @template T
 * @param {IDBDatabase} database
 * @param {readonly string[]} names of the stores
 * @param {(store: (name: typeof STORES[number] | typeof LOCK) => IDBObjectStore) => T | Promise<T>} change
 * @returns {Promise<T>} what the change returns
 */
export async function write(database, names, change) {
  const transaction = database.transaction(names, 'readwrite', { durability: 'strict' });
  const finished = done(transaction);
  finished.catch(() => {});
  try {
    const changed = await change((name) => transaction.objectStore(name));
    await finished;
    return changed;
  } catch (error) {
    // It may have been aborted with the error.
    if (!transaction.error) transaction.abort();
    throw error;
  }
}

/**
 * Opens the database.
 * @param {boolean} creates true if it is made where it is not there
 * @returns {Promise<IDBDatabase>}
 */
export async function connect(creates) {
  const request = indexedDB.open(NAME, VERSION);
  request.onupgradeneeded = ({ oldVersion }) => {
    // Opening a database that is not there makes it; the abort takes that back.
    if (oldVersion === 0 && !creates) return request.transaction?.abort();
    const database = request.result;
    database.createObjectStore(LOCK);
    if (oldVersion === 3) return;
    // The first list fills them.
    database.createObjectStore('rows', { keyPath: 'id' });
    if (oldVersion === 2) return;
    const unstripped = database.createObjectStore('unstripped');
    if (oldVersion === 0) {
      database.createObjectStore('scans', { keyPath: 'id' });
      database.createObjectStore('photographs');
      return;
    }
    const keys = /** @type {IDBTransaction} */ (request.transaction).objectStore('photographs').getAllKeys();
    keys.onsuccess = () => keys.result.forEach((key) => unstripped.put(true, key));
  };
  try {
    return await answer(request);
  } catch (error) {
    if (!creates && error instanceof DOMException && error.name === 'AbortError') {
      // By another tab perhaps. Nothing is stored, and nothing turns it on again but the person.
      throw new EngineError('history_off', 'the history is off');
    }
    throw error;
  }
}

/**
 * Takes the metadata out of the photographs of version 1, one after the other. What is not done when the page is closed is done at
 * the next opening. A file that the browser cannot decode stays as it is.
 * @param {IDBDatabase} database
 */
export async function stripOldPhotographs(database) {
  for (const key of await answer(database.transaction('unstripped').objectStore('unstripped').getAllKeys())) {
    const file = await answer(database.transaction('photographs').objectStore('photographs').get(key));
    const alone = file && await withoutMetadata(file).catch(() => null);
    if (!alone) continue;
    await write(database, ['photographs', 'unstripped', LOCK], async (store) => {
      // Otherwise the photograph was deleted, replaced or encrypted meanwhile.
      if (await answer(store('unstripped').getKey(key)) === undefined || await answer(store(LOCK).getKey(LOCK)) !== undefined) return;
      store('photographs').put(alone, key);
      store('unstripped').delete(key);
    });
  }
}

/** So many milliseconds a browser may take to open its database: Safari was known never to answer, and another tab may block it. */
const PATIENCE = 2000;

/**
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>} rejected where it takes too long
 */
export function inTime(promise) {
  const silent = new EngineError('storage_silent', 'the storage does not answer');
  return Promise.race([promise, new Promise((_, reject) => { setTimeout(reject, PATIENCE, silent); })]);
}
