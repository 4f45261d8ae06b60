/** The WebAssembly module: one instance has one model. */
import { Instance, type ModuleExports, unsigned } from "./instance.js";
import type { EngineInput } from "./model/model_file.js";

/** Options of the search, as the engine takes them. */
export interface EngineOptions {
  /** Hypotheses kept at each step, from 1 to 256, and to the pieces that can be generated. */
  readonly beamSize: number;
  /** Exponent of the length by which log-probabilities are divided, from -10 to 10. */
  readonly lengthPenalty: number;
  /** Most target pieces; 0: 2 x source pieces + 20. */
  readonly maxLength: number;
  /** Whether to use the model's shortlist, if it has one. */
  readonly shortlist: boolean;
  /** Most sentences computed together; 0: as many as the engine finds best. */
  readonly batchSize: number;
}

/** A sentence: ids of its source, and ids that its translation begins with. */
export interface Request {
  readonly source: readonly number[];
  readonly prefix: readonly number[];
}

/** Called between batches. */
type Between = (done: number, batches: number) => Promise<void>;

interface Exports extends ModuleExports {
  instruction_set(): number;
  check(): void;
  load(description: number, size: number, stored: number, storedSize: number, shortlist: number, shortlistSize: number): void;
  submit(words: number, count: number, beam: number, penalty: number, most: number, shortlist: number, batch: number): number;
  translate_batch(): number;
  result(): number;
  finish(): void;
}

/** A compiled module with a model. After an error that it reports it must not be used any more. */
export class Engine {
  private readonly instance: Instance<Exports>;
  private tensors: readonly Uint8Array[] = [];
  private last: Promise<unknown> = Promise.resolve();

  /** Starts an instance. Throws EngineError if the host cannot. */
  constructor(module: WebAssembly.Module) {
    this.instance = new Instance<Exports>(module, (index) => this.tensors[index] as Uint8Array);
  }

  /** Packs a model; throws ModelFileError if the engine refuses it. */
  load(input: EngineInput): void {
    this.tensors = input.tensors;
    const text = new TextEncoder().encode(input.description);
    this.instance.withBytes([text, input.stored, input.shortlist], ([description, stored, shortlist]) =>
      this.instance.call((exports) =>
        exports.load(
          description as number,
          text.length,
          stored as number,
          input.stored.length,
          shortlist as number,
          input.shortlist.length,
        ),
      ),
    );
    this.tensors = [];
  }

  get instructionSet(): string {
    return this.instance.text(this.instance.call((exports) => exports.instruction_set()));
  }

  /** Whether an error ended a call, so that the instance must not be used any more. */
  get isBroken(): boolean {
    return this.instance.isBroken;
  }

  /** Compares every kernel with its reference; throws EngineError naming one that differs. */
  check(): void {
    this.instance.call((exports) => exports.check());
  }

  /** Bytes of its memory. */
  get memoryBytes(): number {
    return this.instance.memory.byteLength;
  }

  /**
   * Translates sentences, after those of earlier calls.
   *
   * @param between is awaited between batches; if it throws, the translation ends.
   * @returns the ids of each translation.
   */
  translate(requests: readonly Request[], options: EngineOptions, between: Between): Promise<number[][]> {
    const result = this.last.then(() => this.#translateNow(requests, options, between));
    this.last = result.catch(() => {});
    return result;
  }

  async #translateNow(requests: readonly Request[], options: EngineOptions, between: Between): Promise<number[][]> {
    if (requests.length === 0) return [];
    const words = requests.flatMap(({ source, prefix }) => [prefix.length, ...prefix, source.length, ...source]);
    const bytes = new Uint8Array(Uint32Array.from(words).buffer);
    const { beamSize, lengthPenalty, maxLength, shortlist, batchSize } = options;
    const batches = this.instance.withBytes([bytes], ([place]) =>
      this.instance.call((exports) =>
        exports.submit(place as number, requests.length, beamSize, lengthPenalty, maxLength, shortlist ? 1 : 0, batchSize),
      ),
    );
    try {
      for (let done = 0; done < batches; ) {
        this.instance.call((exports) => exports.translate_batch());
        await between(++done, batches);
      }
      return this.#readResult(requests.length);
    } finally {
      if (!this.isBroken) this.instance.call((exports) => exports.finish());
    }
  }

  #readResult(count: number): number[][] {
    let place = unsigned(this.instance.call((exports) => exports.result())) / 4;
    const words = new Uint32Array(this.instance.memory);
    return Array.from({ length: count }, () => {
      const size = words[place++] as number;
      place += size;
      return Array.from(words.subarray(place - size, place));
    });
  }
}
