// A worker whose browser has kept a model file: node cached.mjs KEPT ON_THE_SERVER HASHES [DIGEST]; prints the worker's
// messages, and what it asks of the network and of the cache, as JSON. ON_THE_SERVER: "" if the server cannot be reached.
// HASHES: whether the host has SHA-256.
import fs from "node:fs";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const url = "https://example.org/model.pocketmt";

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { workerData: process.argv.slice(2) });
  const messages = [];
  worker.on("message", ({ kind, name, cache, info }) => {
    if (kind !== "progress") messages.push([kind, name ?? cache ?? info?.digest ?? null]);
    if (kind !== "loaded" && kind !== "failed") return;
    console.log(JSON.stringify(messages));
    process.exit();
  });
  worker.postMessage({ kind: "load", id: 0, url, cache: true, digest: process.argv[5] });
} else {
  const [kept, served, hashes] = workerData;
  const cache = {
    match: async () => new Response(fs.readFileSync(kept)),
    put: async (name) => parentPort.postMessage({ kind: "put", name }),
    delete: async (name) => parentPort.postMessage({ kind: "delete", name }),
  };
  globalThis.caches = { open: async () => cache };
  globalThis.fetch = async (_, { cache }) => {
    parentPort.postMessage({ kind: "fetch", cache });
    if (served === "") throw new TypeError("Failed to fetch");
    return new Response(fs.readFileSync(served));
  };
  if (hashes !== "yes") Object.defineProperty(globalThis, "crypto", { value: undefined });
  await import("../../web/dist/worker.node.js");
}
