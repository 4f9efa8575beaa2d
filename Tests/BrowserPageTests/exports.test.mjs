// What leaves the page as a file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const page = await load('exports.js');
const endings = ['.jpg', '.png'];

const scan = (/** @type {object} */ changes = {}) => ({
  id: '0'.repeat(32), created: '2026-05-06T07:08:09.000Z', name: 'a.jpg', lesion: '', note: '', reduced: false,
  classes: [{ class: 'mel', name: 'Melanoma' }, { class: 'nv', name: 'Melanocytic nevi' }],
  square: { left: 1, top: 2, side: 30, width: 40, height: 50, moved: true }, trust: { mel: { passes: false }, nv: { passes: true } },
  result: {
    schemaVersion: 2, image: 'a.jpg', imageSHA256: null, model: { name: 'm', version: '1', sha256: 'ab' },
    prediction: { class: 'nv', name: 'Melanocytic nevi', probability: 0.75 }, probabilities: { mel: 0.25, nv: 0.75 }, logits: { mel: -1, nv: 1 },
    risk: 'moderate', concern: 'mel', urgent: false, confidence: 'normal', metadata: { age: 1.5, sex: 'female', site: 'unknown', missing: ['site'] },
    warnings: [], abstain: false, abstainReasons: [], conformalSet: null, conformalCoverage: null, summary: 'One, two.', disclaimer: 'No "device".',
  },
  ...changes,
});

/** The cells of a table whose quoted cells hold no line break, without the byte order mark. */
const cells = (/** @type {string} */ text) => text.replace(/^\ufeff/, '').trim().split('\n').map((line) =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain));

test('a cell that a spreadsheet would take for a formula is neutralised', () => {
  for (const text of ['=1+1', '@SUM(A1)', '+49 30', '-left', '\uff1d1', "'=x", "''=x"]) assert.equal(page.csvCell(text), `'${text}`);
  for (const text of ['-1', '+4.5e3', "'x", '', 'a b']) assert.equal(page.csvCell(text), text);
  for (const [text, cell] of [['\tx', '"\'\tx"'], ['a;=b', '"a;\'=b"'], ['a;-1;-b', '"a;-1;\'-b"'], [' a', '" a"'], ['a ', '"a "']]) assert.equal(page.csvCell(text), cell);
  assert.equal(page.csvCell('=HYPERLINK("x","y")'), '"\'=HYPERLINK(""x"",""y"")"');
  assert.equal(page.csvCell('a-b=c'), 'a-b=c');
  assert.equal(page.csvCell(-1.5), '-1.5', 'a number is not a formula');
});

test('the table begins with the mark that Excel needs, and names what it holds', () => {
  const text = page.csvOf([scan({ note: '=1+1', lesion: '-left' })], endings);
  assert(text.startsWith('\ufeffimage_id,image,class,name,probability,mel,nv,risk,concern,urgent,confidence,age,'));
  const [names, values] = cells(text);
  const row = Object.fromEntries(names.map((/** @type {string} */ name, /** @type {number} */ index) => [name, values[index]]));
  assert.equal(row.image_id, 'a');
  assert.equal(row.note, "'=1+1");
  assert.equal(row.lesion, "'-left");
  assert.equal(row.age, '1.5');
  assert.equal(row.disclaimer, 'No "device".');
  assert.equal(row.square, '1 2 30');
  assert.equal(row.mapChecks, 'mel:failed nv:passed');
});

test('only the ending of an image is cut off a name', () => {
  const id = (/** @type {string} */ name) => cells(page.csvOf([], endings, [{ name, error: 'no' }]))[1][0];
  for (const [name, expected] of [['a.b.JPG', 'a.b'], ['patient.Smith', 'patient.Smith'], ['1.2.840', '1.2.840'], ['.jpg', '.jpg'], ['a.', 'a.']]) assert.equal(id(name), expected);
});

test('scans of another model have a table of their own', () => {
  const other = scan();
  other.classes = [{ class: 'a', name: 'A' }, { class: 'b', name: 'B' }];
  other.result = { ...other.result, probabilities: { a: 0.5, b: 0.5 }, logits: { a: 0, b: 0 } };
  const lines = page.csvOf([scan(), other], endings).split('\n');
  assert.equal(lines.filter((/** @type {string} */ line) => line.replace('\ufeff', '').startsWith('image_id,')).length, 2);
});

test('what could not be classified is in the table with its reason', () => {
  const rows = cells(page.csvOf([scan()], endings, [{ name: 'b.png', error: 'It is no image, it says.' }], 'No "device".'));
  assert.deepEqual(rows.map((/** @type {string[]} */ row) => row.at(-1)), ['error', '', 'It is no image, it says.']);
  assert.deepEqual([rows[2][0], rows[2][1]], ['b', 'b.png']);
  assert.equal(rows[2].length, rows[0].length);
  assert(rows[2].includes('No "device".'));
  assert.deepEqual(cells(page.csvOf([], endings, [{ name: 'b.png', error: 'no' }], 'd')), [['image_id', 'image', 'disclaimer', 'error'], ['b', 'b.png', 'd', 'no']]);
});

test('JSON is one object a line, with what only the page knows apart', () => {
  const [first, second, rest] = page.jsonOf([scan(), scan({ note: 'n' })]).split('\n');
  assert.equal(JSON.parse(first).concern, 'mel');
  assert.deepEqual(JSON.parse(second).page, { created: '2026-05-06T07:08:09.000Z', square: scan().square, reduced: false, lesion: '', note: 'n', trust: scan().trust });
  assert.equal(rest, '');
});

test('names of files are safe and short', () => {
  assert.equal(page.baseName('Fleck am Ohr (2).jpeg'), 'Fleck am Ohr _2_');
  assert.equal(page.baseName('../../etc/passwd'), '_');
  assert.equal(page.baseName('.jpg'), 'dermafusion');
  assert.equal(page.baseName(`${'x'.repeat(300)}.png`).length, 80);
});
