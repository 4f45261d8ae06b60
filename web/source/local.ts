/** Translation in the calling thread: what a worker runs. */
import { SEARCH_OPTIONS, checkLines, checkOptions } from "./arguments.js";
import { Engine, type EngineOptions } from "./engine.js";
import { EngineError } from "./errors.js";
import { type ChosenLanguages, Languages } from "./languages.js";
import { type Parts, type TranslatedText, copied, divideLine, knownSpans, oneLine, plainSpaces, withoutAddedMark } from "./lines.js";
import { Decompressor } from "./model/decompressor.js";
import { type ModelFile, readModelFile } from "./model/model_file.js";
import type { Architecture } from "./model/architecture.js";
import type { CompiledModule, ModelInfo, SearchOptions } from "./public_types.js";
import { withDecimals } from "./sentences/decimals.js";
import { losesParts, lostNumbers, lostParts } from "./sentences/lost.js";
import { QuotationMarks } from "./sentences/quotation_marks.js";
import { MOST_NAMES, TRIES, mayHelp, withParts, withStandIns } from "./sentences/stand_ins.js";
import { Abbreviations } from "./sentences/written_out.js";
import { UnknownWords } from "./sentences/unknown_words.js";
import { withCapitals } from "./text/letter_case.js";
import { removeInvisible } from "./text/unicode.js";
import { type SpecialIds, Vocabulary } from "./text/vocabulary.js";

export { hasRelaxedSimd } from "./relaxed_simd.js";
export type { ModelInfo, SearchOptions as TranslateOptions };

const DEFAULT_BEAM_SIZE = 4;
const LARGEST_BEAM_SIZE = 256;
const HIGHEST_NUMBER = 2 ** 31 - 1; // that the engine takes
const LINES_AT_ONCE = 256; // divided, which takes some milliseconds

/** What the translation of all lines of a call has in common. */
interface Job {
  readonly languages: ChosenLanguages;
  readonly search: EngineOptions;
  readonly between: () => Promise<void>;
  readonly split: boolean;
  /** Whether lines that lost a URL or the like are translated again. */
  readonly protect: boolean;
}

interface DividedLine extends Parts {
  readonly line: string;
  readonly prefix: number[];
  /** Whether the parts that are translated are parts of sentences. */
  readonly inParts: boolean;
}

/** A model in this thread. */
export class LocalTranslator {
  private readonly source: Vocabulary;
  private readonly target: Vocabulary;
  private readonly quotationMarks: QuotationMarks;
  private readonly abbreviations: Abbreviations;
  private readonly unknownWords: UnknownWords;
  private readonly languages: Languages;
  private readonly engine: Engine;
  private readonly about: Omit<ModelInfo, "memoryBytes">;
  private readonly split: boolean;
  private readonly architecture: Architecture;

