import { nameOfClass, t, wholePercent, has } from './texts.js';

/**
 * The engine's codes for what the page has a sentence of its own.
 * @type {Record<string, string>}
 */
const CODES = { invalidImage: 'image_too_small', invalidModel: 'model', modelNotFound: 'model', nonFiniteOutput: 'not_finite' };

/**
 * The result's sentences, made of its fields in every language: a record may come from anybody's file. A record that an older
 * version stored has no `concern` and no `urgent`: it keeps the engine's sentences, of which the page must not lose one. One
 * that is imported has got both from the engine.
 * @param {import('./types.js').Result} result
 * @param {import('./types.js').Scan['classes']} classes
 */
export function summary(result, classes) {
  const isComplete = result.abstain || (result.concern !== undefined && result.urgent !== undefined);
  return isComplete ? composedSummary(result, classes) : result.summary;
}

/**
 * The sentences that the result's fields ask for, in the page's language.
 * @param {import('./types.js').Result} result
 * @param {import('./types.js').Scan['classes']} classes
 */
export function composedSummary(result, classes) {
  if (result.abstain || !result.prediction) return [t('result.noClassification'), ...abstainReasons(result), t('result.notDiagnosis')].join(' ');
  const { prediction: { class: id, probability }, concern } = result;
  const suggested = { name: nameOfClass(classes, id), percent: wholePercent(probability) };
  return [
    concern
      ? t('result.suggestsBoth', { ...suggested, other: nameOfClass(classes, concern), otherPercent: wholePercent(result.probabilities[concern]) })
      : t('result.suggests', suggested),
    t('result.notDiagnosis'), ...(result.urgent ? [t('result.urgent')] : []),
  ].join(' ');
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
  return result.warnings.map((warning) => (
    has(`warnings.${warning}`) ? t(`warnings.${warning}`, { detail: result.warningDetails?.[warning] ?? '?' }) : warning));
}

/**
 * What the sign of the risk says.
 * @param {Pick<import('./types.js').Result, 'abstain' | 'risk'>} result
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
  // The page's sentence goes on behind it.
  const words = String(message ?? error).replace(/\.$/, '');
  return t(code && has(`errors.${code}`) ? `errors.${code}` : 'errors.other', { message: words });
}
