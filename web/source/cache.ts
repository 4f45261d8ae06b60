/** The browser's Cache Storage of models. */
const NAME = "pocketmt-models-1";

/** Opens it; undefined where there is none, or where the browser refuses. */
export async function openCache(): Promise<Cache | undefined> {
  return typeof caches === "object" ? caches.open(NAME).catch(() => undefined) : undefined;
}
