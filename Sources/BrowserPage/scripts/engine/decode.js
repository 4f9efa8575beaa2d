import { EngineError } from './module.js';
import { upright } from './orientation.js';
import { sameSquare } from '../state.js';

/** Photographs with a longer side are reduced before they are looked at. */
export const MAX_SIDE = 8000;
/** The model's square is handed over with at most this side; a larger one is reduced by the browser. */
export const MAX_SQUARE = 4096;
/** A file that claims more pixels is not opened: Pillow's limit, and what a decompression bomb goes beyond. */
export const MAX_PIXELS = 178_956_970;
/** Larger pictures of the photograph are not shown on the page. */
const PREVIEW_SIDE = 1600;

/**
 * A photograph in memory.
 * @typedef {object} Photograph
 * @property {ImageBitmap} bitmap upright; reduced where it was larger than MAX_SIDE
 * @property {number} width of the bitmap
 * @property {number} height of the bitmap
 * @property {boolean} reduced true if the file's pixels are more
 */

/**
 * Decodes an image's file: upright, its colours as they are stored.
 * @param {Blob} blob
 * @param {Size} [size] the file's own, where it is known: larger than MAX_SIDE, it is reduced
 * @returns {Promise<Photograph>}
 */
export async function decode(blob, size) {
  /** @type {any} */
  const options = { imageOrientation: 'from-image', colorSpaceConversion: 'none', premultiplyAlpha: 'none' };
  const scale = size ? Math.min(1, MAX_SIDE / Math.max(size.width, size.height)) : 1;
  if (size && scale < 1) {
    options.resizeWidth = Math.max(1, Math.round(size.width * scale));
    options.resizeHeight = Math.max(1, Math.round(size.height * scale));
    options.resizeQuality = 'high';
  }
  let bitmap;
  try {
    bitmap = await upright(await createImageBitmap(blob, options), blob);
  } catch {
    throw await unreadable(blob);
  }
  return { bitmap, width: bitmap.width, height: bitmap.height, reduced: scale < 1 };
}

/** An image's file: its bytes and what it shows. The worker reads it; the page does where the worker cannot. */
export async function read(/** @type {Source} */ { blob, size }) {
  const bytes = await blob.arrayBuffer();
  return { bytes, photograph: await decode(blob, size) };
}

/**
 * The reason why the browser does not read a file: HEIC and AVIF, which many do not know, can be converted; anything else is damaged or no
 * photograph.
 * @param {Blob} blob
 */
export async function unreadable(blob) {
  const brands = await blob.slice(4, 32).text();
  const isHEIF = /^ftyp.*(hei[cfmsx]|hev[cmsx]|mif1|msf1|avif|avis)/s.test(brands);
  return new EngineError(isHEIF ? 'unreadable_heic' : 'unreadable_image', 'the browser cannot read this file as an image');
}

/**
 * A part of a photograph, as it is; one whose shorter side is above MAX_SQUARE is reduced.
 * @param {Photograph} photograph
 * @param {{left: number, top: number, side?: number, width?: number, height?: number}} area a square, or both sides
 */
function cutOut({ bitmap }, { left, top, side = 0, width = side, height = side }) {
  const scale = Math.min(1, MAX_SQUARE / Math.min(width, height));
  const canvas = new OffscreenCanvas(Math.round(width * scale), Math.round(height * scale));
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new EngineError('memory', 'the browser gives no canvas');
  context.imageSmoothingEnabled = scale < 1;
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, left, top, width, height, 0, 0, canvas.width, canvas.height);
  return { canvas, context };
}

/**
 * The pixels of a square of a photograph, for the engine. A transform that crops by itself gets all for the centre square.
 * @param {Photograph} photograph
 * @param {Square} square
 * @param {boolean} crops true if the model's transform does
 */
export function cut(photograph, square, crops) {
  const { width, height } = photograph;
  const takesAll = crops && sameSquare(square, centreSquare(photograph));
  const { canvas, context } = cutOut(photograph, takesAll ? { left: 0, top: 0, width, height } : square);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
  // Its memory is given back now rather than when the browser gets to it.
  canvas.width = canvas.height = 0;
  return pixels;
}

/** The square that the model sees as a JPEG, with all the pixels that it saw. */
export function squareJPEG(/** @type {Photograph} */ photograph, /** @type {Square} */ square) {
  return cutOut(photograph, square).canvas.convertToBlob({ type: 'image/jpeg', quality: 0.7 });
}

/**
 * A part of a photograph from its own pixels, to be looked at.
 * @param {Photograph} photograph
 * @param {{left: number, top: number, width: number, height: number}} area
 * @param {number} scale at most 1
 */
export function part({ bitmap }, { left, top, width, height }, scale) {
  return createImageBitmap(bitmap, left, top, width, height, {
    resizeWidth: Math.max(1, Math.round(width * scale)), resizeHeight: Math.max(1, Math.round(height * scale)), resizeQuality: 'high',
  });
}

/**
 * The centre square, as the command line cuts it.
 * @param {Size} size
 * @returns {Square}
 */
export function centreSquare({ width, height }) {
  const side = Math.min(width, height);
  return { left: Math.floor((width - side) / 2), top: Math.floor((height - side) / 2), side };
}

/** A copy of the photograph that is small enough to be shown. */
export function preview(/** @type {Photograph} */ photograph) {
  const { width, height } = photograph;
  return part(photograph, { left: 0, top: 0, width, height }, Math.min(1, PREVIEW_SIDE / Math.max(width, height)));
}
