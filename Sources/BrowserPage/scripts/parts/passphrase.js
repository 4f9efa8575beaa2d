import { h, uniqueID } from '../dom.js';
import { t } from '../texts.js';
import { openDialog } from './dialog.js';

/**
 * Asks for a passphrase.
 * @param {string} title
 * @param {string} text
 * @param {boolean} twice whether it is new, and written twice
 * @returns {Promise<string>} empty where the person went back
 */
export async function passphrase(title, text, twice) {
  const fields = (twice ? ['passphrase', 'passphraseAgain'] : ['passphrase']).map((key) => {
    const input = h('input', { class: 'input', type: 'password', id: uniqueID('passphrase'), autocomplete: twice ? 'new-password' : 'current-password', required: true, minlength: twice ? 8 : 1 });
    return { input, element: h('div', { class: 'stack close' }, h('label', { class: 'label', for: input.id }, t(`history.${key}`)), input) };
  });
  const [first, second] = fields.map(({ input }) => input);
  const check = () => second?.setCustomValidity(first.value === second.value ? '' : t('history.passphrasesDiffer'));
  first.addEventListener('input', check);
  second?.addEventListener('input', check);
  const answer = await openDialog(title, [h('p', {}, text), ...fields.map(({ element }) => element)], [
    { label: t('common.cancel'), value: '' }, { label: t(twice ? 'history.encrypt' : 'history.decrypt'), value: 'yes', kind: 'primary' }]);
  return answer === 'yes' ? first.value : '';
}
