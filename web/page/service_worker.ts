/** Keeps the page, so that it works offline after the first visit. The worker keeps models itself. */
declare const self: ServiceWorkerGlobalScope;
declare const VERSION: string; // of the files, by the build
declare const FILES: string[];

const CACHE = `pocketmt-page-${VERSION}`;
const MODELS = new URL("models.json", self.location.href).href;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll([...FILES, MODELS]))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith("pocketmt-page-") && name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith(caches.open(CACHE).then((cache) => answer(cache, event.request)));
});

/** Answers from the cache; the list of models, which changes, comes from the server if it can be reached. */
async function answer(cache: Cache, request: Request): Promise<Response> {
  const kept = await cache.match(request, { ignoreSearch: true });
  if (request.url !== MODELS || kept === undefined) return kept ?? fetch(request);
  try {
    const fresh = await fetch(request);
    if (!fresh.ok) return kept;
    await cache.put(request, fresh.clone());
    return fresh;
  } catch {
    return kept;
  }
}

export {};
