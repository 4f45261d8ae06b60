/** Translation in the calling thread: what a worker runs. */
import { Engine, type SearchOptions } from "./engine.js";
import { EngineError } from "./errors.js";
import { type ChosenLanguages, Languages } from "./languages.js";
import { type Part, divideLine, oneLine } from "./lines.js";
import { Decompressor } from "./model/decompressor.js";
import { type ModelFile, readModelFile } from "./model/model_file.js";
import type { Architecture } from "./model/architecture.js";
import { type SpecialIds, Vocabulary } from "./text/vocabulary.js";

export { hasRelaxedSimd } from "./relaxed_simd.js";

/** Options of a translation. */
export interface TranslateOptions {
  /** Hypotheses kept at each step (default 4); 1 is greedy search. */
  beamSize?: number;
  /** Exponent of the length by which log-probabilities are divided, from -10 to 10 (default 1). */
  lengthPenalty?: number;
  /** Most target pieces of a sentence (default: 2 x source pieces + 20). */
  maxLength?: number;
  /** Whether to use the model's shortlist, if it has one (default true). */
  shortlist?: boolean;
  /** Most sentences computed together (default: as many as the engine finds best). A translation can be cancelled between batches. */
  batchSize?: number;
  /** Codes, for a model of several languages. A line may name its target language itself, if the model's sources do. */
  sourceLanguage?: string;
  targetLanguage?: string;
}

/** What a model says of itself, and how it runs. */
export interface ModelInfo {
  readonly sourceLanguages: readonly string[];
  readonly targetLanguages: readonly string[];
  readonly description: string;
  readonly licence: string;
  /** SHA-256 that the file states of itself. */
  readonly digest: string;
  readonly fileBytes: number;
  readonly instructionSet: string;
  /** Bytes of the engine's memory. */
  readonly memoryBytes: number;
}

const DEFAULT_BEAM_SIZE = 4;

/** A model in this thread. */
export class LocalTranslator {
  private readonly source: Vocabulary;
  private readonly target: Vocabulary;
  private readonly languages: Languages;
  private readonly engine: Engine;
  private readonly about: Omit<ModelInfo, "memoryBytes">;
  private readonly split: boolean;

  private constructor(module: WebAssembly.Module, file: ModelFile, fileBytes: number) {
    const { architecture } = file;
    this.target = checked(new Vocabulary(file.target, specialIds(architecture, false)), architecture.vocabularySize);
    this.source = file.source === file.target ? this.target : new Vocabulary(file.source, specialIds(architecture, true));
    checked(this.source, architecture.sourceSize);
    this.languages = new Languages(file.languages, file.languagePieces, this.source, this.target);
    this.engine = new Engine(module);
    this.engine.load(file.input);
    this.split = file.split;
    this.about = {
      sourceLanguages: this.languages.sources,
      targetLanguages: this.languages.targets,
      description: file.description,
      licence: file.licence,
      digest: file.digest,
      fileBytes,
      instructionSet: this.engine.instructionSet,
    };
  }

  /** Reads a model file and packs it. Throws ModelFileError if it is broken. */
  static async load(module: WebAssembly.Module, file: Uint8Array): Promise<LocalTranslator> {
    return new LocalTranslator(module, await readModelFile(file, new Decompressor(module)), file.length);
  }

  get info(): ModelInfo {
    return { ...this.about, memoryBytes: this.engine.memoryBytes };
  }

  /** Whether an error stopped the engine, so that the model must be loaded again. */
  get broken(): boolean {
    return this.engine.isBroken;
  }

  /** The ids of a text, without end of sentence. */
  encode(text: string): number[] {
    return this.source.encode(text);
  }

  /** The text of the ids of a translation. */
  decode(ids: readonly number[]): string {
    return this.target.decode(ids);
  }

  /**
   * Translates lines of any number of sentences.
   *
   * @param between is awaited between batches; if it throws, the translation ends.
   */
  async translate(lines: readonly string[], options: TranslateOptions = {}, between = nothing): Promise<string[]> {
    const languages = this.languages.choose(options.sourceLanguage, options.targetLanguage);
    const forced = languages.forced === undefined ? [] : [languages.forced];
    const search = searchOptions(options, forced.length);
    const divided = lines.map((line) => this.divide(line, languages));
    const requests = divided.flatMap(({ parts, prefix }) =>
      parts.filter((part) => typeof part !== "string").map((part) => ({ source: [...prefix, ...part], prefix: forced })),
    );
    const results = (await this.engine.translate(requests, search, between)).map((ids) => ids.slice(forced.length));
    let next = 0;
    const shown = (part: Part): string => (typeof part === "string" ? part : oneLine(this.target.decode(results[next++] as number[])));
    return divided.map(({ parts }) => parts.map(shown).join(""));
  }

  /** Translates sentences that are given as ids. */
  async translateIds(sources: readonly (readonly number[])[], options: TranslateOptions = {}): Promise<number[][]> {
    return this.engine.translate(sources.map((source) => ({ source, prefix: [] })), searchOptions(options, 0), nothing);
  }

  private divide(given: string, languages: ChosenLanguages): { parts: Part[]; prefix: number[] } {
    const [named, line] = this.languages.namedBy(given);
    const parts = divideLine(line, this.source, languages.sentences, this.split);
    const prefix = parts.some((part) => typeof part !== "string") ? languages.prefix(named) : [];
    return { parts, prefix };
  }
}

async function nothing(): Promise<void> {}

/** Returns options for the engine, which counts the forced pieces of a translation. */
function searchOptions(options: TranslateOptions, forced: number): SearchOptions {
  const maxLength = whole("maxLength", options.maxLength ?? 0, 0, 2 ** 31);
  return {
    beamSize: whole("beamSize", options.beamSize ?? DEFAULT_BEAM_SIZE, 1, 256),
    lengthPenalty: real("lengthPenalty", options.lengthPenalty ?? 1),
    maxLength: maxLength > 0 ? maxLength + forced : 0,
    shortlist: options.shortlist ?? true,
    batchSize: whole("batchSize", options.batchSize ?? 0, 0, 2 ** 31),
  };
}

function whole(name: string, value: number, lowest: number, highest: number): number {
  if (!Number.isInteger(value) || value < lowest || value > highest)
    throw new EngineError(`${name} is ${value}, it must be a whole number from ${lowest} to ${highest}`);
  return value;
}

function real(name: string, value: number): number {
  if (!Number.isFinite(value)) throw new EngineError(`${name} must be a finite number`);
  return value;
}

function specialIds(architecture: Architecture, source: boolean): SpecialIds {
  return {
    pad: architecture.pieceId("pad", source),
    bos: architecture.pieceId("bos", source),
    eos: architecture.pieceId("eos", source) as number,
    unk: architecture.pieceId("unk", source) as number,
  };
}

function checked(vocabulary: Vocabulary, size: number): Vocabulary {
  if (vocabulary.size !== size) throw new EngineError(`the vocabulary has ${vocabulary.size} pieces, but the model ${size}`);
  return vocabulary;
}
