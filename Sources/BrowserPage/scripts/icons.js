import { s } from './dom.js';

/** Paths in a square of 24, drawn with a stroke. */
const PATHS = {
  scan: 'M4 8V6a2 2 0 0 1 2-2h2 M16 4h2a2 2 0 0 1 2 2v2 M20 16v2a2 2 0 0 1-2 2h-2 M8 20H6a2 2 0 0 1-2-2v-2 M12 8.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z',
  history: 'M4.5 12a7.5 7.5 0 1 0 2.3-5.4L4 9 M4 4.5V9h4.5 M12 8v4.5l3 1.8',
  learn: 'M12 6.5C10 5 7.5 4.5 4 4.5v13.5c3.5 0 6 .5 8 2c2-1.5 4.5-2 8-2V4.5c-3.5 0-6 .5-8 2z M12 6.5V20',
  about: 'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 1 0 0-17z M12 11v5.5 M12 7.6v.2',
  camera: 'M4 8.5A1.5 1.5 0 0 1 5.5 7h2.3l1.4-2h5.6l1.4 2h2.3A1.5 1.5 0 0 1 20 8.5v9a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 17.5z'
    + ' M12 9.5a3.3 3.3 0 1 0 0 6.6a3.3 3.3 0 1 0 0-6.6z',
  image: 'M5.5 4.5h13a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1z M4.5 16l4.5-4.5l4 4l2-2l4.5 4.5 M15 8.3v.2',
  paste: 'M9 5H6.5A1.5 1.5 0 0 0 5 6.5v12A1.5 1.5 0 0 0 6.5 20h11a1.5 1.5 0 0 0 1.5-1.5v-12A1.5 1.5 0 0 0 17.5 5H15 M9 3.5h6v3H9z',
  back: 'M14.5 5.5L8 12l6.5 6.5',
  forward: 'M9.5 5.5L16 12l-6.5 6.5',
  up: 'M5.5 14.5L12 8l6.5 6.5',
  down: 'M5.5 9.5L12 16l6.5-6.5',
  plus: 'M12 5v14 M5 12h14',
  minus: 'M5 12h14',
  close: 'M6 6l12 12 M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  trash: 'M5 7h14 M10 4h4 M7 7l.8 12.5h8.4L17 7 M10.5 10.5v5.5 M13.5 10.5v5.5',
  save: 'M12 4v11 M7.5 10.5L12 15l4.5-4.5 M5 19.5h14',
  print: 'M7.5 9V4h9v5 M7.5 16.5H5.5A1.5 1.5 0 0 1 4 15v-4.5A1.5 1.5 0 0 1 5.5 9h13a1.5 1.5 0 0 1 1.5 1.5V15a1.5 1.5 0 0 1-1.5 1.5h-2 M7.5 14h9v6h-9z',
  compare: 'M12 4v16 M4.5 6.5h4.5v11H4.5z M15 6.5h4.5v11H15z',
  refresh: 'M19 12a7 7 0 1 1-2-5l2 2 M19 4.5V9h-4.5',
  warning: 'M12 4.5L3.5 19h17z M12 10v4 M12 16.4v.2',
  hand: 'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 1 0 0-17z M6 6l12 12',
  lock: 'M6.5 11h11v8.5h-11z M8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  person: 'M12 4.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z M5 20c.5-4 3-6 7-6s6.5 2 7 6',
  export: 'M12 15V4 M7.5 8.5L12 4l4.5 4.5 M5 14v5.5h14V14',
  import: 'M12 4v11 M7.5 10.5L12 15l4.5-4.5 M5 14v5.5h14V14',
  pencil: 'M4.5 19.5l1-4L16 5l3 3L8.5 18.5z',
};

/** A picture beside words; readers of the screen do not hear it. */
export function icon(/** @type {keyof typeof PATHS} */ name) {
  return s('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true', fill: 'none',
    stroke: 'currentColor', 'stroke-width': 1.8, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' },
  s('path', { d: PATHS[name] }));
}

const RISK_SHAPES = {
  low: { shape: 'M12 2.2l8.2 3v6.3c0 5-3.4 8.6-8.2 10.3c-4.8-1.7-8.2-5.3-8.2-10.3V5.2z', glyph: 'M8 12l2.9 2.9L16.2 9.4' },
  moderate: { shape: 'M12 2.6c.6 0 1.1.3 1.4.8l9 15.7c.6 1.1-.2 2.4-1.4 2.4H3c-1.2 0-2-1.3-1.4-2.4l9-15.7c.3-.5.8-.8 1.4-.8z', glyph: 'M12 9v5.2 M12 17.6v.2' },
  high: { shape: 'M8 2.5h8L21.5 8v8L16 21.5H8L2.5 16V8z', glyph: 'M12 7v6.2 M12 16.8v.2' },
  none: { shape: 'M12 2.5a9.5 9.5 0 1 0 0 19a9.5 9.5 0 1 0 0-19z', glyph: 'M8 12h8' },
};

/** The sign of a risk: a shield with a check, a triangle, an octagon, or a circle where there is none to tell. */
export function riskIcon(/** @type {'low' | 'moderate' | 'high' | 'none'} */ level) {
  const { shape, glyph } = RISK_SHAPES[level];
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
