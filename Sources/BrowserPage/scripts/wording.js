import { currentLanguage, has, t } from './texts.js';

/** @param {Worded | undefined} words @param {string} [english] the only ones there may be @returns the page's language's */
export function inLanguage(words, english = '') {
  return words?.[currentLanguage()] ?? english;
}

/** The result in words. A record that an older version stored has the English ones alone until the engine gives it the others. */
export function summary(/** @type {Result} */ { summaries, summary: english }) {
  return inLanguage(summaries, english);
}

/** The reasons why the model abstains, a sentence each. */
export function abstainReasons(/** @type {Result} */ result) {
  return result.abstainReasons.map((reason) => (has(`abstain.${reason}`) ? t(`abstain.${reason}`) : reason));
}

/** The warnings on the input, a sentence each. */
export function warnings(/** @type {Result} */ result) {
  return result.warnings.map((warning) => (
    has(`warnings.${warning}`) ? t(`warnings.${warning}`, { detail: result.warningDetails?.[warning] ?? '?' }) : warning));
}

/**
 * The words of the sign of the risk.
 * @param {Pick<Result, 'abstain' | 'risk'>} result
 * @returns {{level: 'low' | 'moderate' | 'high' | 'none', word: string, sentence: string}}
 */
export function riskWords(result) {
  const level = result.abstain ? 'abstain' : result.risk ?? 'unknown';
  const sign = level === 'abstain' || level === 'unknown' ? 'none' : level;
  return { level: sign, word: t(`risk.${level}.word`), sentence: t(`risk.${level}.sentence`) };
}

/** The sentence for an error, which says what to do. */
export function failureWords(/** @type {unknown} */ error) {
  const { code, message, messages } = /** @type {any} */ (error ?? {});
  // The page's sentence goes on behind it.
  const words = inLanguage(messages, String(message ?? error)).replace(/\.$/, '');
  return t(code && has(`errors.${code}`) ? `errors.${code}` : 'errors.other', { message: words });
}
