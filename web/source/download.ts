/** Downloads of model files, kept in the browser's Cache Storage. */
import { CancelledError, DownloadError } from "./errors.js";
import type { Progress } from "./messages.js";

const CACHE = "pocketmt-models-1";

/** A file, and what is to be done with it once it proved to be right or wrong. */
export interface Download {
  readonly bytes: Uint8Array;
  readonly fromCache: boolean;
  keep(): Promise<void>;
  forget(): Promise<void>;
}

export const isNode = typeof process === "object" && typeof process.versions?.node === "string";

/**
 * Returns a file from the cache, the disk (of Node) or the network.
 *
 * @throws DownloadError if it cannot be had.
 */
export async function download(
  url: string,
  cached: boolean,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<Download> {
  const nothing = async (): Promise<void> => {};
  if (isNode && url.startsWith("file:")) return { bytes: await readFile(url), fromCache: false, keep: nothing, forget: nothing };
  const cache = cached && typeof caches === "object" ? await caches.open(CACHE).catch(() => undefined) : undefined;
  const found = await cache?.match(url);
  if (found !== undefined) {
    const bytes = new Uint8Array(await found.arrayBuffer());
    return { bytes, fromCache: true, keep: nothing, forget: async () => void (await cache?.delete(url)) };
  }
  const bytes = await fetchFile(url, signal, report);
  // A cache that is full is no reason to fail.
  const keep = async (): Promise<void> => cache?.put(url, new Response(bytes as Uint8Array<ArrayBuffer>)).catch(() => {});
  return { bytes, fromCache: false, keep, forget: nothing };
}

async function readFile(url: string): Promise<Uint8Array> {
  const { readFile: read } = await import("node:fs/promises");
  try {
    return new Uint8Array(await read(new URL(url)));
  } catch (error) {
    throw new DownloadError(`${url}: cannot be read: ${String(error)}`);
  }
}

async function fetchFile(url: string, signal: AbortSignal, report: (progress: Progress) => void): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal });
    if (!response.ok || response.body === null) throw new DownloadError(`${url}: the server answers ${response.status}`);
    const encoded = response.headers.get("content-encoding") !== null;
    const length = Number(response.headers.get("content-length") ?? 0);
    return await readAll(response.body, encoded || !(length > 0) ? undefined : length, report);
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    if (signal.aborted) throw new CancelledError(`${url}: the download was cancelled`);
    throw new DownloadError(`${url}: cannot be downloaded: ${String(error)}`);
  }
}

async function readAll(
  body: ReadableStream<Uint8Array>,
  totalBytes: number | undefined,
  report: (progress: Progress) => void,
): Promise<Uint8Array> {
  let bytes = new Uint8Array(totalBytes ?? 1 << 20);
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, size);
    if (size + value.length > bytes.length) {
      const larger = new Uint8Array(Math.max(2 * bytes.length, size + value.length));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(value, size);
    size += value.length;
    report({ loadedBytes: size, totalBytes });
  }
}

/** Compiles the engine that lies beside this script, for relaxed SIMD or not. */
export async function compileEngine(relaxed: boolean): Promise<WebAssembly.Module> {
  const url = new URL(relaxed ? "pocketmt-relaxed.wasm" : "pocketmt-simd128.wasm", import.meta.url);
  if (isNode && url.protocol === "file:") return WebAssembly.compile((await readFile(url.href)) as Uint8Array<ArrayBuffer>);
  const response = await fetch(url);
  if (!response.ok) throw new DownloadError(`${url}: the server answers ${response.status}`);
  // Some static servers do not know the type that compiling while downloading needs.
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