  private constructor(module: WebAssembly.Module, file: ModelFile, fileBytes: number) {
    const { architecture } = file;
    this.target = checked(new Vocabulary(file.target, specialIds(architecture, false)), architecture.vocabularySize);
    this.source = file.source === file.target ? this.target : new Vocabulary(file.source, specialIds(architecture, true));
    checked(this.source, architecture.sourceSize);
    this.quotationMarks = new QuotationMarks(this.source);
    this.abbreviations = new Abbreviations(this.source);
    this.unknownWords = new UnknownWords(this.source, file.knownWords);
    this.languages = new Languages(file.languages, file.languagePieces, this.source, this.target);
    this.engine = new Engine(module);
    this.engine.load(file.input);
    this.split = file.split;
    this.architecture = architecture;
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

  /** Reads a model file and packs it. Throws ModelFileError if it is broken, EngineError if the module is no engine. */
  static async load(module: CompiledModule, file: Uint8Array): Promise<LocalTranslator> {
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
   * @param between is awaited between batches and, before them, between some lines; if it throws, the translation ends.
   * @throws EngineError; TypeError for anything but an array of strings, an unknown option or one of another type.
   */
  async translate(lines: readonly string[], options: SearchOptions = {}, between = nothing): Promise<string[]> {
    checkLines(lines);
    checkOptions(options, SEARCH_OPTIONS);
    const languages = this.languages.choose(options.sourceLanguage, options.targetLanguage);
    const search = this.#engineOptions(options, languages.forced === undefined ? 0 : 1);
    return this.#translateLines(lines, { languages, search, between, split: this.split, protect: this.split });
  }

  async #translateLines(lines: readonly string[], job: Job): Promise<string[]> {
    const divided: DividedLine[] = [];
    for (const line of lines) {
      if (divided.length % LINES_AT_ONCE === 0) await job.between();
      divided.push(this.#divide(line, job, false));
    }
    const translated = await this.#translateDivided(divided, job);
    if (!job.protect) return translated;
    const line = (place: number): string => divided[place]?.line as string;
    let lost = [...lines.keys()].filter((place) => this.#loses(line(place), translated[place] as string, true, job));
    // Of several sentences, each is protected by itself.
    const several = lost.flatMap((place) => {
      const found = this.#sentences(lines[place] as string, job);
      return found === undefined ? [] : [{ place, ...found }];
    });
    const sentences = several.flatMap((line) => line.sentences);
    const alone = sentences.length > 0 ? await this.#translateLines(sentences, { ...job, split: false }) : [];
    for (const { place, spaces } of several) {
      const found = alone.splice(0, spaces.length - 1);
      translated[place] = spaces.map((space, index) => space + (found[index] ?? "")).join("");
    }
    lost = lost.filter((place) => !several.some((line) => line.place === place));
    if (lost.length > 0) await this.#protectSentences(lines, lost, translated, job);
    return translated.map((given, place) => {
      const text = withDecimals(line(place), given, job.languages.numberFormats);
      return this.unknownWords.names?.withCase(line(place), text, job.languages.sentences) ?? text;
    });
  }

  /** Whether a translation lacks a protected part of a line, or a word that the model does not know. `numbers` is that of `losesParts`. */
  #loses(line: string, translation: string, numbers: boolean, { languages }: Job): boolean {
    const loses = losesParts(line, translation, numbers, languages.numberFormats);
    return loses || (numbers && this.unknownWords.lost(line, translation, languages.sentences).length > 0);
  }

  /** Whether a translation lacks fewer protected parts of a line than another, or fewer unknown words and no more parts. */
  #isBetter(line: string, translation: string, other: string, { languages }: Job): boolean {
    const parts = (text: string): number => lostParts(line, text, true, languages.numberFormats).length;
    const words = (text: string): number => this.unknownWords.lost(line, text, languages.sentences).length;
    return parts(translation) < parts(other) || (parts(translation) === parts(other) && words(translation) < words(other));
  }

  /**
   * The sentences of a line, and the spaces and copied text before, between and after them; undefined if there is only one, and
   * nothing is copied.
   */
  #sentences(given: string, { languages, split }: Job): { sentences: string[]; spaces: string[] } | undefined {
    const [named, line] = this.#namedAndText(given);
    const { unknownWords } = this;
    const spans = [...knownSpans(line, { unknownWords, language: languages.sentences, split, protect: false })];
    const sentences = spans.filter(({ translated }) => translated).map(({ start, end }) => named + line.slice(start, end));
    if (spans.length < 2 || sentences.length === 0) return undefined;
    const spaces = [""];
    let last = 0;
    for (const { start, end, translated } of [...spans, { start: line.length, end: line.length, translated: false }]) {
      spaces.push((spaces.pop() as string) + plainSpaces(line.slice(last, start)));
      if (translated) spaces.push("");
      else spaces.push((spaces.pop() as string) + copied(line.slice(start, end)).join(""));
      last = end;
    }
    return { sentences, spaces };
  }

