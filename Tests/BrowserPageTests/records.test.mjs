// Records of the history, from this page, from older ones and from files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const page = await load('history/records.js', 'history/sealed.js');
/** A result as the engine gave it, with the classes of its model. */
const example = JSON.parse(readFileSync(new URL('result.json', import.meta.url), 'utf8'));

/** A record as the page stores it, around one of the library's results. */
const record = ({ classes, result } = example) => ({
  id: '0123456789abcdef'.repeat(2), created: '2026-05-06T07:08:09.000Z', name: 'a.jpg', lesion: '', note: '', reduced: false, classes,
  square: { left: 0, top: 0, side: 450, width: 600, height: 450, moved: false }, thumbnail: new Blob(),
  result: { ...structuredClone(result), model: { ...result.model, sha256: 'ab'.repeat(32) } },
});

/** The record with one thing changed. */
function changed(/** @type {string} */ path, /** @type {unknown} */ value) {
  const copy = record();
  /** @type {any} */
  let place = copy;
  const names = path.split('.');
  for (const name of names.slice(0, -1)) place = place[name];
  place[/** @type {string} */ (names.at(-1))] = value;
  return copy;
}

test('what the library answers is a good record', () => {
  assert.equal(page.flaw(record()), '');
  assert.equal(page.flaw(changed('result.summaries', { en: 'One.', de: 'Eins.' })), '');
  assert.equal(page.flaw(changed('result.summaries', { de: 5 })), 'summaries');
});

test('a record of an older version is good without what it could not have', () => {
  const older = record();
  delete older.result.concern;
  delete older.result.urgent;
  assert.equal(page.flaw(older), '');
  assert.equal(page.flaw({ ...record(), kept: 'square' }), '');
});

test('whatever a view would stumble over is named', () => {
  const passed = { passes: true, deletionAUC: 0.1, randomDeletionAUC: 0.2, insertionAUC: 0.8, randomInsertionAUC: 0.5, shuffledHeadCorrelation: 0.4 };
  for (const trust of [passed, { ...passed, passes: false, shuffledHeadCorrelation: null }, { ...passed, passes: false, deletionAUC: 0.2 }]) assert.equal(page.flaw(changed('trust', { mel: trust })), '');
  const wrong = [
    ['classes', [null, null], 'classes'], ['classes', [{ class: 'a', name: 'A' }], 'classes'], ['classes', [{ class: 'a', name: 'A' }, { class: 'a', name: 'B' }], 'classes'],
    ['result.conformalSet', 5, 'conformalSet'], ['result.conformalSet', ['moon'], 'conformalSet'], ['result.conformalCoverage', '90', 'conformalCoverage'],
    ['result.metadata.sex', 'robot', 'sex'], ['result.metadata.sex', 'toString', 'sex'], ['result.metadata.site', 'moon', 'site'], ['result.metadata.site', 'constructor', 'site'],
    ['result.metadata.age', 131, 'age'], ['result.metadata.age', '55', 'age'], ['result.metadata', null, 'age'], ['result.metadata.missing', ['height'], 'missing'],
    ['result.warningDetails', ['3'], 'warningDetails'], ['result.warningDetails', { several_pictures: 3 }, 'warningDetails'],
    ['result.warnings', ['toString'], 'warnings'], ['result.warnings', 'small_image', 'warnings'], ['result.abstainReasons', [1], 'abstainReasons'],
    ['result.probabilities', { mel: 1 }, 'probabilities'], ['result.probabilities', null, 'probabilities'], ['result.probabilities.mel', 1.2, 'probabilities'],
    ['result.logits.mel', null, 'logits'], ['result.logits.mel', 1e39, 'logits'], ['result.prediction', { class: 'toString', name: 'x', probability: 0.5 }, 'prediction'], ['result.prediction', 5, 'prediction'],
    ['result.risk', 'none', 'risk'], ['result.concern', 'moon', 'concern'], ['result.urgent', 'yes', 'urgent'], ['result.confidence', 'high', 'confidence'],
    ['result.abstain', 'no', 'abstain'], ['result.abstain', true, 'abstain'], ['result.model', { name: 'm' }, 'model'], ['result.disclaimer', '', 'disclaimer'],
    ['result.metadataShares', { imageAlone: 3 }, 'metadataShares'], ['result.metadataShares', Object.fromEntries(['imageAlone', 'everything', 'withoutAge', 'withoutSex', 'withoutSite'].map((key) => [key, Object.fromEntries(record().classes.map((/** @type {any} */ each) => [each.class, 1e308]))])), 'metadataShares'], ['result', [], 'result'], ['square.side', NaN, 'square'], ['square.side', 700, 'square'], ['square', null, 'square'],
    ['name', 'x'.repeat(200_000), 'name'], ['lesion', 'x'.repeat(81), 'lesion'], ['note', 'x'.repeat(4001), 'note'], ['result.summary', 'x'.repeat(20_000), 'result'],
    ['result.warnings', Array(5000).fill('small_image'), 'warnings'], ['result.abstainReasons', Array(5000).fill('blurred'), 'abstainReasons'], ['result.model.name', 'x'.repeat(300), 'model'],
    ['thumbnail', 'data:', 'thumbnail'], ['created', 'yesterday', 'created'], ['created', 5, 'created'], ['id', '../x', 'id'], ['note', 5, 'note'], ['kept', 'half', 'kept'],
    ['trust', [], 'trust'], ['trust', { moon: passed }, 'trust'], ['trust', { mel: { ...passed, passes: 'yes' } }, 'trust'], ['trust', { mel: { ...passed, deletionAUC: NaN } }, 'trust'],
    ['trust', { mel: { ...passed, deletionAUC: 5 } }, 'trust'], ['trust', { mel: { ...passed, passes: false } }, 'trust'], ['trust', { mel: { ...passed, shuffledHeadCorrelation: null } }, 'trust'],
    ['trust', { mel: { ...passed, shuffledHeadCorrelation: 0.5 } }, 'trust'], ['trust', { mel: { ...passed, insertionAUC: 0.5 } }, 'trust'],
  ];
  for (const [path, value, flaw] of wrong) assert.equal(page.flaw(changed(path, value)), flaw, `${path} = ${JSON.stringify(value)}`);
  for (const none of [null, undefined, 5, 'text', []]) assert.equal(page.flaw(none), 'record');
});

