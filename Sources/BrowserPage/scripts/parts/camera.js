import { h, s } from '../dom.js';
import { blobOf } from '../image.js';
import { t } from '../texts.js';
import { openDialog } from './dialog.js';

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
  const answer = await openDialog(t('camera.title'), [
    h('p', { class: 'soft' }, t('camera.hint')),
    h('div', { class: 'camera-stage' }, video, guide),
  ], [
    { label: t('common.cancel'), value: '' },
    { label: t('camera.shoot'), value: 'shoot', kind: 'primary', autofocus: true },
  ], { wide: true });
  document.removeEventListener('visibilitychange', leave);
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
