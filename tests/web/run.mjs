// Runs jobs with the built package: node run.mjs ENGINE < JOBS, both JSON. A job that fails has an error instead of a result.
import fs from "node:fs";
import v8 from "node:v8";
import vm from "node:vm";
import {
  Engine,
  LocalTranslator,
  Names,
  SentencePiece,
  UnknownWords,
  Vocabulary,
  WordFilter,
  encodeLine,
  losesParts,
  numberFormats,
  translationSpans,
  withDecimals,
  withStandIns,
  withoutAddedMark,
} from "../../web/dist/testing.js";

const jobs = JSON.parse(fs.readFileSync(0, "utf8"));
const wasm = process.argv[2];
const module = wasm ? await WebAssembly.compile(fs.readFileSync(new URL(`../../web/dist/${wasm}`, import.meta.url))) : undefined;
const models = new Map();

async function model(path) {
  if (!models.has(path)) models.set(path, await LocalTranslator.load(module, new Uint8Array(fs.readFileSync(path))));
  return models.get(path);
}

async function loadFile(path) {
  const file = new Uint8Array(fs.readFileSync(path));
  return [new WeakRef(file.buffer), await LocalTranslator.load(module, file)];
}

function vocabulary(path, nfkc) {
  const stored = { model: new Uint8Array(fs.readFileSync(path)), pieces: undefined, nfkc, verbatim: [], languageCodes: false };
  return new Vocabulary(stored, { pad: 0, bos: 1, eos: 2, unk: 3 });
}

const kinds = {
  check: async () => new Engine(module).check() ?? null,
  ids: async ({ path, sources, options }) => (await model(path)).translateIds(sources, options),
  lines: async ({ path, lines, options }) => (await model(path)).translate(lines, options),
  // A translation that is cancelled at some call of `between`.
  cancelled: async ({ path, lines, calls }) => {
    const between = async () => {
      if (--calls === 0) throw new Error("cancelled");
    };
    return (await model(path)).translate(lines, {}, between);
  },
  overlapping: async ({ path, lines }) => {
    const translator = await model(path);
    return (await Promise.all(lines.map((line) => translator.translate([line])))).flat();
  },
  // Whether the memory of the file can be used again while its translator is in use.
  released: async ({ path }) => {
    const [file, translator] = await loadFile(path);
    v8.setFlagsFromString("--expose-gc");
    await new Promise((resolve) => setTimeout(resolve));
    vm.runInNewContext("gc")();
    return file.deref() === undefined && translator.info.memoryBytes > 0;
  },
  // Whether the memory is above 2 GiB, because most of what lies below is taken before, and translations in it.
  high: async ({ path, lines }) => {
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (...given) {
      const { exports } = new Instance(...given);
      const start = () => [exports._initialize(), exports.allocate(1e9), exports.allocate(1e9)];
      return { exports: { ...exports, _initialize: start } };
    };
    try {
      const translator = await LocalTranslator.load(module, new Uint8Array(fs.readFileSync(path)));
      return [translator.info.memoryBytes > 2 ** 31, await translator.translate(lines)];
    } finally {
      WebAssembly.Instance = Instance;
    }
  },
  pieces: async ({ path, lines }) => {
    const processor = new SentencePiece(new Uint8Array(fs.readFileSync(path)));
    return lines.map((line) => {
      const pieces = processor.encode(line);
      const ids = pieces.map((piece) => piece.id);
      return [ids, pieces.map((piece) => piece.text), processor.decode(ids)];
    });
  },
  segments: async ({ path, nfkc, lines }) => {
    const loaded = vocabulary(path, nfkc);
    return lines.map((line) => encodeLine(loaded, line));
  },
  normalized: async ({ path, lines }) => {
    const loaded = vocabulary(path, true);
    return lines.map((line) => loaded.normalize(line));
  },
  "unknown words": async ({ path, lines, language }) => {
    const words = new UnknownWords(vocabulary(path, true));
    return lines.map((line, index) => {
      const found = words.find(line, language).map(({ start, text }) => [[...line.slice(0, start)].length, text]);
      const lost = words.lost(line, lines[(index + 1) % lines.length], language);
      return [found, words.respelled(line, language), lost.map(({ text }) => text)];
    });
  },
  "added marks": async ({ parts, translation }) => parts.map((part) => withoutAddedMark(part, translation)),
  names: async ({ lines, others, language, bits, hashes }) => {
    const names = new Names(new WordFilter(Uint8Array.from(bits), hashes));
    return lines.map((line, index) =>
      names.lost(line, others[index], language).map(({ start, text }) => [[...line.slice(0, start)].length, text]),
    );
  },
  "names in another case": async ({ lines, others, language, bits, hashes }) => {
    const names = new Names(new WordFilter(Uint8Array.from(bits), hashes));
    return lines.map((line, index) => names.withCase(line, others[index], language));
  },
  "word filter": async ({ words, bits, hashes }) => {
    const filter = new WordFilter(Uint8Array.from(bits), hashes);
    return words.map((word) => filter.has(word));
  },
  numbers: async ({ lines, source, target }) => {
    const formats = numberFormats(source, target);
    return lines.map((line, index) => {
      const other = lines[(index + 1) % lines.length];
      const replaced = withStandIns(line, 0, [], formats);
      const parts = replaced?.standIns.map(({ word, part }) => [word, part]) ?? [];
      const decimals = [other, line].map((translation) => withDecimals(line, translation, formats));
      return [losesParts(line, other, true, formats), losesParts(line, other, false, formats), replaced?.text ?? line, parts, decimals];
    });
  },
  spans: async ({ lines, language, protect }) =>
    lines.map((line) => [...translationSpans(line, language, true, protect)].map(({ start, end, translated }) => [line.slice(start, end), translated])),
};

const results = [];
for (const job of jobs) {
  try {
    results.push({ result: await kinds[job.kind](job) });
  } catch (error) {
    results.push({ error: error.name, message: error.message });
  }
}
process.stdout.write(JSON.stringify(results));
