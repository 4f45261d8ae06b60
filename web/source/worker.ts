/** The worker of a translator: it has one model, and translates one text after the other. */
import { compileEngine, download } from "./download.js";
import { CancelledError, EngineError, ModelFileError } from "./errors.js";
import { LocalTranslator } from "./local.js";
import type { FromWorker, Progress, ToWorker } from "./messages.js";

type Load = Extract<ToWorker, { kind: "load" }>;
type Translate = Extract<ToWorker, { kind: "translate" }>;

let engine: Promise<WebAssembly.Module> | undefined;
let loaded: Load | undefined;
let translator: LocalTranslator | undefined;
let running: { readonly id: number; readonly controller: AbortController } | undefined;
const queue: (Load | Translate)[] = [];

let send = (_message: FromWorker): void => {};

async function load(message: Load, signal: AbortSignal, again = false): Promise<LocalTranslator> {
  const { id, url, cache, digest } = message;
  const report = (progress: Progress): void => send({ kind: "progress", id, progress });
  engine ??= compileEngine();
  const [module, file] = await Promise.all([engine, download({ url, cached: cache, digest, again }, signal, report)]);
  if (signal.aborted) throw new CancelledError(`${url}: the loading was cancelled`);
  try {
    const found = await LocalTranslator.load(module, file.bytes);
    if (digest !== undefined && found.info.digest !== digest.toLowerCase())
      throw new ModelFileError(`the file has the digest ${found.info.digest}, expected ${digest}`);
    await file.keep();
    return found;
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    if (file.mayBeOld) return load(message, signal, true);
    throw new ModelFileError(`${url}: ${error.message}`);
  }
}

async function translate({ id, lines, options }: Translate, signal: AbortSignal): Promise<void> {
  if (loaded === undefined) throw new EngineError("no model was loaded");
  // After an error in the engine its memory is in an unknown state, so the model is loaded into another instance.
  if (translator?.broken) translator = undefined; // before the other one needs memory
  translator ??= await load(loaded, signal);
  const start = performance.now();
  const translated = await translator.translate(lines, options, async () => {
    await turn();
    if (signal.aborted) throw new CancelledError("the translation was cancelled");
  });
  send({ kind: "translated", id, lines: translated, milliseconds: performance.now() - start, info: translator.info });
}

/** Lets messages arrive. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

async function run(message: Load | Translate, signal: AbortSignal): Promise<void> {
  const { id } = message;
  try {
    if (message.kind === "translate") return await translate(message, signal);
    translator = await load(message, signal);
    loaded = { ...message, digest: translator.info.digest }; // the file may be another one when it is loaded again
    send({ kind: "loaded", id, info: translator.info });
  } catch (error) {
    fail(id, error);
  }
}

function fail(id: number, error: unknown): void {
  const { name, message } = error instanceof Error ? error : new EngineError(String(error));
  send({ kind: "failed", id, name, message });
}

function receive(message: ToWorker): void {
  if (message.kind === "cancel") return cancel(message.id);
  queue.push(message);
  if (running === undefined) void runAll();
}

function cancel(id: number): void {
  if (running?.id === id) return running.controller.abort();
  const place = queue.findIndex((message) => message.id === id);
  if (place < 0) return; // It has ended.
  queue.splice(place, 1);
  fail(id, new CancelledError("the translation was cancelled"));
}

async function runAll(): Promise<void> {
  for (let message = queue.shift(); message !== undefined; message = queue.shift()) {
    running = { id: message.id, controller: new AbortController() };
    await run(message, running.controller.signal);
  }
  running = undefined;
}

if (NODE) {
  const { parentPort } = await import("node:worker_threads");
  send = (message) => parentPort?.postMessage(message);
  parentPort?.on("message", receive);
} else {
  send = (message) => self.postMessage(message);
  self.onmessage = (event: MessageEvent<ToWorker>) => receive(event.data);
}
