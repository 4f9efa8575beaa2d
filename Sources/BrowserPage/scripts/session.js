import { app } from './app.js';
import { centreSquare } from './engine/decode.js';
import { EngineError } from './engine/module.js';
import { blobOf, drawn, probe } from './image.js';
import { fingerprint, newID } from './history/identity.js';
import { keptSquare, squareInPhotograph } from './parts/crop-geometry.js';
import { nothingKnown } from './parts/metadata-form.js';

/** The least side at which fine structures are still there, and the least that the engine takes. */
const SMALL = 100;
export const LEAST = 32;
export const THUMBNAIL_SIDE = 160;
/** The model's square is shown with at most this side. */
const PICTURE_SIDE = 1200;

/** The engine's memory after a photograph of a usual camera; after a much larger one it is given back. */
const ENGINE_MEMORY = 200_000_000;

let counter = 0;

/**
 * What the engine answered, for which square and metadata.
 * @typedef {object} Outcome
 * @property {import('./types.js').Scan} scan
 * @property {HTMLCanvasElement} picture the square that the model saw
 * @property {import('./types.js').MapFacts[] | null} maps
 * @property {string} metadata
 * @property {string} square
 * @property {{decode: number, engine: number}} milliseconds
 */

/** One photograph on its way from the file to the result. */
export class Session {
  /** @type {'review' | 'details' | 'result'} */
  step = 'review';
  /** @type {import('./types.js').Metadata} */
  metadata = nothingKnown();
  metadataValid = true;
  moved = false;
  /** What the person calls the lesion, and what they note of it. */
  words = { lesion: '', note: '' };
  /** @type {Outcome | undefined} */
  outcome;
  /**
   * The analysis under way.
   * @type {Promise<Outcome> | undefined}
   */
  running;
  /**
   * Why the last analysis gave nothing.
   * @type {unknown}
   */
  failure;
  /** What of it lies in the history, as text; empty where nothing does. */
  #stored = '';
  /**
   * Where the photograph is one of a list.
   * @type {import('./batch.js').Item | undefined}
   */
  item;
  /**
   * The square and the photograph's size of a scan whose square alone was kept.
   * @type {import('./types.js').Scan['square'] | undefined}
   */
  origin;
  id = newID();
  created = '';
  #start = JSON.stringify(nothingKnown());

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
    if (Math.min(size.width, size.height) < LEAST) throw new EngineError('image_too_small', `${size.width}x${size.height}`);
    counter += 1;
    const source = { key: `session-${counter}`, blob: file, size };
    await app.engine.ready;
    return new Session(file, source, await app.engine.request('open', { source }, group));
  }

  /**
   * Goes on with a scan of the history.
   * @param {import('./types.js').Scan} scan
   * @param {Blob} photograph
   */
  static async ofScan(scan, photograph) {
    const session = await Session.open(new File([photograph], scan.name, { type: photograph.type }));
    const { age, sex, site } = scan.result.metadata;
    session.metadata = { age, sex: /** @type {'unknown'} */ (sex), site };
    session.#start = JSON.stringify(session.metadata);
    session.words = { lesion: scan.lesion, note: scan.note };
    session.id = scan.id;
    session.created = scan.created;
    session.reduced = scan.reduced;
    session.#stored = fingerprint(scan);
    session.moved = scan.square.moved;
    if (scan.kept === 'square') session.origin = scan.square;
    session.square = keptSquare(scan, session);
    return session;
  }

  /**
   * The photograph is one of a list, which gets what is entered and answered here.
   * @param {import('./batch.js').Item} item
   */
  belongTo(item) {
    this.item = item;
    this.id = item.id;
    this.metadata = { ...item.metadata };
    this.#start = JSON.stringify(item.metadata);
    if (!item.scan) return;
    this.words = { lesion: item.scan.lesion, note: item.scan.note };
    this.created = item.scan.created;
    const { left, top, side, moved } = item.scan.square;
    this.square = { left, top, side };
    this.moved = moved;
    if (item.saved) this.#stored = fingerprint(item.scan);
  }

  get isSmall() {
    return Math.min(this.width, this.height) < SMALL;
  }

  /** Whether what the person entered since is not in the result. */
  get isStale() {
    return this.outcome !== undefined
      && (this.outcome.metadata !== JSON.stringify(this.metadata) || this.outcome.square !== JSON.stringify(this.square));
  }

  /** The outcome with what the person wrote beside it. */
  get scan() {
    if (!this.outcome) throw new Error('there is no result yet');
    return { ...this.outcome.scan, lesion: this.words.lesion.trim(), note: this.words.note };
  }

  /** Whether the outcome lies in the history as it is. */
  get saved() {
    return this.outcome !== undefined && this.#stored === fingerprint(this.scan);
  }

  /** Whether an earlier state of it lies in the history. */
  get wasSaved() {
    return this.#stored !== '';
  }

  /** @param {import('./types.js').Scan} scan what lies in the history now */
  keptAs(scan) {
    this.#stored = fingerprint(scan);
    if (this.item) {
      this.item.scan = scan;
      this.item.saved = true;
    }
  }

  /** Whether something would be lost with it. */
  get hasUnsaved() {
    return this.outcome ? !this.saved || this.isStale : JSON.stringify(this.metadata) !== this.#start;
  }

  /** @returns {import('./types.js').Job} */
  get job() {
    return { source: this.source, name: this.name, square: this.square, metadata: this.metadata };
  }

  /**
   * Runs the engine; the newest request counts.
   * @param {string} [group]
   * @param {number} [side] of the picture that is made of the square
   * @returns {Promise<Outcome>}
   */
  classify(group = 'session', side = PICTURE_SIDE) {
    const running = this.#classify(group, side);
    this.running = running;
    const ended = () => { if (this.running === running) this.running = undefined; };
    running.then(ended, ended);
    return running;
  }

  /**
   * @param {string} group
   * @param {number} side
   */
  async #classify(group, side) {
    const job = { ...this.job, metadata: { ...this.metadata }, picture: side };
    const { moved, square } = this;
    const answer = await app.engine.request('classify', job, group);
    if (!answer.result || Object.values(answer.result.logits).some((logit) => !Number.isFinite(logit))) {
      throw Object.assign(new Error('the logits are not numbers'), { code: 'not_finite' });
    }
    const picture = drawn(answer.picture, side);
    answer.picture.close();
    this.created ||= new Date().toISOString();
    /** @type {import('./types.js').Scan} */
    const scan = {
      id: this.id, created: this.created, name: this.name, result: answer.result,
      classes: /** @type {any} */ (app.description).classes,
      square: squareInPhotograph(square, moved, this, this.origin), reduced: this.reduced,
      lesion: '', note: '', kept: this.origin ? 'square' : 'whole', thumbnail: await blobOf(drawn(picture, THUMBNAIL_SIDE), 'image/jpeg', 0.8),
    };
    this.outcome = { scan, picture, maps: answer.maps, metadata: JSON.stringify(job.metadata), square: JSON.stringify(job.square), milliseconds: answer.milliseconds };
    this.step = 'result';
    this.item?.take(this);
    return this.outcome;
  }

  /** Takes the analysis back. */
  cancel() {
    this.running = undefined;
    app.engine.cancel('session');
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
    const { shares } = await app.engine.request('effect', this.#outcomeJob(outcome), 'effect');
    result.metadataShares = shares;
  }

  /** @param {Outcome} outcome */
  #outcomeJob(outcome) {
    return { ...this.job, square: JSON.parse(outcome.square), metadata: JSON.parse(outcome.metadata) };
  }

  /**
   * @param {string} lesionClass
   * @param {boolean} trust
   */
  map(lesionClass, trust) {
    const outcome = /** @type {Outcome} */ (this.outcome);
    return app.engine.request('map', { ...this.#outcomeJob(outcome), class: lesionClass, method: 'gradcam', trust }, 'map');
  }

  release() {
    for (const group of ['session', 'map', 'effect', 'look']) app.engine.cancel(group);
    app.engine.request('release', {}).then(({ memory }) => { if (memory > ENGINE_MEMORY) app.engine.renew(); }, () => {});
    this.preview.close();
  }
}
