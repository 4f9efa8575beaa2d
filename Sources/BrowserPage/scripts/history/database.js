import { EngineError } from '../engine/module.js';
import { keyIn, newLock, packed, rewrapped, unpacked } from './lock.js';
import { flaw, newID, rowOf } from './records.js';
import { answer, connect, inTime, LOCK, NAME, STORES, stripOldPhotographs, write } from './stores.js';

/**
 * @typedef {import('./lock.js').Lock} Lock
 * @typedef {(done: number, all: number) => void} Progress
 * @typedef {(name: typeof STORES[number]) => IDBObjectStore} Opener
 */

/** So many records are encrypted, or decrypted, together. */
const BATCH = 20;

const locked = () => new EngineError('history_locked', 'the history is locked');

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
  /**
   * The key of a locked history, with the turn of the lock that it came from.
   * @type {{turn: string, key: CryptoKey} | undefined}
   */
  #unlocked;
  /** @type {BroadcastChannel | undefined} */
  #otherTabs;

  /** Called when a database that opened late has taken over what was kept in memory, and when another tab has changed the lock. */
  changed = () => {};

  /** @returns {number} how many scans are lost when the page is closed */
  get unstoredCount() {
    return this.#memory?.size ?? 0;
  }

  /** @returns {Promise<'off' | 'on' | 'memory' | 'locked' | 'unlocked'>} */
  async state() {
    await this.#turning;
    if (this.#memory !== undefined) return this.#memory ? 'memory' : 'off';
    try {
      const lock = await this.#lock();
      if (!lock) return 'on';
      return lock.turn === this.#unlocked?.turn ? 'unlocked' : 'locked';
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'storage_silent')) return 'off';
      // A history may be there that cannot be read now.
      this.#memory = new Map();
      return 'memory';
    }
  }

  /** @returns {Promise<'on' | 'memory'>} the state of the history when it is turned on */
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
    if (kept) queueMicrotask(this.changed);
    try {
      this.#otherTabs ??= new BroadcastChannel(NAME);
      this.#otherTabs.onmessage = () => this.changed();
    } catch {
      // Not every browser has one here. Each transaction looks at the lock all the same.
    }
    return database;
  }

  /** @returns {Promise<Lock | undefined>} as whichever tab has left it */
  async #lock() {
    return answer((await this.#open()).transaction(LOCK).objectStore(LOCK).get(LOCK));
  }

  /** The form in which records are read and written now. A history that is locked is an error. */
  async #form() {
    const lock = await this.#lock();
    if (lock && lock.turn !== this.#unlocked?.turn) throw locked();
    const key = lock && this.#unlocked ? this.#unlocked.key : null;
    return { turn: lock?.turn, key, writing: lock?.seals ? key : null };
  }

  /**
   * Puts another lock in the place of the one that is known.
   * @param {Lock | undefined} known
   * @param {Lock | undefined} next
   * @param {CryptoKey} [key] that this tab goes on with; without one it is locked, as the other tabs are
   */
  async #turn(known, next, key) {
    await write(await this.#open(), [LOCK], async (store) => {
      if ((await answer(store(LOCK).get(LOCK)))?.turn !== known?.turn) throw locked();
      if (next) store(LOCK).put(next, LOCK);
      else store(LOCK).delete(LOCK);
    });
    this.#unlocked = next && key ? { turn: next.turn, key } : undefined;
    this.#otherTabs?.postMessage('lock');
  }

  /** Encrypts all records. From the beginning other tabs neither read nor write without the passphrase. */
  async protect(/** @type {string} */ passphrase, /** @type {Progress} */ progress) {
    const database = await this.#open();
    await stripOldPhotographs(database);
    const lock = await newLock(passphrase);
    await this.#turn(undefined, lock, await keyIn(lock, passphrase));
    await this.#convert(progress);
  }

  /** @param {Progress} progress of decrypting all records, before the lock is removed */
  async unprotect(progress) {
    const [lock, { key }] = [await this.#lock(), await this.#form()];
    if (!lock || !key) return;
    await this.#turn(lock, { ...lock, turn: newID(), seals: false, isDone: false }, key);
    await this.#convert(progress);
  }

  /** Opens the lock for this tab, and ends what was begun with the records when a page was closed. */
  async unlock(/** @type {string} */ passphrase, /** @type {Progress} */ progress) {
    const lock = await this.#lock();
    if (!lock) return;
    this.#unlocked = { turn: lock.turn, key: await keyIn(lock, passphrase) };
    if (!lock.isDone) await this.#convert(progress);
  }

  /** Locks this tab and all others. */
  async lock() {
    const lock = await this.#lock();
    if (lock) await this.#turn(lock, { ...lock, turn: newID() });
  }

  /** @param {string} passphrase @param {string} next */
  async changePassphrase(passphrase, next) {
    const lock = await this.#lock();
    if (!lock) return;
    const changed = await rewrapped(lock, passphrase, next);
    await this.#turn(lock, changed, await keyIn(changed, next));
  }

  /** @param {Progress} progress of giving every record the form that the lock asks for; what a closed page left undone is done when it is unlocked */
  async #convert(progress) {
    const database = await this.#open();
    // Those of scans that are not there any more would stay as they are; the others are made with their scans.
    await write(database, ['rows'], (store) => { store('rows').clear(); });
    const names = /** @type {const} */ (['scans', 'photographs']);
    const keys = await Promise.all(names.map((name) => answer(database.transaction(name).objectStore(name).getAllKeys())));
    let left = names.flatMap((name, index) => keys[index].map((id) => ({ name, id: /** @type {string} */ (id) })));
    const all = left.length;
    while (left.length > 0) {
      const [{ name }] = left;
      const ids = left.slice(0, BATCH).flatMap((each) => (each.name === name ? each.id : []));
      await this.#rewrite(name, ids, (value) => value);
      left = left.slice(ids.length);
      progress(all - left.length, all);
    }
    const [lock, { key }] = [await this.#lock(), await this.#form()];
    if (lock && key) await this.#turn(lock, lock.seals ? { ...lock, isDone: true } : undefined, key);
  }

  /**
   * Changes the stores, unless the lock is another one than the values were made for; then they are made again.
   * @template T
   * @param {(form: {key: CryptoKey | null, writing: CryptoKey | null}) => Promise<(store: Opener) => T | Promise<T>>} make
   * @returns {Promise<T>}
   */
  async #write(make) {
    for (;;) {
      const form = await this.#form();
      const change = await make(form);
      const changed = await write(await this.#open(), [...STORES, LOCK], async (store) =>
        ((await answer(store(LOCK).get(LOCK)))?.turn === form.turn ? { value: await change(store) } : null));
      if (changed) return changed.value;
    }
  }

  /**
   * Stores records anew, a scan with its row. One that another tab changes meanwhile is taken once more.
   * @param {'scans' | 'photographs'} name
   * @param {string[]} ids
   * @param {(value: any) => any} change
   * @returns {Promise<boolean>} true if all are still there
   */
  async #rewrite(name, ids, change) {
    let isThere = true;
    for (let left = ids; left.length > 0;) {
      const read = (/** @type {IDBObjectStore} */ store) => Promise.all(left.map((id) => answer(store.get(id))));
      left = await this.#write(async ({ key, writing }) => {
        const before = await read((await this.#open()).transaction(name).objectStore(name));
        const after = await Promise.all(before.map(async (stored, index) => {
          const id = left[index];
          const value = await unpacked(key, name, id, stored);
          const next = value && change(value);
          // What its key does not open stays as it is.
          return Promise.all([next ? packed(writing, name, id, next) : stored, packed(writing, 'rows', id, rowOf(next ?? { id }))]);
        }));
        return async (store) => {
          const now = await read(store(name));
          return left.filter((id, index) => {
            if (JSON.stringify(now[index]) !== JSON.stringify(before[index])) return true;
            const [value, row] = after[index];
            if (!value) isThere = false;
            else if (name === 'photographs') store(name).put(value, id);
            else [store(name).put(value), store('rows').put(row)];
            return false;
          });
        };
      });
    }
    return isThere;
  }

  /**
   * Stores scans with their photographs, all or none.
   * @param {{scan: Scan, photograph?: Blob | null}[]} records a photograph stays as it is where it is missing
   */
  async putAll(records) {
    if (this.#memory) {
      for (const { scan, photograph } of records) this.#memory.set(scan.id, { scan, photograph: photograph ?? this.#memory.get(scan.id)?.photograph ?? null });
      return;
    }
    await this.#write(async ({ writing }) => {
      const values = await Promise.all(records.map(({ scan, photograph }) => Promise.all([
        packed(writing, 'scans', scan.id, scan), packed(writing, 'rows', scan.id, rowOf(scan)),
        photograph && packed(writing, 'photographs', scan.id, photograph)])));
      return (store) => {
        for (const [index, [scan, row, picture]] of values.entries()) {
          const { id } = records[index].scan;
          store('scans').put(scan);
          store('rows').put(row);
          if (!picture) continue;
          store('photographs').put(picture, id);
          store('unstripped').delete(id);
        }
      };
    });
  }

  /**
   * Changes some fields of a scan and leaves the others as they are stored, so that two tabs do not undo each other's.
   * @param {string} id
   * @param {Partial<Scan>} fields
   * @returns {Promise<boolean>} true if the scan is still there
   */
  async change(id, fields) {
    if (this.#memory) {
      const kept = this.#memory.get(id);
      if (kept) Object.assign(kept.scan, fields);
      return kept !== undefined;
    }
    return this.#rewrite('scans', [id], (scan) => ({ ...scan, ...fields }));
  }

  /** @returns {Promise<{rows: Row[], broken: BrokenRow[]}>} a row for each scan, the newest first, and what could not be read */
  async list() {
    const all = await this.#isReadable() ? await this.#rows() : [];
    const rows = all.flatMap((row) => ('created' in row ? row : []));
    const times = new Map(rows.map((row) => [row, Date.parse(row.created)]));
    rows.sort((first, second) => Number(times.get(second)) - Number(times.get(first)));
    return { rows, broken: all.flatMap((row) => ('created' in row ? [] : row)) };
  }

  async #isReadable() {
    return !['off', 'locked'].includes(await this.state());
  }

  /** @returns {Promise<(Row | BrokenRow)[]>} */
  async #rows() {
    if (this.#memory) return [...this.#memory.values()].map(({ scan }) => rowOf(scan));
    const { key } = await this.#form();
    const stores = (await this.#open()).transaction(['scans', 'rows']);
    const [ids, rows] = await Promise.all([answer(stores.objectStore('scans').getAllKeys()), answer(stores.objectStore('rows').getAll())]);
    if (ids.length === rows.length) return Promise.all(rows.map(async (row) => await unpacked(key, 'rows', row.id, row) ?? rowOf({ id: row.id })));
    // Version 2 had none.
    await write(await this.#open(), ['rows'], (store) => { store('rows').clear(); });
    await this.#rewrite('scans', /** @type {string[]} */ (ids), (scan) => scan);
    return this.#rows();
  }

  /** @returns {Promise<Set<string>>} the identifiers of all scans */
  async ids() {
    if (this.#memory) return new Set(this.#memory.keys());
    const keys = await answer((await this.#open()).transaction('scans').objectStore('scans').getAllKeys());
    return new Set(keys.map(String));
  }

  /** @param {string} id @returns {Promise<Scan | undefined>} */
  async get(id) {
    return (await this.scans([id]))[0];
  }

  /** @param {string[]} ids @returns {Promise<Scan[]>} those that are there and whole, in this order */
  async scans(ids) {
    if (!await this.#isReadable()) return [];
    const memory = this.#memory;
    const { key } = memory ? { key: null } : await this.#form();
    const store = memory ? null : (await this.#open()).transaction('scans').objectStore('scans');
    const stored = await Promise.all(ids.map((id) => (store ? answer(store.get(id)) : memory?.get(id)?.scan)));
    const scans = await Promise.all(stored.map((scan, index) => unpacked(key, 'scans', ids[index], scan)));
    return scans.filter((scan) => scan && !flaw(scan));
  }

  /** @param {string} id @returns {Promise<Blob | null>} */
  async photograph(id) {
    if (this.#memory) return this.#memory.get(id)?.photograph ?? null;
    const { key } = await this.#form();
    const stored = await answer((await this.#open()).transaction('photographs').objectStore('photographs').get(id));
    return await unpacked(key, 'photographs', id, stored) ?? null;
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
