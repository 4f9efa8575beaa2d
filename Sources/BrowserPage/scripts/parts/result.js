import { fileName, h, s, uniqueID } from '../dom.js';
import { riskIcon } from '../icons.js';
import { className, currentLanguage, formatDate, formatNumber, formatPercent, nameOfClass, t } from '../texts.js';
import { abstainReasons, riskWords, summary, warnings } from '../wording.js';
import { message } from './dialog.js';
import { classColor, ranked } from './classes.js';
import { metadataWords } from './metadata-form.js';
import { factList, table } from './pieces.js';

/** The sentence of the result, its risk and what stands against relying on it; abstention comes before anything else. */
export function headline(/** @type {Result} */ result) {
  const risk = riskWords(result);
  const notes = [...warnings(result), ...(result.confidence === 'low' && !result.abstain ? [t('result.lowConfidence')] : []),
    ...(result.multiLabel ? [t('result.severalClasses')] : [])];
  return h('div', { class: 'stack' },
    result.abstain ? h('div', { class: 'abstention' }, riskIcon('none'),
      h('div', { class: 'stack close' },
        h('p', { class: 'lead strong' }, t('result.abstains')),
        h('ul', {}, abstainReasons(result).map((reason) => h('li', {}, reason))),
        h('p', {}, t('result.abstainAdvice')))) : null,
    result.abstain ? null : h('div', { class: `risk ${risk.level}` }, riskIcon(risk.level),
      h('div', {}, h('p', { class: 'risk-word' }, risk.word), h('p', {}, risk.sentence))),
    result.abstain ? null : h('p', { class: 'summary' }, summary(result)),
    notes.length > 0 ? message('warning', ...notes) : null);
}

/** The sentence over the bars where the model abstains. */
export function unreliable(/** @type {Result} */ result) {
  return result.abstain ? h('p', { class: 'soft' }, t('result.barsUnreliable')) : null;
}

/**
 * The classes from the likeliest down, each with its share.
 * @param {Result} result
 * @param {Classes} classes
 * @param {Result} order whose likeliest class comes first: two results beside each other have one order
 */
export function bars(result, classes, order = result) {
  const set = result.abstain ? [] : result.conformalSet ?? [];
  const title = t(result.conformalCoverage === null ? 'result.inSetShort' : 'result.inSet');
  return h('ul', { role: 'list', class: `bars${result.abstain ? ' unreliable' : ''}` },
    ranked(classes, order.probabilities).map(({ class: id, name, index }) => {
    const probability = result.probabilities[id];
    return h('li', { class: 'bar' },
      h('span', { class: 'bar-name' }, className(id, name),
        set.includes(id) ? [' ', h('span', { class: 'in-set', title }, t('result.inSetShort'))] : null),
      h('span', { class: 'bar-value numbers' }, formatPercent(probability)),
      h('span', { class: 'bar-track', 'aria-hidden': 'true' },
        h('span', { class: 'bar-fill', style: { width: `${100 * probability}%`, '--bar': classColor(id, index) } })));
  }));
}

/** The sentences on the conformal set. */
export function setSentence(/** @type {Result} */ result, /** @type {Classes} */ classes) {
  if (result.abstain || !result.conformalSet) return null;
  const names = result.conformalSet.map((id) => nameOfClass(classes, id));
  const values = { count: names.length, names: new Intl.ListFormat(currentLanguage()).format(names) };
  // Null: the threshold of a class was fitted to too few photographs.
  const share = result.conformalCoverage;
  return h('div', { class: 'stack close' },
    h('p', { class: 'soft' }, share === null ? t('result.setUnknown', values) : t('result.set', { ...values, percent: Math.round(100 * share) })),
    // A class of a smaller probability can be in the set while one of a greater is not.
    h('p', { class: 'small soft set-why' }, t('result.setWhy')));
}

