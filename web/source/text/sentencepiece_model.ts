/** A SentencePiece model, read from its bytes (sentencepiece_model.proto). */
import { ModelFileError } from "../errors.js";
import { MessageReader } from "./protobuf.js";

export const NORMAL = 1;
export const UNKNOWN = 2;
export const CONTROL = 3;
export const USER_DEFINED = 4;
export const UNUSED = 5;
export const BYTE = 6;

export const UNIGRAM = 1;
export const BPE = 2;

/** Kinds, scores and rules of a model, in the model's order of pieces. */
export interface SentencePieceModel {
  readonly pieces: readonly string[];
  readonly scores: Float32Array;
  readonly kinds: Uint8Array;
  /** UNIGRAM or BPE. */
  readonly algorithm: number;
  readonly unknownId: number;
  readonly byteFallback: boolean;
  /** What an unknown piece is shown as. */
  readonly unknownSurface: string;
  readonly charsmap: Uint8Array;
  readonly addDummyPrefix: boolean;
  readonly removeExtraSpaces: boolean;
  readonly escapeSpaces: boolean;
}

/** Reads a model; throws ModelFileError if it is broken, or of a kind that is not supported. */
export function readSentencePieceModel(bytes: Uint8Array): SentencePieceModel {
  const reader = new MessageReader(bytes);
  const table = new PieceTable(reader);
  const trainer: Fields = {};
  const normalizer: Fields = {};
  const rules = (fields: Fields, start: number, end: number): void =>
    reader.read(start, end, (part, value, last) => void (fields[part] = last === undefined ? value : bytes.subarray(value, last)));
  reader.read(0, bytes.length, (field, value, end) => {
    if (end === undefined) return;
    if (field === 1) table.add(value, end);
    if (field === 2) rules(trainer, value, end);
    if (field === 3) rules(normalizer, value, end);
  });
  const pieces = table.texts();
  const { scores, kinds } = table;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const algorithm = Number(trainer[3] ?? UNIGRAM);
  if (algorithm !== UNIGRAM && algorithm !== BPE)
    throw new ModelFileError("a SentencePiece model is neither a unigram model nor of byte pairs");
  if (Number(trainer[24] ?? 0) !== 0)
    throw new ModelFileError("a SentencePiece model ends words with spaces, which is not supported");
  const unknownId = kinds.indexOf(UNKNOWN);
  if (unknownId < 0) throw new ModelFileError("a SentencePiece model has no unknown piece");
  const surface = trainer[44];
  const { 2: charsmap, 3: dummy = 1, 4: remove = 1, 5: escape = 1 } = normalizer;
  return {
    pieces,
    scores: Float32Array.from(scores),
    kinds: Uint8Array.from(kinds),
    algorithm,
    unknownId,
    byteFallback: Number(trainer[35] ?? 0) !== 0,
    unknownSurface: surface instanceof Uint8Array ? decoder.decode(surface) : " \u2047 ",
    charsmap: charsmap instanceof Uint8Array ? charsmap : new Uint8Array(),
    addDummyPrefix: dummy !== 0,
    removeExtraSpaces: remove !== 0,
    escapeSpaces: escape !== 0,
  };
}

type Fields = Record<number, Uint8Array | number>;

/** The pieces of a model as they are read. */
class PieceTable {
  readonly scores: number[] = [];
  readonly kinds: number[] = [];
  private readonly joined: Uint8Array; // the pieces, each with a null character at its end
  private size = 0;
  private text = 0;
  private textEnd = 0;
  private score = 0;
  private kind = NORMAL;

  constructor(private readonly reader: MessageReader) {
    this.joined = new Uint8Array(reader.bytes.length + 1);
  }

  add(start: number, end: number): void {
    this.text = this.textEnd = start;
    this.score = 0;
    this.kind = NORMAL;
    this.reader.read(start, end, this.visit);
    for (let place = this.text; place < this.textEnd; ++place) this.joined[this.size++] = this.reader.bytes[place] as number;
    this.joined[this.size++] = 0;
    this.scores.push(this.score);
    this.kinds.push(this.kind);
  }

  /** The texts of all pieces, decoded in one call. */
  texts(): string[] {
    const texts = new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.joined.subarray(0, this.size)).split("\0");
    texts.pop();
    if (texts.length !== this.kinds.length) throw new ModelFileError("a SentencePiece model has a piece with a null character");
    return texts;
  }

  private readonly visit = (part: number, value: number, end: number | undefined): void => {
    if (part === 1 && end !== undefined) {
      this.text = value;
      this.textEnd = end;
    }
    if (part === 2) this.score = value;
    if (part === 3) this.kind = value;
  };
}
