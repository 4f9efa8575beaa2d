// What lies in the page as base64, and compressed.

/** @param {string} text */
export function bytesOf(text) {
  const ending = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array(text.length / 4 * 3 - ending);
  decodeInto(bytes, text);
  return bytes;
}

/**
 * Decodes base64 and returns how many bytes that gave.
 * @param {Uint8Array} bytes where they go
 * @param {string} text
 * @returns {number}
 */
export function decodeInto(bytes, text) {
  if ('setFromBase64' in bytes) {
    const { read, written } = /** @type {any} */ (bytes).setFromBase64(text);
    if (read < text.length) throw new RangeError(`more than ${bytes.length} bytes`);
    return written;
  }
  const binary = atob(text);
  if (binary.length > bytes.length) throw new RangeError(`more than ${bytes.length} bytes`);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return binary.length;
}

/**
 * The engine lies in the page compressed.
 * @param {Uint8Array} bytes
 */
export function inflated(bytes) {
  // Not from a Blob: WebKit reads none in the worker of a page that was opened as a file.
  return new Response(/** @type {ReadableStream} */ (new Response(bytes).body).pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}
