const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes `on...` adds a listener, `class`, `aria-*` and the like are attributes, keys of
 *   `style` are set one by one (the content security policy forbids style attributes).
 * @param {(Child | Child[])[]} children
 */
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'style') {
      for (const [name, text] of Object.entries(value)) /** @type {any} */ (element).style.setProperty(name, text);
    } else if (key === 'value' || key === 'checked' || key === 'srcObject') /** @type {any} */ (element)[key] = value;
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  append(element, children);
}

/** @param {Element} element @param {(Child | Child[])[]} children */
function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, attributes = {}, ...children) {
  const element = /** @type {any} */ (document.createElementNS(SVG, tag));
  fill(element, attributes, children);
  return element;
}

/**
 * Puts new children in place of the old ones.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Draws an element's children anew, and gives the focus back to the control that stands for the same thing.
 * @param {Element} element
 * @param {string} attribute its value says what a control stands for
 * @param {...(Child | Child[])} children
 */
export function redraw(element, attribute, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement?.getAttribute(attribute) : null;
  replace(element, ...children);
  if (focused) /** @type {HTMLElement | null} */ (element.querySelector(`[${attribute}="${focused}"]`))?.focus({ preventScroll: true });
}

/**
 * A file's name, which may be broken behind the signs that stand between its words rather than inside of them.
 * @param {string} name
 * @returns {Child[]}
 */
export function fileName(name) {
  return name.split(/(?<=[\s._-])/).flatMap((part, index) => (index === 0 ? [part] : [document.createElement('wbr'), part]));
}

/** The first heading has the focus, so that what comes next is read and the keyboard goes on from there. */
export function focusHeading(/** @type {HTMLElement} */ root) {
  const heading = root.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  (heading ?? root).focus({ preventScroll: true });
}

let counter = 0;

/** An id that no other element of the page has. */
export function uniqueID(/** @type {string} */ prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}

/** @param {string} name the file's name @param {Blob} blob */
export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = h('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the address some time after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The addresses of pictures in memory, which are let go of together. */
export function blobAddresses() {
  /** @type {Map<Blob, string>} */
  const known = new Map();
  return {
    of(/** @type {Blob} */ blob) {
      const address = known.get(blob) ?? URL.createObjectURL(blob);
      known.set(blob, address);
      return address;
    },
    forget() {
      known.forEach((address) => URL.revokeObjectURL(address));
      known.clear();
    },
  };
}
