/** The engine, as Sources/Browser exports it. Every call blocks; bytes go in and out of the module's memory. */

/** A refusal of the engine or the page, or the engine's end: a code, which the page has a sentence for, and a message. */
export class EngineError extends Error {
  /** @type {Record<string, string> | undefined} the message in each language, where the engine words it */
  messages;

  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = 'EngineError';
    this.code = code;
  }

  /** @param {{code: string, message: string, messages?: Record<string, string>}} failure */
  static of({ code, message, messages }) {
    return Object.assign(new EngineError(code, message), { messages });
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The functions that the module asks of its host: it has no files, so only its words on standard error matter. */
function host(/** @type {() => WebAssembly.Memory} */ memory) {
  return {
    fd_close: () => 8,
    fd_seek: () => 8,
    fd_write: (/** @type {number} */ _file, /** @type {number} */ vectors, /** @type {number} */ count, /** @type {number} */ written) => {
      const view = new DataView(memory().buffer);
      let total = 0;
      let words = '';
      for (let index = 0; index < count; index += 1) {
        const start = view.getUint32(vectors + index * 8, true);
        const length = view.getUint32(vectors + index * 8 + 4, true);
        words += decoder.decode(new Uint8Array(memory().buffer, start, length));
        total += length;
      }
      view.setUint32(written, total, true);
      console.error(words);
      return 0;
    },
    random_get: (/** @type {number} */ pointer, /** @type {number} */ count) => {
      crypto.getRandomValues(new Uint8Array(memory().buffer, pointer, count));
      return 0;
    },
  };
}

const pixelBytes = (/** @type {ImageData} */ { data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

export class EngineModule {
  /** @type {any} */
  #exports;
  #model = 0;

  /** @param {BufferSource} bytes the WebAssembly module @returns {Promise<EngineModule>} */
  static async create(bytes) {
    const engine = new EngineModule();
    const imports = host(() => engine.#exports.memory);
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: imports });
    engine.#exports = instance.exports;
    engine.#exports._initialize?.();
    return engine;
  }

  /** The memory that the engine holds, in bytes. */
  get memorySize() {
    return this.#exports.memory.buffer.byteLength;
  }

  /**
   * Reads a model.
   * @param {Uint8Array} configuration config.json
   * @param {Uint8Array} weights model.safetensors
   */
  load(configuration, weights) {
    this.#model = this.#lend([configuration, weights], (first, second) =>
      this.#exports.load(first, configuration.length, second, weights.length));
    if (this.#model === 0) throw this.#failure();
  }

  /** @param {string | null} digest SHA-256 of both files of the model, in hexadecimal; null: the engine computes it @returns {Description} */
  describe(digest) {
    if (digest) {
      const bytes = encoder.encode(digest);
      if (this.#lend([bytes], (pointer) => this.#exports.identify(this.#model, pointer, bytes.length)) === 0) throw this.#failure();
    }
    return this.#answer([], () => this.#exports.describe(this.#model));
  }

  /** @param {ImageData} pixels @param {object} request see `ImageRequest` @returns {any} the JSON that OUTPUT.md describes */
  classify(pixels, request) {
    return this.#lookedAt('classify', pixels, request);
  }

  /** @param {ImageData} pixels @param {object} request @returns {{classification: any, maps: MapFacts[]}} */
  explain(pixels, request) {
    return this.#lookedAt('explain', pixels, request);
  }

  /** @param {ImageData} frame of a camera @param {boolean | null} wasUnfamiliar see `judgeFrame` @returns {FrameJudgement} */
  judge(frame, wasUnfamiliar) {
    return this.#answer([pixelBytes(frame)], (image) => this.#exports.judge(this.#model, image, frame.width, frame.height, Number(wasUnfamiliar ?? -1)));
  }

  /**
   * One map of the last `explain`, copied.
   * @param {number} index
   * @param {number} count how many values it has
   * @param {boolean} isStretched true if it is stretched over the square, as `gradcam --raw` writes it
   */
  map(index, count, isStretched) {
    const pointer = this.#exports.mapPointer(index, isStretched);
    if (pointer === 0) throw this.#failure();
    return new Float32Array(this.#exports.memory.buffer, pointer, count).slice();
  }

  /**
   * Reads a table of what is known of patients, as the command line does.
   * @param {Uint8Array} bytes
   * @param {{name: string, images: string[]}} request the table's name and the photographs' names
   * @returns {PatientTable}
   */
  readTable(bytes, request) {
    const text = encoder.encode(JSON.stringify(request));
    return this.#answer([bytes, text], (table, words) => this.#exports.readTable(table, bytes.length, words, text.length));
  }

  /**
   * Checks a result that comes from a file: what follows from its probabilities, as this version writes it. What contradicts
   * itself or breaks a rule is thrown.
   * @param {{classes: object[], result: object}} stored
   * @returns {Partial<Result>}
   */
  checkResult(stored) {
    const text = encoder.encode(JSON.stringify(stored));
    return this.#answer([text], (words) => this.#exports.checkResult(this.#model, words, text.length));
  }

  /** SHA-256 in hexadecimal. */
  digest(/** @type {Uint8Array} */ bytes) {
    this.#lend([bytes], (pointer) => this.#exports.digest(pointer, bytes.length));
    return this.#text();
  }

  /** @param {'classify' | 'explain'} name @param {ImageData} pixels @param {object} request */
  #lookedAt(name, pixels, request) {
    const text = encoder.encode(JSON.stringify(request));
    return this.#answer([pixelBytes(pixels), text], (image, words) => this.#exports[name](this.#model, image, pixels.width, pixels.height, words, text.length));
  }

  /** The engine's text of a call; the error where the call returns 0. */
  #answer(/** @type {Uint8Array[]} */ arrays, /** @type {(...pointers: number[]) => number} */ call) {
    if (this.#lend(arrays, call) === 0) throw this.#failure();
    return JSON.parse(this.#text());
  }

  /**
   * Copies byte arrays into the module's memory for the time of a call.
   * @param {Uint8Array[]} arrays
   * @param {(...pointers: number[]) => number} call
   * @returns {number} what the call returns
   */
  #lend(arrays, call) {
    /** @type {number[]} */
    const pointers = [];
    try {
      for (const array of arrays) {
        const pointer = this.#exports.allocate(Math.max(array.length, 1));
        if (pointer === 0) throw new EngineError('memory', `no memory for ${array.length} bytes`);
        pointers.push(pointer);
        new Uint8Array(this.#exports.memory.buffer).set(array, pointer);
      }
      return call(...pointers);
    } finally {
      for (const pointer of pointers) this.#exports.free(pointer);
    }
  }

  #text() {
    const bytes = new Uint8Array(this.#exports.memory.buffer, this.#exports.text(), this.#exports.textCount());
    return decoder.decode(bytes);
  }

  #failure() {
    return EngineError.of(JSON.parse(this.#text()).error);
  }
}
