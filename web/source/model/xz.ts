/**
 * Decompression of xz streams (The .xz File Format, version 1.2.1; LZMA2 as in Igor Pavlov's LZMA specification), as
 * far as model files use them: blocks of LZMA2 alone. Checksums are not compared, because the digest of the model file
 * covers the stream.
 */
import { ModelFileError } from "../errors.js";

const MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];
const LZMA2 = 0x21;
const CHECK_BYTES = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64];

export function isXz(bytes: Uint8Array): boolean {
  return MAGIC.every((value, index) => bytes[index] === value);
}

/**
 * Decompresses one stream.
 *
 * @param name what the stream is, for messages.
 * @param most the most bytes of the result.
 * @throws ModelFileError if the stream is damaged, has bytes after its end, or holds more.
 */
export function decompressXz(name: string, stream: Uint8Array, most: number): Uint8Array {
  try {
    return new Stream(stream, most).read();
  } catch (error) {
    if (error instanceof Damaged) throw new ModelFileError(`${name} is not a whole xz stream: ${error.message}`);
    throw error;
  }
}

class Damaged extends Error {}

class Stream {
  private position = 0;
  private readonly output: Output;

  constructor(
    private readonly bytes: Uint8Array,
    most: number,
  ) {
    this.output = new Output(most);
  }

  read(): Uint8Array {
    if (!isXz(this.bytes)) throw new Damaged("it has another beginning");
    const check = CHECK_BYTES[(this.bytes[7] ?? 0) & 15] as number;
    this.position = 12;
    while (this.peek() !== 0) this.readBlock(check);
    this.skipIndex();
    const end = this.position + 12;
    if (this.bytes[end - 2] !== 0x59 || this.bytes[end - 1] !== 0x5a) throw new Damaged("its end is missing");
    if (end !== this.bytes.length) throw new Damaged("there are bytes after its end");
    return this.output.result();
  }

  private peek(): number {
    const byte = this.bytes[this.position];
    if (byte === undefined) throw new Damaged("it is cut off");
    return byte;
  }

  private readBlock(check: number): void {
    const start = this.position;
    const headerEnd = start + (this.peek() + 1) * 4;
    const flags = this.bytes[start + 1] as number;
    this.position = start + 2;
    if ((flags & 0x3f) !== 0) throw new Damaged("it has filters other than LZMA2");
    if (flags & 0x40) this.number();
    if (flags & 0x80) this.number();
    if (this.number() !== LZMA2) throw new Damaged("it has a filter other than LZMA2");
    this.position = headerEnd;
    const decoder = new Lzma2(this.bytes, headerEnd, this.output);
    this.position = start + roundUp(decoder.run() - start, 4) + check;
  }

  private skipIndex(): void {
    const start = this.position++;
    for (let records = this.number(); records > 0; --records) {
      this.number();
      this.number();
    }
    this.position = start + roundUp(this.position - start, 4) + 4;
  }

  private number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.peek();
      ++this.position;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      if (factor > 2 ** 42) throw new Damaged("a number in it is too large");
    }
  }
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}

/** Decompressed bytes, which are the decoder's window, too. */
class Output {
  bytes: Uint8Array;
  size = 0;

  constructor(private readonly most: number) {
    this.bytes = new Uint8Array(Math.min(most, 1 << 16));
  }

  reserve(count: number): void {
    const needed = this.size + count;
    if (needed > this.most) throw new Damaged(`it holds more than ${this.most} bytes`);
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.min(this.most, Math.max(needed, 2 * this.bytes.length)));
    larger.set(this.bytes.subarray(0, this.size));
    this.bytes = larger;
  }

  result(): Uint8Array {
    return this.bytes.subarray(0, this.size);
  }
}

const HALF = 1024; // a probability of 1/2, in 11 bits
const STATES = 12;

/** Probabilities of a length: choices, then 16 low and middle trees of 8, then a high tree of 256. */
const LENGTH_LOW = 2;
const LENGTH_MIDDLE = LENGTH_LOW + 16 * 8;
const LENGTH_HIGH = LENGTH_MIDDLE + 16 * 8;
const LENGTH_SIZE = LENGTH_HIGH + 256;

