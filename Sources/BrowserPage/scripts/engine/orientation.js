/**
 * The turn of a photograph by the orientation in its EXIF. Browsers turn JPEG, PNG and AVIF files themselves; Chromium does
 * not turn WebP files.
 */

import { bytesOf } from './base64.js';

const ORIENTATION = 0x0112;

/**
 * The orientation in the first directory (TIFF 6.0, EXIF 2.32): 1 is upright, and where there is none.
 * @param {Uint8Array} exif from its TIFF header on
 */
export function exifOrientation(exif) {
  const view = new DataView(exif.buffer, exif.byteOffset, exif.byteLength);
  const little = view.getUint16(0) === 0x4949;
  const start = view.getUint32(4, little);
  const count = view.getUint16(start, little);
  for (let index = 0; index < count; index += 1) {
    const entry = start + 2 + index * 12;
    if (view.getUint16(entry, little) === ORIENTATION) return view.getUint16(entry + 8, little);
  }
  return 1;
}

/**
 * The orientation in a chunk of a WebP file; some programs write JPEG's mark before the header.
 * @param {Uint8Array} content of a chunk `EXIF`
 */
export function chunkOrientation(content) {
  const hasMark = String.fromCharCode(...content.subarray(0, 6)) === 'Exif\0\0';
  return exifOrientation(hasMark ? content.subarray(6) : content);
}

/** The chunks of a WebP file: kind, start of the chunk and end of its content. */
export function* webpChunks(/** @type {Uint8Array} */ bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + 4, true);
    yield { kind: String.fromCharCode(...bytes.subarray(at, at + 4)), start: at, end: at + 8 + size };
    at += 8 + size + size % 2;
  }
}

/** The orientation of a WebP file; 1 for every other file, and for one whose EXIF cannot be read. */
async function webpOrientation(/** @type {Blob} */ blob) {
  const start = new TextDecoder('latin1').decode(await blob.slice(0, 12).arrayBuffer());
  if (!start.startsWith('RIFF') || !start.endsWith('WEBP')) return 1;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  try {
    for (const { kind, start, end } of webpChunks(bytes)) if (kind === 'EXIF') return chunkOrientation(bytes.subarray(start + 8, end));
  } catch { /* what cannot be read turns nothing */ }
  return 1;
}

/** A WebP file of 4 by 2 pixels that is to be turned to 2 by 4. */
const SAMPLE = 'UklGRlAAAABXRUJQVlA4WAoAAAAIAAAAAwAAAQAAVlA4TA8AAAAvA0AAAAcQ/Y/+ByKi/wEARVhJRhoAAABNTQAqAAAACAABARIAAwAAAAEABgAAAAAAAA==';
/** @type {Promise<boolean> | undefined} */
let isTurnedByBrowser;

async function browserTurns() {
  const bitmap = await createImageBitmap(new Blob([bytesOf(SAMPLE)]), /** @type {any} */ ({ imageOrientation: 'from-image' }));
  return bitmap.width === 2;
}

/** The axes of the upright picture, by the orientation: the canvas's transform without its shift. */
const AXES = [[1, 0, 0, 1], [-1, 0, 0, 1], [-1, 0, 0, -1], [1, 0, 0, -1], [0, 1, 1, 0], [0, 1, -1, 0], [0, -1, -1, 0], [0, -1, 1, 0]];

/**
 * The picture as it is to be seen.
 * @param {ImageBitmap} bitmap the file's pixels as the browser decodes them; closed where another takes its place
 * @param {Blob} blob
 * @returns {Promise<ImageBitmap>}
 */
export async function upright(bitmap, blob) {
  const orientation = await webpOrientation(blob);
  if (!(orientation > 1 && orientation <= 8)) return bitmap;
  isTurnedByBrowser ??= browserTurns();
  if (await isTurnedByBrowser) return bitmap;
  const [a, b, c, d] = AXES[orientation - 1];
  const { width, height } = bitmap;
  const [across, down] = orientation > 4 ? [height, width] : [width, height];
  /** @type {any} */
  const canvas = new OffscreenCanvas(across, down);
  const context = canvas.getContext('2d');
  context.imageSmoothingEnabled = false;
  context.setTransform(a, b, c, d, a + c < 0 ? across : 0, b + d < 0 ? down : 0);
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.transferToImageBitmap();
}
