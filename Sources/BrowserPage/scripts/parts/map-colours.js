import { inferno } from '../drawings.json';
import { h } from '../dom.js';
import { t } from '../texts.js';

/**
 * Red, green and blue of the 256 colours of matplotlib's inferno (Nathaniel Smith and Stefan van der Walt, CC0), one after the other, as
 * the library has them.
 */
const INFERNO = Uint8Array.from({ length: inferno.length / 2 }, (_, index) => parseInt(inferno.slice(2 * index, 2 * index + 2), 16));

/** Below this share of the map's maximum nothing is drawn, so that skin stays as it is. */
const FLOOR = 0.15;

/**
 * Draws a map: the colour by the value, and the more opaque the greater the value.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} values `[height, width]`, 0...1
 * @param {number} width
 * @param {number} height
 */
export function drawMap(canvas, values, width, height) {
  canvas.width = width;
  canvas.height = height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const image = context.createImageData(width, height);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    const colour = Math.min(Math.floor(value * 256), 255) * 3;
    image.data[index * 4] = INFERNO[colour];
    image.data[index * 4 + 1] = INFERNO[colour + 1];
    image.data[index * 4 + 2] = INFERNO[colour + 2];
    image.data[index * 4 + 3] = 255 * Math.min(1, Math.max(0, (value - FLOOR) / (0.6 - FLOOR)));
  }
  context.putImageData(image, 0, 0);
}

/** The scale of the colours, from weak to strong. */
export function colourBar() {
  const canvas = h('canvas', { width: 256, height: 1, class: 'colour-scale', 'aria-hidden': 'true' });
  const ramp = Float32Array.from({ length: 256 }, (_, index) => index / 255);
  drawMap(canvas, ramp, 256, 1);
  return h('div', { class: 'colour-bar' }, canvas,
    h('div', { class: 'colour-words small' }, h('span', {}, t('heatmap.weak')), h('span', {}, t('heatmap.title')), h('span', {}, t('heatmap.strong'))));
}
