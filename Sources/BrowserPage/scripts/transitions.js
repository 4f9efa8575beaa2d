import { EngineError } from './engine/module.js';
import { isSaved, isStale, nearestPlace, nothingKnown, PAGE, recordOf, sameMetadata, sameRecord } from './state.js';

/**
 * Everything that can happen to the page. A transition takes the state and what happened and returns the next state; it changes
 * nothing and asks nobody.
 */

// The place where the person is.

/** @param {State} state @param {string} wanted @param {boolean} [replaced] @returns {State} */
export function moved(state, wanted, replaced = false) {
  const place = nearestPlace(state, wanted);
  if (place === state.place) return state;
  const step = /** @type {Work['step']} */ (place.split('/')[1]);
  const work = state.work && /^scan\/(review|details|result)$/.test(place) ? { ...state.work, step } : state.work;
  // A problem is told once.
  return { ...state, place, replaced, work, problem: null };
}

// A photograph is opened.

/** @param {State} state @param {{name: string}} opening @returns {State} */
export function openingBegun(state, opening) {
  return listChanged({ ...state, opening, problem: null, work: null }, { problem: null });
}

/** @param {State} state @returns {State} */
export function openingCancelled(state) {
  return { ...state, opening: null };
}

/** @param {State} state @param {Problem} problem @returns {State} */
export function openingFailed(state, problem) {
  const ended = { ...state, opening: null };
  // A photograph of the list fails where it was asked for.
  if (state.list && state.place === 'scan/list') return listChanged(ended, { problem });
  return { ...moved(ended, 'scan'), problem };
}

/** @param {State} state @param {Work} work @returns {State} */
export function opened(state, work) {
  const next = { ...state, opening: null, work };
  return work.item ? next : moved(next, `scan/${work.step}`);
}

/**
 * A photograph with nothing entered yet.
 * @param {Photograph} photograph
 * @param {string} id
 * @param {Square} square
 * @returns {Work}
 */
export function workOf(photograph, id, square) {
  return {
    photograph, id, square, created: '', item: null, origin: null, step: 'review', known: nothingKnown(), metadata: nothingKnown(), valid: true,
    moved: false, lesion: '', note: '', running: 0, failure: null, outcome: null, stored: null,
  };
}

/**
 * A photograph of the list, with what was entered and answered for it before.
 * @param {Photograph} photograph
 * @param {Square} whole
 * @param {Item} item
 * @returns {Work}
 */
export function workOfItem(photograph, whole, { id, metadata, scan, saved }) {
  const work = { ...workOf(photograph, id, whole), item: id, known: metadata, metadata };
  if (!scan) return work;
  const { lesion, note, created, square: { left, top, side, moved: isMoved } } = scan;
  return { ...work, lesion, note, created, square: { left, top, side }, moved: isMoved, stored: saved ? scan : null };
}

/**
 * A scan of the history that is corrected and analysed again.
 * @param {Photograph} photograph what was kept of it
 * @param {Square} square the scan's, in what was kept
 * @param {Scan} scan
 * @returns {Work}
 */
export function workOfScan(photograph, square, scan) {
  const { result: { metadata: { age, sex, site } }, id, created, lesion, note, reduced, kept } = scan;
  const known = { age, sex, site };
  return {
    ...workOf({ ...photograph, reduced }, id, square), step: 'details', created, lesion, note, known, metadata: known, moved: scan.square.moved,
    origin: kept === 'square' ? scan.square : null, stored: scan,
  };
}

/** @param {State} state @param {string} place where the person goes @returns {State} the work is let go of */
export function discarded(state, place) {
  return moved({ ...state, work: null }, place, true);
}

// The entries of the person, and the answers of the engine.

/** @param {State} state @param {Partial<Pick<Work, 'metadata' | 'valid' | 'square' | 'moved'>>} changes @returns {State} */
export function entered(state, changes) {
  return state.work ? { ...state, work: { ...state.work, ...changes } } : state;
}

