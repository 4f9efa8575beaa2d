/**
 * The state of the page, and what follows from it. README.md tells the story, transitions.js what can happen, and store.js holds
 * the one state of the page.
 */

/** The views that have a tab. */
export const TABS = /** @type {const} */ (['scan', 'history', 'learn', 'about']);
/** The number of scans of the history that are listed at first, and each time that more are asked for. */
export const PAGE = 40;
/** The orders of the history's rows. */
export const ORDERS = /** @type {const} */ (['newest', 'oldest', 'risk', 'name']);
/** The order in which risks are looked at. */
const URGENCY = ['high', 'moderate', 'low'];

/** @returns {Metadata} */
export function nothingKnown() {
  return { age: null, sex: 'unknown', site: 'unknown' };
}

/** @type {State} */
export const FIRST = {
  place: 'scan', replaced: false, opening: null, problem: null, work: null, list: null, runs: 0,
  looking: { query: '', risk: '', site: '', order: 'newest', grouped: false, count: PAGE, chosen: [] },
};

// Values that follow from a state.

/**
 * @template {object} T
 * @param {T} first
 * @param {T} second
 * @param {(keyof T)[]} keys
 */
function agree(first, second, keys) {
  return keys.every((key) => first[key] === second[key]);
}

/** @type {(first: Metadata, second: Metadata) => boolean} */
export const sameMetadata = (first, second) => agree(first, second, ['age', 'sex', 'site']);

/** @type {(first: Square, second: Square) => boolean} */
export const sameSquare = (first, second) => agree(first, second, ['left', 'top', 'side']);
/** @type {(first: {metadata: Metadata, square: Square}, second: {metadata: Metadata, square: Square}) => boolean} */
export const sameInput = (first, second) => sameMetadata(first.metadata, second.metadata) && sameSquare(first.square, second.square);

/** @param {Scan} first @param {Scan} second @returns true if the second record tells nothing that the first does not, whenever they were made */
export function sameRecord(first, second) {
  const { probabilities } = first.result;
  return sameMetadata(first.result.metadata, second.result.metadata) && agree(first, second, ['lesion', 'note'])
    && agree(first.square, second.square, ['left', 'top', 'side', 'width', 'height', 'moved'])
    && Object.keys(probabilities).length === Object.keys(second.result.probabilities).length
    && agree(probabilities, second.result.probabilities, Object.keys(probabilities))
    && Object.keys(second.trust ?? {}).every((id) => first.trust?.[id] !== undefined);
}

/** @param {Work} work @returns true if what the person entered since is not in the result */
export function isStale(work) {
  return work.outcome !== null && !sameInput(work, work.outcome);
}

/** @param {Work} work @returns true if the outcome lies in the history as it is */
export function isSaved(work) {
  return work.outcome !== null && work.stored !== null && sameRecord(work.stored, recordOf(work));
}

/** @param {Work} work @returns true if something would be lost with it */
function hasUnsaved(work) {
  return work.outcome ? !isSaved(work) || isStale(work) : !sameMetadata(work.metadata, work.known);
}

/** @param {Work} work */
export function outcomeOf({ outcome }) {
  if (!outcome) throw new Error('there is no result yet');
  return outcome;
}

/** @param {Work} work @returns {Scan} the outcome with what the person wrote beside it */
export function recordOf(work) {
  return { ...outcomeOf(work).scan, lesion: work.lesion.trim(), note: work.note };
}

/** The scans of each lesion, in the order in which they come; those without a name come last. */
export function groupsOf(/** @type {Row[]} */ scans) {
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  for (const scan of scans) {
    const same = groups.get(scan.lesion);
    if (same) same.push(scan);
    else groups.set(scan.lesion, [scan]);
  }
  return [...groups].map(([lesion, same]) => ({ lesion, scans: same })).sort((first, second) => Number(first.lesion === '') - Number(second.lesion === ''));
}

/** @param {{created: string}} first @param {{created: string}} second @returns the earlier one comes first */
export function byTime(first, second) {
  return Date.parse(first.created) - Date.parse(second.created);
}

