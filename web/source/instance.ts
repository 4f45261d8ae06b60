/** An instance of the WebAssembly module, with what it needs of its host. */
import { EngineError, ModelFileError } from "./errors.js";

/** What the functions of the module share. */
export interface ModuleExports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  allocate(bytes: number): number;
  release(place: number, bytes: number): void;
}

/** An address or a size of the module, which JavaScript gets as a signed number. */
export function unsigned(value: number): number {
  return value >>> 0;
}

/** An instance. After an error that it reports it must not be used any more. */
export class Instance<Exports extends ModuleExports> {
  private readonly exports: Exports;
  private broken: Error | undefined;

  /**
   * Starts an instance.
   *
   * @param tensor the bytes of a tensor that the module asks for by its place.
   * @throws EngineError if the host cannot.
   */
  constructor(
    module: WebAssembly.Module,
    private readonly tensor: (index: number) => Uint8Array,
  ) {
    try {
      this.exports = new WebAssembly.Instance(module, this.#imports()).exports as unknown as Exports;
    } catch (error) {
      throw new EngineError(`the engine cannot start: ${String(error)}`);
    }
    this.call((exports) => exports._initialize());
  }

  /** Whether an error ended a call. */
  get isBroken(): boolean {
    return this.broken !== undefined;
  }

  /** The module's memory, which moves when it grows. */
  get memory(): ArrayBuffer {
    return this.exports.memory.buffer as ArrayBuffer;
  }

  /** Calls the module. Any exception leaves it in the middle of its work, so that it is not called again. */
  call<Result>(use: (exports: Exports) => Result): Result {
    if (this.broken !== undefined) throw new EngineError(`the engine was stopped by an error: ${this.broken.message}`);
    try {
      return use(this.exports);
    } catch (error) {
      const known = error instanceof EngineError || error instanceof ModelFileError;
      this.broken = known ? error : new EngineError(`the engine stopped: ${String(error)}`);
      throw this.broken;
    }
  }

  /** Calls use(places) while the module's memory holds these bytes. */
  withBytes<Result>(all: readonly Uint8Array[], use: (places: number[]) => Result): Result {
    const places = all.map((bytes) => {
      const place = unsigned(this.call((exports) => exports.allocate(Math.max(bytes.length, 1))));
      new Uint8Array(this.memory).set(bytes, place);
      return place;
    });
    const result = use(places);
    places.forEach((place, index) => this.exports.release(place, Math.max((all[index] as Uint8Array).length, 1)));
    return result;
  }

  /** A text in the module's memory, which ends in a null character. */
  text(place: number): string {
    const bytes = new Uint8Array(this.memory, unsigned(place));
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  #imports(): WebAssembly.Imports {
    const unsupported = (): number => 52; // ENOSYS
    return {
      pocketmt: {
        copy_tensor: (index: number, target: number): void => {
          new Uint8Array(this.memory).set(this.tensor(index), unsigned(target));
        },
        write_number: (value: number, target: number): void => {
          new TextEncoder().encodeInto(`${value}\0`, new Uint8Array(this.memory, unsigned(target), 32));
        },
        fail: (kind: number, message: number): never => {
          const Kind = this.text(kind).includes("ModelError") ? ModelFileError : EngineError;
          throw new Kind(this.text(message));
        },
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, result: number): number => {
          const nanoseconds = BigInt(Math.round(performance.now() * 1e6));
          new DataView(this.memory).setBigUint64(unsigned(result), nanoseconds, true);
          return 0;
        },
        environ_sizes_get: (count: number, size: number): number => {
          const view = new DataView(this.memory);
          view.setUint32(unsigned(count), 0, true);
          view.setUint32(unsigned(size), 0, true);
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
