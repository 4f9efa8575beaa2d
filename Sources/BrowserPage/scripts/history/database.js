import { EngineError } from '../engine/module.js';
import { withoutMetadata } from './metadata.js';
import { flaw, rowOf } from './records.js';

/**
 * @typedef {import('../types.js').Scan} Scan
 * @typedef {import('../types.js').Row} Row
 * @typedef {import('../types.js').BrokenRow} BrokenRow
 */

const NAME = 'dermafusion';
/** Version 1 stored the files of photographs with their metadata, version 2 had no rows. */
const VERSION = 3;
/** The scans, what lists show of them, their photographs, and the keys of the photographs that version 1 stored and that still have their metadata. */
const STORES = /** @type {const} */ (['scans', 'rows', 'photographs', 'unstripped']);

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

/**
 * Changes several stores: everything is stored, or nothing.
 * @template T
 * @param {IDBDatabase} database
 * @param {readonly string[]} names of the stores
 * @param {(store: (name: typeof STORES[number]) => IDBObjectStore) => T | Promise<T>} change
 * @returns {Promise<T>} what the change returns
 */
async function write(database, names, change) {
  const transaction = database.transaction(names, 'readwrite', { durability: 'strict' });
  const finished = done(transaction);
  finished.catch(() => {});
  /** @type {T | Promise<T>} */
  let value;
  try {
    value = change((name) => transaction.objectStore(name));
  } catch (error) {
    transaction.abort();
    throw error;
  }
  const changed = await value;
  await finished;
  return changed;
}

/** A private window of WebKit stores no Blob, and the transaction that tries never ends: WebKit stores the bytes. */
const STORES_BLOBS = globalThis.navigator?.vendor !== 'Apple Computer, Inc.';

/** @param {Blob | null | undefined} blob @returns {Promise<any>} as it is stored */
async function packed(blob) {
  return STORES_BLOBS || !blob ? blob : { type: blob.type, bytes: await blob.arrayBuffer() };
}

/** @param {any} stored a Blob, or its bytes */
function unpacked(stored) {
  return stored?.bytes instanceof ArrayBuffer ? new Blob([stored.bytes], { type: stored.type }) : stored;
}

/** @param {any} stored a scan */
function whole(stored) {
  return stored?.thumbnail?.bytes instanceof ArrayBuffer ? { ...stored, thumbnail: unpacked(stored.thumbnail) } : stored;
}

/** So many milliseconds a browser may take to open its database: Safari was known never to answer, and another tab may block it. */
const PATIENCE = 2000;

/**
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>} rejected where it takes too long
 */
function inTime(promise) {
  return Promise.race([promise, new Promise((_, reject) => { setTimeout(reject, PATIENCE, new EngineError('storage_silent', 'the storage does not answer')); })]);
}

/**
 * Opens the database.
 * @param {boolean} creates whether it is made where it is not there
 * @returns {Promise<IDBDatabase>}
 */
