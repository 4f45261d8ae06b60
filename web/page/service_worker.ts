/** Keeps the page, so that it works offline after the first visit. The page keeps models and their list itself. */
declare const self: ServiceWorkerGlobalScope;
declare const VERSION: string; // of the files, by the build
declare const FILES: string[];

// Pages in other folders of the server have caches, too. Names without a folder are of versions that shared them.
const OLD = /^pocketmt-page-[^ ]+$/;
const CACHES = `pocketmt-page-${self.registration.scope} `;
const CACHE = CACHES + VERSION;
const KEPT = new Set(FILES.map(addressOf));

self.addEventListener("install", (event) => {
  // Files of an older version in the browser's HTTP cache would not fit the others.
  const requests = [...KEPT].map((address) => new Request(address, { cache: "reload" }));
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(requests))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => (name.startsWith(CACHES) && name !== CACHE) || OLD.test(name)).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const address = addressOf(url);
  if (method === "GET" && KEPT.has(address)) event.respondWith(answer(event.request, address));
});

/** Returns an address without what follows `?` or `#`. */
function addressOf(name: string): string {
  const { origin, pathname } = new URL(name, self.location.href);
  return origin + pathname;
}

/** Answers from the server, at whose address another one may run later; from the cache if it cannot be reached or fails. */
async function answer(request: Request, address: string): Promise<Response> {
  const fresh = await fetch(request, { cache: "no-cache" }).catch(() => undefined);
  if (fresh !== undefined && fresh.status < 500) return fresh;
  return (await caches.match(address, { cacheName: CACHE })) ?? fresh ?? Response.error();
}

export {};
