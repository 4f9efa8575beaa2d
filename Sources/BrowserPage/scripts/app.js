import facts from './facts.js';
import { EngineClient } from './engine/client.js';
import { HistoryDatabase } from './history/database.js';
import { h } from './dom.js';

/** Characters of a part when the weights are read again: a multiple of four. */
const PART = 1 << 20;

/** The text of a block of data of the page. */
function block(/** @type {string} */ id) {
  return document.getElementById(id)?.textContent ?? '';
}

/**
 * The weights in base64 for a worker that is started again: a file of the browser's, which the page need not hold in memory.
 * @type {Blob | undefined}
 */
let weightsFile;

/**
 * The weights in base64, part by part. They stand behind the page's script in the file, so that the engine decodes what the
 * browser has read while it reads on. What has been read is taken out of the document.
 * @returns {AsyncGenerator<string, void>}
 */
async function* weightParts() {
  if (weightsFile) {
    for (let start = 0; start < weightsFile.size; start += PART) yield weightsFile.slice(start, start + PART).text();
    return;
  }
  const parts = document.getElementsByClassName('weights');
  /** @type {string[]} */
  const texts = [];
  for (;;) {
    // A part is whole when something follows it.
    while (document.readyState === 'loading' && !parts[0]?.nextElementSibling) await documentGrown();
    if (!parts[0]) break;
    const text = parts[0].textContent ?? '';
    parts[0].remove();
    texts.push(text);
    yield text;
  }
  weightsFile = new Blob(texts);
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

/** The engine, the history, and what the build wrote into the page. */
export const app = {
  facts,
  /** @type {EngineClient} */
  engine: /** @type {any} */ (undefined),
  /** @type {Description | undefined} */
  description: undefined,
  history: new HistoryDatabase(),
  announcer,

  startEngine() {
    app.engine = new EngineClient({
      worker: block('worker-source'), engine: () => block('engine-module'), relaxed: () => block('relaxed-engine'),
      configuration: () => block('model-configuration'),
      weightsByteCount: facts.weightsByteCount, weights: weightParts,
    });
    app.engine.ready.then((description) => {
      app.description = description;
      performance.mark('engine-ready');
    }, () => {});
  },

  /** Says something to who reads the screen by ear. */
  announce(/** @type {string} */ text) {
    announcer.textContent = '';
    requestAnimationFrame(() => { announcer.textContent = text; });
  },
};
