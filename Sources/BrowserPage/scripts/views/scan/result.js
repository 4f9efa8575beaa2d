import { analyse, discardWork, loadEffect, saveWork } from '../../actions.js';
import { jobOf, lacksEffect, questionsAbout } from '../../analysis.js';
import { app } from '../../app.js';
import { h, replace, uniqueID } from '../../dom.js';
import { icon } from '../../icons.js';
import { actionBar } from '../../parts/action-bar.js';
import { message } from '../../parts/dialog.js';
import { metadataForm } from '../../parts/metadata-form.js';
import { whatIf } from '../../parts/what-if.js';
import { resultPanel, wordFields } from '../../parts/result-panel.js';
import { isSaved, isStale, outcomeOf, recordOf } from '../../state.js';
import { go, store } from '../../store.js';
import { entered, mapChecked, wrote } from '../../transitions.js';
import { t } from '../../texts.js';
import { progress } from './steps.js';

/**
 * The engine's answer, and the actions on it.
 * @param {Work} work
 * @returns {Part}
 */
export function result(work) {
  const outcome = outcomeOf(work);
  const { picture, milliseconds, maps, run, scan } = outcome;
  /** The work as it is now; the one that this view shows where it has been let go of. */
  const now = () => (store.state.work?.outcome ? store.state.work : work);
  const stale = h('div', { 'aria-live': 'polite' });
  const why = uniqueID('stale');
  let saving = false;
  // The sentence is there as long as the result is out of date.
  const save = h('button', { class: 'button primary', 'aria-describedby': why, onclick: async () => {
    if (save.getAttribute('aria-disabled') === 'true') return;
    saving = true;
    mark();
    if (await saveWork()) app.announce(t('result.saved'));
    saving = false;
    mark();
  } });
  const next = h('span', {});
  const again = h('button', { class: 'button primary', onclick: analyse }, icon('refresh'), t('result.update'));
  const update = h('div', { class: 'row out-of-date', hidden: true }, h('span', { class: 'row strong' }, icon('warning'), t('result.outOfDate')), again);
  /** Shows what is out of date and what is saved. */
  function mark() {
    const current = now();
    const [isOld, isKept] = [isStale(current), isSaved(current)];
    panel.element.classList.toggle('stale', isOld);
    again.disabled = !current.valid;
    replace(stale, isOld ? message('warning', h('p', { id: why }, t('result.stale'))) : null);
    update.hidden = !isOld;
    bar.classList.toggle('stale', isOld);
    for (const button of [...panel.files, panel.report]) button.disabled = isOld;
    save.setAttribute('aria-disabled', String(saving || isOld || isKept));
    replace(save, icon(isKept ? 'check' : 'save'), t(isKept ? 'result.saved' : current.stored ? 'result.saveAgain' : 'result.save'));
    replace(next, isKept && !isOld && !current.item ? h('button', { class: 'button', onclick: () => discardWork() }, icon('scan'), t('result.next')) : null);
  }
  const ask = questionsAbout(jobOf(work, outcome), scan.result);
  const panel = resultPanel({
    // What leaves the page is what is shown as current.
    scanOf: () => recordOf(now()), photograph: picture, milliseconds, request: ask.map,
    checked: (lesionClass, trust) => store.apply(mapChecked, run, lesionClass, trust),
    beside: [h('details', { class: 'card', open: isStale(work) }, h('summary', {}, t('result.change')),
      metadataForm(app.description, work.metadata, (metadata, valid) => store.apply(entered, { metadata, valid }))),
    whatIf(scan, ask.probabilities)], words: wordFields(work, (words) => store.apply(wrote, words), {}),
  });
  const bar = actionBar(t('result.actions'), next, update, panel.report, save);
  // The map first: it costs nothing more, what the metadata did costs another run of the network.
  if (lacksEffect(work)) panel.expectEffect();
  const showEffect = () => panel.showEffect(recordOf(now()).result);
  panel.mapReady.then(loadEffect).then(showEffect, showEffect);
  if (maps === null) app.announce(t('heatmap.failed'));
  mark();
  // Typing changes nothing of this. So a screen reader repeats nothing, and the focus stays.
  const marks = () => [isStale(now()), isSaved(now()), now().valid, now().stored !== null];
  return { leave: store.watch(marks, mark), content: h('div', { class: 'stack wide' }, progress('result'),
    h('div', { class: 'row spread' }, h('h1', {}, t('result.title')),
      store.state.list ? h('button', { class: 'button plain', onclick: backToList }, icon('back'), t('batch.back')) : null),
    stale, panel.element,
    h('div', { class: 'row spread no-print' },
      work.item ? h('span', {}) : h('button', { class: 'button danger-plain', onclick: () => discardWork() }, icon('trash'), t('scan.discard')),
      h('div', { class: 'row' },
        h('button', { class: 'button', onclick: () => go('scan/review') }, icon('scan'), t('result.square')), ...panel.files)),
    bar) };
}

/** An answer for a photograph of the list is in the list already; input since then is not. */
function backToList() {
  const { work } = store.state;
  if (work?.item && isStale(work)) discardWork('scan/list');
  else go('scan/list');
}
