// What can happen to the page, without a page: transitions of its state.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const page = await load('state.js', 'transitions.js');

const square = { left: 0, top: 0, side: 400 };
const photograph = (/** @type {string} */ name) => ({ name, file: { name }, source: { key: name, blob: new Blob() }, width: 600, height: 400, reduced: false, preview: {} });
const scan = (/** @type {object} */ changes = {}) => ({
  id: 'a', created: '2026-05-06T07:08:09.000Z', name: 'a.jpg', lesion: '', note: '', reduced: false, classes: [], kept: 'whole', thumbnail: new Blob(),
  square: { ...square, width: 600, height: 400, moved: false },
  result: { probabilities: { mel: 0.25, nv: 0.75 }, metadata: { age: null, sex: 'unknown', site: 'unknown', missing: [] }, risk: 'low' },
  ...changes,
});
/** The engine's answer to what is entered. */
const answer = (/** @type {any} */ { work }, /** @type {object} */ probabilities = { mel: 0.25, nv: 0.75 }) => ({
  scan: scan({ id: work.id, result: { ...scan().result, probabilities, metadata: { ...work.metadata, missing: [] } }, square: { ...work.square, width: 600, height: 400, moved: work.moved } }),
  picture: {}, maps: [], milliseconds: { decode: 1, engine: 1 }, metadata: work.metadata, square: work.square, run: work.running,
});
const opened = () => page.opened(page.FIRST, page.workOf(photograph('a.jpg'), 'a', square));
const answered = (/** @type {any} */ state) => {
  const running = page.runBegun(state);
  return page.answered(running, answer(running));
};
const known = (/** @type {number} */ age) => ({ age, sex: 'male', site: 'back' });
const listOf = (/** @type {string[]} */ ...names) => page.listBegun(page.FIRST, names.map((name) => ({ id: name, file: { name } })));

test('one scan from file to result, saved and left', () => {
  const opening = { name: 'a.jpg' };
  let state = page.openingBegun(page.FIRST, opening);
  assert.deepEqual(page.screenOf(state), ['opening', opening]);
  state = page.opened(state, page.workOf(photograph('a.jpg'), 'a', square));
  assert.equal(state.place, 'scan/review');
  state = page.entered(page.moved(state, 'scan/details'), { metadata: known(50), valid: true });
  assert.equal(page.lossOf(state, { work: true }).kind, 'details');
  state = page.runBegun(state);
  assert.equal(page.screenOf(state)[0], 'analysis');
  state = page.answered(state, answer(state));
  assert.deepEqual([state.place, page.screenOf(state)[0], page.isStale(state.work), page.isSaved(state.work)], ['scan/result', 'result', false, false]);
  assert(page.wouldLose(state));
  state = page.stored(state, page.recordOf(state.work));
  assert(page.isSaved(state.work) && !page.wouldLose(state));
  state = page.discarded(state, 'scan');
  assert.deepEqual([state.work, state.place, state.replaced], [null, 'scan', true]);
});

test('a result is out of date where metadata or square differ, and no more when they are as they were', () => {
  const first = answered(page.entered(opened(), { metadata: known(50) }));
  const older = page.entered(first, { metadata: known(51) });
  assert(page.isStale(older.work));
  assert(!page.isStale(page.entered(older, { metadata: known(50) }).work));
  const moved = page.entered(first, { square: { left: 3, top: 0, side: 300 }, moved: true });
  assert(page.isStale(moved.work));
  assert(!page.isStale(answered(moved).work));
});

test('what is written after saving is unsaved until it is taken back', () => {
  const first = answered(opened());
  const saved = page.stored(first, page.recordOf(first.work));
  const noted = page.wrote(saved, { note: 'itches' });
  assert(!page.isSaved(noted.work));
  assert(page.isSaved(page.wrote(noted, { note: '' }).work));
  assert(page.isSaved(page.wrote(saved, { lesion: '  ' }).work), 'blanks are no name');
  assert(page.isSaved(page.effectLearned(saved, saved.work.outcome.run, {}).work), 'what the metadata did is no news to the history');
});

test('the verdict on a map belongs to its class and its analysis, and is news to the history', () => {
  const first = answered(opened());
  const saved = page.stored(first, page.recordOf(first.work));
  const { run } = saved.work.outcome;
  const failed = { passes: false };
  const checked = page.mapChecked(page.mapChecked(saved, run, 'mel', failed), run, 'nv', { passes: true });
  assert.deepEqual(page.recordOf(checked.work).trust, { mel: failed, nv: { passes: true } });
  assert(!page.isSaved(checked.work));
  assert(page.isSaved(page.stored(checked, page.recordOf(checked.work)).work));
  assert.equal(page.mapChecked(checked, run + 1, 'mel', failed), checked, 'a map of another analysis');
  const again = page.runBegun(checked);
  assert.equal(page.recordOf(page.answered(again, answer(again)).work).trust, undefined, 'a new answer has new maps');
});

