import { app } from './app.js';
import { EngineError } from './engine/module.js';
import { blobOf, drawn, probe } from './image.js';
import { squareInPhotograph } from './parts/crop-geometry.js';
import { outcomeOf } from './state.js';

/**
 * The page's questions to the engine for one photograph.
 */

/** The least side at which fine structures are still there, and the least that the engine takes. */
const SMALL = 100;
const LEAST = 32;
const THUMBNAIL_SIDE = 160;
/** The model's square is shown with at most this side. */
const PICTURE_SIDE = 1200;
/** The engine's memory after a photograph of a usual camera; after a much larger one it is given back. */
const ENGINE_MEMORY = 200_000_000;

let counter = 0;

/** @param {Photograph} photograph @returns true if fine structures are missing */
export function isSmall({ width, height }) {
  return Math.min(width, height) < SMALL;
}

/** @param {File} file @param {string} [group] of the newest request of a group only the answer counts @returns {Promise<Photograph>} */
export async function openPhotograph(file, group = 'open') {
  const size = await probe(file);
  if (Math.min(size.width, size.height) < LEAST) throw new EngineError('image_too_small', `${size.width}x${size.height}`);
  counter += 1;
  const source = { key: `photograph-${counter}`, blob: file, size };
  await app.engine.ready;
  const { width, height, reduced, preview } = await app.engine.request('open', { source }, group);
  return { file, source, name: file.name || 'image', width, height, reduced, preview };
}

/** Lets go of a photograph and of what was asked for it. */
export function closePhotograph(/** @type {Photograph} */ { preview }) {
  for (const group of ['analysis', 'map', 'effect', 'region']) app.engine.cancel(group);
  app.engine.request('release', {}).then(({ memory }) => { if (memory > ENGINE_MEMORY) app.engine.renew(); }, () => {});
  preview.close();
}

/**
 * Runs the engine on what is entered; of a group the newest request counts.
 * @param {Work} work
 * @param {'analysis' | 'list'} [group]
 * @returns {Promise<Outcome>}
 */
export async function classify(work, group = 'analysis') {
  const { photograph, id, metadata, square, moved, origin, running } = work;
  const side = group === 'list' ? THUMBNAIL_SIDE : PICTURE_SIDE;
  const answer = await app.engine.request('classify', { ...jobOf(work, work), picture: side, summaries: true }, group);
  const picture = drawn(answer.picture, side);
  answer.picture.close();
  /** @type {Scan} */
  const scan = {
    id, created: work.created || new Date().toISOString(), name: photograph.name, result: answer.result,
    classes: /** @type {Description} */ (app.description).classes,
    square: squareInPhotograph(square, moved, photograph, origin), reduced: photograph.reduced,
    lesion: work.lesion.trim(), note: work.note, kept: origin ? 'square' : 'whole', thumbnail: await blobOf(drawn(picture, THUMBNAIL_SIDE), 'image/jpeg', 0.8),
  };
  return { scan, picture, maps: answer.maps, milliseconds: answer.milliseconds, metadata, square, run: running };
}

/**
 * The questions to the engine about a result.
 * @param {Job} job what was answered
 * @param {Result} result
 */
export function questionsAbout(job, { model }) {
  return {
    /** @param {string} lesionClass whose map is wanted @param {boolean} trust true if the map is checked */
    async map(lesionClass, trust) {
      const { model: own } = await app.engine.ready;
      if (own.sha256 !== model.sha256) throw new EngineError('other_model', 'another model');
      return app.engine.request('map', { ...job, class: lesionClass, method: 'gradcam', trust }, 'map');
    },
    /** @param {Metadata} metadata @returns {Promise<Record<string, number>>} what the model would say with it */
    probabilities: (metadata) => app.engine.request('probabilities', { ...job, metadata }),
  };
}

/** @param {Work} work @returns what age, sex and place did to the result */
export async function requestEffect(work) {
  return (await app.engine.request('effect', jobOf(work, outcomeOf(work)), 'effect')).shares;
}

/** @param {Work | null} work @returns true if something is known of the patient, and not yet what it did to the result */
export function lacksEffect(work) {
  const result = work?.outcome?.scan.result;
  return result !== undefined && !result.abstain && !result.metadataShares && result.metadata.missing.length < 3
    && app.description?.metadataUsed === true;
}

/** @param {Work} work @param {{square: Square, metadata: Metadata}} input @returns {Job} */
export function jobOf({ photograph: { source, name } }, { square, metadata }) {
  return { source, name, square, metadata };
}

