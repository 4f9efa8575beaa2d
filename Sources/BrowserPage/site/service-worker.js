// Keeps the page that was installed, so that it opens without a network. It asks the server for the site's own files and for
// nothing else.
/** The SHA-256 of each file; of the page with zeros where its own hash stands. */
const HASHES = @@HASHES@@;
const ADDRESSES = new Set(Object.keys(HASHES).map((file) => new URL(file, self.location).href));

/** A file as the server has it. A server may answer any address with status 200 and another file, which is not kept. */
async function fetched(file, hashes) {
  const response = await fetch(new Request(file, { cache: 'reload' }));
  let bytes = await response.clone().arrayBuffer();
  if (file === './') bytes = new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll(hashes[file], '0'.repeat(64)));
  const hash = [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (!response.ok || hash !== hashes[file]) throw new Error(`${file}: status ${response.status}, SHA-256 ${hash}, and not ${hashes[file]}`);
  return response;
}

/** The name of a version's cache. */
const nameOf = (hashes) => `dermafusion-${hashes['./']}`;

/** Keeps a version whole or not at all: the page is put last. */
async function keep(hashes) {
  if (await caches.match('./', { cacheName: nameOf(hashes) })) return;
  const files = Object.keys(hashes).reverse();
  const responses = await Promise.all(files.map((file) => fetched(file, hashes)));
  const cache = await caches.open(nameOf(hashes));
  for (const [index, file] of files.entries()) await cache.put(file, responses[index]);
}

async function dropOthers(hashes) {
  for (const name of await caches.keys()) if (name.startsWith('dermafusion-') && name !== nameOf(hashes)) await caches.delete(name);
}

self.addEventListener('install', (event) => event.waitUntil(keep(HASHES).then(() => self.skipWaiting())));

self.addEventListener('activate', (event) => event.waitUntil(dropOthers(HASHES).then(() => self.clients.claim())));

/**
 * Takes the version that the server has, which the next reload shows. The browser replaces the worker too, but not each time: it
 * asks by the date of the last worker, and the server has no newer one if both have the same date, or the newer one an earlier.
 */
async function update() {
  const worker = await (await fetch(self.location.href, { cache: 'reload' })).text();
  const found = /^const HASHES = (\{.*\});$/m.exec(worker);
  if (!found) return;
  const hashes = JSON.parse(found[1]);
  await keep(hashes);
  await dropOthers(hashes);
}

// The page was opened. Without a network there is nothing to find.
self.addEventListener('message', (event) => event.waitUntil(update().catch(() => {})));

self.addEventListener('fetch', (event) => {
  const address = new URL(event.request.url);
  address.hash = '';
  address.search = '';
  if (address.pathname.endsWith('/index.html')) address.pathname = address.pathname.slice(0, -'index.html'.length);
  if (event.request.method !== 'GET' || !ADDRESSES.has(address.href)) return;
  event.respondWith(caches.match(address.href).then((kept) => kept ?? fetch(event.request)));
});