// Places in the array of all probabilities.
const IS_MATCH = 0;
const IS_REPEATED = IS_MATCH + STATES * 16;
const IS_REPEATED_0 = IS_REPEATED + STATES;
const IS_REPEATED_1 = IS_REPEATED_0 + STATES;
const IS_REPEATED_2 = IS_REPEATED_1 + STATES;
const IS_LONG_REPEATED_0 = IS_REPEATED_2 + STATES;
const DISTANCE_SLOT = IS_LONG_REPEATED_0 + STATES * 16;
const DISTANCE_SPECIAL = DISTANCE_SLOT + 4 * 64;
const DISTANCE_ALIGN = DISTANCE_SPECIAL + 128;
const MATCH_LENGTH = DISTANCE_ALIGN + 16;
const REPEATED_LENGTH = MATCH_LENGTH + LENGTH_SIZE;
const LITERAL = REPEATED_LENGTH + LENGTH_SIZE;
const LITERAL_SIZE = 0x300;

class Lzma2 {
  private probabilities = new Uint16Array(LITERAL);
  private literalContextBits = 0;
  private literalPositionMask = 0;
  private positionMask = 0;
  private state = 0;
  private readonly repeated = [0, 0, 0, 0];
  private range = 0;
  private code = 0;
  private start = 0; // of the dictionary, in the output

  constructor(
    private readonly input: Uint8Array,
    private position: number,
    private readonly output: Output,
  ) {}

  /** Decodes all chunks; returns the position after them. */
  run(): number {
    this.start = this.output.size;
    let hasProperties = false;
    for (;;) {
      const control = this.byte();
      if (control === 0) return this.position;
      if (control === 1 || control >= 0xe0) this.start = this.output.size;
      if (control < 3) {
        this.copyChunk();
        continue;
      }
      if (control < 0x80) throw new Damaged("a chunk has an unknown kind");
      const size = ((control & 31) << 16) + this.word() + 1;
      const compressed = this.word() + 1;
      if (control >= 0xc0) {
        this.setProperties(this.byte());
        hasProperties = true;
      } else if (control >= 0xa0) {
        this.resetState();
      }
      if (!hasProperties) throw new Damaged("a chunk has no properties");
      this.decodeChunk(size, this.position + compressed);
    }
  }

  private byte(): number {
    const byte = this.input[this.position++];
    if (byte === undefined) throw new Damaged("it is cut off");
    return byte;
  }

  private word(): number {
    return (this.byte() << 8) | this.byte();
  }

  private copyChunk(): void {
    const size = this.word() + 1;
    if (this.position + size > this.input.length) throw new Damaged("it is cut off");
    this.output.reserve(size);
    this.output.bytes.set(this.input.subarray(this.position, this.position + size), this.output.size);
    this.output.size += size;
    this.position += size;
  }

  private setProperties(properties: number): void {
    const contextBits = properties % 9;
    const positionBits = Math.floor(properties / 9) % 5;
    if (properties >= 225 || contextBits + positionBits > 4) throw new Damaged("its properties are invalid");
    this.literalContextBits = contextBits;
    this.literalPositionMask = (1 << positionBits) - 1;
    this.positionMask = (1 << Math.floor(properties / 45)) - 1;
    this.probabilities = new Uint16Array(LITERAL + (LITERAL_SIZE << (contextBits + positionBits)));
    this.resetState();
  }

  private resetState(): void {
    this.probabilities.fill(HALF);
    this.state = 0;
    this.repeated.fill(0);
  }

  private decodeChunk(size: number, end: number): void {
    if (end > this.input.length) throw new Damaged("it is cut off");
    ++this.position;
    this.code = ((this.byte() << 24) | (this.byte() << 16) | (this.byte() << 8) | this.byte()) >>> 0;
    this.range = 0xffffffff;
    this.output.reserve(size);
    const output = this.output;
    const last = output.size + size;
    while (output.size < last) {
      const positionState = (output.size - this.start) & this.positionMask;
      if (this.bit(IS_MATCH + this.state * 16 + positionState) === 0) {
        this.literal();
      } else {
        const length = this.match(positionState);
        if (length > 0) this.copy(length, last);
      }
    }
    if (this.position !== end) throw new Damaged("a chunk has another size than it states");
  }

