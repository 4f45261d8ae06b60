/** A SentencePiece model, read from its bytes (sentencepiece_model.proto). */
import { ModelFileError } from "../errors.js";
import { readMessage } from "./protobuf.js";

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
  const pieces: string[] = [];
  const scores: number[] = [];
  const kinds: number[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const trainer: Record<number, Uint8Array | number> = {};
  const normalizer: Record<number, Uint8Array | number> = {};
  readMessage(bytes, (field, value) => {
    if (typeof value === "number") return;
    if (field === 1) {
      let piece = "";
      let score = 0;
      let kind = NORMAL;
      readMessage(value, (part, content) => {
        if (part === 1 && typeof content !== "number") piece = decoder.decode(content);
        if (part === 2) score = content as number;
        if (part === 3) kind = content as number;
      });
      pieces.push(piece);
      scores.push(score);
      kinds.push(kind);
    }
    if (field === 2) readMessage(value, (part, content) => void (trainer[part] = content));
    if (field === 3) readMessage(value, (part, content) => void (normalizer[part] = content));
  });
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
