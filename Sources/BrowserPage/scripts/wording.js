import { className, t, wholePercent, currentLanguage, has } from './texts.js';

/** Melanoma above this probability urges a consultation. */
const URGENT = 0.95;

/**
 * The engine's codes for what the page has a sentence of its own.
 * @type {Record<string, string>}
 */
const CODES = { invalidImage: 'image_too_small', invalidModel: 'model', modelNotFound: 'model', nonFiniteOutput: 'not_finite' };

/**
 * The classes that are malignant or pre-malignant, by the model's own word; where it says nothing, of those that are known.
 * @param {import('./types.js').Scan['classes']} classes
 * @param {string} id
 */
function malignancyOf(classes, id) {
  return classes.find((each) => each.class === id)?.malignancy ?? 'benign';
}

/**
 * The class that makes the risk what it is: of the malignant ones at high risk, else of both kinds, the likeliest.
 * @param {import('./types.js').Result} result
 * @param {import('./types.js').Scan['classes']} classes
 */
export function riskClass(result, classes) {
  if (result.risk !== 'high' && result.risk !== 'moderate') return undefined;
  const kinds = result.risk === 'high' ? ['malignant'] : ['malignant', 'pre-malignant'];
  return Object.keys(result.probabilities)
    .filter((id) => kinds.includes(malignancyOf(classes, id)))
    .sort((first, second) => result.probabilities[second] - result.probabilities[first])[0];
}

/**
 * The result's sentences: the engine's own in English, elsewhere the same from its fields.
 * @param {import('./types.js').Result} result
 * @param {import('./types.js').Scan['classes']} classes
 */
export function summary(result, classes) {
  return currentLanguage() === 'en' ? result.summary : composedSummary(result, classes);
}

/**
 * @param {import('./types.js').Result} result
 * @param {import('./types.js').Scan['classes']} classes
 */
export function composedSummary(result, classes) {
  if (result.abstain || !result.prediction) {
    return [t('result.noClassification'), ...abstainReasons(result), t('result.notDiagnosis')].join(' ');
  }
  const nameOf = (/** @type {string} */ id) => className(id, classes.find((each) => each.class === id)?.name ?? id);
  const { class: id, probability } = result.prediction;
  const danger = riskClass(result, classes);
  const sentences = [danger && danger !== id
    ? t('result.suggestsBoth', { name: nameOf(id), percent: wholePercent(probability), other: nameOf(danger), otherPercent: wholePercent(result.probabilities[danger]) })
    : t('result.suggests', { name: nameOf(id), percent: wholePercent(probability) }), t('result.notDiagnosis')];
  if ((result.probabilities.mel ?? 0) > URGENT) sentences.push(t('result.urgent'));
  return sentences.join(' ');
}

/**
 * Why the model abstains, a sentence each.
 * @param {import('./types.js').Result} result
 */
export function abstainReasons(result) {
  return result.abstainReasons.map((reason) => (has(`abstain.${reason}`) ? t(`abstain.${reason}`) : reason));
}

/**
 * What the reader must know of the input, a sentence each.
 * @param {import('./types.js').Result} result
 */
export function warnings(result) {
  return result.warnings.map((warning) => (has(`warnings.${warning}`) ? t(`warnings.${warning}`) : warning));
}

/**
 * What the sign of the risk says.
 * @param {import('./types.js').Result} result
 * @returns {{level: 'low' | 'moderate' | 'high' | 'none', word: string, sentence: string}}
 */
export function riskWords(result) {
  const level = result.abstain ? 'abstain' : result.risk ?? 'unknown';
  const sign = level === 'abstain' || level === 'unknown' ? 'none' : level;
  return { level: sign, word: t(`risk.${level}.word`), sentence: t(`risk.${level}.sentence`) };
}

/**
 * The sentence for an error, which says what to do.
 * @param {unknown} error
 */
export function failureWords(error) {
  const { code: given, message } = /** @type {any} */ (error ?? {});
  const code = CODES[given] ?? given;
  return code && has(`errors.${code}`) ? t(`errors.${code}`, { message: String(message) }) : t('errors.other', { message: String(message ?? error) });
}
