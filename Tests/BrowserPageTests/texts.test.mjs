// The page's languages: each has what English has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages, load, textsOf } from './bundle.mjs';

const page = await load('texts.js');

/** Each text by its path; a text with plurals is one, by its form for many. @returns {Map<string, string>} */
function flat(/** @type {any} */ value, path = '', found = new Map()) {
  if (typeof value === 'string') found.set(path, value);
  else if (typeof value.other === 'string') found.set(path, value.other);
  else for (const [key, each] of Object.entries(value)) flat(each, path ? `${path}.${key}` : key, found);
  return found;
}

/** The values that a text wants. */
const wanted = (/** @type {string} */ text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

const english = flat(textsOf('en'));

test('there are three languages, English first', () => {
  assert.deepEqual(page.languages().map(({ code }) => code), ['en', ...languages]);
  assert(languages.length >= 2);
});

for (const language of languages) {
  test(`${language} has every text, with the same values in it`, () => {
    const own = flat(textsOf(language));
    assert.deepEqual([...own.keys()].sort(), [...english.keys()].sort());
    for (const [path, text] of english) assert.deepEqual(wanted(own.get(path) ?? ''), wanted(text), path);
  });

  test(`${language} has a form for each plural that Intl chooses`, () => {
    page.setLanguage(language);
    for (const count of [0, 1, 2, 5, 21, 1000, 1_000_000]) {
      assert(page.t('history.count', { count }).includes(page.formatNumber(count)));
      assert(page.t('metadata.years', { count }).length > 0);
    }
  });

  test(`${language} says nothing that the product never says`, () => {
    const forbidden = { de: /sicher gutartig|ungefährlich|Sie haben eine? |diagnostiziert/i, fr: /vous avez une? |sans danger|diagnostiqu|certainement bénin/i };
    for (const [path, text] of flat(textsOf(language))) assert(!/** @type {any} */ (forbidden)[language]?.test(text), `${path}: ${text}`);
  });
}

test('no line of French begins with a sign or ends with an opening quotation mark, and no percent sign stands alone', () => {
  const breaks = { de: / %/, fr: / [:;?!»%]|« / };
  for (const language of languages) {
    for (const [path, text] of flat(textsOf(language))) assert(!/** @type {any} */ (breaks)[language]?.test(text), `${path}: ${text}`);
  }
});

test('numbers, shares and times are written as the language writes them', () => {
  page.setLanguage('fr');
  assert.equal(page.formatPercent(0.874), new Intl.NumberFormat('fr', { style: 'percent', minimumFractionDigits: 1 }).format(0.874));
  page.setLanguage('de');
  assert.equal(page.formatPercent(0.9999), '>\u{2060}99,9\u{a0}%');
  page.setLanguage('en');
  assert.equal(page.formatPercent(0), '<\u{2060}0.1%');
  assert.equal(page.t('metadata.years', { count: 1.5 }), '1.5\u{a0}years');
  assert.equal(page.t('metadata.years', { count: 1 }), '1\u{a0}year');
  const minute = 60_000;
  const durations = [0, 1, 59, 3 * 60, 3 * 24 * 60, 20 * 24 * 60, 100 * 24 * 60, 1000 * 24 * 60].map((minutes) => page.formatDuration(minutes * minute));
  assert.deepEqual(durations, ['0 minutes', '1 minute', '59 minutes', '3 hours', '3 days', '2 weeks', '3 months', '2 years']);
  page.setLanguage('de');
  assert.equal(page.formatDuration(3 * 24 * 60 * minute), '3 Tage');
});

test('no number reaches a limit that its probability does not', () => {
  page.setLanguage('en');
  const said = /** @type {[number, string][]} */ ([[0.0949, '9.5%'], [0.0996, '9.9%'], [0.09999999, '9.9%'], [0.1, '10.0%'], [0.1996, '19.9%'], [0.2, '20.0%'],
    [0.298, '29.8%'], [0.2996, '29.9%'], [0.29999998, '29.9%'], [0.3, '30.0%'], [0.3996, '40.0%']]);
  for (const [probability, words] of said) assert.equal(page.formatPercent(probability), words);
});

test('names of JavaScript are no texts', () => {
  for (const name of ['toString', 'constructor', '__proto__']) assert.equal(page.has(`warnings.${name}`), false);
});
