import { read } from './decode.js';
import { EngineError } from './module.js';

/**
 * A request that was cancelled while it ran for longer than this stops the worker, and so does the check of a map, which
 * takes half a minute. The answer of a younger one is dropped.
 */
const PATIENCE = 2000;
const START = 120_000;

/** The serial numbers of a worker's first messages and of the last of them; those of requests begin at 1. */
const PREPARE = -1;
const LOAD = 0;

/** WebAssembly with 128-bit vectors: a function that makes one and returns. */
const VECTOR_PROBE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

/** The error of a promise whose request was cancelled or replaced. */
export function cancelled() {
  return new DOMException('the request was cancelled', 'AbortError');
}

/** @param {unknown} error */
export function isCancelled(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}

/**
 * @typedef {object} Request
 * @property {number} serial
 * @property {string} action
 * @property {any} job
 * @property {string | undefined} group
 * @property {(answer: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {number} [started]
 * @property {boolean} [isHandedOver] true if the page reads the photograph for it
 */

/**
 * The engine as the page sees it: promises instead of messages. The worker has one request at a time; the others wait
 * here, where they can be taken back. Of a group only the newest request counts: the one before is cancelled.
 */
export class EngineClient {
  /** @type {Worker | undefined} */
  #worker;
  /** @type {Request[]} */
  #waiting = [];
  /** @type {Request | undefined} */
  #running;
  #serial = 0;
  #loaded = false;
  #sources;

  /**
   * @param {object} sources asked for at each start of a worker; all but the script in base64
   * @param {string} sources.worker the worker's script
   * @param {() => string} sources.engine the WebAssembly module, compressed
   * @param {() => string} sources.relaxed as JSON, the patch that gives its products of 8 bits the instructions of relaxed SIMD;
   *   without parts for a network in floats
   * @param {() => string} sources.configuration config.json
   * @param {number} sources.weightsByteCount of model.safetensors
   * @param {() => AsyncIterable<string>} sources.weights its parts, each of a multiple of four characters
   */
  constructor(sources) {
    this.#sources = sources;
    /** @type {Promise<Description>} */
    this.ready = this.#start();
    this.ready.catch(() => {});
  }

  /** @param {string} action @param {any} job @param {string} [group] @returns {Promise<any>} */
  request(action, job, group) {
    if (group) this.cancel(group);
    // Nobody waits for the check of a map while something else is wanted.
    if (this.#running?.job.trust && this.#running.group) this.cancel(this.#running.group);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ serial: ++this.#serial, action, job, group, resolve, reject });
      this.#next();
    });
  }

  /** Takes back what a group has asked for. */
  cancel(/** @type {string} */ group) {
    for (const request of this.#waiting.filter((each) => each.group === group)) request.reject(cancelled());
    this.#waiting = this.#waiting.filter((each) => each.group !== group);
    const running = this.#running;
    if (running?.group !== group) return;
    running.reject(cancelled());
    running.group = undefined;
    if (running.job.trust || performance.now() - (running.started ?? 0) > PATIENCE) this.#restart();
  }

  /** @returns {Promise<Description>} */
  async #start() {
    if (typeof WebAssembly !== 'object' || !WebAssembly.validate(VECTOR_PROBE)) {
      throw new EngineError('no_webassembly', 'this browser has no WebAssembly with vectors (SIMD)');
    }
    const address = URL.createObjectURL(new Blob([this.#sources.worker], { type: 'text/javascript' }));
    const worker = new Worker(address);
    this.#worker = worker;
    this.#loaded = false;
    /** @type {Promise<Description>} */
    const loaded = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.serial !== LOAD) return;
        if (data.failure) reject(EngineError.of({ ...data.failure, code: data.failure.code === 'memory' ? 'memory' : 'model' }));
        else resolve(data.answer.description);
      };
      worker.onerror = (event) => reject(new EngineError('model', event.message || 'the engine did not start'));
      setTimeout(() => reject(new EngineError('model', 'the engine did not start within two minutes')), START);
    });
    loaded.catch(() => {});
    const { engine, relaxed, configuration, weights, weightsByteCount } = this.#sources;
    const model = { configuration: configuration(), weightsByteCount };
    worker.postMessage({ serial: PREPARE, action: 'prepare', job: { engine: engine(), relaxed: relaxed(), ...model } });
    for await (const part of weights()) worker.postMessage({ serial: PREPARE, action: 'receive', job: { part } });
    worker.postMessage({ serial: LOAD, action: 'load', job: {} });
    const description = await loaded.finally(() => URL.revokeObjectURL(address));
    worker.onmessage = ({ data }) => this.#answered(data);
    worker.onerror = (event) => this.#answered({ serial: this.#running?.serial, failure: { code: 'broken', message: event.message } });
    this.#loaded = true;
    this.#next();
    return description;
  }

  /**
   * Lets go of the memory that a large photograph needed, which the engine does not give back by itself: a new worker takes
   * the place of one that nothing is asked of.
   */
  renew() {
    if (this.#loaded && !this.#running && this.#waiting.length === 0) this.#restart();
  }

  /** A new worker in place of one that is broken or busy with what nobody waits for. */
  #restart() {
    this.#worker?.terminate();
    this.#running = undefined;
    this.#loaded = false;
    this.#start().catch((error) => {
      for (const request of this.#waiting.splice(0)) request.reject(error);
    });
  }

  #next() {
    if (!this.#loaded || this.#running) return;
    const request = this.#waiting.shift();
    if (!request) return;
    this.#running = request;
    request.started = performance.now();
    const { serial, action, job } = request;
    this.#worker?.postMessage({ serial, action, job }, job.bitmap ? [job.bitmap] : []);
  }

  /** @param {{serial: number | undefined, answer?: any, failure?: Parameters<typeof EngineError.of>[0]}} message */
  #answered({ serial, answer, failure }) {
    const request = this.#running;
    if (!request || request.serial !== serial) return;
    if (failure?.code === 'unread' && !request.isHandedOver) return void this.#handOver(request);
    this.#running = undefined;
    if (failure) request.reject(EngineError.of(failure));
    else request.resolve(answer);
    if (failure?.code === 'broken') this.#restart();
    else this.#next();
  }

  /** The worker cannot read a Blob, as in WebKit on a page that was opened from a disk: the page reads the file for it. */
  async #handOver(/** @type {Request} */ request) {
    request.isHandedOver = true;
    const { serial, action, job } = request;
    const found = await read(job.source).catch((error) => this.#answered({
      serial, failure: { code: error instanceof EngineError ? error.code : 'unreadable_image', message: String(error) },
    }));
    if (!found || this.#running !== request) return;
    this.#worker?.postMessage({ serial, action, job: { ...job, source: { ...job.source, read: found } } }, [found.bytes, found.photograph.bitmap]);
  }
}
