/** Division of normalized text into pieces, as SentencePiece's unigram and BPE models divide it. */
import { BPE, NORMAL, type SentencePieceModel, UNUSED, USER_DEFINED } from "./sentencepiece_model.js";
import { anyOf } from "./normalizer.js";

/** Returns the end of each piece in a text, and the id of each; unknown characters are single pieces. */
export interface Segmenter {
  segment(text: string): { readonly ends: readonly number[]; readonly ids: readonly number[] };
}

export function makeSegmenter(model: SentencePieceModel): Segmenter {
  return model.algorithm === BPE ? new BytePairs(model) : new Unigram(model);
}

const NOT_IN_TRIE = -1;

/** Ids of the pieces that text can have, and the length of the longest by the first code unit. */
class Pieces {
  readonly ids = new Map<string, number>();
  readonly longest = new Uint16Array(1 << 16);

  constructor(model: SentencePieceModel) {
    model.pieces.forEach((piece, id) => {
      const kind = model.kinds[id];
      if (kind !== NORMAL && kind !== USER_DEFINED && kind !== UNUSED) return;
      this.ids.set(piece, id);
      const first = piece.charCodeAt(0);
      this.longest[first] = Math.max(this.longest[first] as number, piece.length);
    });
  }

  find(text: string, start: number, end: number): number {
    return this.ids.get(text.slice(start, end)) ?? NOT_IN_TRIE;
  }
}

/** A pattern that finds the user-defined pieces; undefined: there are none. */
function userDefinedPieces(model: SentencePieceModel): RegExp | undefined {
  const pieces = model.pieces.filter((_, id) => model.kinds[id] === USER_DEFINED);
  return pieces.length > 0 ? anyOf(pieces) : undefined;
}

/** Code units of the character at a position. */
function characterSize(text: string, position: number): number {
  return (text.codePointAt(position) as number) > 0xffff ? 2 : 1;
}

/**
 * The most probable division (Kudo 2018), in the order of floating point operations of unigram::Model::EncodeOptimized.
 * User-defined pieces are found first, from left to right.
 */
class Unigram implements Segmenter {
  private readonly pieces: Pieces;
  private readonly unknownScore: number;
  private readonly userDefined: RegExp | undefined;

  constructor(private readonly model: SentencePieceModel) {
    this.pieces = new Pieces(model);
    this.userDefined = userDefinedPieces(model);
    const lowest = model.scores.reduce((least, score, id) => (model.kinds[id] === NORMAL ? Math.min(least, score) : least), Infinity);
    this.unknownScore = Math.fround(lowest - 10);
  }

  segment(text: string): { ends: number[]; ids: number[] } {
    const size = text.length;
    const scores = new Float32Array(size + 1);
    const starts = new Int32Array(size + 1).fill(-1);
    const ids = new Int32Array(size + 1);
    const reach = (from: number, to: number, score: number, id: number): void => {
      if (starts[to] !== -1 && score <= (scores[to] as number)) return;
      scores[to] = score;
      starts[to] = from;
      ids[to] = id;
    };
    let start = 0;
    for (const [index, part] of (this.userDefined ? text.split(this.userDefined) : [text]).entries()) {
      const partEnd = start + part.length;
      if (index % 2) {
        reach(start, partEnd, scores[start] as number, this.pieces.find(text, start, partEnd));
        start = partEnd;
      }
      for (; start < partEnd; start += characterSize(text, start)) {
        const character = characterSize(text, start);
        const before = scores[start] as number;
        const last = Math.min(partEnd, start + (this.pieces.longest[text.charCodeAt(start)] as number));
        let single = false;
        for (let end = start + character; end <= last; ++end) {
          const id = this.pieces.find(text, start, end);
          if (id === NOT_IN_TRIE || this.model.kinds[id] === UNUSED) continue;
          reach(start, end, Math.fround((this.model.scores[id] as number) + before), id);
          single ||= end === start + character;
        }
        if (!single) reach(start, start + character, Math.fround(this.unknownScore + before), this.model.unknownId);
      }
    }
    const ends: number[] = [];
    const found: number[] = [];
    for (let end = size; end > 0; end = starts[end] as number) {
      ends.push(end);
      found.push(ids[end] as number);
    }
    return { ends: ends.reverse(), ids: found.reverse() };
  }
}

interface PairOfSymbols {
  readonly left: number;
  readonly right: number;
  readonly score: number;
  readonly size: number;
}

