import { app } from '../../app.js';
import { h } from '../../dom.js';
import { icon } from '../../icons.js';
import { cropEditor } from '../../parts/crop.js';
import { message } from '../../parts/dialog.js';
import { metadataForm } from '../../parts/metadata-form.js';
import { discard, run } from '../../flow.js';
import { t } from '../../texts.js';

/** @typedef {import('../../session.js').Session} Session */

/**
 * Where in the scan the person is.
 * @param {'review' | 'details' | 'result'} step
 */
export function progress(step) {
  const steps = /** @type {const} */ (['review', 'details', 'result']);
  return h('ol', { role: 'list', class: 'steps', 'aria-label': t('scan.progress') }, steps.map((each) =>
    h('li', { class: 'step', 'aria-current': each === step ? 'step' : null, 'data-done': steps.indexOf(each) < steps.indexOf(step) },
      h('span', { class: 'step-dot', 'aria-hidden': 'true' }, steps.indexOf(each) < steps.indexOf(step) ? icon('check') : String(steps.indexOf(each) + 1)),
      h('span', { class: 'step-name' }, t(`scan.steps.${each}`)))));
}

/**
 * The photograph with the square that the model sees.
 * @param {Session} session
 * @returns {import('../scan.js').Part}
 */
export function review(session) {
  const notes = [
    ...(session.isSmall ? [message('warning', t('scan.small', { width: session.width, height: session.height }))] : []),
    ...(session.reduced ? [message('notice', t('scan.reducedNow', { width: session.width, height: session.height }))] : []),
  ];
  const crop = cropEditor(session, session.square, (square, moved) => {
    session.square = square;
    session.moved = moved;
  });
  return { leave: crop.leave, content: h('div', { class: 'stack wide' }, progress('review'),
    h('div', { class: 'stack close measure' }, h('h1', {}, t('scan.reviewTitle')), h('p', { class: 'soft' }, t('scan.reviewHint'))),
    ...notes, crop.element,
    h('div', { class: 'actions' },
      h('button', { class: 'button', onclick: () => discard() }, icon('back'), t('scan.another')),
      h('button', { class: 'button primary', onclick: () => app.go('scan/details') }, t('common.next'), icon('forward')))) };
}

/**
 * What is known of the patient.
 * @param {Session} session
 * @returns {import('../scan.js').Part}
 */
export function details(session) {
  const hint = h('p', { class: 'soft', 'aria-live': 'polite' });
  const tell = () => { hint.textContent = session.metadata.site === 'unknown' ? t('metadata.siteHelps') : ''; };
  const analyse = h('button', { class: 'button primary', disabled: !session.metadataValid, onclick: () => {
    // The first touch counts.
    if (!session.running) run(session);
  } }, icon('scan'), t('scan.analyse'));
  tell();
  return { content: h('div', { class: 'stack wide' }, progress('details'),
    h('div', { class: 'stack close measure' }, h('h1', {}, t('metadata.title')), h('p', { class: 'soft' }, t('metadata.lead'))),
    app.description && !app.description.metadataUsed ? message('notice', t('metadata.unused')) : null,
    h('div', { class: 'card' }, metadataForm(app.description, session.metadata, (metadata, valid) => {
      session.metadata = metadata;
      session.metadataValid = valid;
      analyse.disabled = !valid;
      tell();
    })), hint,
    h('div', { class: 'actions' },
      h('button', { class: 'button', onclick: () => app.go('scan/review') }, icon('back'), t('common.back')), analyse)) };
}
