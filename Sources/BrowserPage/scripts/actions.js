import { app } from './app.js';
import { classify, closePhotograph, lacksEffect, openPhotograph, requestEffect } from './analysis.js';
import { isCancelled } from './engine/client.js';
import { centreSquare } from './engine/decode.js';
import { EngineError } from './engine/module.js';
import { sorted } from './files.js';
import { newID } from './history/records.js';
import { confirmAction } from './parts/dialog.js';
import { keptSquare } from './parts/crop-geometry.js';
import { saveScan } from './parts/saving.js';
import { currentScan, lossOf, recordOf, unsavedItems } from './state.js';
import { go, store } from './store.js';
import { t } from './texts.js';
import * as happens from './transitions.js';
import { riskWords, summary } from './wording.js';

/**
 * The person's actions in the Scan view: each asks the engine, the history or the person, and tells the store what
 * happened.
 */

let asking = false;

/** Asks before what is not in the history is let go of. */
async function mayDiscard(/** @type {{work?: boolean, list?: boolean}} */ dropped) {
  const { kind, count } = lossOf(store.state, dropped);
  if (kind === 'nothing') return true;
  if (asking) return false;
  asking = true;
  try {
    const question = { list: 'batch.close', result: 'scan.discard', details: 'scan.discardDetails' }[kind];
    return await confirmAction(t(`${question}Title`), t(`${question}Text`, { count }), t('scan.discard'));
  } finally {
    asking = false;
  }
}

/** Gives back what the photograph that is worked on takes of the engine and of memory. */
function closeWork() {
  const { work } = store.state;
  if (work) closePhotograph(work.photograph);
}

/** Opens one photograph, or begins a list of several. A table of what is known of the patients goes to the list. */
export async function openFiles(/** @type {File[]} */ files) {
  const { photographs, tables } = sorted(files);
  const { opening, list } = store.state;
  if (opening || files.length === 0) return;
  if (photographs.length === 0) {
    if (list) await useTables(tables);
    else store.apply(happens.openingFailed, { name: tables[0].name, error: new EngineError('table_without_list', 'no list') });
    return go(list ? 'scan/list' : 'scan');
  }
  const isList = photographs.length > 1 || tables.length > 0;
  if (!await mayDiscard({ work: true, list: isList })) return;
  closeWork();
  if (!isList) {
    await openWork(photographs[0], (photograph) => happens.workOf(photograph, newID(), centreSquare(photograph)), 'scan');
    return;
  }
  store.apply(happens.listBegun, photographs.map((file) => ({ id: newID(), file })));
  if (tables.length > 0) await useTables(tables);
  else runList();
}

/**
 * Opens a file to work on it.
 * @param {File} file
 * @param {(photograph: Photograph) => Work} workOf
 * @param {string} place where the person waits
 * @returns {Promise<boolean>} true if it is what is worked on now
 */
async function openWork(file, workOf, place) {
  const opening = { name: file.name };
  store.apply(happens.openingBegun, opening);
  go(place);
  try {
    const photograph = await openPhotograph(file);
    if (store.state.opening === opening) {
      store.apply(happens.opened, workOf(photograph));
      return true;
    }
    closePhotograph(photograph);
  } catch (error) {
    if (store.state.opening !== opening) return false;
    if (isCancelled(error)) store.apply(happens.openingCancelled);
    else store.apply(happens.openingFailed, { name: file.name, error });
  }
  return false;
}

/** Gives up the photograph that is being opened. */
export function cancelOpening() {
  app.engine.cancel('open');
  store.apply(happens.openingCancelled);
}

/**
 * Goes on with a scan of the history: its photograph, and what is known of it. What fails is thrown.
 * @param {Scan} scan
 * @param {Blob} file what was kept of its photograph
 */
export async function correctScan(scan, file) {
  const photograph = await openPhotograph(new File([file], scan.name, { type: file.type }));
  if (!await mayDiscard({ work: true })) return closePhotograph(photograph);
  closeWork();
  store.apply(happens.opened, happens.workOfScan(photograph, keptSquare(scan, photograph), scan));
}

/**
 * Lets go of the photograph, after a question where something would be lost.
 * @param {string} [next] where the person goes
 */
export async function discardWork(next = 'scan') {
  if (!await mayDiscard({ work: true })) return;
  closeWork();
  store.apply(happens.discarded, next === 'scan' && store.state.list ? 'scan/list' : next);
}

