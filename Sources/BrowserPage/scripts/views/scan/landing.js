import { app } from '../../app.js';
import { fileName, h, replace } from '../../dom.js';
import { icon } from '../../icons.js';
import { cameraObstacle, takePhotograph } from '../../parts/camera.js';
import { message } from '../../parts/dialog.js';
import { filePicker } from '../../parts/fields.js';
import { waitingLine } from '../../parts/pieces.js';
import { scanSummary, thumbnails } from '../../parts/scan-summary.js';
import { t } from '../../texts.js';
import { discardWork, openFiles } from '../../actions.js';
import { isSaved, isStale, placeOfWork } from '../../state.js';
import { store } from '../../store.js';
import { failureWords } from '../../wording.js';

/**
 * The beginning of a scan: the ways to hand over a photograph.
 * @returns {Promise<Part>}
 */
export async function landing() {
  const pictures = thumbnails();
  const picker = filePicker({ accept: 'image/*,.csv,.tsv', multiple: true, 'data-role': 'choose' }, openFiles);
  const phone = filePicker({ accept: 'image/*', capture: 'environment' }, openFiles);
  const { problem } = store.state;
  const obstacle = cameraObstacle();
  const notes = h('div', { class: 'stack', 'aria-live': 'polite' },
    problem ? message('danger', h('p', { class: 'strong' }, t('scan.cannotOpen', { name: problem.name })), failureWords(problem.error)) : null);
  if (problem) app.announce(t('scan.cannotOpen', { name: problem.name }));
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
    else openFiles([taken.file]);
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
      h('button', { class: 'button', onclick: () => pasteFromClipboard(notes) }, icon('paste'), t('scan.paste'))),
    picker, phone);
  return { leave: pictures.forget, content: h('div', { class: 'stack wide' },
    h('div', { class: 'stack close measure' }, h('h1', {}, t('scan.title')), h('p', { class: 'lead soft' }, t('scan.lead'))),
    engineState(), underWay(), zone, notes,
    h('ul', { role: 'list', class: 'promises' },
      h('li', {}, icon('lock'), h('span', {}, t('scan.promisePrivate'))),
      h('li', {}, icon('scan'), h('span', {}, t('scan.promiseDermoscopy'))),
      h('li', {}, icon('person'), h('span', {}, t('scan.promiseDoctor')))),
    await lastScan(pictures)) };
}

/** The work under way, shown after a return to the beginning. */
function underWay() {
  const { list, work: open } = store.state;
  // What is saved as it is stands among the scans.
  const work = open && isSaved(open) && !isStale(open) ? null : open;
  if (!work && !list) return null;
  return h('section', { class: 'card stack close', 'aria-label': t('scan.underWay') }, h('h2', {}, t('scan.underWay')),
    work ? h('div', { class: 'row spread' }, h('span', { class: 'file-name' }, fileName(work.photograph.name)),
      h('div', { class: 'row' },
        work.item ? null : h('button', { class: 'button danger-plain', onclick: () => discardWork() }, icon('trash'), t('scan.discard')),
        h('a', { class: 'button', href: `#${placeOfWork(store.state)}` }, t('scan.continue'), icon('forward')))) : null,
    list ? h('div', { class: 'row spread' }, h('span', {}, t('batch.photographs', { count: list.items.length })),
      h('a', { class: 'button', href: '#scan/list' }, t('batch.back'), icon('forward'))) : null);
}

/** The obstacle to classifying: nothing, time, or an error. */
function engineState() {
  const box = h('div', { class: 'engine-state', 'aria-live': 'polite' });
  replace(box, waitingLine(t('scan.loading')));
  app.engine.ready.then(() => replace(box), (error) => replace(box, message('danger', failureWords(error))));
  return box;
}

/** The newest scan of the history, where there is one. */
async function lastScan(/** @type {ReturnType<typeof thumbnails>} */ pictures) {
  const { rows: [scan] } = await app.history.list();
  if (!scan) return null;
  return h('section', { class: 'stack close' }, h('h2', {}, t('scan.last')),
    h('a', { class: 'scan-card', href: `#history/${scan.id}` }, scanSummary(scan, pictures.of(scan.id))));
}

/** @param {HTMLElement} notes */
async function pasteFromClipboard(notes) {
  try {
    for (const item of await navigator.clipboard.read()) {
      const type = item.types.find((each) => each.startsWith('image/'));
      if (type) return openFiles([new File([await item.getType(type)], t('scan.pasted'), { type })]);
    }
    replace(notes, message('notice', t('scan.pasteNothing')));
  } catch {
    replace(notes, message('notice', t('scan.pasteKeys')));
  }
}
