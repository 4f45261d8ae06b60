/** A model file as the engine and the tokenizers read it. */
import { ModelFileError } from "../errors.js";
import { WordFilter } from "../text/word_filter.js";
import { Architecture, realBits } from "./architecture.js";
import { type CodeGroup, codeShape, decodeCodes, expandSparse } from "./codes.js";
import { type Container, type Tensor, readContainer } from "./container.js";
import type { Decompressor } from "./decompressor.js";
import { type Json, type JsonObject, isObject, listMember, objectMember, textMember, textsOf, wholeMember } from "./json.js";

const FORMAT_VERSION = 1;
const MOST_BYTES = 64 << 20;
const MOST_HASHES = 32;
const MEMBERS = new Set(
  ("format_version architecture languages vocabulary schemes matrices recipe licence producer training description " +
    "coding vectors sparse products activations shortlist known_words unit language_pieces target_vocabulary").split(" "),
);
const UNITS = ["sentence", "line", "document"];

/** The vocabulary of one side, as stored. */
export interface StoredVocabulary {
  /** A SentencePiece model. */
  readonly model: Uint8Array;
  /** The piece of each id, "" for none; undefined: ids are those of the SentencePiece model. */
  readonly pieces: readonly string[] | undefined;
  readonly nfkc: boolean;
  readonly verbatim: readonly string[];
  readonly languageCodes: boolean;
}

/** Languages of a model of several, code -> piece. */
export interface LanguagePieces {
  readonly target: Readonly<Record<string, string>>;
  readonly targetPlace: "source" | "translation";
  readonly source: Readonly<Record<string, string>>;
}

/** What the engine is given. */
export interface EngineInput {
  readonly description: string;
  /** Tensors that the engine asks for while it packs the model, one at a time, by their place. */
  readonly tensors: readonly Uint8Array[];
  /** Small tensors, each at the offset that the description states. */
  readonly stored: Uint8Array;
  /** Empty: there is none. */
  readonly shortlist: Uint8Array;
}

/** A model file that was read and checked. */
export interface ModelFile {
  readonly architecture: Architecture;
  readonly source: StoredVocabulary;
  /** The same object where both sides share one. */
  readonly target: StoredVocabulary;
  readonly languages: { readonly source: string; readonly target: string };
  readonly languagePieces: LanguagePieces | undefined;
  /** Whether text is split into sentences. */
  readonly split: boolean;
  readonly description: string;
  readonly licence: string;
  readonly digest: string;
  /** Words that the model translates, in lower case; undefined: the file has none. */
  readonly knownWords: WordFilter | undefined;
  readonly input: EngineInput;
}

/** Reads a model file; throws ModelFileError with what is wrong, and where. */
export async function readModelFile(file: Uint8Array, decompressor: Decompressor): Promise<ModelFile> {
  const container = await readContainer(file, decompressor);
  const { manifest } = container;
  checkManifest(manifest);
  const architecture = new Architecture(objectMember(manifest, "architecture", "manifest"));
  const languages = objectMember(manifest, "languages", "manifest");
  const source = readVocabulary(container, "vocabulary", undefined);
  return {
    architecture,
    source,
    target: architecture.separateVocabularies ? readVocabulary(container, "target_vocabulary", source) : source,
    languages: {
      source: textMember(languages, "source", "manifest: languages"),
      target: textMember(languages, "target", "manifest: languages"),
    },
    languagePieces: readLanguagePieces(manifest["language_pieces"]),
    split: (manifest["unit"] ?? "sentence") === "sentence",
    description: String(manifest["description"]),
    licence: String(manifest["licence"]),
    digest: container.digest,
    knownWords: readKnownWords(container),
    input: new InputWriter(container, architecture).write(),
  };
}

function checkManifest(manifest: JsonObject): void {
  const version = wholeMember(manifest, "format_version", "manifest", 1, 2 ** 31);
  if (version > FORMAT_VERSION)
    throw new ModelFileError(`manifest: format version ${version}, this PocketMT reads up to ${FORMAT_VERSION}`);
  for (const name of Object.keys(manifest)) {
    if (!MEMBERS.has(name)) throw new ModelFileError(`manifest: unknown member '${name.slice(0, 80)}'`);
  }
  if ((manifest["coding"] ?? "deflate") !== "deflate") throw new ModelFileError("manifest: coding is unknown here");
  if (!UNITS.includes((manifest["unit"] ?? "sentence") as string)) throw new ModelFileError("manifest: unit is unknown here");
  if ("products" in manifest && "activations" in manifest)
    throw new ModelFileError("manifest: products and activations both say how activations are quantized");
}

function readKnownWords(container: Container): WordFilter | undefined {
  const entry = container.manifest["known_words"];
  if (entry === undefined) return undefined;
  const where = "manifest: known_words";
  if (!isObject(entry) || Object.keys(entry).length !== 1) throw new ModelFileError(`${where}: expected exactly hashes`);
  const { dtype, shape, bytes } = tensorOf(container, "known_words");
  if (dtype !== "U8" || shape.length !== 1) throw new ModelFileError("tensor 'known_words' is not a row of U8");
  return new WordFilter(bytes.slice(), wholeMember(entry, "hashes", where, 1, MOST_HASHES));
}