  private literal(): void {
    const { bytes, size } = this.output;
    const previous = size > this.start ? (bytes[size - 1] as number) : 0;
    const place =
      (((size - this.start) & this.literalPositionMask) << this.literalContextBits) +
      (previous >> (8 - this.literalContextBits));
    const base = LITERAL + place * LITERAL_SIZE;
    let symbol = 1;
    if (this.state >= 7) {
      let matched = bytes[size - (this.repeated[0] as number) - 1] as number;
      while (symbol < 256) {
        const expected = (matched >> 7) & 1;
        matched <<= 1;
        const found = this.bit(base + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | found;
        if (found !== expected) break;
      }
    }
    while (symbol < 256) symbol = (symbol << 1) | this.bit(base + symbol);
    bytes[this.output.size++] = symbol;
    this.state = this.state < 4 ? 0 : this.state < 10 ? this.state - 3 : this.state - 6;
  }

  /** Reads a match; returns its length, or 0 if it was one byte, which is then written. */
  private match(positionState: number): number {
    const repeated = this.repeated as [number, number, number, number];
    const state = this.state;
    if (this.bit(IS_REPEATED + state) === 0) {
      repeated.copyWithin(1, 0, 3);
      const length = this.length(MATCH_LENGTH, positionState);
      this.state = state < 7 ? 7 : 10;
      repeated[0] = this.distance(length);
      return length;
    }
    if (this.bit(IS_REPEATED_0 + state) === 0) {
      if (this.bit(IS_LONG_REPEATED_0 + state * 16 + positionState) === 0) {
        this.state = state < 7 ? 9 : 11;
        this.copy(1, this.output.size + 1);
        return 0;
      }
    } else {
      let which = 1;
      if (this.bit(IS_REPEATED_1 + state) === 1) which = 2 + this.bit(IS_REPEATED_2 + state);
      const distance = repeated[which as 1 | 2 | 3];
      repeated.copyWithin(1, 0, which);
      repeated[0] = distance;
    }
    this.state = state < 7 ? 8 : 11;
    return this.length(REPEATED_LENGTH, positionState);
  }

  private length(base: number, positionState: number): number {
    if (this.bit(base) === 0) return 2 + this.tree(base + LENGTH_LOW + positionState * 8, 3);
    if (this.bit(base + 1) === 0) return 10 + this.tree(base + LENGTH_MIDDLE + positionState * 8, 3);
    return 18 + this.tree(base + LENGTH_HIGH, 8);
  }

  private distance(length: number): number {
    const slot = this.tree(DISTANCE_SLOT + Math.min(length - 2, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) * 2 ** bits;
    if (slot < 14) return high + this.reverseTree(DISTANCE_SPECIAL + high - slot, bits);
    let middle = 0;
    for (let left = bits - 4; left > 0; --left) {
      this.range >>>= 1;
      const one = this.code >= this.range;
      if (one) this.code -= this.range;
      middle = middle * 2 + (one ? 1 : 0);
      this.normalize();
    }
    return high + middle * 16 + this.reverseTree(DISTANCE_ALIGN, 4);
  }

  private copy(length: number, last: number): void {
    const output = this.output;
    const distance = (this.repeated[0] as number) + 1;
    if (distance > output.size - this.start || output.size + length > last)
      throw new Damaged("a match is out of range");
    const bytes = output.bytes;
    let to = output.size;
    for (let from = to - distance, end = from + length; from < end; ++from) bytes[to++] = bytes[from] as number;
    output.size = to;
  }

  private tree(base: number, bits: number): number {
    let symbol = 1;
    for (let left = bits; left > 0; --left) symbol = (symbol << 1) | this.bit(base + symbol);
    return symbol - (1 << bits);
  }

  private reverseTree(base: number, bits: number): number {
    let node = 1;
    let symbol = 0;
    for (let place = 0; place < bits; ++place) {
      const found = this.bit(base + node);
      node = (node << 1) | found;
      symbol |= found << place;
    }
    return symbol;
  }

  private bit(place: number): number {
    const probability = this.probabilities[place] as number;
    const bound = (this.range >>> 11) * probability;
    let found = 0;
    if (this.code < bound) {
      this.range = bound;
      this.probabilities[place] = probability + ((2048 - probability) >> 5);
    } else {
      this.range -= bound;
      this.code -= bound;
      this.probabilities[place] = probability - (probability >> 5);
      found = 1;
    }
    this.normalize();
    return found;
  }

  private normalize(): void {
    if (this.range >= 0x1000000) return;
    this.range = (this.range << 8) >>> 0;
    this.code = ((this.code << 8) | this.byte()) >>> 0;
  }
}
