// The square that the model sees, as numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const page = await load('parts/crop-geometry.js');
const size = { width: 7728, height: 5152 };

test('the square stays within the photograph and is never under 32 pixels', () => {
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let run = 0; run < 500; run += 1) {
    const within = { width: 33 + Math.floor(random() * 9000), height: 33 + Math.floor(random() * 9000) };
    const square = page.within({ left: (random() - 0.5) * 30_000, top: (random() - 0.5) * 30_000, side: (random() - 0.2) * 20_000 }, within);
    assert(square.side >= 32 && square.left >= 0 && square.top >= 0, JSON.stringify({ within, square }));
    assert(square.left + square.side <= within.width && square.top + square.side <= within.height, JSON.stringify({ within, square }));
    assert(Object.values(square).every(Number.isInteger), JSON.stringify({ within, square }));
  }
  assert.deepEqual(page.within({ left: 0, top: 0, side: 1 }, { width: 20, height: 10 }), { left: 0, top: 0, side: 10 });
});

test('a square grows about the point under the fingers', () => {
  const point = { x: 0.25, y: 0.75 };
  const before = { left: 2000, top: 1000, side: 2000 };
  const after = page.resized(before, 500, size, point);
  assert.equal(after.side, 500);
  assert.equal(after.left + 500 * point.x, before.left + 2000 * point.x);
  assert.equal(after.top + 500 * point.y, before.top + 2000 * point.y);
  assert.equal(page.resized(before, 90_000, size).side, 5152);
});

test('the slider goes from the whole to 32 pixels by equal factors', () => {
  assert.equal(page.zoomOf(5152, size), 0);
  assert.equal(page.zoomOf(32, size), 100);
  assert.equal(page.sideOfZoom(0, size), 5152);
  assert.equal(page.sideOfZoom(100, size), 32);
  assert(Math.abs(page.sideOfZoom(25, size) / page.sideOfZoom(50, size) - page.sideOfZoom(50, size) / page.sideOfZoom(75, size)) < 0.02);
  assert.equal(page.zoomOf(20, { width: 20, height: 30 }), 0, 'a tiny photograph has one size only');
});

test('a wheel that counts lines enlarges as one that counts pixels, and no turn throws the square', () => {
  assert.equal(page.wheelFactor({ deltaY: 3, deltaMode: 1 }), page.wheelFactor({ deltaY: 48, deltaMode: 0 }));
  assert(page.wheelFactor({ deltaY: -5, deltaMode: 0 }) > 0.95);
  assert(page.wheelFactor({ deltaY: 100_000, deltaMode: 2 }) < 1.4);
});

test('the square of a saved scan is found in what was kept, and told in the pixels of its photograph', () => {
  const square = { left: 1000, top: 500, side: 800, width: 4000, height: 3000, moved: true };
  assert.deepEqual(page.keptSquare({ square }, { width: 4000, height: 3000 }), { left: 1000, top: 500, side: 800 });
  assert.deepEqual(page.keptSquare({ square }, { width: 1600, height: 1200 }), { left: 400, top: 200, side: 320 });
  assert.deepEqual(page.keptSquare({ square, kept: 'square' }, { width: 800, height: 800 }), { left: 0, top: 0, side: 800 });
  assert.deepEqual(page.squareInPhotograph({ left: 100, top: 50, side: 400 }, false, { width: 800, height: 800 }, square),
    { left: 1100, top: 550, side: 400, width: 4000, height: 3000, moved: true });
  assert.deepEqual(page.squareInPhotograph({ left: 1, top: 2, side: 3 }, false, { width: 9, height: 8 }), { left: 1, top: 2, side: 3, width: 9, height: 8, moved: false });
});
