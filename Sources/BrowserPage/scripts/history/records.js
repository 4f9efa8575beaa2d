/**
 * The rules that a record of the history must obey to be shown. Records come from this page, from older ones and from files, so every
 * field that a view looks at is held against the contract. A sex or a site is one that the page has words for.
 */
import { has } from '../texts.js';

/** The greatest lengths of the person's words, in characters. */
export const LESION_LENGTH = 80;
export const NOTE_LENGTH = 4000;
/** The greatest length that is shown of a broken record's name. */
const SHOWN_LENGTH = 100;
/** More warnings or reasons than any version knows. */
const MOST_WORDS = 50;
const FIELDS = ['age', 'sex', 'site'];
/** A code of the engine, such as `small_image`: no name of JavaScript's own. */
const CODE = /^[a-z0-9]+(_[a-z0-9]+)*$/;
const HASH = /^[0-9a-f]{64}$/;

const isText = (/** @type {unknown} */ value, limit = 200) => typeof value === 'string' && value.length <= limit;
const isObject = (/** @type {unknown} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isShare = (/** @type {unknown} */ value) => typeof value === 'number' && value >= 0 && value <= 1;
const isNumber = (/** @type {unknown} */ value) => Number.isFinite(value);
/** A number of the engine's, which computes in 32 bits. */
const isFloat = (/** @type {any} */ value) => isNumber(value) && Number.isFinite(Math.fround(value));
/** @param {unknown} value @param {(each: any) => boolean} rule */
const isListOf = (value, rule) => Array.isArray(value) && value.every(rule);

/**
 * The rules, in the order in which they are looked at: the name of what breaks and whether it holds.
 * @type {[string, (record: any) => boolean][]}
 */
const RULES = [
  ['record', isObject],
  ['id', ({ id }) => isText(id) && /^[0-9a-f]{32}$/.test(id)],
  ['created', ({ created }) => isText(created) && /^\d{4}-\d\d-\d\dT/.test(created) && !Number.isNaN(Date.parse(created))],
  ['name', ({ name }) => isText(name, 1000)],
  ['lesion', ({ lesion }) => isText(lesion, LESION_LENGTH)],
  ['note', ({ note }) => isText(note, NOTE_LENGTH)],
  ['classes', ({ classes }) => isListOf(classes, (each) => isObject(each) && isText(each.class) && isText(each.name)) && classes.length >= 2
    && new Set(classes.map((/** @type {any} */ each) => each.class)).size === classes.length],
  ['result', ({ result }) => isObject(result) && isText(result.summary, 10_000) && isText(result.image, 1000)],
  ['summaries', ({ result: { summaries } }) => summaries === undefined
    || (isObject(summaries) && Object.values(summaries).every((each) => isText(each, 10_000)))],
  ['probabilities', ({ classes, result }) => isObject(result.probabilities) && classes.every((/** @type {any} */ each) =>
    Object.hasOwn(result.probabilities, each.class) && isShare(result.probabilities[each.class]))],
  ['multiLabel', ({ result: { multiLabel } }) => multiLabel === undefined || multiLabel === true],
  ['logits', ({ classes, result }) => isObject(result.logits) && classes.every((/** @type {any} */ each) =>
    Object.hasOwn(result.logits, each.class) && isFloat(result.logits[each.class]))],
  ['prediction', ({ classes, result: { prediction } }) => prediction === null
    || (isObject(prediction) && isShare(prediction.probability) && isText(prediction.name) && isOneOf(classes, prediction.class))],
  ['abstain', ({ result: { abstain, prediction } }) => typeof abstain === 'boolean' && abstain === (prediction === null)],
  ['risk', ({ result: { risk, abstain } }) => ['low', 'moderate', 'high', null].includes(risk) && !(abstain && risk !== null)],
  ['concern', ({ classes, result: { concern } }) => concern === undefined || concern === null || isOneOf(classes, concern)],
  ['urgent', ({ result: { urgent } }) => urgent === undefined || typeof urgent === 'boolean'],
  ['confidence', ({ result: { confidence } }) => ['normal', 'low'].includes(confidence)],
  ['warnings', ({ result: { warnings } }) => isListOf(warnings, (each) => isText(each) && CODE.test(each)) && warnings.length <= MOST_WORDS],
  ['warningDetails', ({ result: { warningDetails } }) => warningDetails === undefined
    || (isObject(warningDetails) && Object.values(warningDetails).every((each) => isText(each)) && Object.keys(warningDetails).length <= MOST_WORDS)],
  ['abstainReasons', ({ result: { abstainReasons } }) => isListOf(abstainReasons, (each) => isText(each) && CODE.test(each))
    && abstainReasons.length <= MOST_WORDS],
  ['conformalSet', ({ classes, result: { conformalSet } }) => conformalSet === undefined || conformalSet === null
    || isListOf(conformalSet, (each) => isOneOf(classes, each))],
  ['conformalCoverage', ({ result: { conformalCoverage } }) => conformalCoverage === undefined || conformalCoverage === null || isShare(conformalCoverage)],
  ['age', ({ result: { metadata } }) => isObject(metadata) && (metadata.age === null || (isNumber(metadata.age) && metadata.age >= 0 && metadata.age <= 130))],
  ['sex', ({ result: { metadata } }) => isText(metadata.sex) && has(`metadata.sexes.${metadata.sex}`)],
  ['site', ({ result: { metadata } }) => isText(metadata.site) && has(`sites.${metadata.site}`)],
  ['missing', ({ result: { metadata } }) => isListOf(metadata.missing, (each) => FIELDS.includes(each))],
  ['metadataShares', ({ classes, result: { metadataShares: shares } }) => shares === undefined || shares === null
    || ['imageAlone', 'everything', 'withoutAge', 'withoutSex', 'withoutSite'].every((key) => isObject(shares[key])
      && classes.every((/** @type {any} */ each) => isFloat(shares[key][each.class])))],
  ['model', ({ result: { model } }) => isObject(model) && isText(model.name) && isText(model.version) && isText(model.sha256) && HASH.test(model.sha256)],
  ['imageSHA256', ({ result: { imageSHA256 } }) => imageSHA256 === null || (isText(imageSHA256) && HASH.test(imageSHA256))],
  ['disclaimer', ({ result: { disclaimer } }) => isText(disclaimer, 1000) && disclaimer !== ''],
  ['square', ({ square }) => isObject(square) && ['left', 'top', 'side', 'width', 'height'].every((key) => isNumber(square[key]) && square[key] >= 0)
    && square.side > 0 && square.left + square.side <= square.width && square.top + square.side <= square.height],
  ['trust', ({ classes, trust }) => trust === undefined
    || (isObject(trust) && Object.entries(trust).every(([id, found]) => isOneOf(classes, id) && isTrust(found)))],
  ['kept', ({ kept }) => [undefined, 'whole', 'square'].includes(kept)],
  ['thumbnail', ({ thumbnail }) => thumbnail instanceof Blob],
];

