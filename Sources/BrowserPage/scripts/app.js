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

/** The weights stand behind the page's script in the file, so that the engine gets ready while the browser reads them. */
const documentRead = new Promise((resolve) => { document.addEventListener('DOMContentLoaded', resolve, { once: true }); });

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
      worker: block('worker-source'), engine: () => block('engine-module'),
      model: async () => {
        await documentRead;
        return { configuration: block('model-configuration'), weights: block('model-weights') };
      },
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
