import facts from '../facts.js';
import { h } from '../dom.js';
import { className, formatDate, formatPercent, nameOfClass, t } from '../texts.js';
import { riskWords, summary } from '../wording.js';
import { ranked } from './classes.js';
import { disclaimer, openDialog } from './dialog.js';
import { labelled } from './fields.js';
import { verdict } from './map-checks.js';
import { copyOf, printOnPaper } from './report.js';
import { metadataList } from './result.js';

/** So many classes are named with their probabilities. */
const NAMED = 3;

/**
 * Asks for the question, then prints a page for a dermatologist: the photograph, the question, what is known, and what the
 * program said with how far it can be trusted.
 * @param {Scan} scan
 * @param {HTMLCanvasElement | null} photograph the square that the model saw
 */
export async function printLetter(scan, photograph) {
  const question = h('textarea', { class: 'input', rows: 3, maxlength: 600, autocomplete: 'off', value: t('letter.defaultQuestion') });
  const answer = await openDialog(t('letter.title'), [h('p', { class: 'soft' }, t('letter.lead')),
    labelled(t('letter.question'), question)], [
    { label: t('common.cancel'), value: '' }, { label: t('result.report'), value: 'print', kind: 'primary' }]);
  if (answer === 'print') printOnPaper(letter(scan, photograph, question.value.trim()));
}

/** @param {Scan} scan @param {HTMLCanvasElement | null} photograph @param {string} question */
function letter(scan, photograph, question) {
  const { result, classes, created, lesion, name, note, trust = {} } = scan;
  const checks = Object.entries(trust).map(([id, found]) => `${nameOfClass(classes, id)}: ${verdict(found)}`);
  return h('article', { class: 'report letter', 'aria-hidden': 'true' },
    disclaimer(),
    h('header', { class: 'report-head' }, h('h1', {}, t('letter.title')), h('p', {}, [lesion, formatDate(created, false)].filter(Boolean).join(' · '))),
    h('figure', { class: 'letter-photograph' }, photograph ? copyOf(photograph) : h('p', { class: 'report-missing' }, t('report.noPhotograph'))),
    question ? h('section', {}, h('h2', {}, t('letter.question')), h('p', { class: 'report-note strong' }, question)) : null,
    h('section', {}, h('h2', {}, t('effect.given')), metadataList(result.metadata)),
    note ? h('section', {}, h('h2', {}, t('record.note')), h('p', { class: 'report-note' }, note)) : null,
    h('section', {}, h('h2', {}, t('letter.program')), h('p', {}, `${result.abstain ? '' : `${riskWords(result).word}. `}${summary(result)}`),
      result.abstain ? null : h('p', { class: 'small' }, ranked(classes, result.probabilities).slice(0, NAMED)
        .map(({ class: id, name: words }) => `${className(id, words)} ${formatPercent(result.probabilities[id])}`).join(' · ')),
      (checks.length > 0 ? checks : [t('letter.unchecked')]).map((words) => h('p', { class: 'small' }, words))),
    h('p', { class: 'small' }, [t('letter.made', { model: `${result.model.name} ${result.model.version}` }),
      name, t('report.page', { hash: facts.hash })].join(' · ')));
}
