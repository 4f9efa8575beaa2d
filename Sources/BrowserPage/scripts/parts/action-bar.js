import { h } from '../dom.js';

/** More than this share of the window is left to what is read. */
const LARGEST_SHARE = 0.3;

/**
 * The next actions: a bar at the lower edge of the window, wherever in the view the person is.
 * @param {string} label
 * @param {...Child} content
 */
export function actionBar(label, ...content) {
  const bar = h('div', { class: 'actions pinned', role: 'group', 'aria-label': label }, ...content);
  // Where the text is large or the window low, the bar stays at its own place below the result.
  new ResizeObserver(() => bar.classList.toggle('loose', bar.offsetHeight > LARGEST_SHARE * innerHeight)).observe(bar);
  return bar;
}

/** Tells the styles how much of the window's lower edge the tabs take, for what lies above them. */
export function measureTabs(/** @type {HTMLElement} */ tabs) {
  new ResizeObserver(() => {
    const isFixed = getComputedStyle(tabs).position === 'fixed';
    document.documentElement.style.setProperty('--tabs', `${isFixed ? tabs.offsetHeight : 0}px`);
  }).observe(tabs);
}