/** @param {State} state @param {Partial<Pick<Work, 'lesion' | 'note'>>} words @returns {State} */
export function wrote(state, words) {
  return state.work ? recorded(state, { ...state.work, ...words }) : state;
}

/** @param {State} state @returns {State} */
export function runBegun(state) {
  if (!state.work) return state;
  const runs = state.runs + 1;
  return moved({ ...state, runs, work: { ...state.work, running: runs, failure: null, step: 'result' } }, 'scan/result');
}

/** @param {State} state @returns {State} */
export function runCancelled(state) {
  if (!state.work) return state;
  const { outcome, item } = state.work;
  return moved({ ...state, work: { ...state.work, running: 0 } }, outcome && item ? 'scan/result' : 'scan/details', true);
}

/** @param {State} state @param {unknown} failure @returns {State} */
export function runFailed(state, failure) {
  return state.work ? { ...state, work: { ...state.work, running: 0, failure } } : state;
}

/** @param {State} state @param {Outcome} outcome @returns {State} */
export function answered(state, outcome) {
  if (!state.work) return state;
  return recorded(state, { ...state.work, running: 0, failure: null, outcome, step: 'result', created: outcome.scan.created });
}

/**
 * Something was found out about the result later.
 * @param {State} state
 * @param {number} run the analysis that it belongs to
 * @param {(scan: Scan) => Partial<Scan>} found what it changes
 */
function learned(state, run, found) {
  const { work } = state;
  if (work?.outcome?.run !== run) return state;
  const { outcome } = work;
  return recorded(state, { ...work, outcome: { ...outcome, scan: { ...outcome.scan, ...found(outcome.scan) } } });
}

/**
 * The effect of age, sex and place on the result is known.
 * @param {State} state
 * @param {number} run the analysis that it belongs to
 * @param {Result['metadataShares']} metadataShares
 */
export function effectLearned(state, run, metadataShares) {
  return learned(state, run, ({ result }) => ({ result: { ...result, metadataShares } }));
}

/**
 * The map of a class was checked: its verdict is part of the result, and of its record.
 * @param {State} state
 * @param {number} run the analysis that the map belongs to
 * @param {string} lesionClass
 * @param {Trust} trust
 */
export function mapChecked(state, run, lesionClass, trust) {
  return learned(state, run, (scan) => ({ trust: { ...scan.trust, [lesionClass]: trust } }));
}

/** @param {State} state @param {Scan} scan what lies in the history now @returns {State} */
export function stored(state, scan) {
  const next = changedItem(state, scan.id, { scan, saved: true });
  return next.work?.id === scan.id ? recorded(next, { ...next.work, stored: scan }) : next;
}

/**
 * The work has another record: a photograph of the list has it too.
 * @param {State} state
 * @param {Work} work
 * @returns {State}
 */
function recorded(state, work) {
  const next = { ...state, work };
  if (!work.outcome || !work.item || isStale(work)) return next;
  return changedItem(next, work.item, { scan: recordOf(work), saved: isSaved(work), metadata: work.outcome.metadata, status: 'done', error: null });
}

// The list.

/** @param {State} state @param {Partial<List>} changes `running: 0` stops it: what is running still ends, what waits is left @returns {State} */
export function listChanged(state, changes) {
  return state.list ? { ...state, list: { ...state.list, ...changes } } : state;
}

/** @param {State} state @param {string} id @param {Partial<Item>} changes @returns {State} */
function changedItem(state, id, changes) {
  if (!state.list?.items.some((item) => item.id === id)) return state;
  return listChanged(state, { items: state.list.items.map((item) => (item.id === id ? { ...item, ...changes } : item)) });
}

/** @param {State} state @param {{id: string, file: File}[]} files @returns {State} */
export function listBegun(state, files) {
  const items = files.map(({ id, file }) => /** @type {Item} */
    ({ id, file, status: 'waiting', metadata: nothingKnown(), scan: null, saved: false, error: null }));
  return moved({ ...state, work: null, problem: null, list: { items, running: 0, order: 'given', table: null, problem: null } }, 'scan/list');
}

