/** Downloads of model files, kept in the browser's Cache Storage. */
import { openCache } from "./cache.js";
import { CancelledError, DownloadError, EngineError } from "./errors.js";
import type { Progress } from "./messages.js";
import { hasRelaxedSimd } from "./relaxed_simd.js";

/** A file. */
export interface Download {
  readonly bytes: Uint8Array;
  /** Whether it may come from a cache, so that the server may have another one. */
  readonly mayBeOld: boolean;
  /** Puts a file that proved to be right into the cache. */
  keep(): Promise<void>;
}

/**
 * Returns a file from the cache, the disk (of Node) or the network.
 *
 * @param cached whether the browser's Cache Storage is used.
 * @param digest tells whether a cached file is the right one; without it the server is asked first.
 * @param again whether a file that may be old proved to be wrong, so that only the server's is of use.
 * @throws DownloadError if it cannot be had.
 */
export async function download(
  { url, cached, digest, again }: { url: string; cached: boolean; digest: string | undefined; again: boolean },
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<Download> {
  const nothing = async (): Promise<void> => {};
  if (NODE && url.startsWith("file:")) {
    const bytes = await readFile(url);
    report({ loadedBytes: bytes.length, totalBytes: bytes.length });
    return { bytes, mayBeOld: false, keep: nothing };
  }
  const cache = cached ? await openCache() : undefined;
  const readKept = async (): Promise<Download | undefined> => {
    const found = await cache?.match(url);
    return found && { bytes: new Uint8Array(await found.arrayBuffer()), mayBeOld: true, keep: nothing };
  };
  const ask = again || digest === undefined;
  const kept = ask ? undefined : await readKept();
  if (kept !== undefined) return kept;
  try {
    const bytes = await fetchFile(url, ask ? "no-cache" : "default", signal, report);
    // A cache that is full is no reason to fail.
    const keep = async (): Promise<void> => cache?.put(url, new Response(bytes as Uint8Array<ArrayBuffer>)).catch(() => {});
    // Browsers have an HTTP cache, too.
    return { bytes, mayBeOld: !NODE && !ask && url.startsWith("http"), keep };
  } catch (error) {
    const older = error instanceof DownloadError && ask && !again ? await readKept() : undefined;
    if (older === undefined) throw error;
    return older;
  }
}

async function readFile(url: string): Promise<Uint8Array> {
  const { readFile: read } = await import("node:fs/promises");
  try {
    return new Uint8Array(await read(new URL(url)));
  } catch (error) {
    throw new DownloadError(`${url}: cannot be read: ${String(error)}`);
  }
}

async function fetchFile(
  url: string,
  cache: RequestCache,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal, cache });
    if (!response.ok || response.body === null) throw new DownloadError(`${url}: the server answers ${response.status}`);
    const encoded = response.headers.get("content-encoding") !== null;
    const length = Number(response.headers.get("content-length") ?? 0);
    return await readAll(response.body, encoded || !(length > 0) ? undefined : length, report);
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    if (signal.aborted) throw new CancelledError(`${url}: the download was cancelled`);
    throw new DownloadError(`${url}: cannot be downloaded: ${withCause(error)}`);
  }
}

/** Describes an error of `fetch`, whose cause alone has the reason in Node. */
function withCause(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  if (cause === undefined) return String(error);
  // The error of several addresses that refused has no message.
  const { message, code } = Object(cause) as { message?: string; code?: string };
  return `${String(error)}: ${message || code || String(cause)}`;
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

/**
 * Compiles the engine that lies beside this script, for relaxed SIMD or not.
 *
 * @throws DownloadError if it cannot be had, EngineError if this host cannot compile it.
 */
export async function compileEngine(): Promise<WebAssembly.Module> {
  try {
    // Bundlers find files by such expressions.
    return await (hasRelaxedSimd()
      ? compileFile(new URL("./pocketmt-relaxed.wasm", import.meta.url))
      : compileFile(new URL("./pocketmt-simd128.wasm", import.meta.url)));
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    throw new EngineError(`the engine needs WebAssembly with SIMD, which cannot be compiled here: ${error.message}`);
  }
}

async function compileFile(url: URL): Promise<WebAssembly.Module> {
  if (NODE && url.protocol === "file:") return WebAssembly.compile((await readFile(url.href)) as Uint8Array<ArrayBuffer>);
  try {
    const response = await fetch(url);
    if (!response.ok) throw new DownloadError(`${url}: the server answers ${response.status}`);
    // Some static servers do not know the type that compiling while downloading needs.
    if (response.headers.get("content-type") === "application/wasm") return await WebAssembly.compileStreaming(response);
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof DownloadError || error instanceof WebAssembly.CompileError) throw error;
    throw new DownloadError(`${url}: cannot be downloaded: ${withCause(error)}`);
  }
}
