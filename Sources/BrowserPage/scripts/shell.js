import { app } from './app.js';
import { h, replace } from './dom.js';
import { icon, mark } from './icons.js';
import { dropReport } from './parts/report.js';
import { currentLanguage, languages, setLanguage, t } from './texts.js';
import { aboutView } from './views/about.js';
import { compareView } from './views/compare.js';
import { historyView } from './views/history.js';
import { learnView } from './views/learn.js';
import { recordView } from './views/record.js';
import { scanView } from './views/scan.js';

/**
 * A view: what it shows, its title, and what to let go of when it is left.
 * @typedef {{title: string, content: Node, leave?: () => void}} View
 */

const TABS = /** @type {const} */ (['scan', 'history', 'learn', 'about']);

const main = h('main', { id: 'main', tabindex: -1 });
let navigation = h('nav');
/** @type {View | undefined} */
let current;
let shown = '';

/**
 * @param {string} place
 * @returns {Promise<View>}
 */
async function viewOf(place) {
  const [tab, ...rest] = place.split('/').map(decodeURIComponent);
  switch (tab) {
    case 'history': return rest[0] ? recordView(rest[0]) : historyView();
    case 'compare': return compareView(rest[0] ?? '', rest[1] ?? '');
    case 'learn': return learnView(rest[0]);
    case 'about': return aboutView();
    default: return scanView();
  }
}

function place() {
  return location.hash.slice(1) || 'scan';
}

let turn = 0;

/**
 * Shows the view of the address.
 * @param {boolean} [moved] whether the person came here by a link
 */
export async function show(moved = true) {
  const wanted = place();
  turn += 1;
  const mine = turn;
  const view = await viewOf(wanted);
  if (mine !== turn) {
    view.leave?.();
    return;
  }
  current?.leave?.();
  dropReport();
  current = view;
  document.title = `${view.title} · DermaFusion`;
  replace(main, view.content);
  markTab(wanted);
  if (moved && shown !== wanted) {
    window.scrollTo(0, 0);
    const heading = main.querySelector('h1');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({ preventScroll: true });
  }
  shown = wanted;
}

/** @param {string} wanted */
function markTab(wanted) {
  const tab = wanted.split('/')[0] === 'compare' ? 'history' : wanted.split('/')[0];
  for (const link of navigation.querySelectorAll('a')) {
    if (link.hash === `#${tab}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function languageChoice() {
  return h('div', { class: 'languages', role: 'group', 'aria-label': t('shell.language') },
    languages().map(({ code, name }) => h('button', {
      class: 'language', lang: code, 'aria-pressed': String(code === currentLanguage()), title: name,
      'aria-label': name,
      onclick: () => {
        setLanguage(code);
        showShell();
      },
    }, code.toUpperCase())));
}

/** Builds the page around the views. */
export function showShell() {
  navigation = h('nav', { class: 'tabs', 'aria-label': t('shell.navigation') },
    TABS.map((tab) => h('a', { href: `#${tab}`, class: 'tab' }, icon(tab), h('span', {}, t(`tabs.${tab}`)))));
  const header = h('header', { class: 'header' },
    h('div', { class: 'header-inner' },
      h('a', { class: 'brand', href: '#scan', 'aria-label': t('shell.home') }, mark(), h('span', {}, 'DermaFusion')),
      navigation, languageChoice()));
  const skip = h('a', { class: 'skip', href: '#main', onclick: (/** @type {Event} */ event) => {
    event.preventDefault();
    main.focus();
  } }, t('shell.skip'));
  for (const old of document.querySelectorAll('body > :not(script, noscript)')) old.remove();
  document.body.prepend(skip, header, main, h('footer', { class: 'footer' }, h('p', {}, t('shell.footer'))), app.announcer);
  window.onhashchange = () => show();
  show(false);
}
