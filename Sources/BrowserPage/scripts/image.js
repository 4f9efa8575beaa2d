import { EngineError } from './engine/module.js';
import { MAX_PIXELS, MAX_SIDE, unreadable } from './engine/decode.js';

/** The part of a JPEG in which its size is looked for: behind colour profiles and previews, which are seldom longer. */
const HEADER_LENGTH = 1 << 17;

/**
 * The size that the header of a PNG or a JPEG claims, before the photograph is turned upright; null for another file, or
 * where it lies further behind. Browsers refuse to open the largest and say only that they could not.
 * @param {Blob} blob
 */
async function claimedSize(blob) {
  const header = new DataView(await blob.slice(0, HEADER_LENGTH).arrayBuffer());
  if (header.byteLength < 24) return null;
  if (header.getUint32(0) === 0x89504e47 && header.getUint32(12) === 0x49484452) {
    return { width: header.getUint32(16), height: header.getUint32(20) };
  }
  if (header.getUint16(0) !== 0xffd8) return null;
  // ITU-T T.81, annex B: segments, each with a marker and its length, up to the frame's.
  for (let at = 2; at + 9 <= header.byteLength && header.getUint8(at) === 0xff; at += 2 + header.getUint16(at + 2)) {
    const marker = header.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: header.getUint16(at + 7), height: header.getUint16(at + 5) };
    // The picture itself, its end, or something that has no length.
    if (marker < 0xc0 || marker === 0xda || marker === 0xd9 || marker === 0xff) return null;
  }
  return null;
}

/**
 * True if a file is built as TIFF, as most raw photographs of cameras are, or is another raw photograph. Safari opens them, and
 * may show a small preview: the model would see another picture than the command line, which refuses raw photographs and chooses
 * the page of a TIFF file.
 * @param {Blob} blob
 */
export async function mayShowPreview(blob) {
  const start = new TextDecoder('latin1').decode(await blob.slice(0, 16).arrayBuffer());
  return /^(II[*+]\0|MM\0[*+]|II(U\0|R[OS])|MMOR|II\x1a\0\0\0HEAP|FUJIFILMCCD-RAW|FOVb|\0MRM|....ftypcrx )/s.test(start);
}

/** @param {Size} size */
function refuseTooMany({ width, height }) {
  if (width * height > MAX_PIXELS) {
    throw new EngineError('too_many_pixels', `${width}x${height} pixels are more than the page opens`);
  }
}

/**
 * The size of an image's file: upright, where the photograph is so large that it will be reduced.
 * @param {Blob} blob
 * @returns {Promise<{width: number, height: number}>}
 */
export async function probe(blob) {
  if (await mayShowPreview(blob)) {
    throw new EngineError('unreadable_raw', 'raw photographs and TIFF files are not opened: a browser may show their preview');
  }
  const claimed = await claimedSize(blob);
  if (claimed) {
    refuseTooMany(claimed);
    // The decoder finds out whether the rest is an image.
    if (Math.min(claimed.width, claimed.height) > 0 && Math.max(claimed.width, claimed.height) <= MAX_SIDE) return claimed;
  }
  const address = URL.createObjectURL(blob);
  try {
    const image = new Image();
    const size = await new Promise((resolve, reject) => {
      image.onload = () => resolve({ width: image.naturalWidth, height: image.naturalHeight });
      image.onerror = () => unreadable(blob).then(reject, reject);
      image.src = address;
    });
    refuseTooMany(size);
    if (size.width === 0 || size.height === 0) throw new EngineError('unreadable_image', 'the image has no size');
    return size;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * A JPEG or a PNG of what a canvas shows.
 * @param {HTMLCanvasElement} canvas
 * @param {string} type
 * @param {number} [quality]
 * @returns {Promise<Blob>}
 */
export function blobOf(canvas, type, quality) {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser makes no picture of a canvas'))), type, quality);
  });
}

/**
 * A copy with at most that side.
 * @param {CanvasImageSource & {width: number, height: number}} source
 * @param {number} side
 * @param {Square} [square] only that part
 */
export function drawn(source, side, square) {
  const from = square ? { left: square.left, top: square.top, width: square.side, height: square.side }
    : { left: 0, top: 0, width: source.width, height: source.height };
  const scale = Math.min(1, side / Math.max(from.width, from.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(from.width * scale));
  canvas.height = Math.max(1, Math.round(from.height * scale));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.imageSmoothingQuality = 'high';
  context.drawImage(source, from.left, from.top, from.width, from.height, 0, 0, canvas.width, canvas.height);
  return canvas;
}
