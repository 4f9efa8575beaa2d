import { decode } from '../engine/decode.js';
import { chunkOrientation, exifOrientation, webpChunks } from '../engine/orientation.js';

/**
 * Takes out of a photograph's file what the picture does not need: position, camera, time, comments, previews, and what
 * follows the picture. Only parts that are known to be needed are kept. Where the file must be turned upright, or is of another
 * format, the caller encodes the picture anew.
 */

/** JPEG's tables, frames and scans (ITU-T T.81); of the application's segments JFIF's and Adobe's, which tell what the components mean. */
const isPicture = (/** @type {number} */ marker) => (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc8) || (marker >= 0xda && marker <= 0xdd);
const [APP0, APP1, APP14, SOS, EOI] = [0xe0, 0xe1, 0xee, 0xda, 0xd9];

/** PNG's chunks that make the still picture (PNG, third edition). */
const PNG_CHUNKS = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'];
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** WebP's chunks of a still picture; the flags of VP8X that announce others are cleared (ICC profile, EXIF, XMP). */
const WEBP_CHUNKS = ['VP8X', 'ALPH', 'VP8 ', 'VP8L'];
const WEBP_FLAGS = 0x20 | 0x08 | 0x04;
const WEBP_ANIMATION = 0x02;

/** @param {Uint8Array} bytes @param {number} at @param {number} [count] */
const name = (bytes, at, count = 4) => String.fromCharCode(...bytes.subarray(at, at + count));

/** @type {{type: string, begins: (bytes: Uint8Array) => boolean, parts: (bytes: Uint8Array) => Uint8Array[] | null}[]} */
const FORMATS = [
  { type: 'image/jpeg', begins: (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8, parts: jpegParts },
  { type: 'image/png', begins: (bytes) => PNG_SIGNATURE.every((byte, index) => bytes[index] === byte), parts: pngParts },
  { type: 'image/webp', begins: (bytes) => name(bytes, 0) === 'RIFF' && name(bytes, 8) === 'WEBP', parts: webpParts },
];

/** A picture that is encoded anew is stored without loss up to here; a larger one as a JPEG. */
const LOSSLESS_BYTES = 1_500_000;
const QUALITY = 0.95;

/**
 * The file without anything but its picture; null where the picture must be encoded anew: it is to be turned, the format is
 * another one, or the file is not as its format says.
 * @param {Uint8Array} bytes
 * @returns {Blob | null}
 */
export function pictureAlone(bytes) {
  try {
    const format = FORMATS.find(({ begins }) => begins(bytes));
    const parts = format?.parts(bytes);
    return format && parts ? new Blob(/** @type {BlobPart[]} */ (parts), { type: format.type }) : null;
  } catch {
    return null;
  }
}

/**
 * The part of a photograph's file that the history keeps and hands on: the picture alone, upright. A file without a picture is an error.
 * @param {Blob} file
 * @param {Size} [size]
 * @returns {Promise<Blob>}
 */
export async function withoutMetadata(file, size) {
  const alone = pictureAlone(new Uint8Array(await file.arrayBuffer()));
  if (alone) return alone;
  const { bitmap, width, height } = await decode(file, size);
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  const exact = await canvas.convertToBlob({ type: 'image/png' });
  return exact.size <= LOSSLESS_BYTES ? exact : canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY });
}

/** @param {Uint8Array} bytes */
function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** @param {Uint8Array} bytes */
function jpegParts(bytes) {
  const view = viewOf(bytes);
  const parts = [bytes.subarray(0, 2)];
  let at = 2;
  for (;;) {
    // A marker may have any number of bytes of filling before it.
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at += 1;
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff) return null;
    if (marker === EOI) return [...parts, Uint8Array.of(0xff, EOI)];
    let end = at + 2 + view.getUint16(at + 2);
    if (end > bytes.length) return null;
    if (marker === APP1 && name(bytes, at + 4, 6) === 'Exif\0\0' && exifOrientation(bytes.subarray(at + 10, end)) !== 1) return null;
    if (marker === APP0 && name(bytes, at + 4, 5) === 'JFIF\0') parts.push(jfif(bytes.subarray(at, at + 16)));
    else if (isPicture(marker) || (marker === APP14 && name(bytes, at + 4, 5) === 'Adobe')) {
      if (marker === SOS) end = endOfScan(bytes, end);
      parts.push(bytes.subarray(at, end));
    }
    at = end;
  }
}

/**
 * JFIF's segment without its preview.
 * @param {Uint8Array} segment up to where the preview's size stands
 */
function jfif(segment) {
  return Uint8Array.of(0xff, APP0, 0, 16, ...segment.subarray(4), 0, 0);
}

/** The end of a scan's coded data: a marker that is neither a byte 0xff nor a restart. */
function endOfScan(/** @type {Uint8Array} */ bytes, /** @type {number} */ start) {
  for (let at = bytes.indexOf(0xff, start); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  throw new RangeError('the file ends inside of a scan');
}

/** @param {Uint8Array} bytes */
function pngParts(bytes) {
  const view = viewOf(bytes);
  const parts = [bytes.subarray(0, 8)];
  for (let at = 8; ;) {
    const kind = name(bytes, at + 4);
    const end = at + 12 + view.getUint32(at);
    if (end > bytes.length) return null;
    if (kind === 'eXIf' && exifOrientation(bytes.subarray(at + 8, end - 4)) !== 1) return null;
    if (PNG_CHUNKS.includes(kind)) parts.push(bytes.subarray(at, end));
    if (kind === 'IEND') return parts;
    at = end;
  }
}

/** @param {Uint8Array} bytes */
function webpParts(bytes) {
  const parts = [];
  for (const { kind, start, end } of webpChunks(bytes)) {
    if (end > bytes.length) return null;
    const chunk = bytes.slice(start, end + (end - start) % 2);
    if (kind === 'EXIF' && chunkOrientation(chunk.subarray(8)) !== 1) return null;
    if (kind === 'VP8X') {
      if (chunk[8] & WEBP_ANIMATION) return null;
      chunk[8] &= ~WEBP_FLAGS;
    }
    if (WEBP_CHUNKS.includes(kind)) parts.push(chunk);
  }
  const head = bytes.slice(0, 12);
  viewOf(head).setUint32(4, 4 + parts.reduce((total, part) => total + part.length, 0), true);
  return [head, ...parts];
}
