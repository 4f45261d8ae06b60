/** A SentencePiece model at work: text to pieces, and back. */
import { Normalizer, SPACE } from "./normalizer.js";
import { type Segmenter, makeSegmenter } from "./segmenter.js";
import { BYTE, CONTROL, type SentencePieceModel, UNKNOWN, readSentencePieceModel } from "./sentencepiece_model.js";

/** A piece of a text: its id in the model, and its text, which an unknown one keeps. */
export interface Piece {
  readonly id: number;
  readonly text: string;
}

const REPLACEMENT = "\ufffd";

export class SentencePiece {
  readonly model: SentencePieceModel;
  private readonly normalizer: Normalizer;
  private readonly segmenter: Segmenter;
  private readonly byteIds = new Map<number, number>();

  /** Throws ModelFileError for a model that is broken or of another kind. */
  constructor(bytes: Uint8Array) {
    this.model = readSentencePieceModel(bytes);
    this.normalizer = new Normalizer(this.model);
    this.segmenter = makeSegmenter(this.model);
    this.model.pieces.forEach((piece, id) => {
      if (this.model.kinds[id] === BYTE) this.byteIds.set(byteOf(piece), id);
    });
  }

  encode(text: string): Piece[] {
    const normalized = this.normalizer.normalize(text);
    const { ends, ids } = this.segmenter.segment(normalized);
    const pieces: Piece[] = [];
    let start = 0;
    let unknown = false;
    ends.forEach((end, index) => {
      const id = ids[index] as number;
      const piece = normalized.slice(start, end);
      start = end;
      const before = unknown;
      unknown = id === this.model.unknownId;
      if (unknown && this.model.byteFallback) {
        for (const byte of new TextEncoder().encode(piece)) {
          const byteId = this.byteIds.get(byte) ?? id;
          pieces.push({ id: byteId, text: this.model.pieces[byteId] as string });
        }
      } else if (unknown && before) {
        pieces.push({ id, text: (pieces.pop() as Piece).text + piece });
      } else {
        pieces.push({ id, text: piece });
      }
    });
    return pieces;
  }

  /** Returns the text of ids, as SentencePieceProcessor::Decode does. */
  decode(ids: readonly number[]): string {
    const { model } = this;
    let text = "";
    let started = false;
    for (let index = 0; index < ids.length; ) {
      const id = ids[index++] as number;
      const kind = model.kinds[id];
      const piece = model.pieces[id] as string;
      if (kind === BYTE) {
        const bytes = [byteOf(piece)];
        while (model.kinds[ids[index] as number] === BYTE) bytes.push(byteOf(model.pieces[ids[index++] as number] as string));
        text += decodeBytes(Uint8Array.from(bytes));
      } else if (kind === UNKNOWN) {
        text += model.unknownSurface;
      } else if (kind !== CONTROL) {
        const stripped: boolean = !started && text === "" && (model.addDummyPrefix || model.removeExtraSpaces) && piece.startsWith(SPACE);
        started ||= stripped && !model.removeExtraSpaces;
        text += (stripped ? piece.slice(1) : piece).replaceAll(SPACE, " ");
      }
    }
    return text;
  }
}

/** The value of a byte piece, such as <0x0A>. */
export function byteOf(piece: string): number {
  return Number.parseInt(piece.slice(3, 5), 16);
}

/** Decodes UTF-8, with U+FFFD for each byte that belongs to no character. */
function decodeBytes(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let position = 0; position < bytes.length; ) {
    const first = bytes[position] as number;
    const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    try {
      text += decoder.decode(bytes.subarray(position, position + size));
      position += size;
    } catch {
      text += REPLACEMENT;
      ++position;
    }
  }
  return text;
}
