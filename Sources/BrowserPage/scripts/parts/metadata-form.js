import { h, replace, uniqueID } from '../dom.js';
import { siteName, t } from '../texts.js';
import { bodyMap } from './body-map.js';
import { message } from './dialog.js';

/** The place of the slider while no age is given. */
export const UNKNOWN_AGE = 50;

/**
 * Age, sex and place.
 * @param {Description | undefined} description whose sexes and sites are offered
 * @param {Metadata} start
 * @param {(metadata: Metadata, valid: boolean) => void} changed
 */
export function metadataForm(description, start, changed) {
  const metadata = { ...start };
  let valid = true;
  const report = () => changed({ ...metadata }, valid);
  const age = ageField(start.age, (years, isValid) => {
    valid = isValid;
    metadata.age = years;
    report();
  });
  const name = uniqueID('sex');
  const sexes = h('fieldset', { class: 'stack close' },
    h('legend', { class: 'label' }, t('metadata.sex')),
    h('div', { class: 'choices inline' }, (description?.sexes ?? []).map((sex) =>
      h('label', { class: 'choice' },
        h('input', { type: 'radio', name, value: sex, checked: sex === metadata.sex, onchange: () => {
          metadata.sex = sex;
          report();
        } }),
        h('span', {}, t(`metadata.sexes.${sex}`))))));
  return h('div', { class: 'stack wide metadata-form' }, age, sexes,
    bodyMap(description?.pickerSites ?? [], metadata.site, (site) => {
      metadata.site = site;
      report();
    }));
}

/**
 * The age as a number and on a slider. Age 0 asks back.
 * @param {number | null} start
 * @param {(age: number | null, valid: boolean) => void} changed the last valid age, and whether what stands there may be analysed
 */
function ageField(start, changed) {
  let age = start;
  let valid = true;
  let infantConfirmed = start === 0;
  const ids = { age: uniqueID('age'), slider: uniqueID('age'), hint: uniqueID('age-hint') };
  const hint = h('div', { id: ids.hint, class: 'field-hint', 'aria-live': 'polite' });
  const number = h('input', { id: ids.age, class: 'input age-number', type: 'number', inputmode: 'numeric', min: 0, max: 130, step: 'any', autocomplete: 'off',
    value: start ?? '', 'aria-describedby': ids.hint, oninput: () => read(number.value) });
  const slider = h('input', { id: ids.slider, class: 'slider', type: 'range', min: 0, max: 100, step: 1,
    value: Math.min(start ?? UNKNOWN_AGE, 100), 'aria-label': t('metadata.ageSlider'), oninput: () => enter(slider.value) });
  const clear = h('button', { type: 'button', class: 'button plain', onclick: () => {
    enter('');
    number.focus();
  } }, t('metadata.clearAge'));

  /** @param {string} text */
  function enter(text) {
    number.value = text;
    read(text);
  }

  /** @param {string} text */
  function read(text) {
    const years = text === '' ? null : Number(text);
    // A number field that holds no number reads as empty, but says so.
    valid = number.validity.badInput ? false : years === null || (Number.isFinite(years) && years >= 0 && years <= 130);
    if (years !== 0) infantConfirmed = false;
    if (valid) age = years;
    told();
  }

  function told() {
    tell();
    changed(age, valid && (age !== 0 || infantConfirmed));
  }

  function tell() {
    number.setAttribute('aria-invalid', String(!valid));
    slider.classList.toggle('unset', age === null);
    slider.setAttribute('aria-valuetext', age === null ? t('metadata.ageMissing') : t('metadata.years', { count: age }));
    if (valid) slider.value = String(Math.min(age ?? UNKNOWN_AGE, 100));
    replace(hint, !valid ? h('p', { class: 'field-error' }, t('metadata.ageInvalid')) : age === 0 && !infantConfirmed ? infant() : h('p', {}, ageWords(age)));
  }

  const infant = () => message('warning', t('metadata.infant'), h('div', { class: 'row' },
    h('button', { type: 'button', class: 'button plain', onclick: () => {
      infantConfirmed = true;
      told();
    } }, t('metadata.infantYes')),
    h('button', { type: 'button', class: 'button plain', onclick: () => enter('') }, t('metadata.infantNo'))));

  tell();
  return h('div', { class: 'stack close' },
    h('label', { class: 'label', for: ids.age }, t('metadata.age')),
    h('div', { class: 'age-row' }, number, clear, slider), hint);
}

/** @param {number | null} age a valid one */
function ageWords(age) {
  if (age === null) return t('metadata.ageMissing');
  if (age === 0) return t('metadata.infantTaken');
  return age > 100 ? t('metadata.ageClamped') : t('metadata.years', { count: age });
}

/** The known facts in words: names and values. */
export function metadataWords(/** @type {Metadata} */ { age, sex, site }) {
  return [
    [t('metadata.age'), age === null ? t('metadata.notGiven') : t('metadata.years', { count: age })],
    [t('metadata.sex'), t(`metadata.sexes.${sex}`)],
    [t('metadata.site'), site === 'unknown' ? t('metadata.notGiven') : siteName(site)],
  ];
}

/** The known facts in a line. */
export function metadataLine(/** @type {Metadata} */ metadata) {
  const { age, sex, site } = metadata;
  const known = [
    age === null ? '' : t('metadata.years', { count: age }),
    // In the list of choices the word stands alone and has a capital.
    sex === 'unknown' ? '' : t(`metadata.sexes.${sex}`).toLocaleLowerCase(), site === 'unknown' ? '' : siteName(site),
  ].filter(Boolean);
  return known.length > 0 ? known.join(', ') : t('metadata.nothing');
}
