/** The languages of a model, and the pieces that stand for those that are chosen. */
import { EngineError, ModelFileError } from "./errors.js";
import type { LanguagePieces } from "./model/model_file.js";
import { type NumberFormats, numberFormats } from "./sentences/numbers.js";
import { trimStart } from "./text/unicode.js";
import type { Vocabulary } from "./text/vocabulary.js";

const MOST_NAMED = 20; // languages that a message names

/** Languages of one translation. */
export interface ChosenLanguages {
  /** The source's language as the rules for sentences name it: the shortest code, without script and region. */
  readonly sentences: string;
  /** The translation's language, without script and region. */
  readonly translation: string;
  /** How both languages write numbers; undefined if that of one is not known. */
  readonly numberFormats: NumberFormats | undefined;
  /** Piece that every translation begins with, and that no text shows; undefined: there is none. */
  readonly forced: number | undefined;
  /**
   * Returns the pieces that a source begins with.
   *
   * @param named the piece of the target language that the line itself names.
   * @throws EngineError if the line must name the target language, but does not.
   */
  prefix(named: number | undefined): number[];
}

/** The codes of the languages that a model file is for. */
interface Codes {
  readonly source: string;
  readonly target: string;
}

export class Languages {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  private readonly sourceIds: ReadonlyMap<string, number>;
  private readonly targetIds: ReadonlyMap<string, number>;
  private readonly inSource: boolean;
  private readonly named: ReadonlyMap<string, number>; // pieces that a line may begin with

  constructor(
    private readonly standard: Codes,
    pieces: LanguagePieces | undefined,
    source: Vocabulary,
    target: Vocabulary,
  ) {
    this.inSource = pieces?.targetPlace === "source";
    this.sourceIds = idsOf(pieces?.source ?? {}, source);
    this.targetIds = idsOf(pieces?.target ?? {}, this.inSource ? source : target);
    this.sources = this.sourceIds.size > 0 ? [...this.sourceIds.keys()] : [standard.source];
    this.targets = this.targetIds.size > 0 ? [...this.targetIds.keys()] : [standard.target];
    const named = this.inSource ? Object.entries(pieces?.target ?? {}) : [];
    this.named = new Map(named.map(([code, piece]) => [piece, this.targetIds.get(code) as number]));
  }

  /** Returns what a translation needs; undefined: the languages of the model file. Throws EngineError. */
  choose(source: string | undefined, target: string | undefined): ChosenLanguages {
    const [from, sourceId] = find("sourceLanguage", source, this.sourceIds, this.standard.source);
    const [to, targetId] = find("targetLanguage", target, this.targetIds, this.standard.target);
    if (this.sourceIds.size > 0 && sourceId === undefined) throw new EngineError(missing("sourceLanguage", this.sources));
    const needed = this.targetIds.size > 0 && targetId === undefined ? missing("targetLanguage", this.targets) : undefined;
    if (needed !== undefined && !this.inSource) throw new EngineError(needed);
    const prefix = (named: number | undefined): number[] => {
      if (named === undefined && needed !== undefined)
        throw new EngineError(`${needed}, or begin the line with a code as ${[...this.named.keys()][0]}`);
      const into = this.inSource ? (named ?? targetId) : undefined;
      return [into, sourceId].filter((id) => id !== undefined);
    };
    const forced = this.inSource ? undefined : targetId;
    const [sentences, translation] = [locale(from)?.language ?? from, locale(to)?.language ?? to];
    const isCertain = target !== undefined || this.named.size === 0; // whether no line can name another target language
    const formats = isCertain ? numberFormats(sentences, translation) : undefined;
    return { sentences, translation, numberFormats: formats, forced, prefix };
  }

  /** Returns the piece of the target language that a line begins with, and the text after it. */
  namedBy(line: string): [number | undefined, string] {
    for (const [piece, id] of this.named) {
      if (line.startsWith(piece)) return [id, trimStart(line.slice(piece.length))];
    }
    return [undefined, line];
  }
}

function find(
  name: string,
  code: string | undefined,
  known: ReadonlyMap<string, number>,
  standard: string,
): [string, number | undefined] {
  const taken = code ?? standard;
  if (code === undefined || known.has(code) || (known.size === 0 && code === standard)) return [taken, known.get(taken)];
  if (known.size === 0 && standard === "") {
    if (!/^x[-_]/i.test(code) && (locale(code)?.language.length ?? 4) > 3)
      throw new EngineError(`${name} is '${code}', which is not the code of a language: give one such as 'en'`);
    return [code, undefined];
  }
  const same = agreeing(code, known.size > 0 ? [...known.keys()] : [standard]);
  const [found] = same;
  if (found !== undefined && same.length === 1) return [found, known.get(found)];
  if (same.length > 1)
    throw new EngineError(
      `${name} is '${code}', which may be any of ${same.join(", ")} in this model: give one of these codes`,
    );
  if (known.size === 0) throw new EngineError(`${name} is '${taken}', but the model is for '${standard}' alone: leave it out, or choose another model`);
  throw new EngineError(`${name} is '${taken}', which the model does not have: choose one of ${shown([...known.keys()])}`);
}

/**
 * Returns the tags among `known` that may name the same language, as deu_Latn for de; a script or region that only one of
 * two tags has makes no difference.
 */
function agreeing(tag: string, known: readonly string[]): string[] {
  const wanted = locale(tag);
  return known.filter((code) => {
    const other = locale(code);
    if (wanted === undefined || other === undefined || wanted.language !== other.language) return false;
    return agree(wanted.script, other.script) && agree(wanted.region, other.region);
  });
}

function agree(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/** Returns a tag with the shortest code of its language; undefined if it is none. */
function locale(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag.replaceAll("_", "-"));
  } catch {
    return undefined;
  }
}

function missing(name: string, codes: readonly string[]): string {
  return `the model has several languages: give ${name}, one of ${shown(codes)}`;
}

function shown(codes: readonly string[]): string {
  return codes.slice(0, MOST_NAMED).join(", ");
}

function idsOf(pieces: Readonly<Record<string, string>>, vocabulary: Vocabulary): Map<string, number> {
  return new Map(
    Object.entries(pieces).map(([code, piece]) => {
      const id = vocabulary.id(piece);
      if (id === null) throw new ModelFileError(`the vocabulary lacks the piece '${piece}' of the language '${code}'`);
      return [code, id];
    }),
  );
}
