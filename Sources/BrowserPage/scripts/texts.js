import facts from './facts.js';

/**
 * All languages of the page: the files of the folder `texts`, which the build writes into the page. English comes first and
 * stands in for what another language lacks.
 * @type {Record<string, any>}
 */
const LANGUAGES = JSON.parse(document.getElementById('page-texts')?.textContent ?? '{}');

let language = choose();

/** The first language of the browser that the page speaks; English where it speaks none of them. */
function choose() {
  for (const wish of navigator.languages ?? [navigator.language]) {
    const code = wish.slice(0, 2).toLowerCase();
    if (Object.hasOwn(LANGUAGES, code)) return code;
  }
  return 'en';
}

/** Its code: `en`, `de`, ... */
export function currentLanguage() {
  return language;
}

/** Each language's code with its own name for itself. */
export function languages() {
  return Object.entries(LANGUAGES).map(([code, texts]) => ({ code, name: texts.language }));
}

/** @param {string} code */
export function setLanguage(code) {
  if (!Object.hasOwn(LANGUAGES, code)) throw new Error(`the page does not speak ${code}`);
  language = code;
  document.documentElement.lang = code;
}

/** @param {string} key a path of names with dots between them */
function find(key) {
  for (const texts of [LANGUAGES[language], LANGUAGES.en]) {
    let value = texts;
    for (const name of key.split('.')) value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? value[name] : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** True if there is a text of that name. */
export function has(/** @type {string} */ key) {
  return find(key) !== undefined;
}

/** A list or an object of the texts. */
export function texts(/** @type {string} */ key) {
  const value = find(key);
  if (value === undefined) throw new Error(`there is no text ${key}`);
  return value;
}

/**
 * The text of that name with `{name}` replaced by values. A text with `one` and `other` is chosen by `values.count`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  let text = texts(key);
  if (typeof text === 'object') text = text[new Intl.PluralRules(language).select(Number(values.count))] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (/** @type {string} */ _, /** @type {string} */ name) => {
    if (!(name in values)) throw new Error(`the text ${key} wants a value ${name}`);
    const value = values[name];
    return typeof value === 'number' ? formatNumber(value, Number.isInteger(value) ? 0 : 1) : value;
  });
}

/** @type {Map<string, any>} */
const formats = new Map();

/**
 * The language's format of a kind. To make one takes fifty times as long as to use it, and a history has thousands of dates.
 * @template {Intl.NumberFormat | Intl.DateTimeFormat} Format
 * @template Options
 * @param {new (language: string, options: Options) => Format} Kind
 * @param {Options} options
 * @returns {Format}
 */
function format(Kind, options) {
  const key = `${language} ${Kind.name} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new Kind(language, options));
  return formats.get(key);
}

/** @param {number} value @param {number} [digits] at most so many after the point @param {number} [least] at least so many */
export function formatNumber(value, digits = 0, least = 0) {
  return format(Intl.NumberFormat, { maximumFractionDigits: digits, minimumFractionDigits: least }).format(value);
}

/** @param {number} share 0...1 @param {number} [digits] @returns a share of a whole in percent */
export function formatShare(share, digits = 1) {
  return format(Intl.NumberFormat, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }).format(share);
}

/**
 * A probability in percent with one decimal, as the engine's `Wording.percentage` rounds it: to the nearest, but down from below
 * a limit of the words beside it. A softmax is never certain, so neither 0 nor 100 is said.
 * @param {number} probability 0...1
 */
export function formatPercent(probability) {
  const nearest = Math.round(probability * 1000);
  const tenths = facts.limits.some((limit) => probability < limit && nearest === Math.round(limit * 1000)) ? nearest - 1 : nearest;
  if (tenths === 0) return `<\u2060${formatShare(0.001)}`;
  if (tenths >= 1000) return `>\u2060${formatShare(0.999)}`;
  return formatShare(tenths / 1000);
}

/** @param {string | number | Date} date @param {boolean} [withTime] */
export function formatDate(date, withTime = true) {
  return format(Intl.DateTimeFormat, { dateStyle: 'medium', timeStyle: withTime ? 'short' : undefined }).format(new Date(date));
}

/** A class's name: the page's own if it knows the class, otherwise the model's. */
export function className(/** @type {string} */ id, /** @type {string} */ name) {
  return language !== 'en' && has(`classes.${id}`) ? t(`classes.${id}`) : name;
}

/** The name of one of a model's classes. */
export function nameOfClass(/** @type {Classes} */ classes, /** @type {string} */ id) {
  return className(id, classes.find((each) => each.class === id)?.name ?? id);
}

/** A site's name in words. */
export function siteName(/** @type {string} */ site) {
  return has(`sites.${site}`) ? t(`sites.${site}`) : site;
}

/**
 * The units of a time that has passed, from the longest, in milliseconds.
 * @type {[string, number][]}
 */
const UNITS = [['year', 365.25 * 86_400_000], ['month', 30.44 * 86_400_000],
  ['week', 7 * 86_400_000], ['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000]];

/** The time between two moments, in the largest unit that it fills at least twice; less than two minutes in minutes. */
export function formatDuration(/** @type {number} */ milliseconds) {
  const [unit, length] = UNITS.find(([, each]) => milliseconds >= 2 * each) ?? UNITS[UNITS.length - 1];
  return format(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 }).format(Math.floor(milliseconds / length));
}
