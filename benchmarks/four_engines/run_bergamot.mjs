// Translates lines of standard input with bergamot's WebAssembly in this thread of Node:
//   node run_bergamot.mjs PACKAGE FOLDER < TEXT
// PACKAGE is the folder of @browsermt/bergamot-translator, FOLDER holds model.bin, its vocabularies and perhaps lex.bin.
// Writes a line of JSON for each line, {text, seconds}, and one at the end, {load, memory, base}: seconds, most bytes,
// and those before anything was loaded.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { createRequire } from "node:module";

const mostBytes = () => /VmHWM:\s*(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1] * 1024;
const base = mostBytes();
const [packageFolder, folder] = process.argv.slice(2);
const worker = path.join(packageFolder, "worker");
// The names under which the program wants the products of whole numbers, and those under which it has its own.
const products = {
    int8_prepare_a: "int8PrepareAFallback",
    int8_prepare_b: "int8PrepareBFallback",
    int8_prepare_b_from_transposed: "int8PrepareBFromTransposedFallback",
    int8_prepare_b_from_quantized_transposed: "int8PrepareBFromQuantizedTransposedFallback",
    int8_prepare_bias: "int8PrepareBiasFallback",
    int8_multiply_and_add_bias: "int8MultiplyAndAddBiasFallback",
    int8_select_columns_of_b: "int8SelectColumnsOfBFallback",
};

const Module = (globalThis.Module = {});
await new Promise((initialized) => {
    Module.instantiateWasm = (imports, accept) => {
        const bound = Object.entries(products).map(([name, own]) => [name, (...values) => Module.asm[own](...values)]);
        const binary = fs.readFileSync(path.join(worker, "bergamot-translator-worker.wasm"));
        WebAssembly.instantiate(binary, { ...imports, wasm_gemm: Object.fromEntries(bound) }).then((made) =>
            accept(made.instance),
        );
        return {};
    };
    Module.onRuntimeInitialized = initialized;
    globalThis.require = createRequire(import.meta.url);
    globalThis.__dirname = worker;
    const script = path.join(worker, "bergamot-translator-worker.js");
    vm.runInThisContext(fs.readFileSync(script, "utf8"), { filename: script });
});

const present = (name) => fs.existsSync(path.join(folder, name));
const memory = (name, alignment) => {
    const bytes = name === null ? new Int8Array(0) : new Int8Array(fs.readFileSync(path.join(folder, name)));
    const aligned = new Module.AlignedMemory(bytes.byteLength, alignment);
    aligned.getByteArrayView().set(bytes);
    return aligned;
};

const start = performance.now();
const vocabularies = new Module.AlignedMemoryList();
for (const name of present("vocab.spm") ? ["vocab.spm"] : ["srcvocab.spm", "trgvocab.spm"])
    vocabularies.push_back(memory(name, 64));
const list = present("lex.bin") ? "lex.bin" : null;
// This version uses a shortlist in memory only if the configuration names one, whatever its name.
const own = fs.readFileSync(path.join(folder, "config.yml"), "utf8");
const configuration = own.replace(/^(models|vocabs):\n(  - .*\n)+/gm, "");
const service = new Module.BlockingService({ cacheSize: 0 });
const model = new Module.TranslationModel(configuration, memory("model.bin", 256), memory(list, 64), vocabularies, null);
const load = (performance.now() - start) / 1000;

for (const line of fs.readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) {
    const lines = new Module.VectorString();
    lines.push_back(line);
    const options = new Module.VectorResponseOptions();
    options.push_back({ qualityScores: false, alignment: false, html: false });
    const begin = performance.now();
    const text = service.translate(model, lines, options).get(0).getTranslatedText();
    console.log(JSON.stringify({ text, seconds: (performance.now() - begin) / 1000 }));
}
console.log(JSON.stringify({ load, memory: mostBytes(), base }));