test('of a record only what the page knows is kept', () => {
  const whole = { ...record(), trust: { mel: { passes: false, deletionAUC: 0.1, randomDeletionAUC: 0.2, insertionAUC: 0.8, randomInsertionAUC: 0.5, shuffledHeadCorrelation: null } } };
  assert.deepEqual(page.known(whole), whole);
  const more = structuredClone(whole);
  Object.assign(more, { diary: 'x'.repeat(1_000_000) });
  Object.assign(more.result, { secret: [1] });
  Object.assign(more.result.model, { path: '/home' });
  Object.assign(more.trust.mel, { by: 'me' });
  more.classes.forEach((/** @type {any} */ each) => { each.colour = 'red'; });
  assert.deepEqual(page.known(more), whole);
  for (const odd of [null, 5, 'text', []]) assert.deepEqual(page.known({ ...whole, result: odd }), { ...whole, result: odd });
});

test('an encrypted file opens with its passphrase only, whole only', async () => {
  const plain = new Blob([new Uint8Array(2_500_000).map((_, index) => index % 251)]);
  const sealed = await page.seal(plain, 'richtig Pferd Batterie');
  assert(await page.isSealed(sealed) && !await page.isSealed(plain));
  const opened = await page.unseal(sealed, 'richtig Pferd Batterie');
  assert.deepEqual(Buffer.from(await opened.arrayBuffer()), Buffer.from(await plain.arrayBuffer()));

  await assert.rejects(page.unseal(sealed, 'richtig Pferd batterie'), { code: 'sealed_passphrase' });
  const [head, first, second, third] = (await sealed.text()).split('\n');
  assert(!first.includes(Buffer.from(new Uint8Array(300).map((_, index) => index % 251)).toString('base64').slice(0, 80)));
  const file = (/** @type {string[]} */ ...lines) => new Blob([`${lines.join('\n')}\n`]);
  await assert.rejects(page.unseal(file(head, first, third, second), 'richtig Pferd Batterie'), { code: 'sealed_broken' }, 'parts exchanged');
  await assert.rejects(page.unseal(file(head, first, second), 'richtig Pferd Batterie'), { code: 'sealed_broken' }, 'a part left out');
  const shorter = JSON.stringify({ ...JSON.parse(head), parts: 2 });
  await assert.rejects(page.unseal(file(shorter, first, second), 'richtig Pferd Batterie'), { code: 'sealed_passphrase' }, 'the head rewritten');
  await assert.rejects(page.unseal(file('{"format":"dermafusion-history-sealed"'), 'x'), { code: 'sealed_broken' });
  for (const salt of ['?', 5, null]) {
    const salted = JSON.stringify({ ...JSON.parse(head), salt });
    await assert.rejects(page.unseal(file(salted, first, second, third), 'richtig Pferd Batterie'), { code: /sealed_(broken|passphrase)/ }, `salt ${salt}`);
  }
  await assert.rejects(page.unseal(file(head, '? ?', second, third), 'richtig Pferd Batterie'), { code: 'sealed_broken' }, 'no base64');
});
