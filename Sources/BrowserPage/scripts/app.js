import facts from './facts.js';
import { EngineClient } from './engine/client.js';
import { Store } from './history/store.js';
import { h } from './dom.js';

/**
 * The text of a block of data of the page.
 * @param {string} id
 */
function block(id) {
  return document.getElementById(id)?.textContent ?? '';
}

/**
 * The weights in base64, part by part. They stand behind the page's script in the file, so that the engine decodes what the
 * browser has read while it reads on.
 * @returns {AsyncGenerator<string, void>}
 */
async function* weightParts() {
  const parts = document.getElementsByClassName('weights');
  for (let index = 0; ; index += 1) {
    // A part is whole when something follows it.
    while (document.readyState === 'loading' && !parts[index]?.nextElementSibling) await documentGrown();
    if (!parts[index]) return;
    yield parts[index].textContent ?? '';
  }
}

/** @returns {Promise<void>} */
function documentGrown() {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe(document.body, { childList: true });
    document.addEventListener('DOMContentLoaded', () => resolve(), { once: true });
  });
}

const announcer = h('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });

/** What the views share. */
export const app = {
  facts,
  /** @type {EngineClient} */
  engine: /** @type {any} */ (undefined),
  /** @type {import('./types.js').Description | undefined} */
  description: undefined,
  store: new Store(),
  /** What is being worked on in the Scan view, kept while other views are looked at. */
  /** @type {import('./session.js').Session | undefined} */
  session: undefined,
  announcer,

  startEngine() {
    app.engine = new EngineClient({
      worker: block('worker-source'), engine: () => block('engine-module'), configuration: () => block('model-configuration'),
      weightsByteCount: facts.weightsByteCount, weights: weightParts,
    });
    app.engine.ready.then((description) => {
      app.description = description;
      performance.mark('engine-ready');
    }, () => {});
  },

  /**
   * Says something to who reads the screen by ear.
   * @param {string} text
   */
  announce(text) {
    announcer.textContent = '';
    requestAnimationFrame(() => { announcer.textContent = text; });
  },

  /** @param {string} place `scan`, `history/ID`, ... */
  go(place) {
    location.hash = `#${place}`;
  },
};
