/** The normalization of a SentencePiece model: its table of characters, and its rules for spaces. */
import { ModelFileError } from "../errors.js";
import { type SentencePieceModel, USER_DEFINED } from "./sentencepiece_model.js";

export const SPACE = "\u2581";

/** Normalizes text as SentencePiece's Normalizer::Normalize does. */
export class Normalizer {
  private readonly table: CharacterTable | undefined;
  private readonly userDefined: RegExp | undefined;

  constructor(private readonly model: SentencePieceModel) {
    if (model.charsmap.length > 0) this.table = new CharacterTable(model.charsmap);
    const pieces = model.pieces.filter((_, id) => model.kinds[id] === USER_DEFINED);
    if (pieces.length > 0) this.userDefined = anyOf(pieces);
  }

  normalize(text: string): string {
    const { removeExtraSpaces, addDummyPrefix, escapeSpaces } = this.model;
    let mapped = this.#mapped(text);
    if (removeExtraSpaces) mapped = mapped.replace(/ +/g, " ").replace(/^ | $/g, "");
    if (mapped === "") return "";
    if (addDummyPrefix) mapped = ` ${mapped}`;
    if (!escapeSpaces) return removeExtraSpaces ? mapped.replace(/ +$/, "") : mapped;
    mapped = mapped.replaceAll(" ", SPACE);
    let end = mapped.length;
    while (removeExtraSpaces && mapped[end - 1] === SPACE) --end;
    return mapped.slice(0, end);
  }

  /** Replaces characters by the table, but not in user-defined pieces. */
  #mapped(text: string): string {
    const { table, userDefined } = this;
    if (table === undefined) return text;
    if (userDefined === undefined) return table.replace(text);
    return text
      .split(userDefined)
      .map((part, index) => (index % 2 ? part : table.replace(part)))
      .join("");
  }
}

/** A pattern that finds any of some texts, of several at one place the longest. */
export function anyOf(texts: readonly string[]): RegExp {
  const escaped = [...texts].sort((left, right) => right.length - left.length).map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`(${escaped.join("|")})`, "u");
}

/** A precompiled table: a double array (Darts) of character sequences, and what each is replaced by. */
class CharacterTable {
  private readonly units: Uint32Array;
  private readonly replacements: Uint8Array;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private readonly ascii: boolean;

  constructor(charsmap: Uint8Array) {
    const view = new DataView(charsmap.buffer, charsmap.byteOffset, charsmap.byteLength);
    const size = charsmap.length < 4 ? 0 : view.getUint32(0, true);
    if (size < 4 || size % 4 || size + 4 > charsmap.length)
      throw new ModelFileError("the normalization table of a SentencePiece model is damaged");
    // Every host of WebAssembly that has typed arrays stores the lowest byte first, as the table does.
    this.units = new Uint32Array(charsmap.slice(4, 4 + size).buffer);
    this.replacements = charsmap.subarray(4 + size);
    this.ascii = Array.from({ length: 95 }, (_, index) => index + 32).every((code) => this.#find(Uint8Array.of(code), 0)[0] === 0);
  }

  replace(text: string): string {
    if (this.ascii && /^[ -~]*$/.test(text)) return text;
    const bytes = this.encoder.encode(text);
    const result = new ByteList();
    for (let position = 0; position < bytes.length; ) {
      const [length, value] = this.#find(bytes, position);
      if (length > 0) {
        for (let place = value; place < this.replacements.length && this.replacements[place] !== 0; ++place)
          result.push(this.replacements[place] as number);
        position += length;
      } else {
        const first = bytes[position] as number;
        const end = position + (first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);
        while (position < end) result.push(bytes[position++] as number);
      }
    }
    return this.decoder.decode(result.bytes());
  }

  /** Returns the length of the longest sequence at a position, or 0, and the place of its replacement. */
  #find(bytes: Uint8Array, start: number): [number, number] {
    const { units } = this;
    let length = 0;
    let value = 0;
    let unit = units[0] ?? 0;
    let node = offset(unit);
    for (let position = start; position < bytes.length; ++position) {
      const byte = bytes[position] as number;
      node = (node ^ byte) >>> 0;
      unit = units[node] ?? 0;
      if (((unit & 0x800000ff) >>> 0) !== byte || byte === 0) break;
      node = (node ^ offset(unit)) >>> 0;
      if ((unit >>> 8) & 1) {
        length = position + 1 - start;
        value = (units[node] ?? 0) & 0x7fffffff;
      }
    }
    return [length, value];
  }
}

function offset(unit: number): number {
  return ((unit >>> 10) << ((unit & 512) >>> 6)) >>> 0;
}

class ByteList {
  private array = new Uint8Array(256);
  private size = 0;

  push(byte: number): void {
    if (this.size === this.array.length) {
      const larger = new Uint8Array(2 * this.size);
      larger.set(this.array);
      this.array = larger;
    }
    this.array[this.size++] = byte;
  }

  bytes(): Uint8Array {
    return this.array.subarray(0, this.size);
  }
}
