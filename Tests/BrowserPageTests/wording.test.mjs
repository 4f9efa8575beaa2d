// What the page says of a result in its language. The sentences are the engine's, which LanguageTests in Swift states.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { languages, load, textsOf } from './bundle.mjs';

const page = await load('wording.js', 'texts.js');
const { result } = JSON.parse(readFileSync(new URL('result.json', import.meta.url), 'utf8'));

test('the engine\'s sentence of the page\'s language is shown, and English where it gave no other', () => {
  const summaries = { en: result.summary, de: 'Eins, zwei.', fr: 'Un, deux.' };
  for (const language of ['en', ...languages]) {
    page.setLanguage(language);
    assert.equal(page.summary({ ...result, summaries }), /** @type {any} */ (summaries)[language]);
    assert.equal(page.summary(result), result.summary);
    assert.equal(page.summary({ ...result, summaries: { en: result.summary } }), result.summary);
  }
});

test('reasons, warnings and the risk\'s sign are in the page\'s language', () => {
  for (const language of ['en', ...languages]) {
    page.setLanguage(language);
    const texts = textsOf(language);
    const abstaining = { ...result, abstain: true, risk: null, abstainReasons: ['blurred', 'a_later_versions'] };
    assert.deepEqual(page.abstainReasons(abstaining), [texts.abstain.blurred, 'a_later_versions']);
    const warned = { ...result, warnings: ['several_pictures', 'small_image'], warningDetails: { several_pictures: '256+' } };
    assert.deepEqual(page.warnings(warned), [texts.warnings.several_pictures.replace('{detail}', '256+'), texts.warnings.small_image]);
    const { word, sentence } = texts.risk.high;
    assert.deepEqual(page.riskWords({ abstain: false, risk: 'high' }), { level: 'high', word, sentence });
    assert.equal(page.riskWords(abstaining).level, 'none');
    assert.equal(page.riskWords({ abstain: false, risk: null }).sentence, texts.risk.unknown.sentence);
  }
});
