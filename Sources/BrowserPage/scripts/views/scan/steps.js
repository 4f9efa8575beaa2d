import { app } from '../../app.js';
import { h } from '../../dom.js';
import { icon } from '../../icons.js';
import { actionBar } from '../../parts/action-bar.js';
import { cropEditor } from '../../parts/crop.js';
import { message } from '../../parts/dialog.js';
import { metadataForm } from '../../parts/metadata-form.js';
import { analyse, discardWork } from '../../actions.js';
import { isSmall } from '../../analysis.js';
import { go, store } from '../../store.js';
import { entered } from '../../transitions.js';
import { t } from '../../texts.js';

/** The steps of the scan, with the person's. */
export function progress(/** @type {'review' | 'details' | 'result'} */ step) {
  const steps = /** @type {const} */ (['review', 'details', 'result']);
  return h('ol', { role: 'list', class: 'steps', 'aria-label': t('scan.progress') }, steps.map((each) =>
    h('li', { class: 'step', 'aria-current': each === step ? 'step' : null, 'data-done': steps.indexOf(each) < steps.indexOf(step) },
      h('span', { class: 'step-dot', 'aria-hidden': 'true' }, steps.indexOf(each) < steps.indexOf(step) ? icon('check') : String(steps.indexOf(each) + 1)),
      h('span', { class: 'step-name' }, t(`scan.steps.${each}`)))));
}

/**
 * The photograph with the square that the model sees.
 * @param {Work} work
 * @returns {Part}
 */
export function review({ photograph, square: start }) {
  const { width, height } = photograph;
  const notes = [
    ...(isSmall(photograph) ? [message('warning', t('scan.small', { width, height }))] : []),
    ...(photograph.reduced ? [message('notice', t('scan.reducedNow', { width, height }))] : []),
  ];
  const crop = cropEditor(photograph, start, (square, moved) => store.apply(entered, { square, moved }));
  return { leave: crop.leave, content: h('div', { class: 'stack wide' }, progress('review'),
    h('div', { class: 'stack close measure' }, h('h1', {}, t('scan.reviewTitle')), h('p', { class: 'soft' }, t('scan.reviewHint'))),
    ...notes, crop.element,
    actionBar(t('scan.progress'),
      h('button', { class: 'button', onclick: () => discardWork() }, icon('back'), t('scan.another')),
      h('button', { class: 'button primary', onclick: () => go('scan/details') }, t('common.next'), icon('forward')))) };
}

/**
 * The questions on the patient.
 * @param {Work} work
 * @returns {Part}
 */
export function details(work) {
  const hint = h('p', { class: 'soft', 'aria-live': 'polite' });
  const tell = (/** @type {Work['metadata']} */ { site }) => { hint.textContent = site === 'unknown' ? t('metadata.siteHelps') : ''; };
  const start = h('button', { class: 'button primary', disabled: !work.valid, onclick: () => {
    // The first touch counts.
    if (!store.state.work?.running) analyse();
  } }, icon('scan'), t('scan.analyse'));
  tell(work.metadata);
  const form = metadataForm(app.description, work.metadata, (metadata, valid) => {
    store.apply(entered, { metadata, valid });
    start.disabled = !valid;
    tell(metadata);
  });
  // On a phone the styles put the questions side by side, and one at a time fills the screen.
  form.classList.add('questions');
  const question = () => Math.round(form.scrollLeft / form.clientWidth);
  const turn = (/** @type {number} */ to) => {
    form.scrollIntoView();
    form.scrollTo({ left: to * form.clientWidth });
    form.children[to].querySelector('input')?.focus({ preventScroll: true });
  };
  const next = h('button', { class: 'button primary', onclick: () => turn(question() + 1) }, t('common.next'), icon('forward'));
  const mark = () => {
    const isLast = form.scrollLeft + form.clientWidth > form.scrollWidth - 2;
    if (isLast) next.remove();
    else if (!next.isConnected) bar.append(next);
    start.classList.toggle('primary', isLast);
  };
  const bar = actionBar(t('scan.progress'),
    h('button', { class: 'button', onclick: () => (question() > 0 ? turn(question() - 1) : go('scan/review')) }, icon('back'), t('common.back')), start);
  form.addEventListener('scroll', mark);
  new ResizeObserver(mark).observe(form);
  return { content: h('div', { class: 'stack wide' }, progress('details'),
    h('div', { class: 'stack close measure' }, h('h1', {}, t('metadata.title')), h('p', { class: 'soft' }, t('metadata.lead'))),
    app.description && !app.description.metadataUsed ? message('notice', t('metadata.unused')) : null,
    h('div', { class: 'card' }, form), hint, bar) };
}
