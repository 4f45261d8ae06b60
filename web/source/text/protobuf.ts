/** The wire format of protocol buffers, as far as SentencePiece models need it. */
import { ModelFileError } from "../errors.js";

const TRUNCATED = "a SentencePiece model is cut off";

/** Is told of a field: of a length-delimited one, where its content begins and ends; else the number, and undefined. */
export type Visitor = (field: number, value: number, end: number | undefined) => void;

/** Reads messages that are parts of the same bytes. No view is made of a part: a vocabulary has thousands. */
export class MessageReader {
  private readonly view: DataView;
  private position = 0;

  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Visits the fields of the message between two places. */
  read(start: number, end: number, visit: Visitor): void {
    let position = start;
    while (position < end) {
      this.position = position;
      const key = this.#varint(end);
      const field = Math.floor(key / 8);
      const type = key % 8;
      if (type === 2) {
        const size = this.#varint(end);
        const content = this.position;
        position = within(content + size, end);
        visit(field, content, position);
      } else if (type === 0) {
        const value = this.#varint(end);
        position = this.position;
        visit(field, value, undefined);
      } else if (type === 5) {
        position = within(this.position + 4, end);
        visit(field, this.view.getFloat32(position - 4, true), undefined);
      } else if (type === 1) {
        position = within(this.position + 8, end);
      } else {
        throw new ModelFileError("a SentencePiece model has a field of an unknown type");
      }
    }
  }

  #varint(end: number): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      if (this.position >= end || factor > 2 ** 63) throw new ModelFileError(TRUNCATED);
      const byte = this.bytes[this.position++] as number;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}

function within(position: number, end: number): number {
  if (position > end) throw new ModelFileError(TRUNCATED);
  return position;
}
