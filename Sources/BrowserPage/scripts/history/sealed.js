import { base64Of, bytesOf } from '../engine/base64.js';
import { EngineError } from '../engine/module.js';
import { parsed } from './records.js';

/**
 * A history's file that only a passphrase opens: a line that says how it was made, then parts of at most PART bytes, each
 * encrypted with a number of its own. The first line and the part's place are authenticated with it: a part that is left
 * out, exchanged or repeated is noticed.
 */
const FORMAT = 'dermafusion-history-sealed';
/** OWASP's advice for PBKDF2 with SHA-256. */
export const ITERATIONS = 600_000;
const PART = 1 << 20;
const encoder = new TextEncoder();

/** True if the browser encrypts here: it does not on a page that came over plain HTTP. */
export function canSeal() {
  return globalThis.crypto?.subtle !== undefined;
}

const broken = () => new EngineError('sealed_broken', 'the sealed file is damaged');

/** @param {string} passphrase @param {Uint8Array} salt @param {number} iterations */
export async function keyOf(passphrase, salt, iterations) {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(passphrase.normalize('NFC')), 'PBKDF2', false, ['deriveKey']);
  const derivation = { name: 'PBKDF2', hash: 'SHA-256', salt: /** @type {BufferSource} */ (salt), iterations };
  return crypto.subtle.deriveKey(derivation, secret, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}

/** @param {BufferSource} iv @param {string} label authenticated with what is encrypted: what it is and where it belongs */
const cipher = (iv, label) => ({ name: 'AES-GCM', iv, additionalData: encoder.encode(label) });

/** @param {CryptoKey} key @param {BufferSource} plain @param {string} label */
export async function encrypted(key, plain, label) {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  return { iv, sealed: await crypto.subtle.encrypt(cipher(iv, label), key, plain) };
}

/** @param {CryptoKey} key @param {{iv: BufferSource, sealed: BufferSource}} value @param {string} label @returns {Promise<ArrayBuffer>} */
export function decrypted(key, { iv, sealed }, label) {
  return crypto.subtle.decrypt(cipher(iv, label), key, sealed);
}

/** @param {Blob} file @param {string} passphrase */
export async function seal(file, passphrase) {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const parts = Math.ceil(file.size / PART);
  const head = JSON.stringify({ format: FORMAT, version: 1, derivation: 'PBKDF2-HMAC-SHA-256',
    iterations: ITERATIONS, salt: base64Of(salt), cipher: 'AES-256-GCM', parts });
  const key = await keyOf(passphrase, salt, ITERATIONS);
  const lines = [`${head}\n`];
  for (let index = 0; index < parts; index += 1) {
    const { iv, sealed } = await encrypted(key, await file.slice(index * PART, (index + 1) * PART).arrayBuffer(), `${head}:${index}`);
    lines.push(`${base64Of(iv)} ${base64Of(new Uint8Array(sealed))}\n`);
  }
  return new Blob(lines, { type: 'application/x-ndjson' });
}

/** True if a file is one of these. */
export async function isSealed(/** @type {Blob} */ file) {
  return (await file.slice(0, 200).text()).startsWith(`{"format":"${FORMAT}"`);
}

/** @param {unknown} text of the file, which may be anybody's */
function bytesIn(text) {
  try {
    return bytesOf(String(text));
  } catch {
    throw broken();
  }
}

/** @param {Blob} file @param {string} passphrase @returns {Promise<Blob>} */
export async function unseal(file, passphrase) {
  const [head, ...lines] = (await file.text()).split('\n').filter((line) => line !== '');
  const facts = parsed(head);
  if (facts?.version !== 1 || !(facts.iterations >= 1 && facts.iterations <= 10_000_000) || facts.parts !== lines.length) throw broken();
  const key = await keyOf(passphrase, bytesIn(facts.salt), facts.iterations);
  const parts = [];
  for (const [index, line] of lines.entries()) {
    const [iv, sealed] = line.split(' ').map(bytesIn);
    try {
      parts.push(await decrypted(key, { iv, sealed }, `${head}:${index}`));
    } catch {
      throw index === 0 ? new EngineError('sealed_passphrase', 'another passphrase') : broken();
    }
  }
  return new Blob(parts);
}