function tensorOf(container: Container, name: string): Tensor {
  const tensor = container.tensors.get(name);
  if (tensor === undefined) throw new ModelFileError(`tensor '${name}' is missing`);
  return tensor;
}

function decompressTensor(container: Container, name: string, size: number): Uint8Array {
  const content = container.decompressor.xz(`tensor '${name}'`, tensorOf(container, name).bytes, size);
  if (content.length !== size)
    throw new ModelFileError(`tensor '${name}' does not hold exactly the ${size} bytes that the manifest states`);
  return content;
}

function readVocabulary(container: Container, name: string, source: StoredVocabulary | undefined): StoredVocabulary {
  const where = `manifest: ${name}`;
  const entry = objectMember(container.manifest, name, "manifest");
  const normalization = textMember(entry, "normalization", where);
  if (normalization !== "nfkc" && normalization !== "none") throw new ModelFileError(`${where}: normalization is unknown here`);
  const verbatim = (entry["verbatim"] ?? []) as Json;
  if (!Array.isArray(verbatim) || !verbatim.every((each) => typeof each === "string" && each !== ""))
    throw new ModelFileError(`${where}: verbatim is not a list of pieces`);
  return {
    model: decompressTensor(container, name, wholeMember(entry, "bytes", where, 1, MOST_BYTES)),
    pieces: readTable(container, name, entry["table"], source),
    nfkc: normalization === "nfkc",
    verbatim: verbatim as string[],
    languageCodes: entry["language_codes"] === true,
  };
}

function readTable(
  container: Container,
  vocabulary: string,
  table: Json | undefined,
  source: StoredVocabulary | undefined,
): readonly string[] | undefined {
  if (table === undefined) return undefined;
  const where = `manifest: ${vocabulary}: table`;
  if (table === "source" && source?.pieces !== undefined) return source.pieces;
  if (!isObject(table)) throw new ModelFileError(`${where} is not an object`);
  const name = `${vocabulary}.table`;
  const content = decompressTensor(container, name, wholeMember(table, "bytes", where, 1, MOST_BYTES));
  const pieces = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content).split("\0");
  if (pieces.pop() !== "") throw new ModelFileError(`tensor '${name}' does not end in a null character`);
  return pieces;
}

function readLanguagePieces(value: Json | undefined): LanguagePieces | undefined {
  if (value === undefined) return undefined;
  const where = "manifest: language_pieces";
  if (!isObject(value)) throw new ModelFileError(`${where} is not an object`);
  const targetPlace = textMember(value, "target_place", where);
  if (targetPlace !== "source" && targetPlace !== "translation")
    throw new ModelFileError(`${where}: target_place is unknown here`);
  return {
    target: textsOf(value["target"], `${where}: target`),
    targetPlace,
    source: textsOf(value["source"] ?? {}, `${where}: source`),
  };
}

const ALIGNMENT = 64;

/** Writes the description that native/web/description.h shows, and lays out the tensors. */
class InputWriter {
  private readonly lines: string[];
  private readonly tensors: Uint8Array[] = [];
  private readonly small: [number, Uint8Array][] = [];
  private smallBytes = 0;
  private readonly restored = new Set<string>();

  constructor(
    private readonly container: Container,
    private readonly architecture: Architecture,
  ) {
    this.lines = architecture.lines();
  }

  write(): EngineInput {
    const { manifest } = this.container;
    const groups = this.#vectorGroups();
    this.#matrices(groups);
    this.#sparse();
    this.#activations();
    for (const [name, tensor] of this.container.tensors) this.#plain(name, tensor);
    const shortlist = manifest["shortlist"];
    let targets: Uint8Array = new Uint8Array();
    if (isObject(shortlist)) {
      const where = "manifest: shortlist";
      targets = decompressTensor(this.container, "shortlist", wholeMember(shortlist, "bytes", where, 1, MOST_BYTES));
      this.lines.push(`frequent ${wholeMember(shortlist, "frequent", where, 1, this.architecture.vocabularySize)}`);
    }
    const stored = new Uint8Array(this.smallBytes);
    for (const [offset, bytes] of this.small) stored.set(bytes, offset);
    return { description: this.lines.join("\n"), tensors: this.tensors, stored, shortlist: targets };
  }

