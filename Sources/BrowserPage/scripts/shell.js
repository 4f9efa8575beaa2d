import { app } from './app.js';
import { focusHeading, h, replace } from './dom.js';
import { icon, mark } from './icons.js';
import { openFiles } from './actions.js';
import { isTable } from './files.js';
import { measureTabs } from './parts/action-bar.js';
import { message } from './parts/dialog.js';
import { dropReport } from './parts/report.js';
import { placeOfWork, screenOf, TABS, wouldLose } from './state.js';
import { store } from './store.js';
import { moved } from './transitions.js';
import { t } from './texts.js';
import { aboutView } from './views/about.js';
import { compareView } from './views/compare.js';
import { languageChoice } from './views/disclaimer.js';
import { historyView } from './views/history.js';
import { learnView } from './views/learn.js';
import { lesionView } from './views/lesion.js';
import { lockedView } from './views/locked.js';
import { recordView } from './views/record.js';
import { scanView } from './views/scan.js';
import { failureWords } from './wording.js';

const main = h('main', { id: 'main', tabindex: -1 });
let navigation = h('nav');
/** @type {View | undefined} */
let current;
/** The place of the view that is shown. */
let shown = '';
/** How far down each list was, by its place, to return there. */
const scrolled = new Map();

/** The places that show something of what is stored. */
const STORED = /^(scan$|history|compare|lesion|about)/;
/** Whether the history was locked when the view was drawn, as far as the view shows any of it. */
let wasLocked = false;

/** @param {string} place @returns whether it would show what is locked */
async function isLocked(place) {
  return STORED.test(place) && await app.history.state() === 'locked';
}

/** @param {string} place @returns {Promise<View>} */
async function viewOf(place) {
  const [tab, ...rest] = place.split('/').map(decodeURIComponent);
  if (wasLocked && ['history', 'compare', 'lesion'].includes(tab)) return lockedView();
  switch (tab) {
    case 'history': return rest[0] ? recordView(rest[0]) : historyView();
    case 'compare': return compareView(rest[0] ?? '', rest[1] ?? '');
    case 'lesion': return lesionView(rest[0] ?? '');
    case 'learn': return learnView(rest[0]);
    case 'about': return aboutView();
    default: return scanView();
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
        h('button', { class: 'button primary', onclick: () => show(true) }, icon('refresh'), t('common.retry')),
        h('a', { class: 'button', href: '#scan' }, t('scan.title')))),
  };
}

/** The person went somewhere by the address: a link, the browser's Back. */
function followAddress() {
  store.apply(moved, location.hash.slice(1), true);
  // An address that names nothing is put right.
  if (location.hash && location.hash.slice(1) !== store.state.place) history.replaceState(null, '', `#${store.state.place}`);
}

/** The state leads elsewhere: the address follows. Otherwise it is left alone, for the person may be on the way to another place. */
function writeAddress() {
  const { place, replaced } = store.state;
  if (location.hash.slice(1) === place) return;
  if (replaced) history.replaceState(null, '', `#${place}`);
  else location.hash = place;
}

let turn = 0;

/**
 * Shows the screen of the state.
 * @param {boolean} [focus] whether the heading is read next
 */
async function show(focus = false) {
  const wanted = store.state.place;
  turn += 1;
  const mine = turn;
  main.ariaBusy = 'true';
  // What was said in another view, or in another language, is not said any more.
  app.announcer.textContent = '';
  /** @type {View} */
  let view;
  try {
    wasLocked = await isLocked(wanted);
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
  markTab();
  const left = shown;
  shown = store.state.place;
  const isElsewhere = shown !== left;
  if (isElsewhere && returns(left)) return;
  if (focus || isElsewhere) window.scrollTo(0, 0);
  if (focus || isElsewhere || (hadFocus && !main.contains(document.activeElement))) focusHeading(main);
}

/** The history may be another one than the view shows: of another tab, or of a database that opened late. */
async function refresh() {
  const view = current;
  const isOther = await isLocked(store.state.place) !== wasLocked || await view?.returned?.();
  if (main.ariaBusy === 'true' || (isOther && view === current)) show();
}

/** Restores the scroll position when a person returns to the list from one of its scans. */
function returns(/** @type {string} */ left) {
  if (shown !== 'history' || !/^(history|compare|lesion)\//.test(left)) return false;
  window.scrollTo(0, scrolled.get('history') ?? 0);
  const link = [...main.querySelectorAll('a')].find(({ hash }) => hash === `#${left}`);
  if (link) {
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: 'nearest' });
  } else focusHeading(main);
  return true;
}

/** Marks the tab of the place, and says what the tab of the scan leads to. */
function markTab() {
  const [first] = store.state.place.split('/');
  const tab = ['compare', 'lesion'].includes(first) ? 'history' : first;
  for (const link of navigation.querySelectorAll('a')) {
    if (link.dataset.tab === tab) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
    // What is being worked on is one touch away, whichever view is looked at.
    if (link.dataset.tab === 'scan') link.href = `#${placeOfWork(store.state)}`;
  }
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
    openFiles([...(event.dataTransfer?.files ?? [])]);
  };
  document.onpaste = (event) => {
    const files = [...(event.clipboardData?.files ?? [])].filter((file) => file.type.startsWith('image/') || isTable(file));
    if (files.length > 0) openFiles(files);
  };
}

// A result that is not stored goes with the page, whichever view is shown.
window.addEventListener('beforeunload', (event) => { if (wouldLose(store.state) || app.history.unstoredCount > 0) event.preventDefault(); });

let isOpen = false;

/**
 * Builds the page around the views.
 * @param {boolean} [isFirst] whether the person has just come in
 */
export function showShell(isFirst = false) {
  navigation = h('nav', { class: 'tabs', 'aria-label': t('shell.navigation') },
    TABS.map((tab) => h('a', { href: `#${tab}`, class: 'tab', 'data-tab': tab }, icon(tab), h('span', {}, t(`tabs.${tab}`)))));
  measureTabs(navigation);
  const header = h('header', { class: 'header' },
    h('div', { class: 'header-inner' },
      h('a', { class: 'brand', href: '#scan', 'aria-label': t('shell.home') }, mark(), h('span', {}, 'DermaFusion')),
      navigation, languageChoice(showShell)));
  const skip = h('a', { class: 'skip', href: '#main', onclick: (/** @type {Event} */ event) => {
    event.preventDefault();
    main.focus();
  } }, t('shell.skip'));
  for (const old of document.querySelectorAll('body > :not(script, noscript)')) old.remove();
  document.body.prepend(skip, header, main, h('footer', { class: 'footer' }, h('p', {}, t('shell.footer'))), app.announcer);
  window.onhashchange = followAddress;
  // The page puts lists back where they were; the browser's own guess would come between.
  history.scrollRestoration = 'manual';
  document.onvisibilitychange = () => { if (!document.hidden) refresh(); };
  app.history.changed = refresh;
  acceptFiles();
  followAddress();
  shown = store.state.place;
  show(!isOpen && isFirst);
  if (isOpen) return;
  isOpen = true;
  store.watch(({ place }) => [place], writeAddress);
  store.watch(screenOf, () => show(true));
  store.listen(markTab);
}
