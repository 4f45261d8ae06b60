/** The models that the page offers: the server's list, and the one that the browser keeps with the models. */
import { openCache } from "../source/cache.js";
import { DownloadError } from "../source/index.js";

const LIST = "models.json";

/** A model, as models.json describes it. */
export interface Offer {
  readonly url: string;
  /** SHA-256 that the file must have; undefined: any. */
  readonly digest?: string;
  /** Codes of languages. */
  readonly source?: readonly string[];
  readonly target?: readonly string[];
  /** What it is called, if not by its languages and its address. */
  readonly name?: string;
}

/** Returns the server's list, or the kept one if the server cannot be reached or fails. Throws DownloadError if there is none. */
export async function readOffers(): Promise<readonly Offer[]> {
  const response = await fetch(LIST, { cache: "no-cache" }).catch(() => undefined);
  if (response === undefined || response.status >= 500) {
    const kept = await readKept(await openCache());
    if (kept.length > 0) return kept;
  }
  if (response === undefined) throw new DownloadError(`${LIST}: the server cannot be reached`);
  if (!response.ok) throw new DownloadError(`${LIST}: the server answers ${response.status}`);
  const offers = (await response.json()) as Offer[];
  if (offers.length === 0) throw new DownloadError(`${LIST} lists no model: open a model file`);
  return offers;
}

/**
 * Keeps a list, of which a model has been loaded, and deletes the files of models that it no longer has.
 *
 * The other models stay as the kept list describes them: their kept files may be older than the server's.
 */
export async function keepOffers(offers: readonly Offer[], loaded: Offer): Promise<void> {
  const cache = await openCache();
  const before = new Map((await readKept(cache)).map((offer) => [addressOf(offer), offer]));
  const kept = offers.map((offer) => (offer === loaded ? offer : (before.get(addressOf(offer)) ?? offer)));
  for (const offer of offers) before.delete(addressOf(offer));
  for (const address of before.keys()) await cache?.delete(address);
  await cache?.put(LIST, new Response(JSON.stringify(kept)));
}

/** Returns what a model is called. */
export function nameOf({ name, source, target, url }: Offer): string {
  if (name !== undefined) return name;
  const file = decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
  return source === undefined || target === undefined ? file : `${source.join(", ")} → ${target.join(", ")} (${file})`;
}

async function readKept(cache: Cache | undefined): Promise<readonly Offer[]> {
  const response = await cache?.match(LIST);
  return response === undefined ? [] : ((await response.json()) as Offer[]);
}

function addressOf({ url }: Offer): string {
  return new URL(url, location.href).href;
}
