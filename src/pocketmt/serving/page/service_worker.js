// The page of `pocketmt serve --web` leaves a service worker at its address. Browsers replace it by this one, which ends.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(retire()));

async function retire() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith("pocketmt-page-")).map((name) => caches.delete(name)));
  await self.registration.unregister();
}
