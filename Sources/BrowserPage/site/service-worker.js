// Keeps the page that was installed, so that it opens without a network. It asks the server for the site's own files and for
// nothing else.
const CACHE = 'dermafusion-@@HASH@@';
const FILES = ['./', 'manifest.webmanifest', 'icon-192.png', 'icon-512.png'];
const ADDRESSES = new Set(FILES.map((file) => new URL(file, self.location).href));

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' })))));
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
