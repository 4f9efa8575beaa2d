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
  announcer,
  /** Shows the view of the address again, as its state is now; the shell puts its own here. */
  /** @type {(options?: {focus?: boolean}) => Promise<void>} */
  refresh: async () => {},

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

  /**
   * @param {string} place `scan`, `history/ID`, ...
   * @param {boolean} [replaced] whether the browser's Back does not lead to where the person is now
   */
  go(place, replaced = false) {
    if (location.hash === `#${place}`) app.refresh({ focus: true });
    else if (replaced) {
      history.replaceState(null, '', `#${place}`);
      app.refresh({ focus: true });
    } else location.hash = `#${place}`;
  },
};
