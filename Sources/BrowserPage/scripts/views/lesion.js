import { app } from '../app.js';
import { download, fileName, h } from '../dom.js';
import { baseName } from '../exports.js';
import { icon } from '../icons.js';
import { disclaimer, message } from '../parts/dialog.js';
import { fieldRow } from '../parts/fields.js';
import { backLink } from '../parts/pieces.js';
import { probabilityChart } from '../parts/probability-chart.js';
import { scanSummary, thumbnails } from '../parts/scan-summary.js';
import { calendarOf } from '../reminder.js';
import { formatDate, formatDuration, t } from '../texts.js';
import { missingRecord } from './record.js';

/** After so many months somebody may want to look again. */
const MONTHS = [1, 3, 6, 12];

/**
 * All scans of a lesion: its photographs in a row, and what was answered over time.
 * @param {string} id one of its scans
 * @returns {Promise<View>}
 */
export async function lesionView(id) {
  const { rows: all } = await app.history.list();
  // An address that an older page wrote has the name.
  const name = all.find((row) => row.id === id)?.lesion ?? id;
  const rows = all.filter(({ lesion }) => name !== '' && lesion === name).reverse();
  const scans = await app.history.scans(rows.map(({ id }) => id));
  if (scans.length === 0) return { title: t('record.missing'), content: missingRecord() };
  const pictures = thumbnails();
  const answered = scans.filter(({ result }) => !result.abstain);
  const [first, last] = [scans[0], scans[scans.length - 1]];
  const passed = Date.parse(last.created) - Date.parse(first.created);
  const compare = (/** @type {typeof first} */ one, /** @type {typeof first} */ other, /** @type {string} */ words) =>
    h('a', { class: 'button', href: `#compare/${one.id}/${other.id}` }, icon('compare'), words);
  return {
    title: name, leave: pictures.forget,
    content: h('div', { class: 'view stack wide' },
      backLink('history', t('record.back')),
      h('div', { class: 'stack close' }, h('h1', { class: 'file-name' }, fileName(name)),
        h('p', { class: 'soft' }, t('history.scans', { count: scans.length }),
          passed < 60_000 ? null : `, ${t('lesion.over', { duration: formatDuration(passed) })}`)),
      h('ol', { role: 'list', class: 'film-strip', tabindex: 0, 'aria-label': t('lesion.strip') }, rows.map((row) =>
        h('li', {}, h('a', { class: 'scan-card', href: `#history/${row.id}` }, scanSummary(row, pictures.of(row.id)))))),
      scans.length < 2 ? h('p', { class: 'soft' }, t('record.timeLineHint')) : h('div', { class: 'row' },
        compare(first, last, t('lesion.compareFirst')),
        scans.length > 2 ? compare(scans[scans.length - 2], last, t('lesion.compareLast')) : null),
      answered.length > 0 ? h('section', { class: 'card stack' }, h('h2', {}, t('lesion.chart')), probabilityChart(answered),
        answered.length < scans.length ? h('p', { class: 'small soft' }, t('lesion.abstained', { count: scans.length - answered.length })) : null) : null,
      message('notice', t('compare.caution')), reminder(name), disclaimer()),
  };
}

/** A file for the person's own calendar. */
function reminder(/** @type {string} */ name) {
  const months = h('select', { class: 'input' }, MONTHS.map((count) => h('option', { value: count, selected: count === 3 }, t('lesion.months', { count }))));
  const until = () => {
    const day = new Date();
    day.setMonth(day.getMonth() + Number(months.value));
    return day;
  };
  const date = h('span', { class: 'soft' });
  const tell = () => { date.textContent = formatDate(until(), false); };
  months.addEventListener('change', tell);
  tell();
  return h('section', { class: 'card stack' }, h('h2', {}, t('lesion.reminder')), h('p', { class: 'soft' }, t('lesion.reminderLead')),
    fieldRow(t('lesion.in'), months, date),
    h('div', {}, h('button', { class: 'button', onclick: () => download(`${baseName(name)}.ics`,
      new Blob([calendarOf({ day: until(), title: t('lesion.event', { name }),
        text: `${t('compare.caution')} ${app.facts.disclaimer}` })], { type: 'text/calendar' })) },
    icon('export'), t('lesion.calendar'))));
}
