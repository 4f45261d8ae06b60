// Workers that end while a program uses them: node stopped.mjs MODEL; prints what happened as JSON.
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const started = [];
const sent = [];
threads.Worker = class extends threads.Worker {
  constructor(...options) {
    super(...options);
    started.push(this);
  }
  postMessage(message) {
    sent.push(message.kind);
    super.postMessage(message);
  }
};
syncBuiltinESMExports();
const { Translator } = await import("../../web/dist/index.node.js");

const failure = (promise) => promise.then(() => undefined, ({ name, message }) => [name, message]);
const pair = await Translator.load(process.argv[2], { workers: 2 });
while (pair.workers < 2) await new Promise((resolve) => setTimeout(resolve, 20));
const running = failure(pair.translate(Array(200).fill("A man rides a bike.")));
await started[0].terminate();
const found = { running: await running, sent: sent.slice(), workers: pair.workers, after: await pair.translate("Two dogs.") };
await started[1].terminate();
found.later = await failure(pair.translate("Two dogs."));
const single = await Translator.load(process.argv[2]);
const unread = failure(single.translate("Two dogs."));
started[2].emit("messageerror", new RangeError("out of memory"));
found.unread = await unread;
console.log(JSON.stringify(found));
