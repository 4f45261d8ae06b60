// Loading and translations that are cancelled: node cancelled.mjs MODEL; prints what happened as JSON.
import { Translator } from "../../web/dist/index.node.js";

const [, , model] = process.argv;
const text = "Two dogs.";
const failure = async (promise) => {
  const error = await promise.then(() => undefined, (reason) => reason);
  return [error?.name, error?.message];
};
const now = AbortSignal.abort();
// The signal of a call that it is given to, which then fires.
const cancelled = async (call) => {
  const controller = new AbortController();
  const called = failure(call(controller.signal));
  controller.abort();
  return called;
};
const translator = await Translator.load(model);
const found = {
  loadedAfter: await failure(Translator.load(model, { signal: now })),
  loading: await cancelled((signal) => Translator.load(model, { signal })),
  after: await failure(translator.translate("", { signal: now })),
};
let running = true;
let waited = 0;
const start = performance.now();
const long = translator.translate(Array(600).fill("A man rides a bike.")).finally(() => (running = false));
const next = translator.translate(text, { onTime: (milliseconds) => (waited = performance.now() - start - milliseconds) });
found.queued = await cancelled((signal) => translator.translate(text, { signal }));
found.whileRunning = running;
await long;
const last = performance.now() - start;
found.next = await next;
found.timeWithoutWaiting = waited >= last / 2;

const controller = new AbortController();
const stopped = failure(translator.translate(Array(600).fill("A man rides a bike."), { signal: controller.signal }));
await new Promise((resolve) => setTimeout(resolve, 100));
controller.abort();
const [thread] = translator.threads;
found.running = await stopped;
found.isWaiting = thread.load; // the worker ends its batch
await translator.translate(text);
found.hasEnded = thread.load;
translator.close();
console.log(JSON.stringify(found));
