import { bytesOf } from '../engine/base64.js';
import { withoutMetadata } from './metadata.js';
import { flaw, nameOfBroken } from './records.js';

// One file for the whole history: a line that says what it is, then one scan a line, so that neither end ever holds more
// than one scan's text.
const FORMAT = 'dermafusion-history';

/**
 * @param {Blob} blob
 * @returns {Promise<string>}
 */
function dataAddress(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

/**
 * @param {unknown} address
 * @returns {Blob | null} null where it is no picture
 */
function blobOfAddress(address) {
  const match = /^data:(image\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/.exec(String(address));
  if (!match) return null;
  return new Blob([bytesOf(match[2])], { type: match[1] });
}

/**
 * @param {import('./database.js').HistoryDatabase} history
 * @param {import('../types.js').Scan[]} scans
 */
export async function exportArchive(history, scans) {
  const parts = [`${JSON.stringify({ format: FORMAT, version: 1, scans: scans.length })}\n`];
  for (const scan of scans) {
    // Records of older versions hold files with their metadata.
    const photograph = await history.photograph(scan.id).then((file) => file && withoutMetadata(file)).catch(() => null);
    const line = { ...scan, thumbnail: await dataAddress(scan.thumbnail), photograph: photograph && await dataAddress(photograph) };
    parts.push(`${JSON.stringify(line)}\n`);
  }
  return new Blob(parts, { type: 'application/x-ndjson' });
}

/** @param {Blob} file */
async function* linesOf(file) {
  let rest = '';
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  // Not every browser lets a stream be walked through by `for await`.
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const lines = (rest + piece.value).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest) yield rest;
}

/**
 * Takes the scans of a file into the history; what is there already stays as it is.
 * @param {import('./database.js').HistoryDatabase} history
 * @param {Blob} file
 * @returns {Promise<{added: number, known: number, broken: string[]}>}
 */
export async function importArchive(history, file) {
  const result = { added: 0, known: 0, broken: /** @type {string[]} */ ([]) };
  let number = 0;
  for await (const line of linesOf(file)) {
    number += 1;
    let value;
    try {
      value = JSON.parse(line);
    } catch {
      value = undefined;
    }
    if (number === 1) {
      if (value?.format !== FORMAT || value?.version !== 1) throw Object.assign(new Error('no history'), { code: 'not_an_archive' });
      continue;
    }
    if (!line.trim()) continue;
    const { photograph, ...scan } = value ?? {};
    scan.thumbnail = blobOfAddress(scan.thumbnail);
    if (flaw(scan)) result.broken.push(nameOfBroken(scan, `line ${number}`));
    else if (await history.get(scan.id)) result.known += 1;
    else {
      const file = blobOfAddress(photograph);
      await history.put(scan, file && await withoutMetadata(file));
      result.added += 1;
    }
  }
  if (number === 0) throw Object.assign(new Error('no history'), { code: 'not_an_archive' });
  return result;
}