/** @param {Record<string, number>} logits @param {number} temperature @param {boolean} multiLabel true if each class has a probability of its own */
function probabilitiesOf(logits, temperature, multiLabel) {
  if (multiLabel) return Object.fromEntries(Object.entries(logits).map(([id, logit]) => [id, 1 / (1 + Math.exp(-logit / temperature))]));
  const greatest = Math.max(...Object.values(logits));
  const powers = Object.entries(logits).map(([id, logit]) => /** @type {[string, number]} */ ([id, Math.exp((logit - greatest) / temperature)]));
  const sum = powers.reduce((total, [, power]) => total + power, 0);
  return Object.fromEntries(powers.map(([id, power]) => [id, power / sum]));
}

/** The effect of age, sex and place on the probabilities: with and without them, for the classes that they move most. */
export function metadataEffect(/** @type {Result} */ result, /** @type {Classes} */ classes, /** @type {number} */ temperature) {
  if (result.abstain) return null;
  const known = ['age', 'sex', 'site'].filter((field) => !result.metadata.missing.includes(field));
  if (known.length === 0) return h('p', { class: 'soft' }, t('effect.nothing'));
  const shares = result.metadataShares;
  if (!shares) return null;
  const chances = (/** @type {Record<string, number>} */ logits) => probabilitiesOf(logits, temperature, result.multiLabel === true);
  const alone = chances(shares.imageAlone);
  const all = result.probabilities;
  const moved = classes.map(({ class: id, name }) => ({ id, name, change: all[id] - alone[id] }))
    .sort((first, second) => Math.abs(second.change) - Math.abs(first.change)).slice(0, 3);
  const without = { age: shares.withoutAge, sex: shares.withoutSex, site: shares.withoutSite };
  const strongest = known.map((field) => {
    const rest = chances(without[/** @type {'age'} */ (field)]);
    return { field, change: Math.max(...classes.map(({ class: id }) => Math.abs(all[id] - rest[id]))) };
  }).sort((first, second) => second.change - first.change)[0];
  const caption = uniqueID('effect');
  return h('div', { class: 'stack close' },
    h('p', { id: caption }, Math.abs(moved[0].change) < 0.005 ? t('effect.little') : t('effect.strongest', { field: t(`effect.fields.${strongest.field}`) })),
    table({ 'aria-labelledby': caption }, [t('effect.class'), t('effect.alone'), t('effect.with')], moved.map(({ id, name }) => [
      className(id, name), formatPercent(alone[id]), [formatPercent(all[id]), ' ', arrow(all[id] - alone[id])]])));
}

/** @param {number} change */
function arrow(change) {
  if (Math.abs(change) < 0.001) return null;
  return s('svg', { class: 'change', viewBox: '0 0 10 10', role: 'img', 'aria-label': t(change > 0 ? 'effect.more' : 'effect.less') },
    s('path', { d: change > 0 ? 'M5 1.5L9 8H1z' : 'M5 8.5L1 2h8z' }));
}

/** @param {Result['metadata']} metadata */
export function metadataList(metadata) {
  return h('div', { class: 'stack close' },
    factList(metadataWords(metadata), false),
    metadata.missing.length > 0 ? h('p', { class: 'small soft' }, t('effect.missing')) : null);
}

/**
 * The origin of the result, to check it by.
 * @param {Scan} scan
 * @param {{milliseconds?: {decode: number, engine: number}, isNamed?: boolean}} options `isNamed`: whether image and date are told here
 */
export function modelFacts({ result, square, created, name }, { milliseconds, isNamed = true } = {}) {
  const rows = [
    ...(isNamed ? [[t('facts.image'), fileName(name)], [t('facts.date'), formatDate(created)]] : []),
    [t('facts.imageHash'), h('code', {}, result.imageSHA256 ?? '')],
    [t('facts.square'), t('facts.squareValue', { side: square.side, left: square.left, top: square.top, width: square.width, height: square.height })],
    [t('facts.model'), `${result.model.name} ${result.model.version}`], [t('facts.modelHash'), h('code', {}, result.model.sha256)],
    ...(milliseconds ? [[t('facts.time'),
      t('facts.timeValue', { decode: formatNumber(milliseconds.decode), engine: formatNumber(milliseconds.engine) })]] : []),
  ];
  return factList(rows);
}
