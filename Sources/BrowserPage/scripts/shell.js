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
/**
 * The view that is shown, its place, and whether it stands for a locked history.
 * @type {Partial<View> & {place: string, isLocked: boolean}}
 */
let current = { place: '', isLocked: false };
/** The scroll position of the history's list, to return there. */
let scrolled = 0;

/** The places that show something of what is stored. */
const STORED = /^(scan$|history|compare|lesion|about)/;

/** @param {string} place @returns true if it would show what is locked */
async function isLocked(place) {
  return STORED.test(place) && await app.history.state() === 'locked';
}

/** @param {string} place @param {boolean} isLocked @returns {Promise<View>} */
async function viewOf(place, isLocked) {
  const [tab, ...rest] = place.split('/').map(decodeURIComponent);
  if (isLocked && ['history', 'compare', 'lesion'].includes(tab)) return lockedView();
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
 * The view in place of one that failed.
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

/** The person went somewhere by the address: a link, the browser's Back. An address that names nothing is put right. */
function followAddress() {
  store.apply(moved, location.hash.slice(1), true);
  writeAddress(true);
}

/** The state leads elsewhere: the address follows. Otherwise it is left alone, for the person may be on the way to another place. */
function writeAddress(replaced = store.state.replaced) {
  const { place } = store.state;
  if ((location.hash.slice(1) || 'scan') === place) return;
  if (replaced) history.replaceState(null, '', `#${place}`);
  else location.hash = place;
}

let turn = 0;

/**
 * Shows the screen of the state.
 * @param {boolean} [focus] true if the heading is read next
 */
async function show(focus = false) {
  const { place } = store.state;
  const mine = ++turn;
  main.ariaBusy = 'true';
  // What was said in another view, or in another language, is not said any more.
  app.announcer.textContent = '';
  const locked = await isLocked(place).catch(() => false);
  const view = await viewOf(place, locked).catch((error) => {
    console.info(error);
    return failedView(error);
  });
  if (mine !== turn) return view.leave?.();
  const left = current.place;
  if (left === 'history') scrolled = window.scrollY;
  const hadFocus = main.contains(document.activeElement);
  current.leave?.();
  dropReport();
  current = { ...view, place: store.state.place, isLocked: locked };
  document.title = `${view.title} · DermaFusion`;
  replace(main, view.content);
  main.ariaBusy = 'false';
  markTab();
  const isElsewhere = current.place !== left;
  if (isElsewhere && returns(left)) return;
  if (focus || isElsewhere) window.scrollTo(0, 0);
  if (focus || isElsewhere || (hadFocus && !main.contains(document.activeElement))) focusHeading(main);
}

/** The history may be another one than the view shows: of another tab, or of a database that opened late. */
async function refresh() {
  const view = current;
  const isOther = await isLocked(store.state.place) !== view.isLocked || await view.returned?.();
  if (main.ariaBusy === 'true' || (isOther && view === current)) show();
}

/** Restores the scroll position when a person returns to the list from one of its scans. */
function returns(/** @type {string} */ left) {
  if (current.place !== 'history' || !/^(history|compare|lesion)\//.test(left)) return false;
  window.scrollTo(0, scrolled);
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
 * @param {boolean} [isFirst] true if the person has just come in
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
  current.place = store.state.place;
  show(!isOpen && isFirst);
  if (isOpen) return;
  isOpen = true;
  store.watch(({ place }) => [place], writeAddress);
  store.watch(screenOf, () => show(true));
  store.listen(markTab);
}
