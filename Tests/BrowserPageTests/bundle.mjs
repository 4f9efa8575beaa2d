import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../Sources/BrowserPage');
const scripts = join(folder, 'scripts');

/** The engine's texts by the language's code. */
const engine = new Map(readdirSync(join(folder, '../DermaFusion/Language')).map((name) => readFileSync(join(folder, '../DermaFusion/Language', name), 'utf8')
  .match(/= Language\(\s*"(\w+)".*?#"""(.*?)"""#/s)).filter((found) => found !== null).map((found) => [found[1], JSON.parse(found[2])]));

/** The page's languages besides English. */
export const languages = [...engine.keys()].filter((code) => code !== 'en').sort();

/** All texts of a language: the page's own, and the engine's. */
export const textsOf = (/** @type {string} */ language) =>
  ({ ...JSON.parse(readFileSync(join(folder, 'texts', `${language}.json`), 'utf8')), ...engine.get(language) });

/**
 * Scripts of the page as one module, put together by esbuild as the page is: node imports no JSON as the page does.
 * @param {...string} names files in Sources/BrowserPage/scripts
 */
export async function load(...names) {
  globalThis.navigator ??= /** @type {any} */ ({ languages: ['en'] });
  // The page finds its texts and facts in the document, where the build puts them.
  const texts = Object.fromEntries(['en', ...languages].map((code) => [code, textsOf(code)]));
  const blocks = /** @type {any} */ ({ 'page-texts': texts, 'page-facts': { limits: [0.1, 0.2, 0.3] } });
  globalThis.document ??= /** @type {any} */ ({ documentElement: {}, getElementById: (/** @type {string} */ id) => id in blocks ? { textContent: JSON.stringify(blocks[id]) } : null });
  const input = names.map((name) => `export * from './${name}';`).join('\n');
  const run = spawnSync('esbuild', ['--bundle', '--format=esm', '--charset=utf8', '--log-level=warning'], { cwd: scripts, input, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`esbuild: ${run.error ?? run.stderr}`);
  return import(`data:text/javascript;base64,${Buffer.from(run.stdout).toString('base64')}`);
}