test('a scan of the history that is analysed again is saved where it tells the same', () => {
  const state = page.opened(page.FIRST, page.workOfScan(photograph('a.jpg'), square, scan()));
  assert.equal(state.place, 'scan/details');
  assert(page.isSaved(answered(state).work));
  const running = page.runBegun(state);
  assert(!page.isSaved(page.answered(running, answer(running, { mel: 0.5, nv: 0.5 })).work));
});

test('a later analysis takes the place of the one before, and what it learned late is left', () => {
  const first = answered(opened());
  const second = page.runBegun(first);
  assert.notEqual(second.work.running, first.work.outcome.run);
  const after = page.answered(second, answer(second));
  assert.equal(page.effectLearned(after, first.work.outcome.run, {}), after);
  const cancelled = page.runCancelled(second);
  assert.deepEqual([cancelled.place, cancelled.work.running], ['scan/details', 0]);
});

test('an address that names what is not there leads to what is', () => {
  for (const place of ['%', 'nowhere', 'scan/result', 'scan/list', 'history/%E0%A4%A']) assert.equal(page.moved({ ...page.FIRST, place: 'learn' }, place).place, 'scan', place);
  assert.equal(page.moved(opened(), 'scan/result').place, 'scan/details');
  assert.equal(page.moved(opened(), 'history').work.step, 'review', 'the way back is kept');
  assert.equal(page.placeOfWork(page.moved(opened(), 'history')), 'scan/review');
});

test('a problem is told once', () => {
  const state = page.openingFailed(page.openingBegun(page.FIRST, { name: 'x' }), { name: 'x', error: 1 });
  assert.equal(page.screenOf(state)[0], 'landing');
  assert.equal(page.moved(state, 'learn').problem, null);
});

test('a list is classified, a table makes what it changes wait again, a bad cell costs its photograph', () => {
  let state = page.listStarted(listOf('a.jpg', 'b.jpg', 'c.jpg'));
  for (const name of ['a.jpg', 'b.jpg']) {
    const work = { ...page.workOf(photograph(name), name, square) };
    state = page.itemAnswered(page.itemBegun(state, name), name, answer({ work }));
  }
  state = page.itemFailed(state, 'c.jpg', new Error('no image'));
  assert.deepEqual(page.lossOf(state, { list: true }), { kind: 'list', count: 2 });
  const images = [page.nothingKnown(), known(5), { error: { code: 'invalidTable', message: 't.csv: line 4: the sex' } }];
  state = page.tableRead(state, 't.csv', { images, missing: ['site'], notes: [] });
  assert.deepEqual(state.list.items.map((/** @type {any} */ { status }) => status), ['done', 'waiting', 'failed']);
  assert.deepEqual(state.list.table, { name: 't.csv', used: 3, columns: true, notes: [] });
  assert.match(state.list.items[2].error.message, /^t\.csv: line 4/);
  assert.equal(state.list.items[2].error.code, 'table_cell');
  // What was answered to something else is neither shown nor saved, and its name and note are kept for the next answer.
  assert.deepEqual(state.list.items.map((/** @type {any} */ item) => page.currentScan(item) !== null), [true, false, false]);
  assert.deepEqual(page.lossOf(state, { list: true }), { kind: 'list', count: 1 });
  assert.notEqual(state.list.items[1].scan, null);
  // A person may go on without what the row says.
  const { status, metadata, error } = page.detailsLeftOut(state, 'c.jpg').list.items[2];
  assert.deepEqual([status, metadata, error], ['waiting', page.nothingKnown(), null]);
  // A later table without the row says nothing against the photograph; what was no image stays none.
  const without = (/** @type {any} */ before) => page.tableRead(before, 'u.csv', { images: [null, null, null], missing: [], notes: [] }).list.items[2];
  assert.deepEqual([without(state).status, without(state).error], ['waiting', null]);
  assert.equal(without(page.itemFailed(page.itemBegun(page.detailsLeftOut(state, 'c.jpg'), 'c.jpg'), 'c.jpg', new Error('no image'))).status, 'failed');
});

