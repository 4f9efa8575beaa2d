import { h, s } from '../dom.js';
import { className, formatDate, formatPercent, formatShare, t } from '../texts.js';
import { classColor, ranked } from './classes.js';
import { table } from './pieces.js';

/** So many classes have a line. */
const LINES = 3;
/** The drawing's own units are the screen's pixels, so that words keep their size: it is narrower on a phone. */
const [WIDE, NARROW, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 300, 240, 56, 16, 12, 28];
/** The dashes that tell the lines apart beside their colours. */
const DASHES = ['', '8 4', '2 4'];

/**
 * The probabilities of several scans of one lesion over time, as lines and as a table. Scans of another model than the last have
 * other probabilities and are left out of the lines.
 * @param {Scan[]} scans the earliest first; none of them abstains
 */
export function probabilityChart(scans) {
  const width = matchMedia('(min-width: 48rem)').matches ? WIDE : NARROW;
  const { classes, result: { model } } = scans[scans.length - 1];
  const same = scans.filter(({ result }) => result.model.sha256 === model.sha256);
  const highest = Object.fromEntries(classes.map(({ class: id }) => [id, Math.max(...same.map(({ result }) => result.probabilities[id]))]));
  const shown = ranked(classes, highest).slice(0, LINES);
  const times = same.map(({ created }) => Date.parse(created));
  const [first, last] = [times[0], times[times.length - 1]];
  const x = (/** @type {number} */ time) => (last > first ? LEFT + (width - LEFT - RIGHT) * (time - first) / (last - first) : (LEFT + width - RIGHT) / 2);
  const y = (/** @type {number} */ share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
  const colour = (/** @type {{class: string, index: number}} */ each) => ({ '--bar': classColor(each.class, each.index) });
  const line = (/** @type {typeof shown[0]} */ each, /** @type {number} */ place) => s('g', { class: 'chart-line', style: colour(each) },
    s('polyline', { points: same.map(({ result }, index) => `${x(times[index])},${y(result.probabilities[each.class])}`).join(' '),
      'stroke-dasharray': DASHES[place] || null }),
    same.map(({ result }, index) => s('circle', { cx: x(times[index]), cy: y(result.probabilities[each.class]), r: 4 })));
  return h('figure', { class: 'stack close' },
    s('svg', { class: 'chart', viewBox: `0 0 ${width} ${HEIGHT}`, style: { 'max-inline-size': `${width}px` }, role: 'img', 'aria-label': t('lesion.chart') },
      [0, 0.5, 1].map((share) => [s('path', { class: 'chart-grid', d: `M${LEFT} ${y(share)}H${width - RIGHT}` }),
        s('text', { class: 'chart-text', x: LEFT - 8, y: y(share) + 4, 'text-anchor': 'end' }, formatShare(share, 0))]).flat(),
      s('text', { class: 'chart-text', x: x(first), y: HEIGHT - 8, 'text-anchor': last > first ? 'start' : 'middle' }, formatDate(first, false)),
      last > first ? s('text', { class: 'chart-text', x: x(last), y: HEIGHT - 8, 'text-anchor': 'end' }, formatDate(last, false)) : null,
      shown.map(line)),
    h('figcaption', { class: 'stack close' },
      h('ul', { role: 'list', class: 'chart-key' }, shown.map((each, place) => h('li', {},
        s('svg', { class: 'chart-sample', viewBox: '0 0 32 8', 'aria-hidden': 'true' },
          s('g', { class: 'chart-line', style: colour(each) }, s('path', { d: 'M0 4H32', 'stroke-dasharray': DASHES[place] || null }))),
        className(each.class, each.name)))),
      same.length < scans.length ? h('p', { class: 'small soft' }, t('lesion.otherModels', { count: scans.length - same.length })) : null,
      table({ 'aria-label': t('lesion.chart') }, [t('facts.date'), ...shown.map((each) => className(each.class, each.name))],
        same.map(({ created, result }) => [formatDate(created), ...shown.map((each) => formatPercent(result.probabilities[each.class]))]))));
}
