import { nothingKnown } from './parts/metadata-form.js';
import { newID } from './history/identity.js';
import { THUMBNAIL_SIDE, Session } from './session.js';
import { readTable, imageID } from './tables.js';

/** The order in which risks are looked at. */
const URGENCY = ['high', 'moderate', 'low'];

/** One photograph of a list. */
export class Item {
  id = newID();
  /** @type {'waiting' | 'running' | 'done' | 'failed'} */
  state = 'waiting';
  metadata = nothingKnown();
  /** @type {import('./types.js').Scan | undefined} */
  scan;
  /** Whether the scan lies in the history as it is. */
  saved = false;
  /** The thumbnail's address. */
  thumbnail = '';
  /** @type {unknown} */
  error;

  /** @param {File} file */
  constructor(file) {
    this.file = file;
  }

  /**
   * Takes what was entered and answered for the photograph.
   * @param {Session} session
   */
  take(session) {
    this.scan = session.scan;
    this.saved = session.saved;
    this.metadata = JSON.parse(/** @type {any} */ (session.outcome).metadata);
    this.state = 'done';
    this.error = undefined;
    if (!this.thumbnail) this.thumbnail = URL.createObjectURL(this.scan.thumbnail);
  }
}

/** Several photographs at once, classified one after the other. */
export class Batch {
  /** Called when an item has changed. */
  changed = () => {};
  running = false;
  /** @type {'given' | 'risk'} */
  order = 'given';
  /**
   * What became of the table of patients.
   * @type {{name: string, used: number, columns: boolean} | undefined}
   */
  table;

  /** @param {File[]} files */
  constructor(files) {
    this.items = files.map((file) => new Item(file));
  }

  /** What would be lost with the list. */
  get unsaved() {
    return this.items.filter(({ scan, saved }) => scan && !saved);
  }

  /** The items in the order that the person wants. */
  get sorted() {
    if (this.order === 'given') return this.items;
    const rank = (/** @type {Item} */ { scan, state }) => {
      const level = URGENCY.indexOf(scan?.result.risk ?? '');
      return level >= 0 ? level : URGENCY.length + (state === 'done' ? 0 : 1);
    };
    return [...this.items].sort((first, second) => rank(first) - rank(second));
  }

  /**
   * Takes age, sex and place from a table with the command line's columns; what was classified otherwise is done again.
   * A bad cell costs its photograph.
   * @param {File} file
   */
  async useTable(file) {
    const { rows, columns } = readTable(await file.text());
    this.table = { name: file.name, used: 0, columns };
    for (const item of this.items) {
      const row = rows.get(imageID(item.file.name));
      if (!row) continue;
      this.table.used += 1;
      if (row.flaw) {
        item.state = 'failed';
        item.scan = undefined;
        item.error = Object.assign(new Error(`${file.name}, ${row.flaw}`), { code: 'table_cell' });
      } else if (JSON.stringify(row.metadata) !== JSON.stringify(item.metadata) || item.state === 'failed') {
        item.metadata = row.metadata;
        item.state = 'waiting';
      }
    }
    if (!this.running && this.items.some(({ state }) => state === 'waiting') && this.items.some(({ state }) => state !== 'waiting')) this.start();
    this.changed();
  }

  async start() {
    this.running = true;
    for (let item = this.#next(); item && this.running; item = this.#next()) {
      item.state = 'running';
      this.changed();
      try {
        const session = await Session.open(item.file, 'batch-open');
        try {
          session.belongTo(item);
          await session.classify('batch', THUMBNAIL_SIDE);
        } finally {
          session.preview.close();
        }
      } catch (error) {
        item.error = error;
        item.state = 'failed';
      }
      this.changed();
    }
    this.running = false;
    this.changed();
  }

  #next() {
    return this.items.find(({ state }) => state === 'waiting');
  }

  /** What is running still ends; what waits is left. */
  stop() {
    this.running = false;
  }
}