  /** Translates single sentences that lost a URL or the like again: with stand-ins, and if that does not help, around it. */
  async #protectSentences(lines: readonly string[], lost: number[], translated: string[], job: Job): Promise<void> {
    const texts = new Map(lost.map((place) => [place, this.#namedAndText(lines[place] as string)]));
    let remaining = lost;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const replaced = remaining.flatMap((place) => {
        const [named, line] = texts.get(place) as [string, string];
        const { numberFormats: formats, sentences: language } = job.languages;
        const text = translated[place] as string;
        const numbers = lostNumbers(line, text, formats);
        const words = this.unknownWords.lost(line, text, language);
        const keepsParts = !losesParts(line, text, true, formats);
        if (words.length > 0 && keepsParts && !mayHelp(line, words.length, attempt)) return [];
        const found =
          withStandIns(line, attempt, [...numbers, ...words], formats) ?? // perhaps too many
          withStandIns(line, attempt, attempt === 0 ? [...numbers, ...words.slice(0, MOST_NAMES)] : [], formats) ??
          withStandIns(line, attempt, [], formats);
        return found === undefined ? [] : [{ place, text: named + found.text, standIns: found.standIns }];
      });
      const withNames = replaced.map(({ text }) => this.#divide(text, job, false));
      for (const [index, text] of (await this.#translateDivided(withNames, job)).entries()) {
        const { place, standIns } = replaced[index] as (typeof replaced)[number];
        const before = translated[place] as string;
        const restored = withParts(text, standIns);
        const line = texts.get(place)?.[1] as string;
        if (restored !== undefined && this.#isBetter(line, restored, before, job)) translated[place] = restored;
      }
      // Sentences are not divided at numbers, so the last attempt leaves these as they are.
      const numbers = attempt + 1 < TRIES;
      remaining = remaining.filter((place) => this.#loses(texts.get(place)?.[1] as string, translated[place] as string, numbers, job));
    }
    const inParts = remaining.map((place) => this.#divide(lines[place] as string, job, true));
    for (const [index, text] of (await this.#translateDivided(inParts, job)).entries()) {
      translated[remaining[index] as number] = text;
    }
  }

  async #translateDivided(lines: readonly DividedLine[], { languages, search, between }: Job): Promise<string[]> {
    const { forced, translation: language } = languages;
    const begin = forced === undefined ? [] : [forced];
    const requests = lines.flatMap(({ parts, prefix }) =>
      parts.filter((part) => typeof part !== "string").map((part) => ({ source: [...prefix, ...part], prefix: begin })),
    );
    const results = (await this.engine.translate(requests, search, between)).map((ids) => ids.slice(begin.length));
    let next = 0;
    return lines.map(({ parts, texts, inParts }) => {
      const sources = texts.values();
      const shown = (): string => {
        const translation = oneLine(this.target.decode(results[next++] as number[]));
        const { text, capitals } = sources.next().value as TranslatedText;
        const whole = inParts ? withoutAddedMark(text, translation) : translation;
        return withCapitals(whole, capitals, language);
      };
      return parts.map((part) => (typeof part === "string" ? part : shown())).join("");
    });
  }

  /** Translates sentences that are given as ids of the source's vocabulary. */
  async translateIds(sources: readonly (readonly number[])[], options: SearchOptions = {}): Promise<number[][]> {
    checkOptions(options, SEARCH_OPTIONS);
    for (const source of sources) this.#checkSource(source);
    const requests = sources.map((source) => ({ source, prefix: [] }));
    return this.engine.translate(requests, this.#engineOptions(options, 0), nothing);
  }

  // What the engine itself would refuse is refused here: after an error in it, the model must be loaded again.

  #checkSource(source: readonly number[]): void {
    if (source.length === 0 && !this.architecture.appendsEnd) throw new EngineError("a source has no ids: give at least one");
    for (const id of source) whole("an id of a source", id, 0, this.source.size - 1);
  }

  /** Returns options for the engine, which counts the forced pieces of a translation. Throws EngineError if one is out of range. */
  #engineOptions(options: SearchOptions, forced: number): EngineOptions {
    // 0 stands for an absent one.
    const count = (name: "maxLength" | "batchSize", more: number): number =>
      options[name] === undefined ? 0 : Math.min(whole(name, options[name], 1, HIGHEST_NUMBER) + more, HIGHEST_NUMBER);
    const largestBeam = Math.min(LARGEST_BEAM_SIZE, this.architecture.generatedPieces);
    return {
      beamSize: whole("beamSize", options.beamSize ?? DEFAULT_BEAM_SIZE, 1, largestBeam),
      lengthPenalty: real("lengthPenalty", options.lengthPenalty ?? 1, -10, 10),
      maxLength: count("maxLength", forced),
      shortlist: options.shortlist ?? true,
      batchSize: count("batchSize", 0),
    };
  }

  #divide(given: string, { languages, split }: Job, protect: boolean): DividedLine {
    // Invisible characters would hide ends of sentences, and a line of nothing else is blank.
    const [named, line] = this.languages.namedBy(visible(given));
    const { source: vocabulary, quotationMarks, abbreviations, unknownWords } = this;
    const language = languages.sentences;
    const { parts, texts } = divideLine(line, { vocabulary, quotationMarks, abbreviations, unknownWords, language, split, protect });
    const prefix = parts.some((part) => typeof part !== "string") ? languages.prefix(named) : [];
    return { line, parts, texts, prefix, inParts: protect };
  }

  /** The target language that a line begins with, as it is written there, and the visible text after it. */
  #namedAndText(given: string): [string, string] {
    const line = visible(given);
    const [, text] = this.languages.namedBy(line);
    return [line.slice(0, line.length - text.length), text];
  }
}

/** A line without invisible characters, lone surrogates and line breaks at its end. */
function visible(line: string): string {
  return removeInvisible(line).replace(/\p{Cs}/gu, "\ufffd").replace(/[\r\n]+$/, "");
}

async function nothing(): Promise<void> {}

function whole(name: string, value: number, lowest: number, highest: number): number {
  if (!Number.isInteger(value) || value < lowest || value > highest)
    throw new EngineError(`${name} is ${value}, it must be a whole number from ${lowest} to ${highest}`);
  return value;
}

function real(name: string, value: number, lowest: number, highest: number): number {
  if (!Number.isFinite(value) || value < lowest || value > highest)
    throw new EngineError(`${name} is ${value}, it must be a number from ${lowest} to ${highest}`);
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