/** From here on a correlation is high, as in the engine's `MapTrust`. */
const HIGH_CORRELATION = 0.5;

/** @param {any} found of the checks of a map: their verdict is the one that follows from their numbers */
function isTrust(found) {
  if (!isObject(found) || !['deletionAUC', 'randomDeletionAUC', 'insertionAUC', 'randomInsertionAUC'].every((key) => isShare(found[key]))) return false;
  const { shuffledHeadCorrelation: correlation, deletionAUC, randomDeletionAUC, insertionAUC, randomInsertionAUC, passes } = found;
  if (correlation !== null && !(isNumber(correlation) && Math.abs(correlation) <= 1)) return false;
  return passes === (deletionAUC < randomDeletionAUC && insertionAUC > randomInsertionAUC && correlation !== null && correlation < HIGH_CORRELATION);
}

/**
 * The members that a record has, at each depth: `true` is a value, a list has items of one kind, and `*` stands for any name.
 * @type {any}
 */
const MEMBERS = {
  id: true, created: true, name: true, lesion: true, note: true, reduced: true, kept: true, thumbnail: true,
  classes: [{ class: true, name: true, malignancy: true }],
  square: { left: true, top: true, side: true, width: true, height: true, moved: true },
  trust: { '*': { passes: true, deletionAUC: true, randomDeletionAUC: true, insertionAUC: true, randomInsertionAUC: true, shuffledHeadCorrelation: true } },
  result: {
    schemaVersion: true, image: true, imageSHA256: true, model: { name: true, version: true, sha256: true },
    prediction: { class: true, name: true, probability: true }, probabilities: { '*': true }, multiLabel: true, logits: { '*': true },
    risk: true, concern: true, urgent: true, confidence: true, metadata: { age: true, sex: true, site: true, missing: [true] },
    warnings: [true], warningDetails: { '*': true }, abstain: true, abstainReasons: [true], conformalSet: [true], conformalCoverage: true,
    instructionSet: true, precision: true, metadataShares: { '*': { '*': true } }, summary: true, summaries: { '*': true }, disclaimer: true,
  },
};

/**
 * A record with the members that this page knows and no others: what nobody looks at is not kept, and not handed on.
 * @param {any} value
 * @param {any} [members]
 * @returns {any}
 */
export function known(value, members = MEMBERS) {
  if (members === true || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(members)) return Array.isArray(value) ? value.map((each) => known(each, members[0])) : value;
  if (Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]) => {
    const inner = Object.hasOwn(members, name) ? members[name] : members['*'];
    return inner ? [[name, known(each, inner)]] : [];
  }));
}

/** @param {{class: string}[]} classes @param {unknown} id */
function isOneOf(classes, id) {
  return classes.some((each) => each.class === id);
}

/** @param {any} record @returns {string} the rule that it breaks; empty where it breaks none */
export function flaw(record) {
  return RULES.find(([, holds]) => !holds(record))?.[0] ?? '';
}

/**
 * The part of a record that lists show and search: a hundredth of the record's size.
 * @param {any} record
 * @returns {Row | BrokenRow}
 */
export function rowOf(record) {
  const rule = flaw(record);
  if (rule) return { id: record?.id, name: nameOfBroken(record, record?.id), flaw: rule };
  const { id, created, name, lesion, note, classes, result: { abstain, risk, prediction, concern, probabilities, metadata } } = record;
  const raised = classes.find((/** @type {{class: string}} */ each) => each.class === concern);
  return {
    id, created, name, lesion, note, abstain, risk, prediction, site: metadata.site, flaw: '',
    concern: raised ? { class: raised.class, name: raised.name, probability: probabilities[raised.class] } : null,
  };
}

/** A broken record's name, as far as it has one. */
export function nameOfBroken(/** @type {any} */ record, /** @type {unknown} */ key) {
  const parts = [record?.name, record?.created].filter((part) => typeof part === 'string' && part !== '')
    .map((part) => (part.length > SHOWN_LENGTH ? `${part.slice(0, SHOWN_LENGTH)} ...` : part));
  return parts.length > 0 ? parts.join(', ') : String(key);
}

/** @param {string} line @returns {any} what it says; undefined where it is not JSON */
export function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** An identifier that no other scan has; `randomUUID` is not to be had on every origin. */
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
