/**
 * What the build wrote into the page.
 * @typedef {object} PageFacts
 * @property {string} hash SHA-256 of the page's file with 64 zeros in the place of the hash itself
 * @property {number} weightsByteCount of model.safetensors
 * @property {string} modelLicence
 * @property {string} notices the licences of the projects whose parts are in the page
 * @property {string} disclaimer word for word, as the library has it
 * @property {boolean} isSite whether the page lies on a host of its own, with a manifest and a service worker
 * @property {Figures | null} figures what the model's folder states of its evaluation
 *
 * @typedef {object} Figures
 * @property {number} n photographs
 * @property {number} lesions
 * @property {boolean} crossFitted whether the values are the model card's, of calibrations that never saw what they are judged on
 * @property {Record<string, {value: number, interval: [number, number] | null}>} overall
 * @property {Record<string, {n: number, recall: number, interval: [number, number] | null}>} recall
 */

/** @type {PageFacts} */
const facts = JSON.parse(document.getElementById('page-facts')?.textContent ?? '{}');
export default facts;
