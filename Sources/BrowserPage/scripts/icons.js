import drawings from './drawings.json';
import { s } from './dom.js';

/** A picture beside words, drawn with a stroke in a square of 24; readers of the screen do not hear it. */
export function icon(/** @type {keyof typeof drawings.icons} */ name) {
  return s('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true', fill: 'none',
    stroke: 'currentColor', 'stroke-width': 1.8, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' },
  s('path', { d: drawings.icons[name] }));
}

/** The sign of a risk: a shield with a check, a triangle, an octagon, or a circle where there is none to tell. */
export function riskIcon(/** @type {'low' | 'moderate' | 'high' | 'none'} */ level) {
  const { shape, glyph } = drawings.risks[level];
  return s('svg', { class: 'risk-icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    s('path', { d: shape, class: 'risk-shape' }),
    s('path', { d: glyph, class: 'risk-glyph', fill: 'none', 'stroke-width': 2.2, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }));
}

/** The product's mark. */
export function mark() {
  return s('svg', { class: 'mark', viewBox: '0 0 32 32', 'aria-hidden': 'true' },
    s('rect', { width: 32, height: 32, rx: 8, class: 'mark-ground' }),
    s('circle', { cx: 16, cy: 16, r: 9, fill: 'none', class: 'mark-line', 'stroke-width': 2.5 }),
    s('circle', { cx: 16, cy: 16, r: 3.5, class: 'mark-dot' }));
}
