import { app } from '../app.js';
import { h, s } from '../dom.js';
import { EngineError } from '../engine/module.js';
import { blobOf } from '../image.js';
import { store } from '../store.js';
import { t } from '../texts.js';
import { openDialog } from './dialog.js';

/** Frames are judged at most so often, in milliseconds. */
const FRAME = 200;
/** The network rests so many times as long as it takes for a frame. */
const REST = 3;
/** Advice is said when it has held for so many milliseconds. */
const STEADY = 500;

/** The reason why the live camera cannot be had here; empty where it can. */
export function cameraObstacle() {
  if (!window.isSecureContext) return t('camera.insecure');
  if (!navigator.mediaDevices?.getUserMedia) return t('camera.unsupported');
  return '';
}

/** @param {unknown} error */
function reason(error) {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError') return t('camera.refused');
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return t('camera.none');
  if (name === 'NotReadableError' || name === 'AbortError') return t('camera.busy');
  return t('camera.failed');
}

/**
 * Judges the frames of the camera one after the other, and says what to change. Meanwhile an analysis has the engine for itself.
 * @param {HTMLVideoElement} video
 * @param {HTMLElement} stage shows whether nothing has to change
 */
function guidance(video, stage) {
  const words = h('p', { class: 'camera-advice strong', role: 'status' });
  /** @type {string | null | undefined} */
  let advice;
  /** @type {boolean | null} */
  let wasUnfamiliar = null;
  let [since, networkDue, timer, isLeft] = [0, 0, 0, false];

  async function judge() {
    const started = performance.now();
    const asksNetwork = started >= networkDue;
    const bitmap = await createImageBitmap(video);
    const found = await app.engine.request('judge', { bitmap, wasUnfamiliar: asksNetwork ? null : wasUnfamiliar }, 'frame');
    const now = performance.now();
    if (asksNetwork) networkDue = now + REST * (now - started);
    wasUnfamiliar = found.isUnfamiliar;
    if (found.advice !== advice) [advice, since] = [found.advice, now];
    else if (now - since >= STEADY) {
      const sentence = t(`camera.advice.${advice ?? 'good'}`);
      if (words.textContent !== sentence) words.textContent = sentence;
      stage.classList.toggle('good', advice === null);
    }
  }

  async function follow() {
    const started = performance.now();
    const { work, list } = store.state;
    // The camera may have no picture yet; an engine that cannot judge a frame cannot judge the next.
    if (!work?.running && !list?.running) await judge().catch((error) => { isLeft ||= error instanceof EngineError; });
    if (!isLeft) timer = setTimeout(follow, Math.max(0, FRAME - (performance.now() - started)));
  }

  app.engine.ready.then(() => { if (!isLeft) follow(); }, () => {});
  return { words, leave: () => {
    isLeft = true;
    clearTimeout(timer);
    app.engine.cancel('frame');
  } };
}

/**
 * Takes a photograph with the live camera, a circle showing where the lesion belongs.
 * @returns {Promise<{file: File} | {problem: string} | null>} null where the person went back
 */
export async function takePhotograph() {
  /** @type {MediaStream} */
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({
      audio: false, video: { facingMode: 'environment', width: { ideal: 1920 }, height: { ideal: 1440 } } });
  } catch (error) {
    return { problem: reason(error) };
  }
  const release = () => stream.getTracks().forEach((track) => track.stop());
  const video = h('video', { autoplay: true, playsinline: true, muted: true, srcObject: stream, 'aria-label': t('camera.picture') });
  const guide = s('svg', { class: 'camera-guide', viewBox: '0 0 100 100', preserveAspectRatio: 'xMidYMid slice', 'aria-hidden': 'true' },
    s('path', { d: 'M-100-100H200V200H-100Z M50 14a36 36 0 1 0 0 72a36 36 0 1 0 0-72z', 'fill-rule': 'evenodd', class: 'camera-shade' }),
    s('circle', { cx: 50, cy: 50, r: 36, class: 'camera-ring' }));
  // Leaving in the middle turns the camera off.
  const leave = () => document.querySelector('dialog')?.close('');
  document.addEventListener('visibilitychange', leave);
  const stage = h('div', { class: 'camera-stage' }, video, guide);
  const advice = guidance(video, stage);
  const answer = await openDialog(t('camera.title'), [
    h('p', { class: 'soft' }, t('camera.hint')), stage, advice.words,
  ], [
    { label: t('common.cancel'), value: '' },
    { label: t('camera.shoot'), value: 'shoot', kind: 'primary', autofocus: true },
  ], { wide: true });
  document.removeEventListener('visibilitychange', leave);
  advice.leave();
  try {
    if (answer !== 'shoot') return null;
    if (video.videoWidth === 0) return { problem: t('camera.failed') };
    const canvas = h('canvas', { width: video.videoWidth, height: video.videoHeight });
    canvas.getContext('2d')?.drawImage(video, 0, 0);
    return { file: new File([await blobOf(canvas, 'image/png')], `${t('camera.fileName')}.png`, { type: 'image/png' }) };
  } finally {
    release();
  }
}
