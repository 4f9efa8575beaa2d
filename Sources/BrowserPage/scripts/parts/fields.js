import { h, uniqueID } from '../dom.js';

/** @param {string} label @param {HTMLElement} field @param {...Child} more @returns a field with its label over it */
export function labelled(label, field, ...more) {
  field.id ||= uniqueID('field');
  return h('div', { class: 'stack close' }, h('label', { class: 'label', for: field.id }, label), field, ...more);
}

/** @param {string} label @param {HTMLElement} field @param {...Child} more @returns a field with its label before it */
export function fieldRow(label, field, ...more) {
  field.id ||= uniqueID('field');
  return h('div', { class: 'field-row' }, h('label', { for: field.id }, label), field, ...more);
}

/** @param {string} label @param {boolean} isOn @param {(isOn: boolean) => void} changed */
export function switchRow(label, isOn, changed) {
  const box = h('input', { type: 'checkbox', role: 'switch', class: 'switch', checked: isOn, onchange: () => changed(box.checked) });
  return h('label', { class: 'switch-row' }, box, h('span', {}, label));
}

/** The field in which a person chooses files; a button opens it. The same file can be chosen twice. */
export function filePicker(/** @type {Record<string, unknown>} */ attributes, /** @type {(files: File[]) => unknown} */ chosen) {
  const picker = h('input', { type: 'file', class: 'visually-hidden', tabindex: -1, 'aria-hidden': 'true', ...attributes, onchange: () => {
    const files = [...(picker.files ?? [])];
    picker.value = '';
    if (files.length > 0) chosen(files);
  } });
  return picker;
}