test('a table that comes while a photograph is classified makes its answer worthless', () => {
  const table = (/** @type {any[]} */ ...images) => ({ images, missing: [], notes: [] });
  const answerOf = (/** @type {string} */ name) => answer({ work: page.workOf(photograph(name), name, square) });
  const running = () => page.itemBegun(page.listStarted(listOf('a.jpg', 'b.jpg')), 'b.jpg');
  const statusOf = (/** @type {any} */ state) => state.list.items[1].status;

  let state = page.tableRead(running(), 't.csv', table(null, known(60)));
  state = page.itemAnswered(state, 'b.jpg', answerOf('b.jpg'));
  assert.equal(statusOf(state), 'waiting', 'it was answered without the table');
  assert.equal(state.list.items[1].metadata.age, 60);
  assert.equal(statusOf(page.itemFailed(state, 'b.jpg', new Error('late'))), 'waiting');
  // It is begun again while the first answer is still on its way.
  state = page.itemAnswered(page.itemBegun(state, 'b.jpg'), 'b.jpg', answerOf('b.jpg'));
  assert.equal(statusOf(state), 'waiting');

  state = page.itemAnswered(page.tableRead(running(), 't.csv', table(null, { error: { message: 'line 3' } })), 'b.jpg', answerOf('b.jpg'));
  assert.equal(statusOf(state), 'failed', 'a bad cell still costs the photograph');
  state = page.itemAnswered(page.tableRead(running(), 't.csv', table(null, page.nothingKnown())), 'b.jpg', answerOf('b.jpg'));
  assert.equal(statusOf(state), 'done', 'a table that tells nothing new changes nothing');
});

test('a table reaches the photograph of the list that is worked on', () => {
  let state = listOf('a.jpg', 'b.jpg');
  state = answered(page.opened(state, page.workOfItem(photograph('a.jpg'), square, state.list.items[0])));
  state = page.tableRead(state, 't.csv', { images: [known(70), null], missing: [], notes: [] });
  assert(page.isStale(state.work));
  assert.deepEqual(state.work.metadata, known(70));
  state = page.wrote(state, { note: 'itches' });
  assert.deepEqual([state.list.items[0].status, state.list.items[0].metadata.age], ['waiting', 70], 'the old answer does not come back');
});

test('all scans of a lesion are counted, in the order in which they come', () => {
  const scans = Array.from({ length: 60 }, (_, index) => scan({ id: String(index), lesion: index % 20 === 7 ? '' : `lesion ${index % 8}` }));
  const groups = page.groupsOf(scans);
  assert.deepEqual(groups.map((/** @type {any} */ { lesion }) => lesion).slice(0, 3), ['lesion 0', 'lesion 1', 'lesion 2']);
  assert.equal(groups.at(-1).lesion, '');
  for (const { lesion, scans: same } of groups) assert.deepEqual(same, scans.filter((each) => each.lesion === lesion), lesion);
});

test('what is answered for a photograph of the list is in the list, and what is entered only is not', () => {
  let state = listOf('a.jpg', 'b.jpg');
  state = answered(page.opened(state, page.workOfItem(photograph('a.jpg'), square, state.list.items[0])));
  assert.deepEqual([state.list.items[0].status, state.list.items[0].saved], ['done', false]);
  state = page.wrote(state, { lesion: 'left ear' });
  assert.equal(state.list.items[0].scan.lesion, 'left ear');
  assert.equal(page.lossOf(state, { work: true }).kind, 'nothing', 'it stays in the list');
  state = page.entered(state, { metadata: known(80) });
  assert.equal(page.lossOf(state, { work: true }).kind, 'result');
  state = page.stored(state, { ...state.list.items[0].scan });
  assert(state.list.items[0].saved);
  state = page.listClosed(state);
  assert.deepEqual([state.list, state.work, state.place], [null, null, 'scan']);
});

test('the list is in the order of the risks', () => {
  let state = page.listChanged(listOf('a.jpg', 'b.jpg', 'c.jpg', 'd.jpg'), { order: 'risk' });
  for (const [name, risk] of [['a.jpg', 'low'], ['c.jpg', 'high']]) {
    const work = page.workOf(photograph(name), name, square);
    const outcome = answer({ work });
    state = page.itemAnswered(page.itemBegun(state, name), name, { ...outcome, scan: { ...outcome.scan, result: { ...outcome.scan.result, risk } } });
  }
  assert.deepEqual(page.sortedItems(state.list).map((/** @type {any} */ item) => item.id), ['c.jpg', 'a.jpg', 'b.jpg', 'd.jpg']);
});

test('no transition changes what it is given', () => {
  const frozen = (/** @type {any} */ value) => {
    if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen);
    return value;
  };
  const state = frozen(answered(opened()));
  for (const next of [page.entered(state, { metadata: known(1) }), page.wrote(state, { note: 'n' }), page.stored(state, page.recordOf(state.work)), page.sought(state, { query: 'q' }), page.chose(state, ['a'], true)]) {
    assert.notEqual(next, state);
  }
});
