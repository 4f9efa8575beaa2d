import { app } from '../app.js';

/** The time that the photograph must lie still before it is drawn from its own pixels, in milliseconds. */
const STILL = 120;

/** @typedef {{left: number, top: number, width: number, height: number}} Area of the photograph, in its pixels */

/**
 * Draws what a view shows of a photograph: its preview, and where that has too few pixels the photograph's own, once the view
 * lies still.
 * @param {HTMLCanvasElement} canvas
 * @param {Photograph} photograph
 * @param {() => Area & {scale: number}} seen what the view shows, and how many of the screen's pixels one of its pixels takes
 */
export function cropPicture(canvas, { width, height, preview, source }, seen) {
  /** @type {(Area & {bitmap: ImageBitmap}) | undefined} */
  let sharp;
  let timer = 0;
  const density = () => Math.min(devicePixelRatio || 1, 2);

  function draw() {
    const view = seen();
    const factor = view.scale * density();
    const [columns, rows] = [Math.round(view.width * factor), Math.round(view.height * factor)];
    if (!(columns > 0 && rows > 0)) return;
    if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const place = (/** @type {ImageBitmap} */ bitmap, /** @type {Area} */ area) =>
      context.drawImage(bitmap, (area.left - view.left) * factor, (area.top - view.top) * factor, area.width * factor, area.height * factor);
    context.clearRect(0, 0, columns, rows);
    context.imageSmoothingQuality = 'high';
    place(preview, { left: 0, top: 0, width, height });
    if (sharp) place(sharp.bitmap, sharp);
    clearTimeout(timer);
    if (factor > preview.width / width && !covered(view)) timer = setTimeout(sharpen, STILL);
  }

  /** @param {Area & {scale: number}} view */
  function covered({ left, top, width: across, height: down, scale }) {
    return sharp !== undefined && sharp.left <= Math.max(left, 0) && sharp.top <= Math.max(top, 0)
      && sharp.left + sharp.width >= Math.min(left + across, width) && sharp.top + sharp.height >= Math.min(top + down, height)
      && sharp.bitmap.width / sharp.width >= Math.min(1, scale) * 0.99;
  }

  async function sharpen() {
    const view = seen();
    const left = Math.max(0, Math.floor(view.left));
    const top = Math.max(0, Math.floor(view.top));
    const area = { left, top, width: Math.min(width, Math.ceil(view.left + view.width)) - left,
      height: Math.min(height, Math.ceil(view.top + view.height)) - top };
    if (area.width <= 0 || area.height <= 0) return;
    try {
      const { bitmap } = await app.engine.request('region', { source, area, scale: Math.min(1, view.scale * density()) }, 'region');
      sharp?.bitmap.close();
      sharp = { ...area, bitmap };
      draw();
    } catch {
      // The preview stays.
    }
  }

  return {
    draw,
    leave() {
      clearTimeout(timer);
      app.engine.cancel('region');
      sharp?.bitmap.close();
      sharp = undefined;
    },
  };
}
