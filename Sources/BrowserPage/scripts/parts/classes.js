import palette from '../../palette.json';

/**
 * A class's colour for both themes, as CSS.
 * @param {string} id
 * @param {number} index of the class among the model's, for one that the palette does not know
 */
export function classColor(id, index) {
  const name = id in palette.classes ? id : `other-${index % palette.others.length}`;
  return `var(--class-${name})`;
}

/**
 * A model's classes from the likeliest down, each with its place among the model's.
 * @template {{class: string}} Class
 * @param {Class[]} classes
 * @param {Record<string, number>} probabilities
 */
export function ranked(classes, probabilities) {
  return classes.map((each, index) => ({ ...each, index })).sort((first, second) => probabilities[second.class] - probabilities[first.class]);
}
