import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const scripts = join(dirname(fileURLToPath(import.meta.url)), '../../Sources/BrowserPage/scripts');

/**
 * Scripts of the page as one module, put together by esbuild as the page is: node imports no JSON as the page does.
 * @param {...string} names files in Sources/BrowserPage/scripts
 */
export async function load(...names) {
  globalThis.navigator ??= /** @type {any} */ ({ languages: ['en'] });
  globalThis.document ??= /** @type {any} */ ({ documentElement: {} });
  const input = names.map((name) => `export * from './${name}';`).join('\n');
  const run = spawnSync('esbuild', ['--bundle', '--format=esm', '--charset=utf8', '--log-level=warning'], { cwd: scripts, input, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`esbuild: ${run.error ?? run.stderr}`);
  return import(`data:text/javascript;base64,${Buffer.from(run.stdout).toString('base64')}`);
}
