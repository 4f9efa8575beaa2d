import { app } from './app.js';
import { Batch } from './batch.js';
import { isCancelled } from './engine/client.js';
import { confirmAction } from './parts/dialog.js';
import { Session } from './session.js';
import { t } from './texts.js';
import { riskWords, summary } from './wording.js';

/**
 * What is being worked on in the Scan view. It is kept while other views are looked at; the views only show it.
 */
export const work = {
  /**
   * A photograph on its way from the file.
   * @type {{name: string} | undefined}
   */
  opening: undefined,
  /**
   * Why the last photograph could not be opened.
   * @type {{name: string, error: unknown} | undefined}
   */
  problem: undefined,
  /** @type {Session | undefined} */
  session: undefined,
  /** @type {Batch | undefined} */
  batch: undefined,

  /** The place that shows it. */
  get place() {
    if (work.session) return `scan/${work.session.step}`;
    return work.batch ? 'scan/list' : 'scan';
  },
};

/** @param {File} file */
export function isTable(file) {
  return file.type === 'text/csv' || /\.(csv|tsv)$/i.test(file.name);
}

/** Whether something would be lost if the page were closed now. */
export function unsaved() {
  return Boolean(work.session?.hasUnsaved || work.batch?.unsaved.length);
}

let asking = false;

/**
 * Asks before what is not in the history is let go of.
 * @param {{session?: boolean, batch?: boolean}} lost what goes
 */
async function mayDiscard({ session = false, batch = false }) {
  const count = batch ? work.batch?.unsaved.length ?? 0 : 0;
  // What was answered for a photograph of the list stays in the list.
  const result = session && work.session?.hasUnsaved && (!work.session.item || work.session.isStale);
  if (!result && count === 0) return true;
  if (asking) return false;
  asking = true;
  try {
    if (count > 0) return await confirmAction(t('batch.closeTitle'), t('batch.closeText', { count }), t('scan.discard'));
    return work.session?.outcome ? await confirmAction(t('scan.discardTitle'), t('scan.discardText'), t('scan.discard'))
      : await confirmAction(t('scan.discardDetailsTitle'), t('scan.discardDetailsText'), t('scan.discard'));
  } finally {
    asking = false;
  }
}

function dropSession() {
  work.session?.release();
  work.session = undefined;
}

function dropBatch() {
  work.batch?.stop();
  work.batch = undefined;
}

/**
 * Opens one photograph, or begins a list of several. A table of what is known of the patients goes to the list.
 * @param {File[]} files
 */
export async function take(files) {
  const tables = files.filter(isTable);
  const photographs = files.filter((file) => !isTable(file));
  if (work.opening || files.length === 0) return;
  if (photographs.length === 0) {
    if (!work.batch) work.problem = { name: tables[0].name, error: Object.assign(new Error('no list'), { code: 'table_without_list' }) };
    else await work.batch.useTable(tables[0]);
    return app.go(work.batch ? 'scan/list' : 'scan');
  }
  const isList = photographs.length > 1 || tables.length > 0;
  if (!await mayDiscard({ session: true, batch: isList })) return;
  work.problem = undefined;
  dropSession();
  if (!isList) return openOne(photographs[0]);
  dropBatch();
  const batch = new Batch(photographs);
  work.batch = batch;
  if (tables.length > 0) await batch.useTable(tables[0]);
  batch.start();
  app.go('scan/list');
}

/** @param {File} file */
async function openOne(file) {
  const opening = { name: file.name };
  work.opening = opening;
  app.go('scan');
  try {
    const session = await Session.open(file);
    if (work.opening !== opening) return session.release();
    work.session = session;
    work.opening = undefined;
    app.go('scan/review');
  } catch (error) {
    if (work.opening !== opening) return;
    work.opening = undefined;
    if (!isCancelled(error)) work.problem = { name: file.name, error };
    app.go('scan');
  }
}

/** Gives up the photograph that is being opened. */
export function cancelOpening() {
  work.opening = undefined;
  app.engine.cancel('open');
  app.refresh({ focus: true });
}

/**
 * Goes on with a scan of the history: its photograph, and what is known of it.
 * @param {Session} session
 */
export async function resume(session) {
  if (!await mayDiscard({ session: true })) return session.release();
  dropSession();
  work.session = session;
  app.go('scan/details');
}

/**
 * Lets go of the photograph, after a question where something would be lost.
 * @param {string} [next] where the person goes
 */
export async function discard(next = 'scan') {
  if (!await mayDiscard({ session: true })) return;
  dropSession();
  app.go(next === 'scan' && work.batch ? 'scan/list' : next, true);
}

export async function closeBatch() {
  if (!await mayDiscard({ session: work.session?.item !== undefined, batch: true })) return;
  if (work.session?.item) dropSession();
  dropBatch();
  app.go('scan', true);
}

/**
 * Has the photograph classified and shows the result, wherever in the Scan view the person is then.
 * @param {Session} session
 */
export async function run(session) {
  session.failure = undefined;
  session.step = 'result';
  const running = session.classify();
  app.go('scan/result');
  try {
    const { scan } = await running;
    if (work.session !== session) return;
    app.refresh({ focus: true });
    app.announce(spoken(scan));
  } catch (error) {
    if (isCancelled(error) || work.session !== session) return;
    session.failure = error;
    app.refresh({ focus: true });
  }
}

/**
 * Takes an analysis back: the person is where it began.
 * @param {Session} session
 */
export function cancelRun(session) {
  session.cancel();
  app.go(session.outcome && session.item ? 'scan/result' : 'scan/details', true);
}

/** @param {import('./batch.js').Item} item */
export async function openItem(item) {
  if (work.opening || !await mayDiscard({ session: true })) return;
  dropSession();
  const opening = { name: item.file.name };
  work.opening = opening;
  app.refresh();
  try {
    const session = await Session.open(item.file);
    if (work.opening !== opening) return session.release();
    session.belongTo(item);
    work.session = session;
    work.opening = undefined;
    await run(session);
  } catch (error) {
    if (work.opening !== opening) return;
    work.opening = undefined;
    if (!isCancelled(error)) item.error = error;
    app.refresh();
  }
}

/**
 * The result as one hears it: the sentence, the risk's word and what to do.
 * @param {import('./types.js').Scan} scan
 */
export function spoken({ result, classes }) {
  if (result.abstain) return t('result.abstains');
  const { word, sentence } = riskWords(result);
  return [summary(result, classes), `${word}.`, sentence].join(' ');
}
