// Puts the library's results into words, in all languages of the page. results.jsonl is held by PageResultsTests in Swift.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { languages, load, textsOf } from './bundle.mjs';

const page = await load('wording.js', 'texts.js');
const english = textsOf('en');
const cases = readFileSync(new URL('results.jsonl', import.meta.url), 'utf8').trim().split('\n').map((line) => JSON.parse(line));

/** A text's words in the order in which they stand, without what is filled in. */
const parts = (/** @type {string} */ text) => text.split(/\{\w+\}/);

/** Whether `words` is `text` with something filled in; the values in order, else null. */
function filled(/** @type {string} */ words, /** @type {string} */ text) {
  const escaped = parts(text).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return words.match(new RegExp(`^${escaped.join('(.+?)')}$`))?.slice(1) ?? null;
}

/** The numbers of a text. */
const numbers = (/** @type {string} */ text) => text.match(/\d+/g) ?? [];

test('there are cases of each kind for each name of melanoma', () => {
  for (const id of ['mel', 'MEL', 'melanoma']) {
    const own = cases.filter(({ name }) => name.startsWith(`${id}: `)).map(({ result }) => result);
    assert.deepEqual(new Set(own.map(({ risk }) => risk)), new Set(['low', 'moderate', 'high', null]));
    assert(own.some(({ urgent }) => urgent) && own.some(({ abstain }) => abstain) && own.some(({ confidence }) => confidence === 'low'));
    assert(own.some(({ concern }) => concern === id));
  }
});

for (const { name, classes, result } of cases) {
  test(`English composed from the fields is the library's summary: ${name}`, () => {
    page.setLanguage('en');
    assert.equal(page.summary(result, classes), result.summary);
    assert.equal(page.composedSummary(result, classes), result.summary);
  });

  for (const language of languages) test(`${language} says as much: ${name}`, () => {
    page.setLanguage(language);
    const words = page.summary(result, classes);
    const { result: texts, abstain, classes: known } = textsOf(language);
    let rest = words;
    /** Takes a sentence from the beginning of what is left. */
    const take = (/** @type {string} */ sentence) => {
      assert(rest.startsWith(sentence), `"${sentence}" is missing in "${words}"`);
      rest = rest.slice(sentence.length).trimStart();
    };
    // What the English sentences say decides, not the fields that the page looks at.
    const said = result.summary;
    if (said.startsWith(english.result.noClassification)) {
      take(texts.noClassification);
      for (const [reason, sentence] of Object.entries(english.abstain)) {
        if (said.includes(sentence)) take(abstain[reason]);
      }
    } else {
      const [first] = said.split('. ');
      const both = filled(`${first}.`, english.result.suggestsBoth);
      const values = both ?? filled(`${first}.`, english.result.suggests);
      assert(values, first);
      const translated = (/** @type {string} */ value) => {
        if (value === english.result.belowOnePercent) return texts.belowOnePercent;
        if (value.endsWith('%')) return new Intl.NumberFormat(language, { style: 'percent' }).format(Number(value.slice(0, -1)) / 100);
        const { class: id } = classes.find((/** @type {{name: string}} */ each) => each.name === value);
        return known[id] ?? value;
      };
      let index = 0;
      take((both ? texts.suggestsBoth : texts.suggests).replace(/\{\w+\}/g, () => translated(values[index++])));
    }
    take(texts.notDiagnosis);
    if (said.includes(english.result.urgent)) take(texts.urgent);
    assert.equal(rest, '');
    assert.deepEqual(numbers(words), numbers(said));
  });

  for (const language of ['en', ...languages]) {
    test(`reasons, warnings and risk have texts in ${language}: ${name}`, () => {
      page.setLanguage(language);
      const texts = textsOf(language);
      assert.deepEqual(page.abstainReasons(result), result.abstainReasons.map((/** @type {string} */ reason) => texts.abstain[reason]));
      assert.deepEqual(page.warnings(result), result.warnings.map((/** @type {string} */ warning) => texts.warnings[warning]
        .replace('{detail}', result.warningDetails?.[warning])));
      assert([...page.abstainReasons(result), ...page.warnings(result)].every((text) => typeof text === 'string'));
      const level = result.abstain ? 'abstain' : result.risk ?? 'unknown';
      assert.deepEqual(page.riskWords(result), { level: result.risk ?? 'none', ...texts.risk[level] });
    });
  }
}

test('a record of an older version keeps the engine\'s sentences', () => {
  page.setLanguage('de');
  for (const { classes, result } of cases.filter((each) => !each.result.abstain)) {
    const { concern, urgent, ...older } = result;
    assert.equal(page.summary(older, classes), result.summary);
  }
});

test('a false sentence in a record is not said, in any language', () => {
  for (const language of ['en', ...languages]) {
    page.setLanguage(language);
    for (const { classes, result } of cases) {
      const words = page.summary({ ...result, summary: 'You are healthy. No doctor is needed.' }, classes);
      assert(!words.includes('healthy'), words);
      assert.equal(words, page.summary(result, classes));
    }
  }
});
