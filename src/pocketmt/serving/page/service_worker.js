// The page of `pocketmt serve --web` leaves a service worker at its address. Browsers replace it by this one, which ends.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(retire()));

async function retire() {
  const begin = `pocketmt-page-${self.registration.scope} `;
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(begin) || /^pocketmt-page-[^ ]+$/.test(name)).map((name) => caches.delete(name)));
  await self.registration.unregister();
}
