// Runs the engine beside the page: one message in, one message out, in order.
import { centreSquare, cut, part, preview, read, squareJPEG } from './decode.js';
import { bytesOf, inflated, patched } from './base64.js';
import { EngineError, EngineModule } from './module.js';
import { sameInput } from '../state.js';

/**
 * The engine on its way.
 * @type {Promise<EngineModule>}
 */
let starting;
/** @type {EngineModule} */
let engine;
/**
 * Both files of the model, one behind the other, as far as they are here.
 * @type {{bytes: Uint8Array, configurationCount: number, count: number}}
 */
let files;
/** @type {Description} */
let description;
let crops = false; // whether the model's transform cuts the square by itself, as timm's does

/**
 * The photograph that was decoded last. A request for another lets go of it.
 * @type {{key: string, photograph: import('./decode.js').Photograph, digest: string} | undefined}
 */
let current;

/**
 * The maps in the engine's memory, and the photograph, square and metadata that they belong to.
 * @type {{key: string, square: Square, metadata: Metadata, maps: MapFacts[]} | undefined}
 */
let explained;

/** Relaxed SIMD: a function that makes a sum of products of bytes and returns. */
const RELAXED_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0, 253, 15, 65, 0, 253, 15, 253, 147, 2, 11,
]);

/**
 * True if the browser adds up products of bytes in one instruction. The engine asks it once if the byte of a level has a sign.
 * V8 11.3 gives two answers, one in each of its compilers, so the browser must also have what V8 has had since version 14.
 */
function runsRelaxedVectors() {
  return 'fromBase64' in Uint8Array && WebAssembly.validate(RELAXED_PROBE);
}

