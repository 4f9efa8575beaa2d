// What of a folder that is dropped on the page is opened.
import assert from 'node:assert/strict';
import test from 'node:test';

const { sorted } = await import(new URL('../../Sources/BrowserPage/scripts/files.js', import.meta.url).href);

/** @param {[string, string][]} files names and the types that a browser gives them */
function names(files) {
  const { photographs, tables } = sorted(files.map(([name, type]) => new File(['x'], name, { type })));
  return [photographs.map((/** @type {File} */ file) => file.name), tables.map((/** @type {File} */ file) => file.name)];
}

test('what lies beside photographs is passed over', () => {
  assert.deepEqual(names([
    ['a.jpg', 'image/jpeg'], ['README.TXT', 'text/plain'], ['notes', 'text/plain'], ['.DS_Store', ''], ['Thumbs.db', ''], ['DICOMDIR', ''],
    ['results.json', 'application/json'], ['r.jsonl', ''], ['page.html', 'text/html'], ['p.csv', 'text/csv'], ['q.TSV', ''],
  ]), [['a.jpg'], ['p.csv', 'q.TSV']]);
});

test('what may be a photograph is opened, so that its fault is told', () => {
  const files = /** @type {[string, string][]} */ ([['IM000001', ''], ['b.HEIC', ''], ['c.dng', ''], ['d.bak', 'application/x-trash'], ['e', '']]);
  assert.deepEqual(names(files), [files.map(([name]) => name), []]);
});

test('a text alone is opened, so that the person is told', () => {
  assert.deepEqual(names([['README.TXT', 'text/plain']]), [['README.TXT'], []]);
  assert.deepEqual(names([['README.TXT', 'text/plain'], ['p.csv', 'text/csv']]), [[], ['p.csv']]);
});

test('raw photographs and TIFF files are known by their first bytes', async () => {
  const { mayShowPreview } = await import(new URL('../../Sources/BrowserPage/scripts/image.js', import.meta.url).href);
  for (const start of ['II*\0', 'MM\0*', 'II+\0', 'MM\0+', 'IIU\0\x18', 'IIRO', 'II\x1a\0\0\0HEAPCCDR', 'FUJIFILMCCD-RAW 02', 'FOVb', '\0MRM',
    '\0\0\0\x18ftypcrx ']) {
    assert.equal(await mayShowPreview(new Blob([start, 'and more'])), true, start);
  }
  for (const start of ['\x89PNG', '\xff\xd8\xff', 'BM', '\0\0\0\x18ftypheic', 'IIx', 'MM', '']) {
    const bytes = Uint8Array.from(start, (each) => each.charCodeAt(0));
    assert.equal(await mayShowPreview(new Blob([bytes])), false, start);
  }
});
