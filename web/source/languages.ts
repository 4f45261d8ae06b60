/** The languages of a model, and the pieces that stand for those that are chosen. */
import { EngineError, ModelFileError } from "./errors.js";
import type { ModelFile } from "./model/model_file.js";
import type { Vocabulary } from "./text/vocabulary.js";

/** Languages of one translation. */
export interface ChosenLanguages {
  /** Code of the source's language. */
  readonly source: string;
  /** Pieces that every source begins with. */
  readonly sourcePrefix: readonly number[];
  /** Pieces that every translation begins with, and that no text shows. */
  readonly targetPrefix: readonly number[];
}

export class Languages {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  private readonly sourceIds: ReadonlyMap<string, number>;
  private readonly targetIds: ReadonlyMap<string, number>;
  private readonly inSource: boolean;

  constructor(
    private readonly file: ModelFile,
    source: Vocabulary,
    target: Vocabulary,
  ) {
    const pieces = file.languagePieces;
    this.inSource = pieces?.targetPlace === "source";
    this.sourceIds = idsOf(pieces?.source ?? {}, source);
    this.targetIds = idsOf(pieces?.target ?? {}, this.inSource ? source : target);
    this.sources = this.sourceIds.size > 0 ? [...this.sourceIds.keys()] : [file.languages.source];
    this.targets = this.targetIds.size > 0 ? [...this.targetIds.keys()] : [file.languages.target];
  }

  /** Returns what a translation needs; undefined: the languages of the model file. Throws EngineError. */
  choose(source: string | undefined, target: string | undefined): ChosenLanguages {
    const from = chosen("sourceLanguage", source, this.file.languages.source, this.sources);
    const into = chosen("targetLanguage", target, this.file.languages.target, this.targets);
    const sourceId = this.sourceIds.get(from);
    const targetId = this.targetIds.get(into);
    const sourcePrefix = [...(this.inSource && targetId !== undefined ? [targetId] : []), ...(sourceId === undefined ? [] : [sourceId])];
    return { source: from, sourcePrefix, targetPrefix: this.inSource || targetId === undefined ? [] : [targetId] };
  }
}

function chosen(name: string, code: string | undefined, standard: string, known: readonly string[]): string {
  const taken = code ?? standard;
  if (known.includes(taken)) return taken;
  const shown = known.slice(0, 20).join(", ");
  throw new EngineError(`${name} is '${taken}', which the model does not have: choose one of ${shown}`);
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
