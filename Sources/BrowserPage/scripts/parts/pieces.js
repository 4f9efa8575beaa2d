import { h } from '../dom.js';
import { icon } from '../icons.js';

/** @param {string} place @param {string} words @returns what leads back to the view that a person comes from */
export function backLink(place, words) {
  return h('div', {}, h('a', { class: 'back-link', href: `#${place}` }, icon('back'), words));
}

/** @param {string} words @param {...Child} more @returns that something is on its way */
export function waitingLine(words, ...more) {
  return h('p', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), words, ...more);
}

/** @param {(Child | Child[])[][]} rows names and values @param {boolean} [isLong] true if the values are long */
export function factList(rows, isLong = true) {
  return h('dl', { class: isLong ? 'facts long' : 'facts' }, rows.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))));
}

/**
 * A table that scrolls by itself where the window is narrow.
 * @param {{'aria-label': string} | {'aria-labelledby': string}} name
 * @param {string[]} headings
 * @param {(Child | Child[])[][]} rows the first cell names the row
 * @param {string} [caption]
 */
export function table(name, headings, rows, caption) {
  return h('div', { class: 'table-scroll', tabindex: 0, role: 'region', ...name },
    h('table', { class: 'table' }, caption ? h('caption', {}, caption) : null,
      h('thead', {}, h('tr', {}, headings.map((words) => h('th', { scope: 'col' }, words)))),
      h('tbody', {}, rows.map(([first, ...cells]) => h('tr', {},
        h('th', { scope: 'row' }, first), cells.map((cell) => h('td', { class: 'numbers' }, cell)))))));
}
