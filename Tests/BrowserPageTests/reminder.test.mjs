// The calendar file of a reminder.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const page = await load('reminder.js');

test('a calendar has one event of a whole day, in lines that every calendar reads', () => {
  const title = 'Wieder fotografieren: Fleck; links, oben \\ „außen“ 🙂'.repeat(4);
  const text = page.calendarOf({ day: new Date(2027, 0, 5), title, text: `a\nb ${'ä'.repeat(200)}`, now: new Date('2026-11-26T17:30:00.123Z') });
  assert(text.endsWith('END:VCALENDAR\r\n') && text.split('\r\n').every((/** @type {string} */ line) => !line.includes('\n')));
  for (const line of text.split('\r\n')) assert(Buffer.byteLength(line) <= 75, line);
  // Unfolded and unescaped it says what it was given.
  const fields = Object.fromEntries(text.replaceAll('\r\n ', '').trim().split('\r\n').map((/** @type {string} */ line) => line.split(/:(.*)/s).slice(0, 2)));
  const plain = (/** @type {string} */ value) => value.replaceAll('\\n', '\n').replace(/\\([\\;,])/g, '$1');
  assert.equal(plain(fields.SUMMARY), title);
  assert.equal(plain(fields.DESCRIPTION), `a\nb ${'ä'.repeat(200)}`);
  assert.equal(fields['DTSTART;VALUE=DATE'], '20270105');
  assert.equal(fields.DTSTAMP, '20261126T173000Z');
  assert.match(fields.UID, /^[0-9a-f]{32}@dermafusion$/);
});
