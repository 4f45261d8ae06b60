/** Translation in workers, in browsers and in Node. */
import { SEARCH_OPTIONS, type Types, checkLines, checkOptions, typeName } from "./arguments.js";
import { EngineError } from "./errors.js";
import type { Progress } from "./messages.js";
import type { ModelInfo, SearchOptions } from "./public_types.js";
import { type File, Thread, type Translated } from "./thread.js";

export * from "./errors.js";
export type { ModelInfo, Progress };

/** Options of `Translator.load`. */
export interface LoadOptions {
  /** Called while the file is downloaded; in Node, once for a file that is read from the disk. */
  onProgress?: (progress: Progress) => void;
  /** Whether the file is kept in the browser's Cache Storage (default true). */
  cache?: boolean;
  /**
   * The digest that the file must have, as `info.digest` and the models.json of `pocketmt serve --web` show it. Without it
   * the server is asked for a newer file than the one in Cache Storage.
   */
  digest?: string;
  /** Workers that share the lines of a text, each with the model in its own memory (default 1). */
  workers?: number;
  /** Cancels the loading. */
  signal?: AbortSignal;
}

/** Options of `Translator.translate`. */
export interface TranslateOptions extends SearchOptions {
  /** Cancels the translation. */
  signal?: AbortSignal;
  /** Called at its end with the milliseconds that it took, without those in which it waited for others. */
  onTime?: (milliseconds: number) => void;
}

const LOAD_OPTIONS: Types<LoadOptions> = {
  onProgress: "function",
  cache: "boolean",
  digest: "string",
  workers: "number",
  signal: "AbortSignal",
};
const TRANSLATE_OPTIONS: Types<TranslateOptions> = { ...SEARCH_OPTIONS, signal: "AbortSignal", onTime: "function" };
const LINE_BREAK = /(\r\n|[\n\v\f\r\x85\u2028\u2029])/;
const MOST_WORKERS = 64;
const LINE_COST = 20; // characters that take as long as what each line takes besides its text

type Share = [thread: Thread, lines: string[]];

/** A model in one or several workers. */
export class Translator {
  private readonly threads: Thread[] = [];
  private readonly joining = new AbortController(); // workers that are not ready yet
  private closed = false;

  private constructor() {}

  /**
   * Loads a model file.
   *
   * @param url of a `*.pocketmt` file; in Node, a path too.
   * @returns as soon as the first worker is ready; the others join when they are.
   * @throws DownloadError, ModelFileError, EngineError or CancelledError; TypeError for an unknown option or a wrong type; what
   * `onProgress` throws.
   */
  static async load(url: string | URL, options: LoadOptions = {}): Promise<Translator> {
    checkOptions(options, LOAD_OPTIONS);
    const { cache = true, digest, signal, onProgress, workers = 1 } = options;
    if (!Number.isInteger(workers) || workers < 1 || workers > MOST_WORKERS)
      throw new EngineError(`workers is ${workers}, it must be a whole number from 1 to ${MOST_WORKERS}`);
    const translator = new Translator();
    try {
      const file = { url: await absolute(url), cache, digest };
      const first = await Thread.start(file, onProgress, signal);
      translator.threads.push(first);
      // They have the file of the first, not another one that has been put in its place.
      for (let count = 1; count < workers; count++) void translator.#join({ ...file, digest: first.info.digest });
      return translator;
    } catch (error) {
      translator.close();
      throw error;
    }
  }

  /** What the model says of itself, and how it runs; with the memory of all workers. Throws EngineError if none runs. */
  get info(): ModelInfo {
    const infos = this.#running().map(({ info }) => info);
    return { ...(infos[0] as ModelInfo), memoryBytes: infos.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) };
  }

  /** How many workers are ready. */
  get workers(): number {
    return this.threads.filter(({ isRunning }) => isRunning).length;
  }

  /** Translates a text, whose line breaks stay as they are. Throws TypeError for other arguments or unknown options. */
  translate(text: string, options?: TranslateOptions): Promise<string>;
  /** Translates each line by itself. */
  translate(lines: readonly string[], options?: TranslateOptions): Promise<string[]>;
  async translate(given: string | readonly string[], options: TranslateOptions = {}): Promise<string | string[]> {
    if (typeof given !== "string") checkLines(given, "text must be a string or an array of strings");
    checkOptions(options, TRANSLATE_OPTIONS);
    const { signal, onTime, ...search } = options;
    const parts = typeof given === "string" ? given.split(LINE_BREAK) : [];
    const lines = typeof given === "string" ? parts.filter((_, index) => index % 2 === 0) : given;
    const idlest = this.#running().sort((left, right) => left.load - right.load);
    const shares = divide(lines, idlest.length).map((share, index): Share => [idlest[index] as Thread, share]);
    const found = await translateAll(shares, search, signal);
    const translated = found.flatMap((share) => share.lines);
    onTime?.(Math.max(...found.map(({ milliseconds }) => milliseconds)));
    if (typeof given !== "string") return translated;
    return parts.map((part, index) => (index % 2 ? part : translated[index / 2])).join("");
  }

  /** Ends the workers, which gives their memory back. Translations that are running fail. */
  close(): void {
    this.closed = true;
    this.joining.abort();
    for (const thread of this.threads.splice(0)) thread.close();
  }

  #running(): Thread[] {
    if (this.closed) throw new EngineError("the translator is closed: load it again");
    const running = this.threads.filter(({ isRunning }) => isRunning);
    if (running.length === 0) throw new EngineError("an error stopped all workers: load the translator again");
    return running;
  }

  async #join(file: File): Promise<void> {
    try {
      const thread = await Thread.start(file, undefined, this.joining.signal, false);
      if (this.closed) thread.close();
      else this.threads.push(thread);
    } catch {
      // Without it the others do its work.
    }
  }
}

/** Translates shares of lines; if one fails, or the signal fires, all are cancelled. */
async function translateAll(shares: readonly Share[], options: SearchOptions, signal?: AbortSignal): Promise<Translated[]> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel);
  try {
    return await Promise.all(shares.map(([thread, lines]) => thread.translate(lines, options, controller.signal)));
  } finally {
    cancel(); // those that have not ended
    signal?.removeEventListener("abort", cancel);
  }
}

/** Divides lines into at most `count` runs of about the same length, at least one. */
function divide(lines: readonly string[], count: number): string[][] {
  const most = lines.reduce((sum, line) => sum + line.length + LINE_COST, 0) / count;
  let share: string[] = [];
  const shares = [share];
  let cost = 0;
  for (const line of lines) {
    if (cost >= most * shares.length) shares.push((share = []));
    share.push(line);
    cost += line.length + LINE_COST;
  }
  return shares;
}

async function absolute(url: string | URL): Promise<string> {
  if (url instanceof URL) return url.href;
  if (typeof url !== "string") throw new TypeError(`url must be a string or a URL, not ${typeName(url)}`);
  if (NODE) {
    if (/^[a-z]{2,}:/i.test(url)) return url;
    const { pathToFileURL } = await import("node:url");
    return pathToFileURL(url).href;
  }
  return new URL(url, location.href).href;
}
