/** Translation in a worker, in browsers and in Node. */
import { CancelledError, EngineError, namedError } from "./errors.js";
import type { ModelInfo, TranslateOptions as SearchOptions } from "./local.js";
import type { FromWorker, Progress, ToWorker } from "./messages.js";

export * from "./errors.js";
export type { ModelInfo, Progress };

/** Options of `Translator.load`. */
export interface LoadOptions {
  /** Called while the file is downloaded. */
  onProgress?: (progress: Progress) => void;
  /** Whether the file is kept in the browser's Cache Storage (default true). */
  cache?: boolean;
  /** The digest that the file must have, as `info.digest` and the models.json of `pocketmt serve --web` show it. */
  digest?: string;
  /** Cancels the download. */
  signal?: AbortSignal;
}

/** Options of `Translator.translate`. */
export interface TranslateOptions extends SearchOptions {
  /** Cancels the translation. */
  signal?: AbortSignal;
}

interface Host {
  postMessage(message: ToWorker): void;
  terminate(): unknown;
}

interface Waiting {
  done(message: FromWorker): void;
  failed(error: Error): void;
}

const LINE_BREAK = /(\r\n|[\r\n])/;

/** A model in a worker. */
export class Translator {
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private host: Host | undefined;
  private about: ModelInfo | undefined;
  private onProgress: ((progress: Progress) => void) | undefined;

  private constructor() {}

  /**
   * Loads a model file.
   *
   * @param url of a `*.pocketmt` file; in Node, a path too.
   * @throws DownloadError, ModelFileError, EngineError or CancelledError.
   */
  static async load(url: string | URL, options: LoadOptions = {}): Promise<Translator> {
    const translator = new Translator();
    translator.onProgress = options.onProgress;
    try {
      translator.host = await startWorker(
        (message) => translator.receive(message),
        (error) => translator.fail(error),
      );
      const { cache = true, digest } = options;
      const href = await absolute(url);
      await translator.ask((id) => ({ kind: "load", id, url: href, cache, digest }), options.signal);
      return translator;
    } catch (error) {
      translator.close();
      throw error;
    }
  }

  /** What the model says of itself, and how it runs. */
  get info(): ModelInfo {
    return this.about as ModelInfo;
  }

  /** Translates a text, whose line breaks stay as they are. */
  translate(text: string, options?: TranslateOptions): Promise<string>;
  /** Translates each line by itself. */
  translate(lines: readonly string[], options?: TranslateOptions): Promise<string[]>;
  async translate(given: string | readonly string[], options: TranslateOptions = {}): Promise<string | string[]> {
    const { signal, ...search } = options;
    const parts = typeof given === "string" ? given.split(LINE_BREAK) : [];
    const lines = typeof given === "string" ? parts.filter((_, index) => index % 2 === 0) : given;
    const message = await this.ask((id) => ({ kind: "translate", id, lines, options: search }), signal);
    const translated = message.kind === "translated" ? message.lines : [];
    if (typeof given !== "string") return [...translated];
    return parts.map((part, index) => (index % 2 ? part : translated[index / 2])).join("");
  }

  /** Ends the worker, which gives its memory back. Translations that are running fail. */
  close(): void {
    this.host?.terminate();
    this.host = undefined;
    this.fail(new CancelledError("the translator was closed"));
  }

  private ask(make: (id: number) => ToWorker, signal: AbortSignal | undefined): Promise<FromWorker> {
    const { host } = this;
    if (host === undefined) return Promise.reject(new EngineError("the translator is closed: load it again"));
    const id = this.next++;
    const cancel = (): void => host.postMessage({ kind: "cancel", id });
    return new Promise<FromWorker>((resolve, reject) => {
      this.waiting.set(id, { done: resolve, failed: reject });
      host.postMessage(make(id));
      if (signal?.aborted) cancel();
      signal?.addEventListener("abort", cancel);
    }).finally(() => signal?.removeEventListener("abort", cancel));
  }

  private receive(message: FromWorker): void {
    if (message.kind === "progress") {
      this.onProgress?.(message.progress);
      return;
    }
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.kind === "failed") {
      waiting?.failed(namedError(message.name, message.message));
      return;
    }
    this.about = message.info;
    waiting?.done(message);
  }

  private fail(error: Error): void {
    for (const { failed } of this.waiting.values()) failed(error);
    this.waiting.clear();
  }
}

const isNode = typeof process === "object" && typeof process.versions?.node === "string";

async function startWorker(receive: (message: FromWorker) => void, failed: (error: Error) => void): Promise<Host> {
  const url = new URL("./worker.js", import.meta.url);
  if (isNode) {
    const { Worker: NodeWorker } = await import("node:worker_threads");
    const worker = new NodeWorker(url);
    worker.on("message", receive);
    worker.on("error", (error) => failed(new EngineError(`the worker stopped: ${String(error)}`)));
    return worker;
  }
  const worker = new Worker(url, { type: "module" });
  worker.onmessage = (event: MessageEvent<FromWorker>) => receive(event.data);
  worker.onerror = (event) => failed(new EngineError(`the worker stopped: ${event.message}`));
  return worker;
}

async function absolute(url: string | URL): Promise<string> {
  if (url instanceof URL) return url.href;
  if (!isNode) return new URL(url, location.href).href;
  if (/^[a-z]{2,}:/i.test(url)) return url;
  const { pathToFileURL } = await import("node:url");
  return pathToFileURL(url).href;
}