/** Has the photograph classified and shows the result, wherever in the Scan view the person is then. */
export async function analyse() {
  store.apply(happens.runBegun);
  const { work } = store.state;
  if (!work) return;
  const isWanted = () => store.state.work?.running === work.running;
  try {
    const outcome = await classify(work);
    if (!isWanted()) return;
    store.apply(happens.answered, outcome);
    app.announce(spoken(outcome.scan));
  } catch (error) {
    if (isWanted() && !isCancelled(error)) store.apply(happens.runFailed, error);
  }
}

/** Takes an analysis back: the person is where it began. */
export function cancelAnalysis() {
  app.engine.cancel('analysis');
  store.apply(happens.runCancelled);
}

/** Adds to the result what age, sex and place did, where something of it is known. */
export async function loadEffect() {
  const { work } = store.state;
  if (work?.outcome && lacksEffect(work)) store.apply(happens.effectLearned, work.outcome.run, await requestEffect(work));
}

/**
 * Puts the result into the history.
 * @returns {Promise<boolean>} true if it is there
 */
export async function saveWork() {
  const { work } = store.state;
  if (!work?.outcome) return false;
  const scan = await saveScan(recordOf(work), work.photograph.source, work.outcome.square);
  if (scan) store.apply(happens.stored, scan);
  return scan !== null;
}

/** @param {Item} item */
export async function openItem(item) {
  if (store.state.opening || !await mayDiscard({ work: true })) return;
  closeWork();
  const isOpen = await openWork(item.file, (photograph) => happens.workOfItem(photograph, centreSquare(photograph), item), 'scan/list');
  if (isOpen) await analyse();
}

/** Classifies what waits in the list, one after the other. */
export async function runList() {
  store.apply(happens.listStarted);
  const running = store.state.list?.running;
  for (;;) {
    const { list } = store.state;
    if (!list || list.running !== running) return;
    const item = list.items.find(({ status }) => status === 'waiting');
    if (!item) break;
    await classifyItem(item);
  }
  store.apply(happens.listChanged, { running: 0 });
}

/** @param {Item} item */
async function classifyItem(item) {
  store.apply(happens.itemBegun, item.id);
  try {
    const photograph = await openPhotograph(item.file, 'list-open');
    try {
      const outcome = await classify(happens.workOfItem(photograph, centreSquare(photograph), item), 'list');
      store.apply(happens.itemAnswered, item.id, outcome);
    } finally {
      photograph.preview.close();
    }
  } catch (error) {
    store.apply(happens.itemFailed, item.id, isCancelled(error) ? null : error);
  }
}

/**
 * Takes age, sex and place of the list's photographs from a table with the command line's columns, and classifies what it
 * changes. Of several tables none is taken: what they contradict each other in, the page cannot decide.
 * @param {File[]} files
 */
export async function useTables(files) {
  const [file] = files;
  try {
    store.apply(happens.listChanged, { problem: null });
    if (files.length > 1) throw new EngineError('several_tables', 'several tables');
    const list = /** @type {List} */ (store.state.list);
    const images = list.items.map((item) => item.file.name);
    const table = await app.engine.request('table', { bytes: await file.arrayBuffer(), name: file.name, images });
    // A list that was closed, or another one, does not take it.
    if (store.state.list?.items.length !== images.length || store.state.list.items[0].id !== list.items[0].id) return;
    store.apply(happens.tableRead, file.name, table);
  } catch (error) {
    store.apply(happens.listChanged, { problem: { name: files.map(({ name }) => name).join(', '), error } });
    return;
  }
  if (!store.state.list.running && store.state.list.items.some(({ status }) => status === 'waiting')) runList();
}

/** Classifies a photograph whose row in the table cannot be read, without what the row says. */
export async function leaveDetailsOut(/** @type {Item} */ item) {
  store.apply(happens.detailsLeftOut, item.id);
  if (!store.state.list?.running) await runList();
}

/** Puts all results of the list into the history. */
export async function saveList() {
  for (const item of unsavedItems(store.state.list)) {
    const { id, file } = item;
    const scan = currentScan(item);
    if (!scan) continue;
    const saved = await saveScan(scan, { key: `list-${id}`, blob: file }, scan.square);
    if (!saved) return;
    store.apply(happens.stored, saved);
  }
}

export async function closeList() {
  const isOpen = Boolean(store.state.work?.item);
  if (!await mayDiscard({ work: isOpen, list: true })) return;
  if (isOpen) closeWork();
  store.apply(happens.listClosed);
}

/** The result as one hears it: the sentence, the risk's word and what to do. */
function spoken(/** @type {Scan} */ { result }) {
  if (result.abstain) return t('result.abstains');
  const { word, sentence } = riskWords(result);
  return [summary(result), `${word}.`, sentence].join(' ');
}
