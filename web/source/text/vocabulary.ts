/** The vocabulary of one side of a model: text to ids, and back. */
import { ModelFileError } from "../errors.js";
import type { StoredVocabulary } from "../model/model_file.js";
import { SPACE, anyOf } from "./normalizer.js";
import { SentencePiece, byteOf } from "./sentencepiece.js";
import { BYTE } from "./sentencepiece_model.js";
import { removeInvisible, splitWords, trimEnd, trimStart } from "./unicode.js";

/** Ids of the special pieces; null: there is no such piece. */
export interface SpecialIds {
  readonly pad: number | null;
  readonly bos: number | null;
  readonly eos: number;
  readonly unk: number;
}

const BYTE_PIECE = /^<0x([0-9A-F]{2})>$/;
const LANGUAGE_CODE = /^>>.*?<</s;

export class Vocabulary {
  readonly size: number;
  private readonly processor: SentencePiece;
  private readonly special: ReadonlySet<number>;
  private readonly table: ReadonlyMap<string, number> | undefined;
  private readonly verbatim: RegExp | undefined;
  private readonly hasBytes: boolean;
  private frequent: ReadonlySet<string> | undefined;

  /** Throws ModelFileError if the SentencePiece model is broken, or special ids do not fit. */
  constructor(
    private readonly stored: StoredVocabulary,
    readonly ids: SpecialIds,
  ) {
    this.processor = new SentencePiece(stored.model);
    const { pieces } = stored;
    if (pieces !== undefined) {
      const table = new Map<string, number>();
      pieces.forEach((piece, id) => piece === "" || table.set(piece, id));
      this.table = table;
    }
    this.size = pieces?.length ?? this.processor.model.pieces.length;
    this.hasBytes = this.processor.model.kinds.includes(BYTE);
    if (stored.verbatim.length > 0) this.verbatim = anyOf(stored.verbatim);
    const special = [ids.pad, ids.bos, ids.eos, ids.unk, ...stored.verbatim.map((piece) => this.id(piece))];
    this.special = new Set(special.filter((id) => id !== null));
    for (const id of this.special) {
      if (id >= this.size) throw new ModelFileError(`a vocabulary has ${this.size} pieces, but the special id ${id}`);
    }
  }

  /** The id of a piece; null: the vocabulary has no such piece. */
  id(piece: string): number | null {
    if (this.table !== undefined) return this.table.get(piece) ?? null;
    const id = this.processor.model.pieces.indexOf(piece);
    return id < 0 ? null : id;
  }

  /** The characters of the pieces that have several: those that occurred often in the training text. */
  get frequentCharacters(): ReadonlySet<string> {
    this.frequent ??= new Set([...this.pieces.filter((piece) => [...piece].length > 1).join("")]);
    return this.frequent;
  }

  /** All pieces, in the order of their ids. */
  get pieces(): readonly string[] {
    return this.stored.pieces ?? this.processor.model.pieces;
  }

  /** A line with its white space as single spaces, and in Unicode form NFKC without invisible characters if the vocabulary says so. */
  normalize(line: string): string {
    if (!this.stored.nfkc) return splitWords(line).join(" ");
    // Invisible characters come first: they would keep a letter and its accent apart.
    return splitWords(removeInvisible(line).normalize("NFKC").replace(/\p{Cc}/gu, " ")).join(" ");
  }

  /** The ids of a line, without beginning and end of sentence. */
  encode(line: string): number[] {
    const text = this.stored.nfkc ? this.normalize(line) : line;
    const { table, verbatim } = this;
    if (table === undefined) return this.processor.encode(text).map((piece) => piece.id);
    if (verbatim === undefined) return this.#lookUp(this.#divide(text));
    return text.split(verbatim).flatMap((part, index) => {
      if (index % 2) return this.#lookUp([part]);
      return part === "" ? [] : this.#lookUp(this.#divide(part));
    });
  }

  /** The text of ids, without special ones. */
  decode(ids: readonly number[]): string {
    const plain = ids.filter((id) => !this.special.has(id));
    const { pieces } = this.stored;
    if (pieces === undefined) return this.processor.decode(plain);
    const found = plain.map((id) => pieces[id] as string);
    const bytes = this.hasBytes && found.some((piece) => BYTE_PIECE.test(piece));
    const text = bytes ? joinBytes(found) : found.join("");
    return trimEnd(trimStart(text.replaceAll(SPACE, " ")));
  }

  #lookUp(pieces: readonly string[]): number[] {
    return pieces.map((piece) => this.table?.get(piece) ?? this.ids.unk);
  }

  #divide(text: string): string[] {
    const code = this.stored.languageCodes ? LANGUAGE_CODE.exec(text)?.[0] : undefined;
    const pieces = this.processor.encode(text.slice(code?.length ?? 0)).map((piece) => piece.text);
    return code === undefined ? pieces : [code, ...pieces];
  }
}

function joinBytes(pieces: readonly string[]): string {
  const encoder = new TextEncoder();
  const bytes = pieces.flatMap((piece) => (BYTE_PIECE.test(piece) ? [byteOf(piece)] : [...encoder.encode(piece)]));
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}
