import { app } from '../app.js';
import { h } from '../dom.js';
import { className, formatPercent, t } from '../texts.js';
import { classColor, ranked } from './classes.js';
import { fieldRow } from './fields.js';
import { UNKNOWN_AGE } from './metadata-form.js';

/**
 * The model's answer at another age: it shows how much of the answer is not the picture. The result stays as it is. Nothing
 * where the model abstains, where it does not look at the age, and where it is another one than that of the page.
 * @param {Scan} scan
 * @param {(metadata: Metadata) => Promise<Record<string, number>>} ask the probabilities with other metadata
 */
export function whatIf({ result, classes }, ask) {
  const { probabilities, metadata: { age, sex, site } } = result;
  if (result.abstain) return null;
  const rows = ranked(classes, probabilities).map(({ class: id, name, index }) => {
    const value = h('span', { class: 'bar-value numbers' });
    const fill = h('span', { class: 'bar-fill', style: { '--bar': classColor(id, index) } });
    const element = h('li', { class: 'what-if-bar' }, h('span', { class: 'bar-name' }, className(id, name)), value,
      h('span', { class: 'bar-track', 'aria-hidden': 'true' }, fill));
    return { id, name, value, fill, element };
  });
  const told = h('p', { class: 'strong', role: 'status' });
  const slider = h('input', { class: 'slider', type: 'range', min: 0, max: 100, step: 1, value: age ?? UNKNOWN_AGE, oninput: () => move() });
  const words = h('output', { class: 'numbers' });
  const back = h('button', { type: 'button', class: 'button plain', onclick: () => {
    slider.value = String(age ?? UNKNOWN_AGE);
    show(probabilities);
  } }, t('whatIf.back'));

  /** @param {Record<string, number>} now */
  function show(now) {
    const isOwn = now === probabilities;
    for (const { id, value, fill } of rows) {
      value.textContent = isOwn ? formatPercent(now[id]) : t('whatIf.change', { now: formatPercent(now[id]), before: formatPercent(probabilities[id]) });
      fill.style.inlineSize = `${100 * now[id]}%`;
    }
    const years = isOwn ? age : Number(slider.value);
    words.textContent = years === null ? t('metadata.ageMissing') : t('metadata.years', { count: years });
    slider.setAttribute('aria-valuetext', words.textContent);
    back.disabled = isOwn;
    if (isOwn) told.textContent = '';
  }

  /** @param {Record<string, number>} now @param {number} years */
  function tell(now, years) {
    const likeliest = rows.reduce((best, row) => (now[row.id] > now[best.id] ? row : best));
    told.textContent = t('whatIf.likeliest', { years: t('metadata.years', { count: years }),
      name: className(likeliest.id, likeliest.name), percent: formatPercent(now[likeliest.id]) });
  }

  let isAsking = false;
  /** Asks for the age where the slider is, one question at a time: of those that it passes meanwhile only the last counts. */
  async function move() {
    words.textContent = t('metadata.years', { count: Number(slider.value) });
    slider.setAttribute('aria-valuetext', words.textContent);
    if (isAsking) return;
    isAsking = true;
    try {
      for (let years = NaN; years !== Number(slider.value);) {
        years = Number(slider.value);
        const now = await ask({ age: years, sex, site });
        show(now);
        tell(now, years);
      }
    } catch {
      told.textContent = t('whatIf.failed');
    } finally {
      isAsking = false;
    }
  }

  show(probabilities);
  const card = h('details', { class: 'card no-print', hidden: true }, h('summary', {}, t('whatIf.title')),
    h('div', { class: 'stack' }, h('p', { class: 'soft' }, t('whatIf.lead')),
      fieldRow(t('whatIf.age'), slider, words, back),
      told, h('ul', { role: 'list', class: 'what-if-bars' }, rows.map(({ element }) => element))));
  app.engine.ready.then(({ metadataUsed, model }) => { card.hidden = !metadataUsed || model.sha256 !== result.model.sha256; }, () => {});
  return card;
}
