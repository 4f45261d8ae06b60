/** The wire format of protocol buffers, as far as SentencePiece models need it. */
import { ModelFileError } from "../errors.js";

const TRUNCATED = "a SentencePiece model is cut off";

/** Calls visit(field, value) for each field of a message: bytes of a length-delimited field, else a number. */
export function readMessage(bytes: Uint8Array, visit: (field: number, value: Uint8Array | number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let position = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[position++];
      if (byte === undefined || factor > 2 ** 63) throw new ModelFileError(TRUNCATED);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const skip = (count: number): number => {
    const start = position;
    position += count;
    if (position > bytes.length) throw new ModelFileError(TRUNCATED);
    return start;
  };
  while (position < bytes.length) {
    const key = varint();
    const field = Math.floor(key / 8);
    const type = key % 8;
    if (type === 0) visit(field, varint());
    else if (type === 1) skip(8);
    else if (type === 5) visit(field, view.getFloat32(skip(4), true));
    else if (type === 2) {
      const start = skip(varint());
      visit(field, bytes.subarray(start, position));
    } else throw new ModelFileError("a SentencePiece model has a field of an unknown type");
  }
}
