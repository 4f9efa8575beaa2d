import { base64Of, bytesOf } from '../engine/base64.js';
import { pictureAlone, withoutMetadata } from './metadata.js';
import { EngineError } from '../engine/module.js';
import { probe } from '../image.js';
import { flaw, known as knownMembers, nameOfBroken, parsed } from './records.js';

// One file for the whole history: a line that says what it is, then one scan a line, so that neither end ever holds more
// than one scan's text.
const FORMAT = 'dermafusion-history';

/** @param {Blob} blob */
async function dataAddress(blob) {
  return `data:${blob.type};base64,${base64Of(new Uint8Array(await blob.arrayBuffer()))}`;
}

/** @param {unknown} address @returns {Blob | null} null where it is no picture */
function blobOfAddress(address) {
  const match = /^data:(image\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/.exec(String(address));
  if (!match) return null;
  return new Blob([bytesOf(match[2])], { type: match[1] });
}

/** @param {import('./database.js').HistoryDatabase} history @param {string[]} ids of the scans */
export async function exportArchive(history, ids) {
  const parts = [`${JSON.stringify({ format: FORMAT, version: 1, scans: ids.length })}\n`];
  for (const id of ids) {
    const scan = await history.get(id);
    if (!scan) continue;
    // One that an older version stored may still have its metadata.
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

/** So many scans are checked and stored together. */
const BATCH = 40;
/** A thumbnail of this page's has a tenth of it. */
const THUMBNAIL_BYTES = 200_000;

/**
 * @typedef {{name: string, flaw?: string, refused?: Worded}} Broken a record that was left out: the rule that
 *   it breaks, or the engine's sentence
 * @typedef {{result: Partial<Result>} | {refused: Worded}} Checked the engine's answer
 * @typedef {{added: number, known: number, broken: Broken[]}} Imported
 */

/**
 * Takes the scans of a file into the history; what is there already stays as it is. The file may be anybody's: each record is
 * held against the rules of the page, and its result against those of the engine, which works out again what follows from
 * the probabilities.
 * @param {import('./database.js').HistoryDatabase} history
 * @param {Blob} file
 * @param {(results: {classes: object[], result: object}[]) => Promise<Checked[]>} check the engine's
 * @param {(done: number, all: number) => void} [progress]
 * @returns {Promise<Imported>}
 */
export async function importArchive(history, file, check, progress = () => {}) {
  /** @type {Imported} */
  const imported = { added: 0, known: 0, broken: [] };
  const known = await history.ids();
  let number = 0;
  let [isArchive, all] = [false, 0];
  /** @type {{scan: Scan, photograph: Blob | null}[]} */
  let batch = [];
  const store = async () => {
    const answers = batch.length > 0 ? await check(batch.map(({ scan }) => checkable(scan))) : [];
    /** @type {typeof batch} */
    const good = [];
    batch.forEach(({ scan, photograph }, index) => {
      const answer = answers[index];
      if ('refused' in answer) imported.broken.push({ name: nameOfBroken(scan, scan.id), refused: answer.refused });
      else good.push({ scan: { ...scan, result: { ...scan.result, ...answer.result } }, photograph });
    });
    try {
      await history.putAll(good);
    } catch (error) {
      throw Object.assign(/** @type {object} */ (error), { added: imported.added });
    }
    imported.added += good.length;
    batch = [];
    progress(number - 1, all);
  };
  for await (const line of linesOf(file)) {
    number += 1;
    const value = parsed(line);
    if (number === 1) {
      isArchive = value?.format === FORMAT && value?.version === 1;
      if (!isArchive) break;
      all = Number.isInteger(value.scans) ? value.scans : 0;
      continue;
    }
    if (!line.trim()) continue;
    const record = await recordOf(value);
    if ('flaw' in record) imported.broken.push({ name: nameOfBroken(value, `line ${number}`), flaw: record.flaw });
    else if (known.has(record.scan.id)) imported.known += 1;
    else {
      known.add(record.scan.id);
      if (batch.push(record) === BATCH) await store();
    }
  }
  if (!isArchive) throw new EngineError('not_an_archive', 'no history');
  await store();
  return imported;
}

/**
 * A record as the history holds it, or the rule that it breaks.
 * @param {any} value
 * @returns {Promise<{scan: Scan, photograph: Blob | null} | {flaw: string}>}
 */
async function recordOf(value) {
  const address = value?.photograph;
  const scan = knownMembers(value ?? {});
  const thumbnail = blobOfAddress(scan.thumbnail);
  scan.thumbnail = thumbnail && thumbnail.size <= THUMBNAIL_BYTES ? pictureAlone(new Uint8Array(await thumbnail.arrayBuffer())) : null;
  const rule = flaw(scan);
  if (rule) return { flaw: rule };
  if (address === null || address === undefined) return { scan, photograph: null };
  const file = blobOfAddress(address);
  try {
    if (!file) return { flaw: 'photograph' };
    await probe(file);
    return { scan, photograph: await withoutMetadata(file) };
  } catch {
    return { flaw: 'photograph' };
  }
}

/** A record's part that the engine checks. */
export function checkable(/** @type {Scan} */ { classes, result }) {
  // As a model's configuration has them: a member without a value is not there.
  return { classes: classes.map(({ malignancy, ...each }) => (malignancy ? { ...each, malignancy } : each)), result };
}