async function connect(creates) {
  const request = indexedDB.open(NAME, VERSION);
  request.onupgradeneeded = ({ oldVersion }) => {
    // Opening a database that is not there makes it; the abort takes that back.
    if (oldVersion === 0 && !creates) return request.transaction?.abort();
    const database = request.result;
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
async function stripOldPhotographs(database) {
  for (const key of await answer(database.transaction('unstripped').objectStore('unstripped').getAllKeys())) {
    const file = await answer(database.transaction('photographs').objectStore('photographs').get(key));
    const alone = file && await withoutMetadata(file).catch(() => null);
    if (!alone) continue;
    await write(database, ['photographs', 'unstripped'], async (store) => {
      // Otherwise the photograph was deleted or replaced meanwhile.
      if (await answer(store('unstripped').getKey(key)) === undefined) return;
      store('photographs').put(alone, key);
      store('unstripped').delete(key);
    });
  }
}

/**
 * The history: scans in the browser's IndexedDB. It is turned on where the database is there, so nothing else needs to be
 * remembered. Where the browser refuses the database, or does not open it in time, scans are kept in memory until the page is
 * closed. A database that opens later takes them over.
 */
export class HistoryDatabase {
  /** @type {IDBDatabase | undefined} */
  #database;
  /** @type {Promise<IDBDatabase> | undefined} */
  #connecting;
  /**
   * The history being turned on or off. Requests for its state wait meanwhile. On a busy machine it takes a while until a
   * new database is listed, and the person must not be asked a second time in between.
   * @type {Promise<unknown>}
   */
  #turning = Promise.resolve();
  /**
   * Scans and photographs of a browser that stores nothing; null where the person does not want them.
   * @type {Map<string, {scan: Scan, photograph: Blob | null}> | null | undefined}
   */
  #memory;

  /** Called when a database that opened late has taken over what was kept in memory. */
  tookOver = () => {};

  /** @returns {number} how many scans are lost when the page is closed */
  get unstoredCount() {
    return this.#memory?.size ?? 0;
  }

  /** @returns {Promise<'off' | 'on' | 'memory'>} */
  async state() {
    await this.#turning;
    if (this.#memory !== undefined) return this.#memory ? 'memory' : 'off';
    try {
      await this.#open();
      return 'on';
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'storage_silent')) return 'off';
      // A history may be there that cannot be read now.
      this.#memory = new Map();
      return 'memory';
    }
  }

  /**
   * Turns the history on.
   * @returns {Promise<'on' | 'memory'>}
   */
  turnOn() {
    const turning = this.#turning.then(async () => {
      try {
        await this.#open(true);
        navigator.storage?.persist?.().catch(() => {});
        return /** @type {const} */ ('on');
      } catch {
        this.#memory ??= new Map();
        return /** @type {const} */ ('memory');
      }
    });
    this.#turning = turning;
    return turning;
  }

  /** Turns the history off, with all that is in it. */
  turnOff() {
    const turning = this.#turning.then(async () => {
      if (this.#memory !== undefined) {
        this.#memory = null;
        return;
      }
      this.#database?.close();
      this.#database = undefined;
      await answer(indexedDB.deleteDatabase(NAME));
    });
    this.#turning = turning.catch(() => {});
    return turning;
  }

  /** @param {boolean} [creates] */
  async #open(creates = false) {
    // An attempt that makes nothing must not answer for one that does.
    if (creates && this.#connecting) await inTime(this.#connecting).catch(() => {});
    if (this.#database) return this.#database;
    this.#connecting ??= connect(creates).then((database) => this.#opened(database)).finally(() => { this.#connecting = undefined; });
    return inTime(this.#connecting);
  }

  /** @param {IDBDatabase} database */
  async #opened(database) {
    // Another tab may delete the history: this one lets go of it, and sees the history turned off.
    database.onversionchange = () => {
      database.close();
      this.#database = undefined;
    };
    database.onclose = () => { this.#database = undefined; };
    this.#database = database;
    stripOldPhotographs(database).catch(() => {});
    const kept = this.#memory;
    this.#memory = undefined;
    try {
      if (kept?.size) await this.putAll([...kept.values()]);
    } catch {
      this.#memory = kept;
    }
    if (kept) queueMicrotask(this.tookOver);
    return database;
  }

  /**
   * Stores a scan with its photograph, both or neither.
   * @param {Scan} scan
   * @param {Blob | null} [photograph] stays as it is where it is missing
   */
  put(scan, photograph) {
    return this.putAll([{ scan, photograph }]);
  }

  /**
   * Stores several scans, all or none.
   * @param {{scan: Scan, photograph?: Blob | null}[]} records
   */
  async putAll(records) {
    if (this.#memory) {
      for (const { scan, photograph } of records) this.#memory.set(scan.id, { scan, photograph: photograph ?? this.#memory.get(scan.id)?.photograph ?? null });
      return;
    }
    const pictures = await Promise.all(records.map(({ scan, photograph }) => Promise.all([packed(scan.thumbnail), packed(photograph)])));
    await write(await this.#open(), STORES, (store) => {
      for (const [index, { scan }] of records.entries()) {
        const [thumbnail, photograph] = pictures[index];
        store('scans').put({ ...scan, thumbnail });
        store('rows').put(rowOf(scan));
        if (!photograph) continue;
        store('photographs').put(photograph, scan.id);
        store('unstripped').delete(scan.id);
      }
    });
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
    return write(await this.#open(), ['scans', 'rows'], async (store) => {
      const scan = await answer(store('scans').get(id));
      if (!scan) return false;
      store('scans').put({ ...scan, ...fields });
      store('rows').put(rowOf(whole({ ...scan, ...fields })));
      return true;
    });
  }

  /**
   * A row for each scan, the newest first, and what could not be read.
   * @returns {Promise<{rows: Row[], broken: BrokenRow[]}>}
   */
  async list() {
    const all = await this.#rows();
    const rows = all.flatMap((row) => ('created' in row ? row : []));
    const times = new Map(rows.map((row) => [row, Date.parse(row.created)]));
    rows.sort((first, second) => Number(times.get(second)) - Number(times.get(first)));
    return { rows, broken: all.flatMap((row) => ('created' in row ? [] : row)) };
  }

  /** @returns {Promise<(Row | BrokenRow)[]>} */
  async #rows() {
    if (this.#memory) return [...this.#memory.values()].map(({ scan }) => rowOf(scan));
    const stores = (await this.#open()).transaction(['scans', 'rows']);
    const [count, rows] = await Promise.all([answer(stores.objectStore('scans').count()), answer(stores.objectStore('rows').getAll())]);
    return count === rows.length ? rows : this.#makeRows();
  }

  /** Of all scans anew: version 2 had none. */
  async #makeRows() {
    return write(await this.#open(), ['scans', 'rows'], async (store) => {
      store('rows').clear();
      const rows = (await answer(store('scans').getAll())).map((scan) => rowOf(whole(scan)));
      for (const row of rows) store('rows').put(row);
      return rows;
    });
  }

  /** @returns {Promise<Set<string>>} the identifiers of all scans */
  async ids() {
    if (this.#memory) return new Set(this.#memory.keys());
    const keys = await answer((await this.#open()).transaction('scans').objectStore('scans').getAllKeys());
    return new Set(keys.map(String));
  }

  /**
   * @param {string} id
   * @returns {Promise<Scan | undefined>}
   */
  async get(id) {
    return (await this.scans([id]))[0];
  }

  /**
   * @param {string[]} ids
   * @returns {Promise<Scan[]>} those that are there and whole, in this order
   */
  async scans(ids) {
    const memory = this.#memory;
    const store = memory ? null : (await this.#open()).transaction('scans').objectStore('scans');
    const scans = await Promise.all(ids.map((id) => (store ? answer(store.get(id)) : memory?.get(id)?.scan)));
    return scans.map(whole).filter((scan) => scan && !flaw(scan));
  }

  /**
   * @param {string} id
   * @returns {Promise<Blob | null>}
   */
  async photograph(id) {
    if (this.#memory) return this.#memory.get(id)?.photograph ?? null;
    return unpacked(await answer((await this.#open()).transaction('photographs').objectStore('photographs').get(id))) ?? null;
  }

  /** @param {string[]} ids */
  async delete(ids) {
    if (this.#memory) {
      for (const id of ids) this.#memory.delete(id);
      return;
    }
    await write(await this.#open(), STORES, (store) => { for (const id of ids) for (const name of STORES) store(name).delete(id); });
  }
}

/**
 * Whether an error says that the disk, or the browser's share of it, is full.
 * @param {unknown} error
 */
export function isFull(error) {
  return error instanceof DOMException && error.name === 'QuotaExceededError';
}
