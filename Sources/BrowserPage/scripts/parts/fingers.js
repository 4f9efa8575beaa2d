/**
 * Fingers or a mouse on an element: one moves, two move and enlarge about their middle.
 * @template Start
 * @param {HTMLElement} element
 * @param {() => Start} begun called when a finger comes or goes; what it returns is handed to `followed`
 * @param {(start: Start, change: {x: number, y: number, ratio: number, middle: {x: number, y: number}}) => void} followed the way of
 *   the fingers' middle in the screen's pixels, how much closer together they are than at the start, and where their middle is
 */
export function fingersOn(element, begun, followed) {
  /**
   * The fingers, by their identifiers.
   * @type {Map<number, {x: number, y: number}>}
   */
  const fingers = new Map();
  /** @type {{start: Start, middle: {x: number, y: number}, distance: number} | undefined} */
  let grip;
  function measured() {
    const [first, second = first] = fingers.values();
    return { middle: { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 }, distance: Math.hypot(first.x - second.x, first.y - second.y) };
  }
  const grasp = () => { grip = fingers.size > 0 ? { start: begun(), ...measured() } : undefined; };
  element.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    grasp();
  });
  element.addEventListener('pointermove', (event) => {
    if (!grip || !fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const { middle, distance } = measured();
    const ratio = fingers.size > 1 && distance > 0 && grip.distance > 0 ? grip.distance / distance : 1;
    followed(grip.start, { x: middle.x - grip.middle.x, y: middle.y - grip.middle.y, ratio, middle });
  });
  for (const kind of /** @type {const} */ (['pointerup', 'pointercancel'])) {
    element.addEventListener(kind, (event) => {
      fingers.delete(event.pointerId);
      grasp();
    });
  }
}
