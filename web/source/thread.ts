/** One worker with a model. */
import { CancelledError, DownloadError, EngineError, ModelFileError, PocketMTError } from "./errors.js";
import type { FromWorker, Progress, ToWorker } from "./messages.js";
import type { ModelInfo, SearchOptions } from "./public_types.js";

/** A model file, and how it is loaded. */
export interface File {
  readonly url: string;
  readonly cache: boolean;
  readonly digest: string | undefined;
}

interface Host {
  postMessage(message: ToWorker): void;
  terminate(): unknown;
  // Whether it keeps Node running. Workers of browsers have neither.
  ref?(): void;
  unref?(): void;
}

const ERRORS: Readonly<Record<string, new (message: string) => PocketMTError>> = {
  ModelFileError,
  EngineError,
  DownloadError,
  CancelledError,
};

/** Lines, and how long their translation took. */
export type Translated = Extract<FromWorker, { kind: "translated" }>;

interface Waiting {
  done(message: FromWorker): void;
  failed(error: unknown): void;
}

/** A worker, from its start to its end. */
export class Thread {
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private host: Host | undefined;
  private about: ModelInfo | undefined;

  private constructor(private readonly onProgress: ((progress: Progress) => void) | undefined) {}

  /**
   * Starts a worker that loads a file; throws as `Translator.load` does.
   *
   * @param isNeeded whether the loading keeps Node running.
   */
  static async start(
    file: File,
    onProgress: ((progress: Progress) => void) | undefined,
    signal: AbortSignal | undefined,
    isNeeded = true,
  ): Promise<Thread> {
    const thread = new Thread(onProgress);
    try {
      thread.host = await startWorker(
        (message) => thread.#receive(message),
        (error) => thread.#stop(error),
      );
      const loading = thread.#ask((id) => ({ kind: "load", id, ...file }), signal);
      if (!isNeeded) thread.host.unref?.();
      await loading;
      return thread;
    } catch (error) {
      thread.close();
      throw error;
    }
  }

  /** Whether it can translate: neither closed nor stopped by an error. */
  get isRunning(): boolean {
    return this.host !== undefined;
  }

  /** What its model says of itself. */
  get info(): ModelInfo {
    return this.about as ModelInfo;
  }

  /** How many translations it has to do, with one that was cancelled but has not ended. */
  get load(): number {
    return this.waiting.size;
  }

  /** Translates each line. */
  async translate(lines: readonly string[], options: SearchOptions, signal: AbortSignal | undefined): Promise<Translated> {
    return (await this.#ask((id) => ({ kind: "translate", id, lines, options }), signal)) as Translated;
  }

  /** Ends the worker. Translations that are running fail. */
  close(): void {
    this.#stop(new CancelledError("the translator was closed"));
  }

  #ask(make: (id: number) => ToWorker, signal: AbortSignal | undefined): Promise<FromWorker> {
    const { host } = this;
    if (host === undefined) return Promise.reject(new EngineError("the worker stopped: load the translator again"));
    const id = this.next++;
    const message = make(id);
    const cancelled = (): Error =>
      new CancelledError(message.kind === "load" ? "the loading was cancelled" : "the translation was cancelled");
    if (signal?.aborted) return Promise.reject(cancelled());
    let cancel = (): void => {};
    return new Promise<FromWorker>((resolve, reject) => {
      host.postMessage(message); // throws if it cannot be copied
      this.waiting.set(id, { done: resolve, failed: reject });
      host.ref?.();
      cancel = (): void => {
        host.postMessage({ kind: "cancel", id });
        reject(cancelled()); // The worker may be in a batch, and answers when it has ended.
      };
      signal?.addEventListener("abort", cancel);
    }).finally(() => signal?.removeEventListener("abort", cancel));
  }

  #receive(message: FromWorker): void {
    if (message.kind === "progress") {
      try {
        this.onProgress?.(message.progress);
      } catch (error) {
        this.#stop(error); // Nothing could catch it here.
      }
      return;
    }
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (this.waiting.size === 0) this.host?.unref?.(); // A program may end without close().
    if (message.kind === "failed") {
      waiting?.failed(new (ERRORS[message.name] ?? PocketMTError)(message.message));
      return;
    }
    this.about = message.info;
    waiting?.done(message);
  }

  #stop(error: unknown): void {
    this.host?.terminate();
    this.host = undefined;
    for (const { failed } of this.waiting.values()) failed(error);
    this.waiting.clear();
  }
}

async function startWorker(receive: (message: FromWorker) => void, stopped: (error: Error) => void): Promise<Host> {
  if (NODE) {
    const { Worker: NodeWorker } = await import("node:worker_threads");
    // Options of the program, such as --input-type, are not for the worker's script.
    const worker = new NodeWorker(new URL("./worker.node.js", import.meta.url), { execArgv: [] });
    worker.on("message", receive);
    for (const event of ["error", "messageerror"])
      worker.on(event, (error) => stopped(new EngineError(`the worker stopped: ${String(error)}`)));
    worker.on("exit", (code) => stopped(new EngineError(`the worker stopped with exit code ${code}`)));
    return worker;
  }
  // Bundlers find the worker by this expression.
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = (event: MessageEvent<FromWorker>) => receive(event.data);
  worker.onmessageerror = () => stopped(new EngineError("the worker stopped: its answer cannot be read"));
  // A script that cannot be loaded gives no message.
  worker.onerror = ({ message }) => stopped(new EngineError(`the worker stopped: ${message || "worker.js cannot be loaded as a module"}`));
  return worker;
}