/** SHA-256 in hexadecimal, by the browser; null where it offers none, as on a page that came over plain HTTP. */
async function digestOf(/** @type {BufferSource} */ bytes) {
  if (!self.crypto?.subtle) return null;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param {Source} source */
async function photographOf(source) {
  if (current?.key === source.key) return current;
  release();
  const { bytes, photograph } = source.read ?? await read(source);
  current = { key: source.key, photograph, digest: await digestOf(bytes) ?? engine.digest(new Uint8Array(bytes)) };
  return current;
}

/** A photograph of more pixels is not kept in memory while its result is looked at: what is asked for then decodes it again. */
const KEPT_PIXELS = 24_000_000;

/** Lets go of a large photograph when its square is cut out. */
function spare() {
  if (current && current.photograph.width * current.photograph.height > KEPT_PIXELS) release();
}

function release() {
  current?.photograph.bitmap.close();
  current = undefined;
}

/** @param {Job} job @param {{digest: string}} photograph */
function requestOf(job, { digest }) {
  const { age, sex, site } = job.metadata;
  return {
    image: job.name, imageSHA256: digest,
    ...(age === null ? {} : { age }), ...(sex === 'unknown' ? {} : { sex }), ...(site === 'unknown' ? {} : { site }),
  };
}

/**
 * The result alone. The maps of the last one stay.
 * @param {Job} job
 * @param {object} [more]
 */
async function classified(job, more) {
  const opened = await photographOf(job.source);
  const pixels = cut(opened.photograph, job.square ?? centreSquare(opened.photograph), crops);
  spare();
  return engine.classify(pixels, { ...requestOf(job, opened), ...more });
}

const actions = {
  /** Compiles the engine, while the page still reads the weights. What fails here, `load` tells. */
  async prepare(/** @type {{engine: string, relaxed: string, configuration: string, weightsByteCount: number}} */ job) {
    starting = (async () => {
      const module = new Uint8Array(await inflated(bytesOf(job.engine)));
      const patch = JSON.parse(job.relaxed);
      return EngineModule.create(patch.length && runsRelaxedVectors() ? patched(module, patch) : module);
    })();
    starting.catch(() => {});
    const configuration = bytesOf(job.configuration);
    const { preprocessing, pretrained_cfg: settings } = JSON.parse(new TextDecoder().decode(configuration));
    crops = Boolean(settings || preprocessing?.crop_mode);
    files = { bytes: new Uint8Array(configuration.length + job.weightsByteCount), configurationCount: configuration.length, count: configuration.length };
    files.bytes.set(configuration);
    return {};
  },

  /** Decodes a part of the weights. What is wrong with it, `load` tells. */
  async receive(/** @type {{part: string}} */ { part }) {
    try {
      const bytes = bytesOf(part);
      files.bytes.set(bytes, files.count);
      files.count += bytes.length;
    } catch {
      files.count = NaN;
    }
    return {};
  },

  async load() {
    const { bytes, configurationCount, count } = files;
    if (count !== bytes.length) throw new EngineError('model', 'the weights in the page are not whole');
    // The browser hashes on another thread, while the engine reads the model.
    const digest = digestOf(bytes);
    engine = await starting;
    engine.load(bytes.subarray(0, configurationCount), bytes.subarray(configurationCount));
    description = engine.describe(await digest);
    files = { bytes: new Uint8Array(), configurationCount: 0, count: 0 };
    return { description };
  },

  /** @param {{source: Source}} job */
  async open(job) {
    const { photograph } = await photographOf(job.source);
    const { width, height, reduced } = photograph;
    return { width, height, reduced, preview: await preview(photograph) };
  },

  /**
   * @param {Job & {picture?: number, summaries?: boolean}} job `picture`: the side of a picture of the square, where one is
   *   wanted; `summaries`: whether the result has its sentences in all languages
   */
  async classify(job) {
    const started = performance.now();
    const opened = await photographOf(job.source);
    const square = job.square ?? centreSquare(opened.photograph);
    const pixels = cut(opened.photograph, square, crops);
    const { left, top, side } = square;
    const picture = job.picture ? await part(opened.photograph, { left, top, width: side, height: side }, Math.min(1, job.picture / side)) : null;
    // Before the engine takes memory of its own.
    spare();
    const decoded = performance.now();
    const request = { ...requestOf(job, opened), ...(job.summaries ? { summaries: true } : {}) };
    // One run of the network gives the result and the maps of all classes.
    explained = undefined;
    let result;
    let maps = null;
    try {
      const { classification, ...rest } = engine.explain(pixels, { ...request, classes: 'all' });
      result = classification;
      maps = rest.maps;
      explained = { key: job.source.key, square, metadata: job.metadata, maps };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      result = engine.classify(pixels, request);
    }
    const milliseconds = { decode: decoded - started, engine: performance.now() - decoded };
    return { result, maps, picture, milliseconds };
  },

  /** The effect of each field of the metadata on the logits: a run of its own, so that nobody waits for it with the result. */
  async effect(/** @type {Job} */ job) {
    return { shares: (await classified(job, { metadataShares: true })).metadataShares };
  },

  /** The probabilities with other metadata. */
  async probabilities(/** @type {Job} */ job) {
    return (await classified(job)).probabilities;
  },

  /** Judges a camera's frame by the square that would be cut out of the photograph. */
  async judge(/** @type {{bitmap: ImageBitmap, wasUnfamiliar: boolean | null}} */ { bitmap, wasUnfamiliar }) {
    const frame = { bitmap, width: bitmap.width, height: bitmap.height, reduced: false };
    const pixels = cut(frame, centreSquare(frame), crops);
    bitmap.close();
    return engine.judge(pixels, wasUnfamiliar);
  },

  /** @param {MapJob} job */
  async map(job) {
    const lastLayer = description.layers.at(-1);
    const isPlain = job.method === 'gradcam' && (job.layer ?? lastLayer) === lastLayer && !job.trust;
    // The maps of the last result need the photograph no more.
    const square = job.square ?? centreSquare((await photographOf(job.source)).photograph);
    const isHeld = isPlain && explained?.key === job.source.key && sameInput(explained, { square, metadata: job.metadata });
    let facts = isHeld ? explained?.maps.find((map) => map.class === job.class) : undefined;
    if (!facts) {
      const opened = await photographOf(job.source);
      explained = undefined;
      const { maps } = engine.explain(cut(opened.photograph, square, crops), {
        ...requestOf(job, opened), classes: job.class === 'top' ? 'top' : [job.class], method: job.method,
        ...(job.layer ? { layer: job.layer } : {}), ...(job.trust ? { trust: true } : {}),
      });
      spare();
      facts = maps[0];
      if (!facts) throw new EngineError('map', 'the engine gave no map');
    }
    const index = Math.max(0, explained?.maps.indexOf(facts) ?? 0);
    return { facts, values: engine.map(index, facts.width * facts.height, job.placement === 'stretched') };
  },

  /** @param {{bytes: ArrayBuffer, name: string, images: string[]}} job */
  async table({ bytes, name, images }) {
    return engine.readTable(new Uint8Array(bytes), { name, images });
  },

  /** Checks results that come from a file; for each what follows from it, or why it is refused. */
  async checkResults(/** @type {{results: {classes: object[], result: object}[]}} */ { results }) {
    return results.map((stored) => {
      try {
        return { result: engine.checkResult(stored) };
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return { refused: error.messages };
      }
    });
  },

  /**
   * The pixels that the engine is given, to compare browsers by.
   * @param {{source: Source, square?: Square}} job */
  async pixels(job) {
    const { photograph } = await photographOf(job.source);
    const pixels = cut(photograph, job.square ?? centreSquare(photograph), crops);
    return { width: pixels.width, height: pixels.height, data: pixels.data };
  },

  /**
   * A part of the photograph from its own pixels.
   * @param {{source: Source, area: {left: number, top: number, width: number, height: number}, scale: number}} job
   */
  async region({ source, area, scale }) {
    return { bitmap: await part((await photographOf(source)).photograph, area, scale) };
  },

  /** The picture that the history keeps of a photograph whose file is too large for it. */
  async jpegOfSquare(/** @type {{source: Source, square: Square}} */ { source, square }) {
    return squareJPEG((await photographOf(source)).photograph, square);
  },

  async release() {
    release();
    explained = undefined;
    return { memory: engine.memorySize };
  },
};

/** The parts of an answer that go to the page without being copied. */
function transferable(/** @type {any} */ answer) {
  return [answer.preview, answer.picture, answer.bitmap, answer.values?.buffer, answer.data?.buffer].filter(Boolean);
}

onmessage = async ({ data: { serial, action, job } }) => {
  try {
    const answer = await actions[/** @type {keyof typeof actions} */ (action)](job);
    postMessage({ serial, answer }, { transfer: transferable(answer) });
  } catch (error) {
    const { message, code, name, messages } = /** @type {any} */ (error);
    // A trap leaves the engine's memory in no known state: the page starts a new worker.
    const broken = name === 'NotReadableError' ? 'unread' : 'broken';
    postMessage({ serial, failure: { code: error instanceof EngineError ? code : broken, message: String(message), messages } });
  }
};
