import drawings from '../drawings.json';
import facts from '../facts.js';
import { h, s } from '../dom.js';
import { icon } from '../icons.js';
import { formatNumber, formatShare, t, texts } from '../texts.js';
import { classColor } from '../parts/classes.js';
import { disclaimer } from '../parts/dialog.js';
import { backLink, factList, table } from '../parts/pieces.js';

/** @param {keyof typeof drawings.abcde} letter of the ABCDE rule @param {string} label */
function drawing(letter, label) {
  return s('svg', { class: 'drawing', viewBox: '0 0 80 80', role: 'img', 'aria-label': label },
    drawings.abcde[letter].map(([tag, attributes]) => s(/** @type {'path'} */ (tag), /** @type {any} */ (attributes))));
}

/**
 * A value with its interval: a share in percent, unless another format is given.
 * @param {{value: number, interval: [number, number] | null}} figure
 * @param {(value: number) => string} [format]
 */
function withInterval({ value, interval }, format = formatShare) {
  return interval ? t('learn.interval', { value: format(value), low: format(interval[0]), high: format(interval[1]) }) : format(value);
}

function limits() {
  const { figures } = facts;
  return h('section', { class: 'card stack', id: 'limits' }, h('h2', {}, t('learn.limitsTitle')),
    h('ul', {}, texts('learn.limits').map((/** @type {string} */ text) => h('li', {}, text))),
    h('h3', {}, t('learn.figuresTitle')),
    figures ? [
      h('p', {}, t(figures.crossFitted ? 'learn.figuresLead' : 'learn.figuresLeadStored', { n: figures.n, lesions: figures.lesions })),
      factList(Object.entries(figures.overall).map(([key, figure]) =>
        // An area under a curve is no share of anything; the others are.
        [t(`learn.figures.${key}`), h('span', { class: 'numbers' },
          withInterval(figure, key === 'macroAUROC' ? (value) => formatNumber(value, 2, 2) : formatShare))])),
      table({ 'aria-label': t('learn.recallTitle') }, [t('effect.class'), t('learn.photographs'), t('learn.recall')],
        Object.entries(figures.recall).map(([id, { n, recall, interval }]) => [texts('classes')[id] ?? id, String(n),
          withInterval({ value: recall, interval })]),
        t('learn.recallTitle')),
      h('p', { class: 'small soft' }, t('learn.figuresTrust')),
    ] : h('p', {}, t('learn.noFigures')));
}

/** @param {string} [id] a class @returns {View} */
export function learnView(id) {
  const classes = texts('learn.classes');
  if (id && Object.hasOwn(classes, id)) return classPage(id, classes[id]);
  return {
    title: t('tabs.learn'),
    content: h('div', { class: 'view stack wide' },
      h('div', { class: 'stack close measure' }, h('h1', {}, t('learn.title')), h('p', { class: 'lead soft' }, t('learn.lead'))),
      h('section', { class: 'stack' }, h('h2', {}, t('learn.abcdeTitle')), h('p', { class: 'measure' }, t('learn.abcdeLead')),
        h('ul', { role: 'list', class: 'abcde' }, texts('learn.abcde').map((/** @type {any} */ sign) => h('li', { class: 'card' },
          drawing(sign.letter, sign.drawing),
          h('div', { class: 'stack close' }, h('h3', {}, `${sign.letter}\u00a0·\u00a0${sign.title}`), h('p', {}, sign.text)))))),
      h('section', { class: 'stack' }, h('h2', {}, t('learn.classesTitle')), h('p', { class: 'measure' }, t('learn.classesLead')),
        h('ul', { role: 'list', class: 'class-cards' }, Object.entries(classes).map(([key, { kind, short }]) => h('li', {},
          h('a', { class: 'card class-card', href: `#learn/${key}` },
            h('span', { class: 'class-dot', style: { '--bar': classColor(key, 0) }, 'aria-hidden': 'true' }),
            h('span', { class: 'stack close grow' }, h('span', { class: 'strong' }, texts('classes')[key]),
              h('span', { class: 'small' }, short), h('span', { class: 'small soft' }, kind)), icon('forward')))))),
      ...texts('learn.articles').map((/** @type {{title: string, paragraphs: string[]}} */ article) =>
        h('section', { class: 'card stack' }, h('h2', {}, article.title), ...article.paragraphs.map((text) => h('p', { class: 'measure' }, text)))),
      limits(), disclaimer()),
  };
}

/** @param {string} id @param {{kind: string, short: string, paragraphs: string[], signs: string[]}} lesion */
function classPage(id, { kind, short, paragraphs, signs }) {
  const name = texts('classes')[id];
  const recall = facts.figures?.recall[id];
  return {
    title: name,
    content: h('div', { class: 'view stack wide' },
      backLink('learn', t('learn.back')),
      h('div', { class: 'stack close measure' },
        h('h1', { class: 'row' }, h('span', { class: 'class-dot large', style: { '--bar': classColor(id, 0) }, 'aria-hidden': 'true' }), name),
        h('p', { class: 'lead' }, short), h('p', { class: 'soft' }, kind)),
      h('section', { class: 'card stack' }, h('h2', {}, t('learn.about')), ...paragraphs.map((text) => h('p', { class: 'measure' }, text)),
        h('h3', {}, t('learn.signs')), h('ul', {}, signs.map((sign) => h('li', {}, sign)))),
      recall ? h('section', { class: 'card stack close' }, h('h2', {}, t('learn.howWell')),
        h('p', {}, t('learn.recallSentence', { value: withInterval({ value: recall.recall, interval: recall.interval }), n: recall.n }))) : null,
      disclaimer()),
  };
}