  #vectorGroups(): Map<string, string[]> {
    const groups = new Map<string, string[]>();
    const { vectors } = this.container.manifest;
    if (vectors === undefined) return groups;
    if (!Array.isArray(vectors)) throw new ModelFileError("manifest: vectors is not a list");
    vectors.forEach((names, index) => {
      if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string"))
        throw new ModelFileError(`manifest: vectors[${index}] is not a list of at least one name`);
      groups.set(`vectors.${index}`, names.map(checkedName));
      this.lines.push(["vector_group", `vectors.${index}`, ...names].join(" "));
    });
    return groups;
  }

  #matrices(vectorGroups: ReadonlyMap<string, string[]>): void {
    const schemes = listMember(this.container.manifest, "schemes", "manifest");
    for (const [name, groups] of Object.entries(objectMember(this.container.manifest, "matrices", "manifest"))) {
      const where = `manifest: matrices: '${checkedName(name)}'`;
      if (!Array.isArray(groups)) throw new ModelFileError(`${where} is not a list of row groups`);
      const columns = this.architecture.columns(vectorGroups.get(name)?.[0] ?? name);
      for (const [index, group] of groups.entries()) {
        const [scheme, rows] = Array.isArray(group) ? group : [];
        const entry = typeof scheme === "number" ? schemes[scheme] : undefined;
        if (!isObject(entry) || typeof rows !== "number" || !Number.isInteger(rows) || rows < 1)
          throw new ModelFileError(`${where}: a row group is not [scheme index, row count]`);
        const described = this.#group(name, entry, rows, columns);
        this.#restoreCodes(`${name}.${index}.${described.scheme === "binary" ? "planes" : "codes"}`, described);
      }
    }
  }

  #group(name: string, entry: JsonObject, rows: number, columns: number): CodeGroup {
    const where = "manifest: schemes";
    const scheme = checkedName(textMember(entry, "name", where));
    const bits = wholeMember(entry, "bits", where, 1, 8);
    const levels = entry["levels"] ?? [];
    if (!Array.isArray(levels) || !levels.every((level) => Number.isInteger(level)))
      throw new ModelFileError(`${where}: levels are not whole numbers`);
    const granularity = checkedName(textMember(entry, "granularity", where));
    this.lines.push(["group", name, scheme, bits, granularity, rows, ...levels].join(" "));
    return { scheme, bits, rows, columns };
  }

  #restoreCodes(name: string, group: CodeGroup): void {
    const coded = this.container.tensors.get(`${name}.deflate`);
    if (coded === undefined) return;
    const bytes = decodeCodes(`${name}.deflate`, coded.bytes, group, this.container.decompressor);
    const dtype = group.scheme === "uniform" ? "I8" : "U8";
    this.restored.add(`${name}.deflate`);
    this.#large(name, { dtype, shape: codeShape(group), bytes });
  }

  #sparse(): void {
    for (const name of (this.container.manifest["sparse"] ?? []) as Json[]) {
      if (typeof name !== "string") throw new ModelFileError("manifest: sparse is not a list of names");
      const kept = tensorOf(this.container, `${checkedName(name)}.kept`);
      const weights = tensorOf(this.container, `${name}.weights`);
      const rows = kept.shape[0] as number;
      const columns = this.architecture.columns(name);
      this.restored.add(`${name}.kept`).add(`${name}.weights`);
      const bytes = expandSparse(name, rows, columns, kept.bytes, weights.bytes);
      this.#large(name, { dtype: "F32", shape: [rows, columns], bytes });
    }
  }

  #activations(): void {
    const { products, activations } = this.container.manifest;
    if (isObject(products) && products["scheme"] === "logarithmic") {
      const bits = wholeMember(products, "bits", "manifest: products", 1, 4);
      this.lines.push(`logarithmic_activations ${realBits(2 ** (2 ** (bits - 1) - 1))} ${realBits(Number(products["scale"]))}`);
    } else if (products !== undefined && !(isObject(products) && products["scheme"] === "uniform" && products["bits"] === 8)) {
      throw new ModelFileError("manifest: products has a scheme that is unknown here");
    }
    if (isObject(activations))
      this.lines.push(`activation_bits ${wholeMember(activations, "bits", "manifest: activations", 2, 8)}`);
  }

  #plain(name: string, tensor: Tensor): void {
    if (/^(target_)?vocabulary(\.table)?$/.test(name) || name === "shortlist" || name === "known_words" || this.restored.has(name)) return;
    const codes = /\.(codes|planes)$/.test(name) || (tensor.dtype === "F32" && tensor.shape.length === 2);
    if (codes) return this.#large(name, tensor);
    const words = ["stored", checkedName(name), tensor.dtype, this.smallBytes, tensor.bytes.length, ...tensor.shape];
    this.lines.push(words.join(" "));
    this.small.push([this.smallBytes, tensor.bytes]);
    this.smallBytes += Math.ceil(tensor.bytes.length / ALIGNMENT) * ALIGNMENT;
  }

  #large(name: string, tensor: Tensor): void {
    this.lines.push(["tensor", checkedName(name), tensor.dtype, tensor.bytes.length, ...tensor.shape].join(" "));
    this.tensors.push(tensor.bytes);
  }
}

/** Returns a name without white space, which separates words of the description. */
function checkedName(name: string): string {
  if (!/^[!-~]+$/.test(name)) throw new ModelFileError(`'${name.slice(0, 120)}' is no name of this architecture`);
  return name;
}
