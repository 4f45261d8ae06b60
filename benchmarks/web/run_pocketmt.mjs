// Translates lines of standard input, one at a time and greedily, with the engine in WebAssembly in this thread of Node:
//   node run_pocketmt.mjs DIST ENGINE MODEL < TEXT
// DIST is web/dist, ENGINE simd128 or relaxed. Writes lines of JSON as four_engines/run_bergamot.mjs does.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [dist, engine, model] = process.argv.slice(2);
const { LocalTranslator } = await import(pathToFileURL(path.resolve(dist, "local.js")));
const base = memory();
const begin = performance.now();
const module = await WebAssembly.compile(fs.readFileSync(path.join(dist, `pocketmt-${engine}.wasm`)));
const translator = await LocalTranslator.load(module, new Uint8Array(fs.readFileSync(model)));
const load = (performance.now() - begin) / 1000;
const options = { beamSize: 1 };
for (const line of fs.readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) {
  const start = performance.now();
  const [text] = await translator.translate([line], options);
  console.log(JSON.stringify({ text, seconds: (performance.now() - start) / 1000 }));
}
console.log(JSON.stringify({ load, memory: memory() - base, engine: translator.info.memoryBytes }));

/** The most bytes that this process had. */
function memory() {
  return /VmHWM:\s*(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1] * 1024;
}
