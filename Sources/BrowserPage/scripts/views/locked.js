import { app } from '../app.js';
import { h, replace } from '../dom.js';
import { icon } from '../icons.js';
import { confirmAction, message } from '../parts/dialog.js';
import { labelled } from '../parts/fields.js';
import { conversionBar } from '../parts/saving.js';
import { t } from '../texts.js';
import { failureWords } from '../wording.js';

/** @returns {View} what stands in place of a locked history */
export function lockedView() {
  const words = h('input', { class: 'input', type: 'password', autocomplete: 'current-password', required: true });
  const open = h('button', { class: 'button primary' }, icon('lock'), t('lock.open'));
  const notes = h('div', { 'aria-live': 'polite' });
  const form = h('form', { class: 'card stack measure', onsubmit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    open.disabled = true;
    const { bar, progress } = conversionBar();
    try {
      await app.history.unlock(words.value, (done, all) => {
        if (!bar.isConnected) replace(notes, message('notice', t('lock.working'), bar));
        progress(done, all);
      });
      app.history.changed();
    } catch (error) {
      replace(notes, message('danger', failureWords(error)));
      open.disabled = false;
      words.select();
    }
  } }, labelled(t('history.passphrase'), words), h('div', {}, open), notes);
  return { title: t('lock.title'), content: h('div', { class: 'view stack wide' },
    h('div', { class: 'stack close measure' }, h('h1', {}, t('lock.title')), h('p', { class: 'soft' }, t('lock.text'))), form,
    h('section', { class: 'stack close measure' }, h('h2', {}, t('lock.forgot')), h('p', {}, t('lock.forgotText')),
      h('div', {}, h('button', { class: 'button danger-plain', onclick: async () => {
        if (!await confirmAction(t('lock.forgotTitle'), t('history.turnOffText'), t('history.turnOff'))) return;
        await app.history.turnOff();
        app.history.changed();
      } }, icon('trash'), t('history.turnOff'))))) };
}
