// What the history keeps of a photograph's file: the picture alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { load } from './bundle.mjs';

const page = await load('history/metadata.js');

const text = (/** @type {string} */ words) => Buffer.from(words, 'latin1');
const big = (/** @type {number} */ value, bytes = 4) => Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex');
const little = (/** @type {number} */ value) => Buffer.from(big(value)).reverse();
const SECRET = 'Leica 48.1374 N';

/** EXIF's TIFF with an orientation behind the camera's name, in both byte orders. */
function exif(/** @type {number} */ orientation, isLittle = false) {
  const number = (/** @type {number} */ value, /** @type {number} */ bytes) => (isLittle ? Buffer.from(big(value, bytes)).reverse() : big(value, bytes));
  const entry = (/** @type {number} */ tag, /** @type {number} */ kind, /** @type {number} */ count, /** @type {Buffer} */ value) => Buffer.concat([number(tag, 2), number(kind, 2), number(count, 4), value]);
  return Buffer.concat([text(isLittle ? 'II' : 'MM'), number(42, 2), number(8, 4), number(2, 2), entry(0x010f, 2, SECRET.length, number(38, 4)),
    entry(0x0112, 3, 1, Buffer.concat([number(orientation, 2), Buffer.alloc(2)])), number(0, 4), text(SECRET)]);
}

// JPEG.
const segment = (/** @type {number} */ marker, /** @type {Buffer} */ content) => Buffer.concat([Buffer.of(0xff, marker), big(content.length + 2, 2), content]);
const jfif = (/** @type {Buffer} */ preview) => segment(0xe0, Buffer.concat([text('JFIF\0'), Buffer.of(1, 2, 0, 0, 1, 0, 1, preview.length / 3, Math.sign(preview.length)), preview]));
const [quantisation, frame, huffman] = [[0xdb, 65], [0xc2, 15], [0xc4, 30]].map(([marker, count]) => segment(marker, Buffer.alloc(count, marker)));
const adobe = segment(0xee, Buffer.concat([text('Adobe'), Buffer.alloc(7)]));
// Scans hold the byte 0xff followed by 0, restarts and filling.
const scan = Buffer.concat([segment(0xda, Buffer.alloc(10, 1)), Buffer.of(3, 0xff, 0, 7, 0xff, 0xd0, 9, 0xff, 0xd7, 8)]);
const jpeg = (/** @type {Buffer[]} */ ...parts) => Buffer.concat([Buffer.of(0xff, 0xd8), ...parts]);
const END = Buffer.of(0xff, 0xd9);
const hidden = {
  exif: segment(0xe1, Buffer.concat([text('Exif\0\0'), exif(1)])), xmp: segment(0xe1, text(`http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>${SECRET}`)),
  iptc: segment(0xed, text(`Photoshop 3.0\x008BIM\x04\x04${SECRET}`)), profile: segment(0xe2, text(`ICC_PROFILE\0${SECRET}`)), comment: segment(0xfe, text(SECRET)),
  other: segment(0xef, text(SECRET)), extension: segment(0xe0, text(`JFXX\0${SECRET}`)),
};

/** @param {Blob | null} blob */
const bytesOf = async (blob) => Buffer.from(await /** @type {Blob} */ (blob).arrayBuffer());

test('of a JPEG its tables, frames and scans are left, to the byte', async () => {
  const wanted = jpeg(jfif(Buffer.alloc(0)), quantisation, adobe, frame, huffman, scan, huffman, scan, END);
  const full = jpeg(jfif(Buffer.alloc(9, 77)), ...Object.values(hidden), quantisation, adobe, frame, huffman, scan, hidden.comment, huffman, scan, END, text(`MotionPhoto ${SECRET}`));
  const kept = page.pictureAlone(full);
  assert.equal(kept.type, 'image/jpeg');
  assert.deepEqual(await bytesOf(kept), wanted);
  assert(full.includes(SECRET) && !(await bytesOf(kept)).includes(SECRET));
  assert.deepEqual(await bytesOf(page.pictureAlone(wanted)), wanted, 'nothing is left to take out');
  const filled = jpeg(quantisation, Buffer.of(0xff, 0xff), frame, huffman, scan, END);
  assert.deepEqual(await bytesOf(page.pictureAlone(filled)), jpeg(quantisation, frame, huffman, scan, END), 'filling before a marker');
});

