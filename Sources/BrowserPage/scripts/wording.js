import { currentLanguage, has, t } from './texts.js';

/**
 * The engine's codes for what the page has a sentence of its own.
 * @type {Record<string, string>}
 */
const CODES = { invalidImage: 'image_too_small', invalidModel: 'model', modelNotFound: 'model', nonFiniteOutput: 'not_finite' };

/**
 * The result in words, in the page's language: the engine's sentences. A record that an older version stored has the English one
 * alone until the engine gives it the others.
 * @param {import('./types.js').Result} result
 */
export function summary({ summaries, summary: english }) {
  return summaries?.[currentLanguage()] ?? english;
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