/** @param {State} state @returns {State} */
export function listStarted(state) {
  const runs = state.runs + 1;
  return listChanged({ ...state, runs }, { running: runs });
}

/** @param {State} state @returns {State} */
export function listClosed(state) {
  return moved({ ...state, list: null, work: state.work?.item ? null : state.work }, 'scan', true);
}

/** @param {State} state @param {string} id @returns {State} */
export function itemBegun(state, id) {
  return changedItem(state, id, { status: 'running' });
}

/** @param {State} state @param {string} id @param {Outcome} outcome @returns {State} the answer is dropped where a table has told something else meanwhile */
export function itemAnswered(state, id, { scan, metadata }) {
  const before = runningItem(state, id);
  if (!before) return state;
  if (!sameMetadata(before.metadata, metadata)) return changedItem(state, id, { status: 'waiting' });
  const saved = Boolean(before.saved && before.scan && sameRecord(before.scan, scan));
  return changedItem(state, id, { scan, saved, status: 'done', error: null });
}

/** @param {State} state @param {string} id @param {unknown} error null where it only waits again @returns {State} */
export function itemFailed(state, id, error) {
  return runningItem(state, id) ? changedItem(state, id, { status: error ? 'failed' : 'waiting', error }) : state;
}

/** @param {State} state @param {string} id */
function runningItem(state, id) {
  return state.list?.items.find((item) => item.id === id && item.status === 'running');
}

/**
 * A table tells what is known: what was classified otherwise waits again, and a bad cell costs its photograph.
 * @param {State} state
 * @param {string} name the table's
 * @param {PatientTable} table what it says of the list's photographs, in their order
 * @returns {State}
 */
export function tableRead(state, name, { images, missing, notes }) {
  if (!state.list) return state;
  let used = 0;
  const items = state.list.items.map((item, index) => {
    const row = images[index];
    // What an earlier table said, and nobody could read, does not hold any more.
    if (!row) return /** @type {any} */ (item.error)?.code === 'table_cell' ? { ...item, status: /** @type {const} */ ('waiting'), error: null } : item;
    used += 1;
    if ('error' in row) {
      return { ...item, status: /** @type {const} */ ('failed'), error: EngineError.of({ ...row.error, code: 'table_cell' }) };
    }
    const { age, sex, site } = row;
    const metadata = { age, sex, site };
    if (sameMetadata(metadata, item.metadata) && item.status !== 'failed') return item;
    return { ...item, metadata, status: /** @type {const} */ ('waiting') };
  });
  const told = listChanged(state, { items, table: { name, used, columns: missing.length < 3, notes }, problem: null });
  // The photograph of the list that is worked on has the table's facts too, so its result is out of date.
  const known = items.find(({ id }) => id === state.work?.item)?.metadata;
  return known && state.work && !sameMetadata(known, state.work.known)
    ? entered({ ...told, work: { ...state.work, known } }, { metadata: known, valid: true }) : told;
}

/** @param {State} state @param {string} id @returns {State} a photograph whose row cannot be read waits for an answer without the row */
export function detailsLeftOut(state, id) {
  return changedItem(state, id, { metadata: nothingKnown(), status: 'waiting', error: null });
}

// The search in the history.

/** @param {State} state @param {Partial<Looking>} wishes @returns {State} */
export function sought(state, wishes) {
  return { ...state, looking: { ...state.looking, ...('grouped' in wishes ? {} : { count: PAGE }), ...wishes } };
}

/** @param {State} state @param {string[]} ids of scans @param {boolean} isChosen to do something with them @returns {State} */
export function chose(state, ids, isChosen) {
  const named = new Set(ids);
  const others = state.looking.chosen.filter((each) => !named.has(each));
  return { ...state, looking: { ...state.looking, chosen: isChosen ? [...others, ...ids] : others } };
}
