import { app } from './app.js';
import { probe } from './image.js';

let counter = 0;

/** True if something is a Blob or a File, also of the page around a frame: `instanceof` knows this page's own alone. */
function isBlob(/** @type {unknown} */ value) {
  return ['[object Blob]', '[object File]'].includes(Object.prototype.toString.call(value));
}

/** @type {WeakMap<Blob, {key: string, blob: Blob}>} */
const sources = new WeakMap();

/** The same key for the same blob, so that the worker decodes it once. */
function sourceOf(/** @type {Blob} */ blob) {
  if (!isBlob(blob)) throw new TypeError('an image is a Blob or a File');
  const known = sources.get(blob) ?? { key: `interface-${++counter}`, blob };
  sources.set(blob, known);
  return known;
}

const CLASSIFY_OPTIONS = ['age', 'sex', 'site', 'name'];
const HEATMAP_OPTIONS = [...CLASSIFY_OPTIONS, 'class', 'method', 'layer', 'trust', 'placement'];
const PLACEMENTS = ['centres', 'stretched'];

/**
 * The options that a caller gives beside the image; a misspelt one is not ignored.
 * @param {any} given
 * @param {string[]} known
 * @returns {any}
 */
function optionsOf(given, known) {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw new TypeError(`the options are an object with ${known.join(', ')}, and not ${String(given)}`);
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new TypeError(`the option ${unknown} is not one of ${known.join(', ')}`);
  return given;
}

/**
 * The caller's facts on the patient; no missing fact is made up, and no wrong one is taken for missing.
 * @param {any} options
 * @returns {Metadata}
 */
function metadataOf({ age, sex, site }) {
  if (age !== undefined && age !== null && !(typeof age === 'number' && age >= 0 && age <= 130)) {
    const given = typeof age === 'string' ? `the text '${age}'` : String(age);
    throw new RangeError(`an age is a number from 0 to 130, or null where it is not known, and not ${given}`);
  }
  return { age: age ?? null, sex: sex ?? 'unknown', site: site ?? 'unknown' };
}

/**
 * An object and all in it, which nobody changes any more.
 * @template T
 * @param {T} value
 * @returns {T}
 */
function frozen(value) {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/**
 * `window.dermafusion`, for pages that embed this one and for tests. A new `classify` or `heatmap` cancels the one before: its
 * promise is rejected with an `AbortError`.
 */
export function publishInterface() {
  const jobOf = async (/** @type {any} */ blob, /** @type {any} */ options) => {
    const metadata = metadataOf(options);
    const from = sourceOf(blob);
    const size = await probe(blob);
    await app.engine.ready;
    return { source: { ...from, size }, name: options.name ?? blob.name ?? 'image', metadata };
  };

  const ready = app.engine.ready.then((description) => frozen(structuredClone(description)));
  ready.catch(() => {});
  const door = Object.freeze({
    /** Resolves to the description of engine and model. */
    ready,

    /**
     * @param {Blob} blob an image's file
     * @param {{age?: number | null, sex?: string, site?: string, name?: string}} [given]
     * @returns {Promise<Result>} the object of `dermafusion classify --format json`
     */
    async classify(blob, given) {
      return (await app.engine.request('classify', await jobOf(blob, optionsOf(given, CLASSIFY_OPTIONS)), 'interface')).result;
    },

    /**
     * @param {Blob} blob an image's file
     * @param {{class?: string, method?: string, layer?: string, trust?: boolean, placement?: string, age?: number | null, sex?: string,
     *   site?: string, name?: string}} [given]
     *   `class` is the likeliest one where it is missing; `placement`: the map's pixels lie at the `centres` of their receptive fields,
     *   as in pictures, or are `stretched` over the square, as `gradcam --raw` writes them
     * @returns {Promise<{class: string, method: string, layer: string, status: string, placement: string, width: number, height: number,
     *   values: Float32Array}>}
     *   the map over the centre square: `[height, width]`, 0...1
     */
    async heatmap(blob, given) {
      const options = optionsOf(given, HEATMAP_OPTIONS);
      const { layer, trust, placement = PLACEMENTS[0] } = options;
      if (!PLACEMENTS.includes(placement)) throw new TypeError(`a placement is one of ${PLACEMENTS.join(', ')}, and not ${String(placement)}`);
      const job = { ...await jobOf(blob, options), class: options.class ?? 'top', method: options.method ?? 'gradcam', layer, trust, placement };
      const { facts, values } = await app.engine.request('map', job, 'interface-map');
      return { ...facts, placement, values };
    },

    /** The pixels of the centre square as the engine gets them, RGBA. For tests. */
    async pixels(/** @type {Blob} */ blob) {
      await app.engine.ready;
      return app.engine.request('pixels', { source: sourceOf(blob) });
    },
  });
  Object.defineProperty(window, 'dermafusion', { value: door });
  answerMessages(door);
}

/** The calls that another page may make by a message. */
const CALLS = /** @type {const} */ (['ready', 'classify', 'heatmap']);

/**
 * Answers the messages of pages of other origins that have this one in a frame. Who embeds it names their origins in its address:
 * `?embedder=https://clinic.example`, once for each. A message is `{dermafusion: 1, id, call, image, ...options}` with an image's
 * bytes; the answer has the same `id`, and `answer` or `error`. Messages of other origins are left alone.
 * @param {any} door
 */
function answerMessages(door) {
  const origins = new URLSearchParams(location.search).getAll('embedder');
  if (origins.length === 0) return;
  window.addEventListener('message', async ({ data, origin, source: asker }) => {
    if (!asker || !origins.includes(origin) || data?.dermafusion !== 1) return;
    const { dermafusion, id, call, image, ...options } = data;
    const reply = (/** @type {object} */ content) => /** @type {Window} */ (asker).postMessage({ dermafusion, id, ...content }, origin);
    try {
      if (!CALLS.includes(call)) throw new TypeError(`a call is one of ${CALLS.join(', ')}, and not ${String(call)}`);
      if (call === 'ready') return reply({ answer: await door.ready });
      if (Object.prototype.toString.call(image) !== '[object ArrayBuffer]') throw new TypeError('an image is an ArrayBuffer with the bytes of its file');
      reply({ answer: await door[call](new Blob([image]), options) });
    } catch (error) {
      const { name, message, code } = /** @type {any} */ (error);
      reply({ error: { name, message, code } });
    }
  });
}
