import body from '../body.json';
import { h, redraw, replace, s } from '../dom.js';
import { siteName, t } from '../texts.js';

/**
 * @typedef {{site: string, path: string, name?: string, reach?: string, mirrored?: boolean}} Region
 * @type {Record<'front' | 'back', {outline: string[], regions: Region[]}>}
 */
const BODY = body;

const MIRROR = 'translate(200 0) scale(-1 1)';

/**
 * The body from the front or the back, its regions as buttons.
 * @param {'front' | 'back'} side
 * @param {string} chosen
 * @param {(site: string) => void} choose
 * @param {(name: string) => void} pointed the name of the region that the pointer or the focus is on; empty for none
 * @param {(site: string) => number} [countOf] how many lesions a region has, where that is what the figure shows
 */
function figure(side, chosen, choose, pointed, countOf) {
  const { outline, regions } = BODY[side];
  const shapes = (/** @type {string} */ path, /** @type {boolean | undefined} */ mirrored, /** @type {string} */ kind) => [
    s('path', { d: path, class: kind }), mirrored && s('path', { d: path, class: kind, transform: MIRROR })];
  return roving(s('svg', { class: 'body-figure', viewBox: '0 0 200 540', role: 'group', 'aria-label': t(`body.${side}`) },
    outline.map((path) => s('path', { d: path, class: 'body-outline' })),
    regions.filter(({ name }) => !countOf || !name).map(({ site, path, reach, mirrored, name }) => s('g', {
      class: `region${countOf ? (countOf(site) > 0 ? ' counted' : ' vacant') : ''}`, role: 'button', tabindex: 0, 'data-site': name ? null : site,
      'aria-label': countOf ? t('body.lesions', { site: siteName(site), count: countOf(site) })
      : name ? t(`body.${name}`) : t('body.select', { site: siteName(site) }),
      'aria-pressed': name ? null : String(site === chosen),
      onclick: () => choose(site),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose(site);
      },
      onpointerenter: () => pointed(name ? t(`body.${name}`) : siteName(site)), onpointerleave: () => pointed(''),
      onfocus: () => pointed(name ? t(`body.${name}`) : siteName(site)), onblur: () => pointed(''),
    }, reach ? shapes(reach, mirrored, 'region-reach') : null, shapes(path, mirrored, 'region-shape')))));
}

/** One of the regions is a stop of the Tab key, and the arrow keys lead to the others. */
function roving(/** @type {SVGSVGElement} */ svg) {
  const regions = /** @type {SVGGElement[]} */ ([...svg.querySelectorAll('.region')]);
  const stopAt = (/** @type {Element} */ region) => regions.forEach((each) => each.setAttribute('tabindex', each === region ? '0' : '-1'));
  stopAt(regions.find((each) => each.getAttribute('aria-pressed') === 'true') ?? regions[0]);
  // Not at the figure: browsers take a drawing that listens to the focus for one that can have it.
  for (const region of regions) region.addEventListener('focus', () => stopAt(region));
  svg.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = regions.findIndex((each) => each === document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    regions[(at + step + regions.length) % regions.length].focus();
  });
  return svg;
}

/**
 * The number of lesions that the history has in each region: a region chooses those of it, a second touch all.
 * @param {Row[]} scans
 * @param {string} chosen the region whose scans are listed; empty for all
 * @param {(site: string) => void} changed
 */
export function bodyCounts(scans, chosen, changed) {
  /** @type {Map<string, Set<string>>} */
  const lesions = new Map();
  for (const { id, lesion, site } of scans) lesions.set(site, (lesions.get(site) ?? new Set()).add(lesion ? `lesion ${lesion}` : `scan ${id}`));
  let site = chosen;
  const root = h('div', { class: 'stack' });
  const choose = (/** @type {string} */ next) => {
    site = next === site ? '' : next;
    changed(site);
    draw();
  };
  const countOf = (/** @type {string} */ each) => lesions.get(each)?.size ?? 0;
  const draw = () => {
    const places = [...lesions.keys()].sort((first, second) => countOf(second) - countOf(first));
    redraw(root, 'data-site',
      h('div', { class: 'body-pair' }, /** @type {const} */ (['front', 'back']).map((side) => figure(side, site, choose, () => {}, countOf))),
      h('div', { class: 'row' }, places.map((each) => h('button', { type: 'button', class: 'button', 'data-site': each,
        'aria-pressed': String(each === site), onclick: () => choose(each) },
        h('span', {}, t('body.lesions', { site: each === 'unknown' ? t('body.unknown') : siteName(each), count: countOf(each) }))))));
  };
  draw();
  return root;
}

/**
 * The body map with the plain list beside it.
 * @param {string[]} sites the regions that a person picks from, in the order of the list
 * @param {string} site the chosen one; `unknown` for none
 * @param {(site: string) => void} changed
 */
export function bodyMap(sites, site, changed) {
  /** @type {'front' | 'back'} */
  let side = site === 'back' ? 'back' : 'front';
  let chosen = site;
  const stage = h('div', { class: 'body-stage' });
  const caption = h('p', { class: 'body-caption', 'aria-hidden': 'true' });
  const name = `site-${Math.random().toString(36).slice(2)}`;

  const describe = (/** @type {string} */ pointed) => {
    caption.textContent = pointed || (chosen !== 'unknown' ? siteName(chosen) : t('body.none'));
    caption.classList.toggle('chosen', !pointed && chosen !== 'unknown');
  };
  const choose = (/** @type {string} */ next) => {
    chosen = next;
    // What the list chooses is shown on the side where it lies.
    if (next !== 'unknown' && !BODY[side].regions.some((region) => region.site === next)) {
      side = side === 'front' ? 'back' : 'front';
      draw();
    }
    for (const region of stage.querySelectorAll('.region[data-site]')) {
      region.setAttribute('aria-pressed', String(region.getAttribute('data-site') === chosen));
    }
    for (const input of list.querySelectorAll('input')) input.checked = input.value === chosen;
    describe('');
    changed(chosen);
  };
  // A second touch of the chosen region takes it back.
  const toggle = (/** @type {string} */ next) => choose(next === chosen ? 'unknown' : next);
  const draw = () => {
    replace(stage, figure(side, chosen, toggle, describe));
    for (const button of sides.querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.value === side));
  };
  const sides = h('div', { class: 'segments', role: 'group', 'aria-label': t('body.sides') },
    /** @type {const} */ (['front', 'back']).map((each) => h('button', {
      type: 'button', class: 'segment', value: each,
      onclick: () => {
        side = each;
        draw();
      },
    }, t(`body.${each}Short`))));

  const list = h('div', { class: 'choices site-list' }, [...sites, 'unknown'].map((each) =>
    h('label', { class: 'choice' },
      h('input', { type: 'radio', name, value: each, checked: each === chosen, onchange: () => choose(each) }),
      h('span', {}, each === 'unknown' ? t('body.unknown') : siteName(each)))));

  draw();
  describe('');
  const both = h('div', { class: 'body-map' }, h('div', { class: 'body-side' }, sides, stage, caption), list);
  // For phones, where the list lies beside the body, out of sight.
  const other = h('button', { type: 'button', class: 'button plain other-way',
    onclick: () => both.scrollTo({ left: isAtList() ? 0 : both.clientWidth }) }, t('body.list'));
  const isAtList = () => both.scrollLeft > both.clientWidth / 2;
  both.addEventListener('scroll', () => { other.textContent = t(isAtList() ? 'body.map' : 'body.list'); });
  return h('fieldset', { class: 'stack' }, h('legend', { class: 'label' }, t('metadata.site')), other, both);
}
