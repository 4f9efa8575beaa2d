import facts from '../facts.js';
import { h } from '../dom.js';
import { icon, mark } from '../icons.js';
import { currentLanguage, languages, setLanguage, t, texts } from '../texts.js';

/** The only thing that the page keeps outside of the history. */
const KEY = 'dermafusion.disclaimer';

let acceptedHere = false;

export function disclaimerAccepted() {
  try {
    return acceptedHere || localStorage.getItem(KEY) === 'accepted';
  } catch {
    return acceptedHere;
  }
}

export function acceptDisclaimer() {
  acceptedHere = true;
  try {
    localStorage.setItem(KEY, 'accepted');
  } catch {
    // A browser that stores nothing asks again at the next visit.
  }
}

/**
 * The languages of the page as buttons.
 * @param {() => void} changed shows the page in the language that was chosen
 */
export function languageChoice(changed) {
  return h('div', { class: 'languages', role: 'group', 'aria-label': t('shell.language') },
    languages().map(({ code, name }) => h('button', {
      class: 'language', lang: code, 'aria-pressed': String(code === currentLanguage()), title: name, 'aria-label': name,
      onclick: () => {
        setLanguage(code);
        changed();
        /** @type {HTMLElement | null} */ (document.querySelector(`.language[lang="${code}"]`))?.focus();
      },
    }, code.toUpperCase())));
}

/**
 * Fills the window with the disclaimer.
 * @param {() => void} accepted
 * @param {() => void} again shows it in another language
 */
export function showDisclaimer(accepted, again) {
  const original = facts.disclaimer;
  const translated = t('disclaimer.text');
  const gate = h('main', { class: 'gate' },
    h('div', { class: 'gate-card stack wide' },
      h('div', { class: 'row spread' },
        h('div', { class: 'brand' }, mark(), h('span', {}, 'DermaFusion')),
        languageChoice(again)),
      h('h1', {}, t('disclaimer.title')),
      translated === original ? null : [h('p', { class: 'lead' }, translated), h('p', { class: 'soft' }, t('disclaimer.original'))],
      h('p', { class: translated === original ? 'lead' : 'soft', lang: 'en' }, original),
      h('ul', { role: 'list', class: 'gate-points' },
        texts('disclaimer.points').map((/** @type {{icon: any, text: string}} */ point) =>
          h('li', {}, icon(point.icon), h('span', {}, point.text)))),
      h('button', { class: 'button primary large', onclick: accepted }, t('disclaimer.accept'))));
  for (const old of document.querySelectorAll('body > :not(script, noscript)')) old.remove();
  document.body.prepend(gate);
  document.title = `${t('disclaimer.title')} · DermaFusion`;
}
