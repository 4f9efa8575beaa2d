import { EngineError } from '../engine/module.js';
import { newID } from './records.js';
import { decrypted, encrypted, ITERATIONS, keyOf } from './sealed.js';

/**
 * The lock of a history: its records are encrypted with a random key, and the key lies beside them, encrypted with the passphrase.
 *
 * @typedef {object} Lock
 * @property {string} turn another one after each change of the lock: a tab that knows an older one is locked out
 * @property {boolean} seals true if records are stored encrypted; false while the lock is being removed
 * @property {boolean} isDone true if all records are stored so
 * @property {Uint8Array} salt
 * @property {number} iterations
 * @property {Uint8Array} iv
 * @property {ArrayBuffer} sealed the key of the records
 */

const LABEL = 'dermafusion-history-key';

/** @param {BufferSource} key of the records @param {string} passphrase */
async function wrapped(key, passphrase) {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  return { turn: newID(), salt, iterations: ITERATIONS, ...await encrypted(await keyOf(passphrase, salt, ITERATIONS), key, LABEL) };
}

/** @param {Lock} lock @param {string} passphrase @returns the key of the records; another passphrase is an error */
async function unwrapped(lock, passphrase) {
  try {
    return await decrypted(await keyOf(passphrase, lock.salt, lock.iterations), lock, LABEL);
  } catch {
    throw new EngineError('wrong_passphrase', 'another passphrase');
  }
}

/** @param {string} passphrase @returns {Promise<Lock>} with a new key */
export async function newLock(passphrase) {
  return { seals: true, isDone: false, ...await wrapped(crypto.getRandomValues(new Uint8Array(32)), passphrase) };
}

/** @param {Lock} lock @param {string} passphrase @param {string} next @returns {Promise<Lock>} with the same key under another passphrase */
export async function rewrapped(lock, passphrase, next) {
  return { ...lock, ...await wrapped(await unwrapped(lock, passphrase), next) };
}

/** @param {Lock} lock @param {string} passphrase @returns {Promise<CryptoKey>} */
export async function keyIn(lock, passphrase) {
  return crypto.subtle.importKey('raw', await unwrapped(lock, passphrase), 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** A private window of WebKit stores no Blob, and the transaction that tries never ends: WebKit stores the bytes. */
const STORES_BLOBS = globalThis.navigator?.vendor !== 'Apple Computer, Inc.';

/** @param {any} value */
const isBytes = (value) => value?.bytes instanceof ArrayBuffer;

/**
 * @param {CryptoKey | null} key null where nothing is encrypted
 * @param {'scans' | 'rows' | 'photographs'} store
 * @param {string} id
 * @param {any} value a scan, a row or a photograph
 * @returns {Promise<any>} as it is stored
 */
export async function packed(key, store, id, value) {
  const blob = [value, value?.thumbnail].find((each) => each instanceof Blob);
  if (key) {
    // The fields, and behind the first end of a line, which JSON has none of, the picture.
    const plain = await new Blob([JSON.stringify({ fields: blob === value ? null : value, type: blob?.type }), '\n', blob ?? '']).arrayBuffer();
    return { id, ...await encrypted(key, plain, `${store}:${id}`) };
  }
  if (STORES_BLOBS || !blob) return value;
  const stored = { type: blob.type, bytes: await blob.arrayBuffer() };
  return blob === value ? stored : { ...value, thumbnail: stored };
}

/**
 * @param {CryptoKey | null} key
 * @param {'scans' | 'rows' | 'photographs'} store
 * @param {string} id
 * @param {any} stored
 * @returns {Promise<any>} undefined where the key does not open it
 */
export async function unpacked(key, store, id, stored) {
  if (isBytes(stored)) return new Blob([stored.bytes], { type: stored.type });
  if (isBytes(stored?.thumbnail)) return { ...stored, thumbnail: await unpacked(key, store, id, stored.thumbnail) };
  if (!stored?.sealed) return stored;
  const bytes = key && await decrypted(key, stored, `${store}:${id}`).then((plain) => new Uint8Array(plain), () => null);
  if (!bytes) return undefined;
  const end = bytes.indexOf(10);
  const { fields, type } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  const blob = type === undefined ? {} : { thumbnail: new Blob([bytes.subarray(end + 1)], { type }) };
  return fields ? { ...fields, ...blob } : blob.thumbnail;
}
