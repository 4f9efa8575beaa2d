import { flaw, nameOfBroken } from './records.js';

/**
 * @typedef {import('../types.js').Scan} Scan
 * @typedef {{scans: Scan[], broken: {key: string, name: string, flaw: string}[]}} Listing
 */

const NAME = 'dermafusion';
const VERSION = 1;

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function answer(request) {
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

/** Whether the database is there; asking does not make it. */
async function exists() {
  if (indexedDB.databases) return (await indexedDB.databases()).some(({ name }) => name === NAME);
  // Firefox before 126 lists none. A database that is not there would be made: that is taken back.
  const request = indexedDB.open(NAME);
  request.onupgradeneeded = () => request.transaction?.abort();
  try {
    (await answer(request)).close();
    return true;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return false;
    throw error;
  }
}

/**
 * The history: scans in the browser's IndexedDB. It is turned on where the database is there, so nothing else needs to be
 * remembered. Where the browser refuses the database, scans are kept in memory until the page is closed.
 */
export class Store {
  /** @type {IDBDatabase | undefined} */
  #database;
  /**
   * Scans and photographs of a browser that stores nothing.
   * @type {Map<string, {scan: Scan, photograph: Blob | null}> | undefined}
   */
  #memory;

  /** @returns {Promise<'off' | 'on' | 'memory'>} */
  async state() {
    if (this.#memory) return 'memory';
    if (this.#database) return 'on';
    try {
      if (!await exists()) return 'off';
      await this.#open();
      return 'on';
    } catch {
      return 'off';
    }
  }

  /**
   * Turns the history on.
   * @returns {Promise<'on' | 'memory'>}
   */
  async turnOn() {
    try {
      await this.#open();
      navigator.storage?.persist?.().catch(() => {});
      return 'on';
    } catch {
      this.#memory = new Map();
      return 'memory';
    }
  }

  /** Turns the history off, with all that is in it. */
  async turnOff() {
    this.#memory = undefined;
    this.#database?.close();
    this.#database = undefined;
    await answer(indexedDB.deleteDatabase(NAME));
  }

  async #open() {
    if (this.#database) return this.#database;
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('scans', { keyPath: 'id' });
      request.result.createObjectStore('photographs');
    };
    const database = await answer(request);
    // Another tab may delete the history: this one lets go of it, and sees the history turned off.
    database.onversionchange = () => {
      database.close();
      this.#database = undefined;
    };
    database.onclose = () => { this.#database = undefined; };
    this.#database = database;
    return database;
  }

  /**
   * Stores a scan with its photograph, both or neither.
   * @param {Scan} scan
   * @param {Blob | null} [photograph] stays as it is where it is missing
   */
  async put(scan, photograph) {
    if (this.#memory) {
      this.#memory.set(scan.id, { scan, photograph: photograph ?? this.#memory.get(scan.id)?.photograph ?? null });
      return;
    }
    const transaction = (await this.#open()).transaction(['scans', 'photographs'], 'readwrite', { durability: 'strict' });
    const finished = done(transaction);
    finished.catch(() => {});
    transaction.objectStore('scans').put(scan);
    if (photograph) transaction.objectStore('photographs').put(photograph, scan.id);
    await finished;
  }

  /**
   * Changes some fields of a scan and leaves the others as they are stored, so that two tabs do not undo each other's.
   * @param {string} id
   * @param {Partial<Scan>} fields
   * @returns {Promise<boolean>} whether the scan is still there
   */
  async change(id, fields) {
    if (this.#memory) {
      const kept = this.#memory.get(id);
      if (kept) Object.assign(kept.scan, fields);
      return kept !== undefined;
    }
    const transaction = (await this.#open()).transaction('scans', 'readwrite', { durability: 'strict' });
    const finished = done(transaction);
    finished.catch(() => {});
    const store = transaction.objectStore('scans');
    const scan = await answer(store.get(id));
    if (scan) store.put({ ...scan, ...fields });
    await finished;
    return scan !== undefined;
  }

  /**
   * All scans, the newest first, and what could not be read.
   * @returns {Promise<Listing>}
   */
  async list() {
    /** @type {Listing} */
    const listing = { scans: [], broken: [] };
    for (const { key, value } of await this.#all()) {
      const rule = flaw(value);
      if (rule) listing.broken.push({ key, name: nameOfBroken(value, key), flaw: rule });
      else listing.scans.push(value);
    }
    listing.scans.sort((first, second) => Date.parse(second.created) - Date.parse(first.created));
    return listing;
  }

  async #all() {
    if (this.#memory) return [...this.#memory].map(([key, { scan }]) => ({ key, value: scan }));
    const scans = (await this.#open()).transaction('scans').objectStore('scans');
    const [keys, values] = await Promise.all([answer(scans.getAllKeys()), answer(scans.getAll())]);
    return keys.map((key, index) => ({ key: String(key), value: values[index] }));
  }

  /**
   * @param {string} id
   * @returns {Promise<Scan | undefined>}
   */
  async get(id) {
    const scan = this.#memory ? this.#memory.get(id)?.scan
      : await answer((await this.#open()).transaction('scans').objectStore('scans').get(id));
    return scan && !flaw(scan) ? scan : undefined;
  }

  /**
   * @param {string} id
   * @returns {Promise<Blob | null>}
   */
  async photograph(id) {
    if (this.#memory) return this.#memory.get(id)?.photograph ?? null;
    return await answer((await this.#open()).transaction('photographs').objectStore('photographs').get(id)) ?? null;
  }

  /** @param {string[]} ids */
  async delete(ids) {
    if (this.#memory) {
      for (const id of ids) this.#memory.delete(id);
      return;
    }
    const transaction = (await this.#open()).transaction(['scans', 'photographs'], 'readwrite', { durability: 'strict' });
    const finished = done(transaction);
    for (const id of ids) {
      transaction.objectStore('scans').delete(id);
      transaction.objectStore('photographs').delete(id);
    }
    await finished;
  }
}

/**
 * Whether an error says that the disk, or the browser's share of it, is full.
 * @param {unknown} error
 */
export function isFull(error) {
  return error instanceof DOMException && error.name === 'QuotaExceededError';
}
