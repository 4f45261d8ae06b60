// Translates lines in a page of a browser, one at a time and greedily, and returns what the programs for Node print.
// The site has these files: pocketmt/ (web/dist), bergamot/ (the worker of @browsermt/bergamot-translator), and models.
async function bytesOf(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function timed(lines, translate) {
  const answers = [];
  for (const line of lines) {
    const start = performance.now();
    const text = await translate(line);
    answers.push({ text, seconds: (performance.now() - start) / 1000 });
  }
  return answers;
}

async function runPocketmt({ engine, model, lines }) {
  const { LocalTranslator } = await import("./pocketmt/local.js");
  const files = [await bytesOf(`pocketmt/pocketmt-${engine}.wasm`), await bytesOf(model)];
  const begin = performance.now();
  const translator = await LocalTranslator.load(await WebAssembly.compile(files[0]), files[1]);
  const load = (performance.now() - begin) / 1000;
  const answers = await timed(lines, async (line) => (await translator.translate([line], { beamSize: 1 }))[0]);
  return [...answers, { load, memory: translator.info.memoryBytes }];
}

// As four_engines/run_bergamot.mjs does in Node.
async function runBergamot({ model, files, lines }) {
  const products = {
    int8_prepare_a: "int8PrepareAFallback",
    int8_prepare_b: "int8PrepareBFallback",
    int8_prepare_b_from_transposed: "int8PrepareBFromTransposedFallback",
    int8_prepare_b_from_quantized_transposed: "int8PrepareBFromQuantizedTransposedFallback",
    int8_prepare_bias: "int8PrepareBiasFallback",
    int8_multiply_and_add_bias: "int8MultiplyAndAddBiasFallback",
    int8_select_columns_of_b: "int8SelectColumnsOfBFallback",
  };
  const binary = await bytesOf("bergamot/bergamot-translator-worker.wasm");
  const contents = Object.fromEntries(await Promise.all(files.map(async (name) => [name, await bytesOf(`${model}/${name}`)])));
  const script = new TextDecoder().decode(await bytesOf("bergamot/bergamot-translator-worker.js"));
  const Module = (globalThis.Module = {});
  const begin = performance.now();
  await new Promise((initialized) => {
    Module.instantiateWasm = (imports, accept) => {
      const bound = Object.entries(products).map(([name, own]) => [name, (...values) => Module.asm[own](...values)]);
      const all = { ...imports, wasm_gemm: Object.fromEntries(bound) };
      WebAssembly.instantiate(binary, all).then((made) => accept(made.instance));
      return {};
    };
    Module.onRuntimeInitialized = initialized;
    (0, eval)(script);
  });
  const memory = (name, alignment) => {
    const bytes = contents[name] ?? new Uint8Array(0);
    const aligned = new Module.AlignedMemory(bytes.byteLength, alignment);
    aligned.getByteArrayView().set(bytes);
    return aligned;
  };
  const vocabularies = new Module.AlignedMemoryList();
  for (const name of files.filter((each) => each.endsWith(".spm")).sort()) vocabularies.push_back(memory(name, 64));
  const own = new TextDecoder().decode(contents["config.yml"]);
  const configuration = own.replace(/^(models|vocabs):\n(  - .*\n)+/gm, "");
  const service = new Module.BlockingService({ cacheSize: 0 });
  const loaded = new Module.TranslationModel(configuration, memory("model.bin", 256), memory("lex.bin", 64), vocabularies, null);
  const load = (performance.now() - begin) / 1000;
  const answers = await timed(lines, (line) => {
    const list = new Module.VectorString();
    list.push_back(line);
    const options = new Module.VectorResponseOptions();
    options.push_back({ qualityScores: false, alignment: false, html: false });
    return service.translate(loaded, list, options).get(0).getTranslatedText();
  });
  return [...answers, { load, memory: Module.HEAPU8.length }];
}