test('each kind of metadata goes, wherever it stands', async () => {
  for (const [kind, bytes] of Object.entries(hidden)) {
    for (const full of [jpeg(bytes, quantisation, frame, huffman, scan, END), jpeg(quantisation, frame, huffman, bytes, scan, bytes, END)]) {
      assert.deepEqual(await bytesOf(page.pictureAlone(full)), jpeg(quantisation, frame, huffman, scan, END), kind);
    }
  }
});

test('a JPEG that lies on its side, or is not as it says, is to be encoded anew', () => {
  for (const orientation of [2, 3, 6, 8]) {
    for (const isLittle of [true, false]) {
      const turned = segment(0xe1, Buffer.concat([text('Exif\0\0'), exif(orientation, isLittle)]));
      assert.equal(page.pictureAlone(jpeg(turned, quantisation, frame, huffman, scan, END)), null, `${orientation}`);
    }
  }
  const torn = segment(0xe1, Buffer.concat([text('Exif\0\0'), exif(1).subarray(0, 12)]));
  const whole = jpeg(jfif(Buffer.alloc(0)), quantisation, frame, huffman, scan, END);
  assert.equal(page.pictureAlone(jpeg(torn, quantisation, frame, huffman, scan, END)), null);
  // Whatever is cut off: no exception, and nothing that is taken for whole.
  for (let count = 0; count < whole.length; count += 1) assert.equal(page.pictureAlone(whole.subarray(0, count)), null, `${count} bytes`);
  for (const other of ['GIF89a', 'BM', '<svg/>', '\0\0\0\x20ftypheic', '']) assert.equal(page.pictureAlone(text(other)), null, other);
});

test('of a PNG the chunks of the still picture are left', async () => {
  const chunk = (/** @type {string} */ kind, /** @type {Buffer} */ content) => Buffer.concat([big(content.length), text(kind), content, Buffer.alloc(4, 5)]);
  const head = chunk('IHDR', Buffer.concat([big(2), big(1), Buffer.of(8, 3, 0, 0, 0)]));
  const [palette, alpha, data, end] = [chunk('PLTE', Buffer.alloc(6)), chunk('tRNS', Buffer.of(9)), chunk('IDAT', deflateSync(Buffer.of(0, 0, 1))), chunk('IEND', Buffer.alloc(0))];
  const png = (/** @type {Buffer[]} */ ...chunks) => Buffer.concat([Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), ...chunks]);
  const notes = ['tEXt', 'zTXt', 'iTXt', 'tIME', 'iCCP', 'acTL', 'prVt'].map((kind) => chunk(kind, text(SECRET)));
  const full = png(head, ...notes, chunk('eXIf', exif(1)), palette, alpha, data, ...notes, data, end, text(SECRET));
  const kept = page.pictureAlone(full);
  assert.equal(kept.type, 'image/png');
  assert.deepEqual(await bytesOf(kept), png(head, palette, alpha, data, data, end));
  assert.equal(page.pictureAlone(png(head, chunk('eXIf', exif(6, true)), data, end)), null);
  assert.equal(page.pictureAlone(png(head, data)), null, 'without an end');
});

test('of a WebP the chunks of the still picture are left, and none is announced that is gone', async () => {
  const chunk = (/** @type {string} */ kind, /** @type {Buffer} */ content) => Buffer.concat([text(kind), little(content.length), content, Buffer.alloc(content.length % 2)]);
  const webp = (/** @type {Buffer[]} */ ...chunks) => Buffer.concat([text('RIFF'), little(4 + chunks.reduce((total, each) => total + each.length, 0)), text('WEBP'), ...chunks]);
  const features = (/** @type {number} */ flags) => chunk('VP8X', Buffer.of(flags, 0, 0, 0, 1, 0, 0, 1, 0, 0));
  const [alpha, picture] = [chunk('ALPH', Buffer.alloc(3)), chunk('VP8 ', Buffer.alloc(7, 1))];
  const full = webp(features(0x3c), chunk('ICCP', text(SECRET)), alpha, picture, chunk('EXIF', exif(1, true)), chunk('XMP ', text(SECRET)), chunk('abcd', text(SECRET)));
  assert.deepEqual(await bytesOf(page.pictureAlone(full)), webp(features(0x10), alpha, picture));
  assert.equal(page.pictureAlone(webp(features(0x08), picture, chunk('EXIF', Buffer.concat([text('Exif\0\0'), exif(8)])))), null);
  assert.equal(page.pictureAlone(webp(features(0x02), chunk('ANIM', Buffer.alloc(6)))), null, 'an animation');
});
