/** A set of words in few bytes: a Bloom filter, which tells of a few other words that it has them. */
const encoder = new TextEncoder();
let table: Uint32Array | undefined;

/** A set of words to which none can be added. */
export class WordFilter {
  /**
   * @param bits eight in a byte, the lowest first.
   * @param hashes bits that a word sets.
   */
  constructor(
    private readonly bits: Uint8Array,
    private readonly hashes: number,
  ) {}

  has(word: string): boolean {
    const sum = checksum(encoder.encode(word));
    const size = this.bits.length * 8;
    const first = mixed(sum);
    const step = (mixed(sum ^ 0x9e3779b9) | 1) >>> 0;
    for (let index = 0; index < this.hashes; ++index) {
      const place = (first + index * step) % size;
      if ((((this.bits[place >>> 3] as number) >>> (place & 7)) & 1) === 0) return false;
    }
    return true;
  }
}

/** The CRC-32 of bytes. */
function checksum(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; ++bit) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let value = ~0;
  for (const byte of bytes) value = (table[(value ^ byte) & 255] as number) ^ (value >>> 8);
  return ~value >>> 0;
}

/** 32 bits that all depend on all bits of a value: the last steps of MurmurHash3. */
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
