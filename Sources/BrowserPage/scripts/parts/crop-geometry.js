/**
 * The square that the model sees, moved and zoomed over a photograph: numbers only.
 */

/** The engine takes no smaller square. */
const SMALLEST = 32;

/** The sides that the square can have. */
export function sidesOf(/** @type {Size} */ size) {
  const largest = Math.min(size.width, size.height);
  return { smallest: Math.min(largest, SMALLEST), largest };
}

/**
 * The nearest square that lies within the photograph, in whole pixels.
 * @param {Square} square
 * @param {Size} size
 * @returns {Square}
 */
export function within({ left, top, side }, size) {
  const { smallest, largest } = sidesOf(size);
  const bounded = Math.round(Math.min(Math.max(side, smallest), largest));
  return {
    side: bounded,
    left: Math.round(Math.min(Math.max(left, 0), size.width - bounded)),
    top: Math.round(Math.min(Math.max(top, 0), size.height - bounded)),
  };
}

/**
 * The square with another side, about a point of it that stays where it is on the screen.
 * @param {Square} square
 * @param {number} side
 * @param {Size} size
 * @param {{x: number, y: number}} [point] 0...1 across the square; its centre where it is missing
 */
export function resized(square, side, size, point = { x: 0.5, y: 0.5 }) {
  const { smallest, largest } = sidesOf(size);
  const bounded = Math.min(Math.max(side, smallest), largest);
  return within({ side: bounded, left: square.left + (square.side - bounded) * point.x, top: square.top + (square.side - bounded) * point.y }, size);
}

/** The zoom of a side: 0 the whole, 100 the smallest; equal steps enlarge by equal factors. */
export function zoomOf(/** @type {number} */ side, /** @type {Size} */ size) {
  const { smallest, largest } = sidesOf(size);
  return smallest === largest ? 0 : 100 * Math.log(largest / side) / Math.log(largest / smallest);
}

/** @param {number} zoom @param {Size} size */
export function sideOfZoom(zoom, size) {
  const { smallest, largest } = sidesOf(size);
  return Math.round(largest * (smallest / largest) ** (zoom / 100));
}

/** By what a turn of the wheel enlarges: the same for a mouse that counts lines and a touchpad that counts pixels. */
export function wheelFactor(/** @type {{deltaY: number, deltaMode: number}} */ { deltaY, deltaMode }) {
  const pixels = deltaY * [1, 16, 400][deltaMode];
  return Math.exp(Math.min(Math.max(pixels, -120), 120) / 400);
}

/**
 * The square of a saved scan in what was kept of its photograph: all of it, or its place in a photograph that may have been
 * made smaller.
 * @param {Scan} scan
 * @param {Size} size of what was kept
 * @returns {Square}
 */
export function keptSquare(scan, size) {
  const shorter = Math.min(size.width, size.height);
  if (scan.kept === 'square') return { left: 0, top: 0, side: shorter };
  const scale = size.width / scan.square.width;
  const side = Math.min(Math.round(scan.square.side * scale), shorter);
  return {
    side, left: Math.min(Math.round(scan.square.left * scale), size.width - side),
    top: Math.min(Math.round(scan.square.top * scale), size.height - side),
  };
}

/**
 * A square of what was kept of a photograph, in pixels of the photograph itself.
 * @param {Square} square
 * @param {boolean} moved
 * @param {Size} size of what was kept
 * @param {Scan['square'] | null} [origin] the square that was kept, where it is no whole photograph
 * @returns {Scan['square']}
 */
export function squareInPhotograph(square, moved, size, origin) {
  if (!origin) return { ...square, width: size.width, height: size.height, moved };
  const scale = origin.side / Math.min(size.width, size.height);
  return {
    left: Math.round(origin.left + square.left * scale), top: Math.round(origin.top + square.top * scale),
    side: Math.round(square.side * scale), width: origin.width, height: origin.height, moved: origin.moved || moved,
  };
}
