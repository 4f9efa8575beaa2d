import { app } from '../../app.js';
import { h, replace } from '../../dom.js';
import { icon, riskIcon } from '../../icons.js';
import { cameraObstacle, takePhotograph } from '../../parts/camera.js';
import { message } from '../../parts/dialog.js';
import { formatDate, t } from '../../texts.js';
import { failureWords, riskWords } from '../../wording.js';

/**
 * Where a scan begins: the ways to hand over a photograph.
 * @param {import('../scan.js').Flow} flow
 * @param {Node | null} [problem] why the photograph before could not be opened
 */
export async function landing({ take, onLeave }, problem = null) {
  const picker = h('input', { type: 'file', accept: 'image/*', multiple: true, class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true',
    'data-role': 'choose', onchange: () => take([...(picker.files ?? [])]) });
  const phone = h('input', { type: 'file', accept: 'image/*', capture: 'environment', class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true',
    onchange: () => take([...(phone.files ?? [])]) });
  const obstacle = cameraObstacle();
  const notes = h('div', { class: 'stack', 'aria-live': 'polite' }, problem);
  const camera = h('button', { class: 'button', onclick: async () => {
    if (obstacle) {
      replace(notes, message('warning', obstacle));
      // Phones take a photograph with their own camera program, whatever the page's origin.
      if (navigator.maxTouchPoints > 0) phone.click();
      return;
    }
    camera.disabled = true;
    const taken = await takePhotograph();
    camera.disabled = false;
    if (!taken) return;
    if ('problem' in taken) replace(notes, message('warning', taken.problem));
    else take([taken.file]);
  } }, icon('camera'), t('scan.camera'));
  // Nothing is dropped on a phone.
  const isTouch = matchMedia('(hover: none) and (pointer: coarse)').matches;
  const zone = h('div', { class: 'drop-zone' },
    h('div', { class: 'drop-icon' }, icon('image')),
    h('p', { class: 'lead strong' }, t(isTouch ? 'scan.open' : 'scan.drop')),
    h('p', { class: 'soft' }, t(isTouch ? 'scan.openHint' : 'scan.dropHint')),
    h('div', { class: 'row centre' },
      h('button', { class: 'button primary', onclick: () => picker.click() }, icon('image'), t('scan.choose')),
      camera,
      h('button', { class: 'button', onclick: () => pasteFromClipboard(notes, take) }, icon('paste'), t('scan.paste'))),
    picker, phone);
  return h('div', { class: 'stack wide' },
    h('div', { class: 'stack close measure' }, h('h1', {}, t('scan.title')), h('p', { class: 'lead soft' }, t('scan.lead'))),
    engineState(), zone, notes,
    h('ul', { role: 'list', class: 'promises' },
      h('li', {}, icon('lock'), h('span', {}, t('scan.promisePrivate'))),
      h('li', {}, icon('scan'), h('span', {}, t('scan.promiseDermoscopy'))),
      h('li', {}, icon('person'), h('span', {}, t('scan.promiseDoctor')))),
    await lastScan(onLeave));
}

/** What keeps the page from classifying: nothing, time, or an error. */
function engineState() {
  const box = h('div', { class: 'engine-state', 'aria-live': 'polite' });
  replace(box, h('p', { class: 'row soft' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), t('scan.loading')));
  app.engine.ready.then(() => replace(box), (error) => replace(box, message('danger', failureWords(error))));
  return box;
}

/**
 * The newest scan of the history, where there is one.
 * @param {import('../scan.js').Flow['onLeave']} onLeave
 */
async function lastScan(onLeave) {
  if (await app.store.state() === 'off') return null;
  const [scan] = (await app.store.list()).scans;
  if (!scan) return null;
  const risk = riskWords(scan.result);
  const address = URL.createObjectURL(scan.thumbnail);
  onLeave(() => URL.revokeObjectURL(address));
  return h('section', { class: 'stack close' }, h('h2', {}, t('scan.last')),
    h('a', { class: 'scan-card', href: `#history/${scan.id}` },
      h('img', { src: address, alt: '', width: 72, height: 72 }),
      h('span', { class: 'stack close' },
        h('span', { class: 'strong' }, scan.lesion || scan.name), h('span', { class: 'soft small' }, formatDate(scan.created)),
        h('span', { class: `risk-line ${risk.level}` }, riskIcon(risk.level), risk.word))));
}

/**
 * @param {HTMLElement} notes
 * @param {import('../scan.js').Flow['take']} take
 */
async function pasteFromClipboard(notes, take) {
  try {
    for (const item of await navigator.clipboard.read()) {
      const type = item.types.find((each) => each.startsWith('image/'));
      if (type) return take([new File([await item.getType(type)], t('scan.pasted'), { type })]);
    }
    replace(notes, message('notice', t('scan.pasteNothing')));
  } catch {
    replace(notes, message('notice', t('scan.pasteKeys')));
  }
}
