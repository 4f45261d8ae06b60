/** The WebAssembly module: one instance has one model. */
import { EngineError, ModelFileError } from "./errors.js";
import type { EngineInput } from "./model/model_file.js";

/** Options of the search. */
export interface SearchOptions {
  /** Hypotheses kept at each step, 1 to 256. */
  readonly beamSize: number;
  /** Exponent of the length by which log-probabilities are divided. */
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

interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  allocate(bytes: number): number;
  release(place: number, bytes: number): void;
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
  private readonly exports: Exports;
  private tensors: readonly Uint8Array[] = [];
  private broken: Error | undefined;

  /** Starts an instance. Throws EngineError if the host cannot. */
  constructor(module: WebAssembly.Module) {
    try {
      this.exports = new WebAssembly.Instance(module, this.imports()).exports as unknown as Exports;
    } catch (error) {
      throw new EngineError(`the engine cannot start: ${String(error)}`);
    }
    this.call((exports) => exports._initialize());
  }

  /** Packs a model; throws ModelFileError if the engine refuses it. */
  load(input: EngineInput): void {
    this.tensors = input.tensors;
    const text = new TextEncoder().encode(input.description);
    this.withBytes([text, input.stored, input.shortlist], ([description, stored, shortlist]) =>
      this.call((exports) =>
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
    return this.text(this.call((exports) => exports.instruction_set()));
  }

  /** Whether an error ended a call, so that the instance must not be used any more. */
  get isBroken(): boolean {
    return this.broken !== undefined;
  }

  /** Compares every kernel with its reference; throws EngineError naming one that differs. */
  check(): void {
    this.call((exports) => exports.check());
  }

  /** Bytes of its memory. */
  get memoryBytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /**
   * Translates sentences.
   *
   * @param between is awaited between batches; if it throws, the translation ends.
   * @returns the ids of each translation.
   */
  async translate(
    requests: readonly Request[],
    options: SearchOptions,
    between: (done: number, batches: number) => Promise<void>,
  ): Promise<number[][]> {
    if (requests.length === 0) return [];
    const words = requests.flatMap(({ source, prefix }) => [prefix.length, ...prefix, source.length, ...source]);
    const bytes = new Uint8Array(Uint32Array.from(words).buffer);
    const { beamSize, lengthPenalty, maxLength, shortlist, batchSize } = options;
    const batches = this.withBytes([bytes], ([place]) =>
      this.call((exports) =>
        exports.submit(place as number, requests.length, beamSize, lengthPenalty, maxLength, shortlist ? 1 : 0, batchSize),
      ),
    );
    try {
      for (let done = 0; done < batches; ) {
        this.call((exports) => exports.translate_batch());
        await between(++done, batches);
      }
      return this.readResult(requests.length);
    } finally {
      if (this.broken === undefined) this.call((exports) => exports.finish());
    }
  }

  private readResult(count: number): number[][] {
    let place = this.call((exports) => exports.result()) / 4;
    const words = new Uint32Array(this.exports.memory.buffer);
    return Array.from({ length: count }, () => {
      const size = words[place++] as number;
      place += size;
      return Array.from(words.subarray(place - size, place));
    });
  }

  /** Calls use(places) while the module's memory holds these bytes. */
  private withBytes<Result>(all: readonly Uint8Array[], use: (places: number[]) => Result): Result {
    const places = all.map((bytes) => {
      const place = this.call((exports) => exports.allocate(Math.max(bytes.length, 1)));
      new Uint8Array(this.exports.memory.buffer).set(bytes, place);
      return place;
    });
    const result = use(places);
    places.forEach((place, index) => this.exports.release(place, Math.max((all[index] as Uint8Array).length, 1)));
    return result;
  }

  /** Calls the module. Any exception leaves it in the middle of its work, so that it is not called again. */
  private call<Result>(use: (exports: Exports) => Result): Result {
    if (this.broken !== undefined) throw new EngineError(`the engine was stopped by an error: ${this.broken.message}`);
    try {
      return use(this.exports);
    } catch (error) {
      const known = error instanceof EngineError || error instanceof ModelFileError;
      this.broken = known ? error : new EngineError(`the engine stopped: ${String(error)}`);
      throw this.broken;
    }
  }

  private text(place: number): string {
    const bytes = new Uint8Array(this.exports.memory.buffer, place);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  private imports(): WebAssembly.Imports {
    const unsupported = (): number => 52; // ENOSYS
    return {
      pocketmt: {
        copy_tensor: (index: number, target: number): void => {
          new Uint8Array(this.exports.memory.buffer).set(this.tensors[index] as Uint8Array, target);
        },
        write_number: (value: number, target: number): void => {
          new TextEncoder().encodeInto(`${value}\0`, new Uint8Array(this.exports.memory.buffer, target, 32));
        },
        fail: (kind: number, message: number): never => {
          const Kind = this.text(kind).includes("ModelError") ? ModelFileError : EngineError;
          throw new Kind(this.text(message));
        },
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, result: number): number => {
          const nanoseconds = BigInt(Math.round(performance.now() * 1e6));
          new DataView(this.exports.memory.buffer).setBigUint64(result, nanoseconds, true);
          return 0;
        },
        environ_sizes_get: (count: number, size: number): number => {
          const view = new DataView(this.exports.memory.buffer);
          view.setUint32(count, 0, true);
          view.setUint32(size, 0, true);
          return 0;
        },
        environ_get: (): number => 0,
        fd_close: unsupported,
        fd_seek: unsupported,
        fd_write: unsupported,
        proc_exit: (): never => {
          throw new EngineError("the engine met an internal error");
        },
      },
    };
  }
}
