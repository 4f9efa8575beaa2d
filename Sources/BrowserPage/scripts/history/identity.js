/** An identifier that no other scan has; `randomUUID` is not to be had on every origin. */
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * What must be equal for a scan to be in the history as it is.
 * @param {import('../types.js').Scan} scan
 */
export function fingerprint({ result, square, lesion, note }) {
  return JSON.stringify([result.probabilities, result.metadata, square, lesion, note]);
}