/** @param {Item} item @returns what was answered to what is known of the photograph now; an older answer is not shown, saved or exported */
export function currentScan({ status, scan }) {
  return status === 'done' ? scan : null;
}

/** @param {List | null} list @returns the photographs of a list whose results would be lost with it */
export function unsavedItems(list) {
  return (list?.items ?? []).filter((item) => currentScan(item) && !item.saved);
}

/** @param {string | null | undefined} risk @returns its place in the order in which risks are looked at; the last for none */
function urgency(risk) {
  const level = URGENCY.indexOf(risk ?? '');
  return level < 0 ? URGENCY.length : level;
}

/** @param {Row[]} rows the newest first @param {Looking['order']} order @param {string} language @returns the rows in that order */
export function sortedRows(rows, order, language) {
  switch (order) {
    case 'newest': return rows;
    case 'oldest': return [...rows].reverse();
    case 'risk': return [...rows].sort((first, second) => urgency(first.risk) - urgency(second.risk));
    case 'name': {
      const { compare } = new Intl.Collator(language, { numeric: true });
      return [...rows].sort((first, second) => compare(first.lesion || first.name, second.lesion || second.name));
    }
  }
}

/** @param {List} list @returns the photographs of a list in the order that the person wants */
export function sortedItems({ items, order }) {
  if (order === 'given') return items;
  const rank = (/** @type {Item} */ item) => urgency(currentScan(item)?.result.risk) + (item.status === 'done' ? 0 : 1);
  return [...items].sort((first, second) => rank(first) - rank(second));
}

/**
 * The loss if the work or the list were let go of. What was answered for a photograph of the list stays in the list.
 * @param {State} state
 * @param {{work?: boolean, list?: boolean}} dropped
 * @returns {{kind: 'nothing' | 'details' | 'result' | 'list', count: number}}
 */
export function lossOf({ work, list }, dropped) {
  const count = dropped.list ? unsavedItems(list).length : 0;
  if (count > 0) return { kind: 'list', count };
  if (!dropped.work || !work || !hasUnsaved(work) || (work.item && !isStale(work))) return { kind: 'nothing', count };
  return { kind: work.outcome ? 'result' : 'details', count };
}

/** @param {State} state @returns true if something would be lost if the page were closed */
export function wouldLose({ work, list }) {
  return (work !== null && hasUnsaved(work)) || unsavedItems(list).length > 0;
}

/** @param {State} state @returns the place that shows what is being worked on */
export function placeOfWork({ work, list }) {
  if (work) return `scan/${work.step}`;
  return list ? 'scan/list' : 'scan';
}

/** The place of a lesion. It names one of its scans: the browser keeps addresses, and what the person writes is not to be among them. */
export function placeOfLesion(/** @type {{id: string}} */ { id }) {
  return `lesion/${id}`;
}

/**
 * The screen to be shown: the same as before where all its parts are the same.
 * @param {State} state
 * @returns {[kind: string, ...parts: unknown[]]}
 */
export function screenOf({ place, opening, problem, work, list }) {
  const [tab, step = ''] = place.split('/');
  if (tab !== 'scan') return [tab, place];
  if (opening) return ['opening', opening];
  if (step === 'list') return ['list', list?.items[0].id];
  if (step === '' || !work) return ['landing', problem, work?.id, list?.items.length];
  if (step !== 'result') return [step, work.photograph];
  if (work.running) return ['analysis', work.running];
  return work.failure ? ['failed', work.failure] : ['result', work.outcome?.run];
}

/**
 * The place that an address leads to: where it names what is not there, the nearest that is.
 * @param {State} state
 * @param {string} wanted
 */
export function nearestPlace({ work, list }, wanted) {
  const [tab, step = ''] = wanted.split('/');
  try {
    decodeURIComponent(wanted);
  } catch {
    return 'scan';
  }
  if (tab !== 'scan') return [...TABS, 'compare', 'lesion'].includes(tab) ? wanted : 'scan';
  if (step === 'list' && list) return wanted;
  if (!work || !['review', 'details', 'result'].includes(step)) return 'scan';
  return step !== 'result' || work.running || work.failure || work.outcome ? wanted : 'scan/details';
}
