/** Entropy-coded codes and sparse matrices, restored to the tensors that the engine reads. */
import { ModelFileError } from "../errors.js";
import type { Decompressor } from "./decompressor.js";

const MOST_EXPANSION = 32;

/** What is needed to restore the codes of a row group. */
export interface CodeGroup {
  readonly scheme: string;
  readonly bits: number;
  readonly rows: number;
  readonly columns: number;
}

/** Bytes of a row of packed codes. */
function packedBytes(columns: number, bits: number): number {
  return Math.ceil((columns * bits) / 8);
}

/** Bits of a code in a stream: the fewest of 1, 2, 4 and 8 that hold it. */
function streamBits(bits: number): number {
  return [1, 2, 4, 8].find((width) => bits <= width) ?? 8;
}

/** Shape of a code tensor. */
export function codeShape(group: CodeGroup): number[] {
  const { scheme, bits, rows, columns } = group;
  if (scheme === "uniform") return [rows, columns];
  if (scheme === "binary") return [rows, bits, packedBytes(columns, 1)];
  return [rows, packedBytes(columns, bits)];
}

/** Decodes an entropy-coded code tensor; throws ModelFileError naming it. */
export function decodeCodes(name: string, stream: Uint8Array, group: CodeGroup, decompressor: Decompressor): Uint8Array {
  const width = streamBits(group.bits);
  const size = group.rows * packedBytes(group.columns, width);
  if (size > MOST_EXPANSION * stream.length)
    throw new ModelFileError(`tensor '${name}' states ${size} bytes in ${stream.length}, more than 32 times as many`);
  const codes = decompressor.inflate(`tensor '${name}'`, stream, size);
  const unchanged = group.scheme !== "binary" && width === group.bits;
  return unchanged || (group.scheme === "binary" && group.bits === 1) ? codes : repack(name, codes, width, group);
}

/** Packs codes of a stream, of 2, 4 or 8 bits, in `bits` bits each, or as planes. */
function repack(name: string, codes: Uint8Array, width: number, group: CodeGroup): Uint8Array {
  const { bits, rows, columns } = group;
  const planes = group.scheme === "binary";
  const from = packedBytes(columns, width);
  const plane = packedBytes(columns, 1);
  const to = planes ? bits * plane : packedBytes(columns, bits);
  const result = new Uint8Array(rows * to);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const place = column * width;
      const code = ((codes[row * from + (place >> 3)] as number) >> (place & 7)) & ((1 << width) - 1);
      if (code >> bits) throw new ModelFileError(`tensor '${name}' holds a code of more than ${bits} bits`);
      if (planes) {
        for (let bit = 0; bit < bits; ++bit)
          (result[row * to + bit * plane + (column >> 3)] as number) |= ((code >> bit) & 1) << (column & 7);
      } else {
        const start = row * to * 8 + column * bits;
        const shifted = code << (start & 7);
        (result[start >> 3] as number) |= shifted & 255;
        if (shifted > 255) (result[(start >> 3) + 1] as number) |= shifted >> 8;
      }
    }
  }
  return result;
}

/** Inserts the zeros of a sparse matrix: from a bit for each weight and the weights that are kept, F32. */
export function expandSparse(name: string, rows: number, columns: number, kept: Uint8Array, weights: Uint8Array): Uint8Array {
  const result = new Uint8Array(rows * columns * 4);
  const rowBytes = packedBytes(columns, 1);
  if (kept.length !== rows * rowBytes) throw new ModelFileError(`tensor '${name}.kept' has not a bit for each weight`);
  let next = 0;
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      if ((((kept[row * rowBytes + (column >> 3)] as number) >> (column & 7)) & 1) === 0) continue;
      result.set(weights.subarray(next, next + 4), (row * columns + column) * 4);
      next += 4;
    }
  }
  if (next !== weights.length) throw new ModelFileError(`tensor '${name}.kept' keeps ${next / 4} weights, not as many as there are`);
  return result;
}
