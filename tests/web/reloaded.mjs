// A worker whose engine fails after the server's model file was replaced: node reloaded.mjs MODEL REPLACED CACHE; prints
// the worker's messages as JSON. CACHE: whether the browser keeps the file.
import fs from "node:fs";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { workerData: process.argv.slice(2) });
  const messages = [];
  const translate = () => worker.postMessage({ kind: "translate", id: messages.length, lines: ["Two dogs."], options: {} });
  worker.on("message", ({ kind, name, info }) => {
    if (kind === "progress") return;
    messages.push([kind, name ?? info.digest]);
    if (messages.length < 3) return translate();
    console.log(JSON.stringify(messages));
    process.exit();
  });
  const url = "https://example.org/model.pocketmt";
  worker.postMessage({ kind: "load", id: 0, url, cache: process.argv[4] === "yes", digest: undefined });
} else {
  const [first, replaced] = workerData;
  let served = first;
  let kept;
  const cache = { match: async () => kept?.clone(), put: async (_, response) => void (kept = response), delete: async () => true };
  globalThis.caches = { open: async () => cache };
  globalThis.fetch = async () => new Response(fs.readFileSync(served));
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (module, imports) {
    const { exports } = new Instance(module, imports);
    const fail = () => {
      served = replaced;
      throw new Error("out of memory");
    };
    return { exports: served === first ? { ...exports, translate_batch: fail } : exports };
  };
  await import("../../web/dist/worker.node.js");
}
