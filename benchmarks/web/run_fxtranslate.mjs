// Translates lines of standard input with fxtranslate's WebAssembly: node run_fxtranslate.mjs PACKAGE FOLDER < TEXT
// FOLDER is a model of bergamot. Writes lines of JSON as four_engines/run_bergamot.mjs does.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [folderOfPackage, folder] = process.argv.slice(2);
const base = memory();
const begin = performance.now();
const { Translator } = createRequire(import.meta.url)(path.resolve(folderOfPackage));
const read = (name) => fs.readFileSync(path.join(folder, name));
const shared = fs.existsSync(path.join(folder, "vocab.spm"));
const vocabularies = shared ? ["vocab.spm", "vocab.spm"] : ["srcvocab.spm", "trgvocab.spm"];
const translator = new Translator(read("model.bin"), ...vocabularies.map(read));
const load = (performance.now() - begin) / 1000;
for (const line of fs.readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) {
  const start = performance.now();
  const text = translator.translate(line);
  console.log(JSON.stringify({ text, seconds: (performance.now() - start) / 1000 }));
}
console.log(JSON.stringify({ load, memory: memory() - base }));

/** The most bytes that this process had. */
function memory() {
  return /VmHWM:\s*(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1] * 1024;
}
