import { app } from './app.js';
import { probe } from './image.js';

let counter = 0;

/** @param {Blob} blob */
function source(blob) {
  if (!(blob instanceof Blob)) throw new TypeError('an image is a Blob or a File');
  counter += 1;
  return { key: `interface-${counter}`, blob };
}

/** @type {WeakMap<Blob, {key: string, blob: Blob}>} */
const sources = new WeakMap();

/**
 * The same key for the same blob, so that the worker decodes it once.
 * @param {Blob} blob
 */
function sourceOf(blob) {
  const known = sources.get(blob) ?? source(blob);
  sources.set(blob, known);
  return known;
}

/**
 * @param {any} options
 * @returns {import('./types.js').Metadata}
 */
function metadataOf({ age = null, sex = 'unknown', site = 'unknown' }) {
  return { age, sex, site };
}

/**
 * `window.dermafusion`, for whoever embeds or tests the page. A new `classify` or `heatmap` cancels the one before: its
 * promise is rejected with an `AbortError`.
 */
export function publishInterface() {
  const nameOf = (/** @type {Blob} */ blob, /** @type {any} */ options) => options.name ?? (blob instanceof File ? blob.name : 'image');


  Object.defineProperty(window, 'dermafusion', {
    value: Object.freeze({
      /** Resolves to the description of engine and model. */
      ready: app.engine.ready,

      /**
       * @param {Blob} blob an image's file
       * @param {{age?: number | null, sex?: string, site?: string, name?: string}} [options]
       * @returns {Promise<import('./types.js').Result>} the object of `dermafusion classify --format json`
       */
      async classify(blob, options = {}) {
        const from = sourceOf(blob);
        const size = await probe(blob);
        await app.engine.ready;
        const job = { source: { ...from, size }, name: nameOf(blob, options), metadata: metadataOf(options) };
        return (await app.engine.request('classify', job, 'interface')).result;
      },

      /**
       * @param {Blob} blob an image's file
       * @param {{class?: string, method?: string, layer?: string, trust?: boolean, age?: number | null, sex?: string, site?: string, name?: string}} [options]
       *   `class` is the likeliest one where it is missing
       * @returns {Promise<{class: string, method: string, layer: string, status: string, width: number, height: number, values: Float32Array}>}
       *   the map over the centre square: `[height, width]`, 0...1
       */
      async heatmap(blob, options = {}) {
        const from = sourceOf(blob);
        const size = await probe(blob);
        await app.engine.ready;
        const job = {
          source: { ...from, size }, name: nameOf(blob, options), metadata: metadataOf(options),
          class: options.class ?? 'top', method: options.method ?? 'gradcam', layer: options.layer, trust: options.trust,
        };
        const { facts, values } = await app.engine.request('map', job, 'interface-map');
        return { ...facts, values };
      },

      /**
       * The pixels of the centre square as the engine gets them, RGBA. For tests.
       * @param {Blob} blob
       */
      async pixels(blob) {
        await app.engine.ready;
        return app.engine.request('pixels', { source: sourceOf(blob) });
      },
    }),
  });
}
