import { app } from './app.js';
import { centreSquare } from './engine/decode.js';
import { blobOf, drawn, probe } from './image.js';
import { nothingKnown } from './parts/metadata-form.js';

/** The least side at which fine structures are still there. */
const SMALL = 100;
const THUMBNAIL_SIDE = 160;

let counter = 0;

/** An identifier that no other scan has; `randomUUID` is not to be had on every origin. */
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One photograph on its way from the file to the result. */
export class Session {
  /** @type {'review' | 'details' | 'result'} */
  step = 'review';
  /** @type {import('./types.js').Metadata} */
  metadata = nothingKnown();
  metadataValid = true;
  moved = false;
  /**
   * What the engine answered, for which square and metadata.
   * @type {{scan: import('./types.js').Scan, maps: import('./types.js').MapFacts[] | null, metadata: string, square: string, milliseconds: {decode: number, engine: number}} | undefined}
   */
  outcome;
  /** Whether the outcome lies in the history as it is. */
  saved = false;

  /**
   * @param {File} file
   * @param {import('./types.js').Source} source
   * @param {{width: number, height: number, reduced: boolean, digest: string, preview: ImageBitmap}} opened
   */
  constructor(file, source, opened) {
    this.file = file;
    this.source = source;
    this.name = file.name || 'image';
    this.width = opened.width;
    this.height = opened.height;
    this.reduced = opened.reduced;
    this.preview = opened.preview;
    this.square = centreSquare(opened);
  }

  /**
   * Opens a file.
   * @param {File} file
   * @param {string} [group] of the newest request of a group only the answer counts
   * @returns {Promise<Session>}
   */
  static async open(file, group = 'open') {
    const size = await probe(file);
    counter += 1;
    const source = { key: `session-${counter}`, blob: file, size };
    await app.engine.ready;
    return new Session(file, source, await app.engine.request('open', { source }, group));
  }

  get isSmall() {
    return Math.min(this.width, this.height) < SMALL;
  }

  /** Whether what the person entered since is not in the result. */
  get isStale() {
    return this.outcome !== undefined
      && (this.outcome.metadata !== JSON.stringify(this.metadata) || this.outcome.square !== JSON.stringify(this.square));
  }

  /** @returns {import('./types.js').Job} */
  get job() {
    return { source: this.source, name: this.name, square: this.square, metadata: this.metadata };
  }

  /**
   * Runs the engine; the newest request counts.
   * @param {string} [group]
   */
  async classify(group = 'session') {
    const job = { ...this.job, metadata: { ...this.metadata } };
    const { moved, square } = this;
    const answer = await app.engine.request('classify', job, group);
    if (!answer.result || Object.values(answer.result.logits).some((logit) => !Number.isFinite(logit))) {
      throw Object.assign(new Error('the logits are not numbers'), { code: 'not_finite' });
    }
    this.outcome = {
      scan: {
        id: newID(), created: new Date().toISOString(), name: this.name, result: answer.result,
        classes: /** @type {any} */ (app.description).classes,
        square: { ...square, width: this.width, height: this.height, moved }, reduced: this.reduced,
        lesion: '', note: '', thumbnail: await blobOf(drawn(this.preview, THUMBNAIL_SIDE, this.previewSquare), 'image/jpeg', 0.8),
      },
      maps: answer.maps, metadata: JSON.stringify(job.metadata), square: JSON.stringify(job.square), milliseconds: answer.milliseconds,
    };
    this.saved = false;
    this.step = 'result';
    return this.outcome;
  }

  /** Whether something is known of the patient, and not yet what it did to the result. */
  get lacksEffect() {
    const result = this.outcome?.scan.result;
    return result !== undefined && !result.abstain && !result.metadataShares && result.metadata.missing.length < 3
      && app.description?.metadataUsed === true;
  }

  /**
   * Adds to the result what age, sex and place did, where something of it is known.
   * @returns {Promise<void>}
   */
  async loadEffect() {
    const { outcome } = this;
    if (!outcome || !this.lacksEffect) return;
    const { result } = outcome.scan;
    const { shares } = await app.engine.request('effect', { ...this.job, square: JSON.parse(outcome.square), metadata: JSON.parse(outcome.metadata) }, 'effect');
    result.metadataShares = shares;
  }

  /** The square in pixels of the preview. */
  get previewSquare() {
    const scale = this.preview.width / this.width;
    return { left: this.square.left * scale, top: this.square.top * scale, side: this.square.side * scale };
  }

  /**
   * @param {string} lesionClass
   * @param {boolean} trust
   */
  map(lesionClass, trust) {
    return app.engine.request('map', { ...this.job, ...JSON.parse(`{"square":${this.outcome?.square},"metadata":${this.outcome?.metadata}}`),
      class: lesionClass, method: 'gradcam', trust }, 'map');
  }

  release() {
    app.engine.cancel('session');
    app.engine.cancel('map');
    app.engine.cancel('effect');
    app.engine.request('release', {}).catch(() => {});
    this.preview.close();
  }
}
