import { app } from '../app.js';
import facts from '../facts.js';
import { h, replace } from '../dom.js';
import { className, formatDate, t, texts } from '../texts.js';
import { disclaimer, message } from '../parts/dialog.js';
import { factList } from '../parts/pieces.js';
import { deleteAll } from './history/management.js';
import { failureWords } from '../wording.js';

/** @returns {Promise<View>} */
export async function aboutView() {
  const identity = h('div', { class: 'stack', 'aria-live': 'polite' }, h('p', { class: 'soft' }, t('scan.loading')));
  app.engine.ready.then((description) => {
    const rows = [
      [t('about.version'), description.version], [t('facts.model'), `${description.model.name} ${description.model.version}`],
      [t('facts.modelHash'), h('code', {}, description.model.sha256)],
      [t('about.classes'), description.classes.map(({ class: id, name }) => className(id, name)).join(', ')],
      [t('about.pageHash'), h('code', {}, facts.hash)],
    ];
    replace(identity, factList(rows),
      h('p', { class: 'small soft' }, t('about.pageHashHow')),
      h('pre', { class: 'command', tabindex: 0, role: 'region', 'aria-label': t('about.pageHash') },
      h('code', {}, `sed s/${facts.hash}/${'0'.repeat(64)}/ dermafusion.html | sha256sum`)));
  }, (error) => replace(identity, message('danger', failureWords(error))));
  return {
    title: t('tabs.about'),
    content: h('div', { class: 'view stack wide' },
      h('div', { class: 'stack close measure' }, h('h1', {}, t('about.title')), h('p', { class: 'lead soft' }, t('about.lead'))),
      disclaimer(),
      location.protocol.startsWith('http') && !facts.isSite ? message('notice', t('about.online')) : null,
      h('section', { class: 'card stack' }, h('h2', {}, t('about.privacyTitle')),
        h('ul', {}, texts('about.privacy').map((/** @type {string} */ text) => h('li', {}, text))), await stored()),
      h('section', { class: 'card stack' }, h('h2', {}, t('about.identity')), identity),
      h('section', { class: 'card stack' }, h('h2', {}, t('about.licences')), h('ul', {}, [
        ...texts('about.licenceList'), t('about.modelLicence', { licence: facts.modelLicence })].map((/** @type {string} */ text) => h('li', {}, text))),
      h('details', {}, h('summary', {}, t('about.licenceTexts')),
        h('pre', { class: 'command', tabindex: 0, role: 'region', 'aria-label': t('about.licenceTexts') }, facts.notices)))),
  };
}

/** The scans that this browser has stored, and the button that deletes them. */
async function stored() {
  if (await app.history.state() === 'locked') return h('div', { class: 'stack close' }, h('h3', {}, t('about.stored')), h('p', {}, t('about.storedLocked')));
  const { rows } = await app.history.list();
  const size = ((await navigator.storage?.estimate?.().catch(() => null))?.usage ?? 0) / 1e6;
  const words = h('p', {}, rows.length === 0 ? t('about.storedNothing') : [
    t('about.storedScans', { count: rows.length, since: formatDate(rows[rows.length - 1].created, false) }),
    size > 0 ? ` ${t('about.storedSize', { size })}` : '']);
  const erase = deleteAll(rows.map(({ id }) => id), () => {
    replace(words, t('about.storedNothing'));
    erase?.remove();
  });
  return h('div', { class: 'stack close' }, h('h3', {}, t('about.stored')), words, h('div', {}, erase));
}
