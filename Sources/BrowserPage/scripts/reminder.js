import { newID } from './history/records.js';

/** A line of a calendar has at most so many bytes (RFC 5545, 3.1). */
const LINE_BYTES = 75;
const encoder = new TextEncoder();

/** @param {string} text as RFC 5545, 3.3.11, writes it */
function escaped(text) {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');
}

/** A line broken where it is too long; no character is cut. */
function folded(/** @type {string} */ line) {
  let [text, bytes] = ['', 0];
  for (const character of line) {
    const { length } = encoder.encode(character);
    if (bytes + length > LINE_BYTES) [text, bytes] = [`${text}\r\n `, 1];
    text += character;
    bytes += length;
  }
  return text;
}

/** A calendar with one event, a whole day. */
export function calendarOf(/** @type {{day: Date, title: string, text: string, now?: Date}} */ { day, title, text, now = new Date() }) {
  const digits = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const date = `${day.getFullYear()}${digits(day.getMonth() + 1)}${digits(day.getDate())}`;
  return [
    'BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//DermaFusion//page//EN', 'BEGIN:VEVENT', `UID:${newID()}@dermafusion`,
    `DTSTAMP:${now.toISOString().replace(/[-:]|\.\d+/g, '')}`, `DTSTART;VALUE=DATE:${date}`, `SUMMARY:${escaped(title)}`, `DESCRIPTION:${escaped(text)}`,
    'END:VEVENT', 'END:VCALENDAR',
  ].map((line) => `${folded(line)}\r\n`).join('');
}
