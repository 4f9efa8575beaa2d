import { FIRST } from './state.js';
import { moved } from './transitions.js';

let state = FIRST;
/** @type {Set<() => void>} */
const listeners = new Set();

/** The one state of the page. Only transitions change it; views listen to it. */
export const store = {
  get state() {
    return state;
  },

  /**
   * Something happened.
   * @template {unknown[]} Facts
   * @param {(state: State, ...facts: Facts) => State} transition
   * @param {Facts} facts
   */
  apply(transition, ...facts) {
    const next = transition(state, ...facts);
    if (next === state) return;
    state = next;
    for (const listener of [...listeners]) listener();
  },

  /** @param {() => void} listener called after each change @returns {() => void} ends it */
  listen(listener) {
    listeners.add(listener);
    return () => { listeners.delete(listener); };
  },

  /**
   * @param {(state: State) => unknown[]} select
   * @param {() => void} listener called after each change of one of the values that are selected
   * @returns {() => void} ends it
   */
  watch(select, listener) {
    let seen = select(state);
    return store.listen(() => {
      const before = seen;
      seen = select(state);
      if (seen.length !== before.length || seen.some((value, index) => value !== before[index])) listener();
    });
  },
};

/**
 * Leads the person to another place.
 * @param {string} place `scan`, `history/ID`, ...
 */
export function go(place) {
  store.apply(moved, place);
}
