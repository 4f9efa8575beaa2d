import facts from '../facts.js';
import { h, uniqueID } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../texts.js';
import { labelled } from './fields.js';

/**
 * Opens a dialog over the page. The browser keeps the focus in it and gives it back afterwards.
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {{label: string, value: string, kind?: 'primary' | 'danger' | 'plain', autofocus?: boolean}[]} choices
 * @param {{wide?: boolean, closed?: () => void}} [options]
 * @returns {Promise<string>} the value of the choice; empty where it was closed by Escape
 */
export function openDialog(title, content, choices, options = {}) {
  const id = uniqueID('dialog');
  const dialog = h('dialog', { class: `dialog${options.wide ? ' wide' : ''}`, 'aria-labelledby': id },
    h('form', { method: 'dialog', class: 'stack', onsubmit: (/** @type {SubmitEvent} */ event) => {
      // The policy of the page forbids sending forms, so the dialog is closed by hand.
      event.preventDefault();
      dialog.close(/** @type {HTMLButtonElement} */ (event.submitter)?.value ?? '');
    } },
    h('h2', { id }, title),
    ...content,
    h('div', { class: 'dialog-actions' }, choices.map(({ label, value, kind = 'plain', autofocus }) =>
      // Enter in a field answers with the dialog's own action, not with the way back.
      kind === 'plain' ? h('button', { class: 'button plain', type: 'button', autofocus, onclick: () => dialog.close(value) }, label)
        : h('button', { class: `button ${kind}`, value, autofocus }, label)))));
  document.body.append(dialog);
  dialog.showModal();
  // The browser's Back leads to another view: the question belongs to the one before.
  const leave = () => dialog.close('');
  window.addEventListener('hashchange', leave);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      window.removeEventListener('hashchange', leave);
      dialog.remove();
      options.closed?.();
      resolve(dialog.returnValue);
    });
  });
}

/**
 * Asks before something that cannot be taken back.
 * @param {string} title
 * @param {string} text
 * @param {string} action what the button says that does it
 */
export async function confirmAction(title, text, action) {
  const answer = await openDialog(title, [h('p', {}, text)], [
    { label: t('common.cancel'), value: '', autofocus: true },
    { label: action, value: 'yes', kind: 'danger' },
  ]);
  return answer === 'yes';
}

/** Tells what happened in a dialog with one button. */
export function tell(/** @type {string} */ title, /** @type {string} */ text) {
  return openDialog(title, [h('p', {}, text)], [{ label: t('common.close'), value: '', kind: 'primary' }]);
}

/**
 * A message in the page: a sentence with a sign before it.
 * @param {'notice' | 'warning' | 'danger'} kind
 * @param {...(Node | string | null)} content
 */
export function message(kind, ...content) {
  return h('div', { class: `message ${kind}` }, icon(kind === 'notice' ? 'about' : 'warning'),
    h('div', { class: 'stack close grow' }, content.map((each) => typeof each === 'string' ? h('p', {}, each) : each)));
}

/** The disclaimer, as it stands under every result, in the page's own words. The English original is the one that counts. */
export function disclaimer() {
  const original = facts.disclaimer;
  const translated = t('disclaimer.text');
  return h('aside', { class: 'disclaimer', 'aria-label': t('disclaimer.label') },
    icon('about'),
    h('div', { class: 'stack close' },
      translated === original ? h('p', { lang: 'en' }, original)
        : [h('p', {}, translated), h('p', {}, t('disclaimer.original'), ' ', h('span', { lang: 'en' }, original))]));
}

/** A new passphrase has at least so many characters. */
const LEAST = 8;

/**
 * Asks for a passphrase.
 * @param {string} title
 * @param {string} text
 * @param {boolean} twice true if it is new, and written twice
 * @param {string} action what the button says
 * @returns {Promise<string>} empty where the person went back
 */
export async function passphrase(title, text, twice, action) {
  const fields = (twice ? ['passphrase', 'passphraseAgain'] : ['passphrase']).map((key) => {
    const input = h('input', { class: 'input', type: 'password', autocomplete: twice ? 'new-password' : 'current-password', required: true });
    return { input, element: labelled(t(`history.${key}`), input) };
  });
  const [first, second] = fields.map(({ input }) => input);
  const check = () => {
    first.setCustomValidity(twice && first.value.length < LEAST ? t('history.passphraseShort', { count: LEAST }) : '');
    second?.setCustomValidity(first.value === second.value ? '' : t('history.passphrasesDiffer'));
  };
  check();
  first.addEventListener('input', check);
  second?.addEventListener('input', check);
  const answer = await openDialog(title, [h('p', {}, text), ...fields.map(({ element }) => element)], [
    { label: t('common.cancel'), value: '' }, { label: action, value: 'yes', kind: 'primary' }]);
  return answer === 'yes' ? first.value : '';
}
