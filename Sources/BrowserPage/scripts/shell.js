import { app } from './app.js';
import { h, replace } from './dom.js';
import { icon, mark } from './icons.js';
import { isTable, take, unsaved, work } from './flow.js';
import { message } from './parts/dialog.js';
import { dropReport } from './parts/report.js';
import { currentLanguage, languages, setLanguage, t } from './texts.js';
import { aboutView } from './views/about.js';
import { compareView } from './views/compare.js';
import { historyView } from './views/history.js';
import { learnView } from './views/learn.js';
import { recordView } from './views/record.js';
import { scanView } from './views/scan.js';
import { failureWords } from './wording.js';

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
/** How far down each list was, by its place, to return there. */
const scrolled = new Map();

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
    default: return scanView(rest[0] ?? '');
  }
}

/**
 * What stands in place of a view that failed.
 * @param {unknown} error
 * @returns {View}
 */
function failedView(error) {
  return {
    title: t('shell.failed'),
    content: h('div', { class: 'view stack wide' }, h('h1', {}, t('shell.failed')), message('danger', failureWords(error)),
      h('div', { class: 'row' },
        h('button', { class: 'button primary', onclick: () => app.refresh({ focus: true }) }, icon('refresh'), t('common.retry')),
        h('a', { class: 'button', href: '#scan' }, t('scan.title')))),
  };
}

/** The address's place; `scan` where it is none. */
function place() {
  const written = location.hash.slice(1);
  try {
    decodeURIComponent(written);
  } catch {
    return 'scan';
  }
  return [...TABS, 'compare'].includes(written.split('/')[0]) ? written : 'scan';
}

let turn = 0;

/**
 * Shows the view of the address.
 * @param {{focus?: boolean}} [options] `focus`: whether the heading is read next
 */
export async function show(options = {}) {
  const { focus = false } = options;
  const wanted = place();
  turn += 1;
  const mine = turn;
  main.ariaBusy = 'true';
  /** @type {View} */
  let view;
  try {
    view = await viewOf(wanted);
  } catch (error) {
    console.info(error);
    view = failedView(error);
  }
  if (mine !== turn) {
    view.leave?.();
    return;
  }
  scrolled.set(shown, window.scrollY);
  const hadFocus = main.contains(document.activeElement);
  current?.leave?.();
  dropReport();
  current = view;
  document.title = `${view.title} · DermaFusion`;
  replace(main, view.content);
  main.ariaBusy = 'false';
  // A view may have sent the person to another place: the address is read again.
  const arrived = place();
  markTab(arrived);
  const isElsewhere = shown !== arrived;
  const left = shown;
  shown = arrived;
  if (isElsewhere && returns(left, arrived)) return;
  if (focus || isElsewhere) window.scrollTo(0, 0);
  if (focus || isElsewhere || (hadFocus && !main.contains(document.activeElement))) focusHeading();
}

/**
 * Whoever comes back to the list from one of its scans finds it where it was.
 * @param {string} left
 * @param {string} arrived
 */
function returns(left, arrived) {
  if (arrived !== 'history' || !/^(history|compare)\//.test(left)) return false;
  window.scrollTo(0, scrolled.get('history') ?? 0);
  const link = [...main.querySelectorAll('a')].find(({ hash }) => hash === `#${left}`);
  if (link) {
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: 'nearest' });
  } else focusHeading();
  return true;
}

/** The first heading has the focus, so that what comes next is read and the keyboard goes on from there. */
function focusHeading() {
  const heading = main.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  (heading ?? main).focus({ preventScroll: true });
}

/** @param {string} wanted */
function markTab(wanted) {
  const tab = wanted.split('/')[0] === 'compare' ? 'history' : wanted.split('/')[0];
  for (const link of navigation.querySelectorAll('a')) {
    if (link.dataset.tab === tab) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
    // What is being worked on is one touch away, whichever view is looked at.
    if (link.dataset.tab === 'scan') link.href = `#${work.place}`;
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
        /** @type {HTMLElement | null} */ (document.querySelector(`.language[lang="${code}"]`))?.focus();
      },
    }, code.toUpperCase())));
}

/** Photographs may be dropped and pasted wherever the person is; the browser would open them in the page's place. */
function acceptFiles() {
  document.ondragover = (event) => {
    event.preventDefault();
    document.documentElement.classList.add('dragging');
  };
  document.ondragleave = (event) => { if (!event.relatedTarget) document.documentElement.classList.remove('dragging'); };
  document.ondrop = (event) => {
    event.preventDefault();
    document.documentElement.classList.remove('dragging');
    take([...(event.dataTransfer?.files ?? [])]);
  };
  document.onpaste = (event) => {
    const files = [...(event.clipboardData?.files ?? [])].filter((file) => file.type.startsWith('image/') || isTable(file));
    if (files.length > 0) take(files);
  };
}

// A result that is not in the history goes with the page, whichever view is shown.
window.addEventListener('beforeunload', (event) => { if (unsaved()) event.preventDefault(); });

/**
 * Builds the page around the views.
 * @param {boolean} [isFirst] whether the person has just come in
 */
export function showShell(isFirst = false) {
  navigation = h('nav', { class: 'tabs', 'aria-label': t('shell.navigation') },
    TABS.map((tab) => h('a', { href: `#${tab}`, class: 'tab', 'data-tab': tab }, icon(tab), h('span', {}, t(`tabs.${tab}`)))));
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
  app.refresh = show;
  // The page puts lists back where they were; the browser's own guess would come between.
  history.scrollRestoration = 'manual';
  acceptFiles();
  shown = place();
  show({ focus: isFirst });
}
