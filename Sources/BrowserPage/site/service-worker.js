// Keeps the page that was installed, so that it opens without a network. It asks the server for the site's own files and for
// nothing else.
const CACHE = 'dermafusion-@@HASH@@';
/** The SHA-256 of each file; of the page with zeros where its own hash stands. */
const HASHES = @@HASHES@@;
const FILES = Object.keys(HASHES);
const ADDRESSES = new Set(FILES.map((file) => new URL(file, self.location).href));

/** A file as the server has it. A server may answer any address with status 200 and another file, which is not kept. */
async function fetched(file) {
  const response = await fetch(new Request(file, { cache: 'reload' }));
  let bytes = await response.clone().arrayBuffer();
  if (file === './') bytes = new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll('@@HASH@@', '0'.repeat(64)));
  const hash = [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (!response.ok || hash !== HASHES[file]) throw new Error(`${file}: status ${response.status}, SHA-256 ${hash}, and not ${HASHES[file]}`);
  return response;
}

self.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const responses = await Promise.all(FILES.map(fetched));
    const cache = await caches.open(CACHE);
    await Promise.all(responses.map((response, index) => cache.put(FILES[index], response)));
    // The next reload shows this version, though an older one is open.
    await self.skipWaiting();
  })());
});

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name.startsWith('dermafusion-') && name !== CACHE) await caches.delete(name);
    await self.clients.claim();
  })());
});

self.addEventListener('fetch', (event) => {
  const address = new URL(event.request.url);
  address.hash = '';
  address.search = '';
  if (address.pathname.endsWith('/index.html')) address.pathname = address.pathname.slice(0, -'index.html'.length);
  if (event.request.method !== 'GET' || !ADDRESSES.has(address.href)) return;
  event.respondWith(caches.match(address.href).then((kept) => kept ?? fetch(event.request)));
});
