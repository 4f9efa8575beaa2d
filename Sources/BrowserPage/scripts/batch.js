import { Session } from './session.js';

/**
 * @typedef {object} Item
 * @property {File} file
 * @property {'waiting' | 'running' | 'done' | 'failed'} state
 * @property {import('./types.js').Scan} [scan]
 * @property {string} [thumbnail] its address
 * @property {unknown} [error]
 */

/** Several photographs at once: classified one after the other, with nothing known about the patients. */
export class Batch {
  /** Called when an item has changed. */
  changed = () => {};
  running = false;

  /** @param {File[]} files */
  constructor(files) {
    /** @type {Item[]} */
    this.items = files.map((file) => ({ file, state: 'waiting' }));
  }

  async start() {
    this.running = true;
    for (const item of this.items) {
      if (!this.running) break;
      item.state = 'running';
      this.changed();
      try {
        const session = await Session.open(item.file, 'batch-open');
        try {
          const outcome = await session.classify('batch');
          item.scan = outcome.scan;
          item.thumbnail = URL.createObjectURL(outcome.scan.thumbnail);
          item.state = 'done';
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

  /** What is running still ends; what waits is left. */
  stop() {
    this.running = false;
  }
}
