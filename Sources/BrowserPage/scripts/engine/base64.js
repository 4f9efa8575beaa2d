// Bytes that lie in the page as base64, and compressed.

/** @param {string} text @returns {Uint8Array} */
export function bytesOf(text) {
  if ('fromBase64' in Uint8Array) return /** @type {any} */ (Uint8Array).fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** @param {Uint8Array} bytes @returns {string} */
export function base64Of(bytes) {
  if ('toBase64' in bytes) return /** @type {any} */ (bytes).toBase64();
  let binary = '';
  for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(binary);
}

/**
 * Bytes with a patch.
 * @param {Uint8Array} bytes
 * @param {([number, number] | string)[]} patch the parts in order: where they begin in the bytes and how many they are, or
 *   others in base64
 */
export function patched(bytes, patch) {
  const parts = patch.map((part) => typeof part === 'string' ? bytesOf(part) : bytes.subarray(part[0], part[0] + part[1]));
  const result = new Uint8Array(parts.reduce((count, part) => count + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

/** The engine lies in the page compressed. */
export function inflated(/** @type {Uint8Array} */ bytes) {
  // Not from a Blob: WebKit reads none in the worker of a page that was opened as a file.
  return new Response(/** @type {ReadableStream} */ (new Response(bytes).body).pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}
