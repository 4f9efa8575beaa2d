// Tables of patients, as the command line reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const page = await load('tables.js');
const read = (/** @type {string} */ text) => page.readTable(text);
const metadata = (/** @type {string} */ text, id = 'a') => read(text).rows.get(id);

test('columns of HAM10000, the archive and others, in any letter case', () => {
  const wanted = { metadata: { age: 55, sex: 'male', site: 'back' }, flaw: '' };
  assert.deepEqual(metadata('image_id,age,sex,localization\na,55,male,back\n'), wanted);
  assert.deepEqual(metadata('ISIC_ID;age_approx;Sex;anatom_site\na;55;MALE;Back'), wanted);
  assert.deepEqual(metadata('image\tAge (years)\tGender\tsite\r\na\t55,0\tm\tback\r\n'), wanted);
});

test('a column that is missing is missing data, and is told', () => {
  const table = read('image_id,dx\na,nv\n');
  assert.deepEqual(table.rows.get('a').metadata, { age: null, sex: 'unknown', site: 'unknown' });
  assert.equal(table.columns, false);
  assert.throws(() => read('file,age\na,1\n'), { code: 'table_without_images' });
  assert.throws(() => read(''), { code: 'table_without_images' });
});

test('blanks and their like are missing', () => {
  for (const blank of ['', ' ', 'NA', 'nan', 'NULL', 'None', '-', '?']) {
    assert.deepEqual(metadata(`image_id,age,sex,site\na,${blank},${blank},${blank}\n`), { metadata: { age: null, sex: 'unknown', site: 'unknown' }, flaw: '' }, blank);
  }
});

test('a region that could be several sites is unknown, never guessed', () => {
  assert.equal(metadata('image,anatom_site_general\na,anterior torso\n').metadata.site, 'unknown');
  assert.equal(metadata('image,anatom_site_general\na,lower extremity\n').metadata.site, 'lower extremity');
});

test('a bad cell costs its photograph and names its line', () => {
  for (const [cells, flaw] of [['131,m,back', 'age "131"'], ['-1,m,back', 'age "-1"'], ['x,m,back', 'age "x"'], ['1,robot,back', 'sex "robot"'],
    ['1,m,moon', 'site "moon"'], ['1,m,constructor', 'site "constructor"'], ['Infinity,m,back', 'age "Infinity"']]) {
    assert.equal(metadata(`image_id,age,sex,site\nz,1,f,ear\na,${cells}\n`).flaw, `line 3: ${flaw}`);
  }
});

test('quotes, breaks within them and the mark of Excel', () => {
  const table = read('\ufeff"image_id","age"\n"a ""b"", c","7"\n"two\nlines","8"\nlast,9');
  assert.deepEqual([...table.rows].map(([id, { metadata: { age } }]) => [id, age]), [['a "b", c', 7], ['two\nlines', 8], ['last', 9]]);
});

test('two rows for one photograph are refused', () => {
  assert.throws(() => read('image_id,age\na,1\nb,2\na,3\n'), { code: 'table_row_twice', message: 'line 4: a' });
});