/** Byte pair encoding: the pair of the best score is merged first, of equal ones the left one. */
class BytePairs implements Segmenter {
  private readonly pieces: Pieces;
  private readonly userDefined: RegExp | undefined;

  constructor(private readonly model: SentencePieceModel) {
    this.pieces = new Pieces(model);
    this.userDefined = userDefinedPieces(model);
  }

  segment(text: string): { ends: number[]; ids: number[] } {
    return new Merging(text, this.model, this.pieces, this.userDefined).run();
  }
}

class Merging {
  // Symbols are runs of characters; the empty ones were merged into the one before.
  private readonly starts: number[] = [];
  private readonly sizes: number[] = [];
  private readonly frozen: boolean[] = [];
  private readonly previous: number[] = [];
  private readonly next: number[] = [];
  private readonly queue = new Queue();
  private readonly parts = new Map<string, [string, string]>(); // of unused pieces

  constructor(
    private readonly text: string,
    private readonly model: SentencePieceModel,
    private readonly pieces: Pieces,
    userDefined: RegExp | undefined,
  ) {
    let position = 0;
    for (const [index, part] of (userDefined ? text.split(userDefined) : [text]).entries()) {
      const end = position + part.length;
      while (position < end) {
        const size = index % 2 ? part.length : characterSize(text, position);
        this.starts.push(position);
        this.sizes.push(size);
        this.frozen.push(index % 2 === 1);
        position += size;
      }
    }
    for (let index = 0; index < this.starts.length; ++index) {
      this.previous.push(index - 1);
      this.next.push(index + 1 < this.starts.length ? index + 1 : -1);
    }
  }

  run(): { ends: number[]; ids: number[] } {
    for (let index = 1; index < this.starts.length; ++index) this.#add(index - 1, index);
    for (let pair = this.queue.pop(); pair !== undefined; pair = this.queue.pop()) this.#merge(pair);
    const ends: number[] = [];
    const ids: number[] = [];
    for (let index = 0; index !== -1 && index < this.starts.length; index = this.next[index] as number)
      this.#resegment(this.starts[index] as number, this.#piece(index), ends, ids);
    return { ends, ids };
  }

  #piece(index: number): string {
    const start = this.starts[index] as number;
    return this.text.slice(start, start + (this.sizes[index] as number));
  }

  #add(left: number, right: number): void {
    if (left === -1 || right === -1 || this.frozen[left] || this.frozen[right]) return;
    const piece = this.#piece(left) + this.#piece(right);
    const id = this.pieces.ids.get(piece);
    if (id === undefined) return;
    this.queue.push({ left, right, score: this.model.scores[id] as number, size: piece.length });
    if (this.model.kinds[id] === UNUSED) this.parts.set(piece, [this.#piece(left), this.#piece(right)]);
  }

  #merge({ left, right, size }: PairOfSymbols): void {
    const { sizes, next, previous } = this;
    if (sizes[left] === 0 || sizes[right] === 0 || (sizes[left] as number) + (sizes[right] as number) !== size) return;
    sizes[left] = size;
    sizes[right] = 0;
    const after = next[right] as number;
    next[left] = after;
    if (after >= 0) previous[after] = left;
    this.#add(previous[left] as number, left);
    this.#add(left, after);
  }

  #resegment(start: number, piece: string, ends: number[], ids: number[]): void {
    const id = this.pieces.ids.get(piece) ?? this.model.unknownId;
    const parts = this.model.kinds[id] === UNUSED ? this.parts.get(piece) : undefined;
    if (parts === undefined) {
      ends.push(start + piece.length);
      ids.push(id);
      return;
    }
    this.#resegment(start, parts[0], ends, ids);
    this.#resegment(start + parts[0].length, parts[1], ends, ids);
  }
}

/** A heap: the pair of the best score first, of equal ones the left one. */
class Queue {
  private readonly heap: PairOfSymbols[] = [];

  push(pair: PairOfSymbols): void {
    const { heap } = this;
    let place = heap.push(pair) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!before(pair, heap[parent] as PairOfSymbols)) break;
      heap[place] = heap[parent] as PairOfSymbols;
      place = parent;
    }
    heap[place] = pair;
  }

  pop(): PairOfSymbols | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as PairOfSymbols, heap[child] as PairOfSymbols)) ++child;
      if (!before(heap[child] as PairOfSymbols, last)) break;
      heap[place] = heap[child] as PairOfSymbols;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}

function before(one: PairOfSymbols, other: PairOfSymbols): boolean {
  return one.score > other.score || (one.score === other.score && one.left < other.left);
}
