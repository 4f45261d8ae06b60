/** Decompression of the parts of a model file, by the WebAssembly module. */
import { ModelFileError } from "../errors.js";
import { Instance, type ModuleExports, unsigned } from "../instance.js";

const XZ = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];

interface Exports extends ModuleExports {
  inflate(stream: number, size: number, output: number, outputSize: number): void;
  decompress_xz(stream: number, size: number, most: number): number;
  decompressed(): number;
}

export function isXz(bytes: Uint8Array): boolean {
  return XZ.every((value, index) => bytes[index] === value);
}

/** An instance of the module for decompression alone: its memory is given back with it. */
export class Decompressor {
  private readonly instance: Instance<Exports>;

  /** Throws EngineError if the host cannot start the module. */
  constructor(module: WebAssembly.Module) {
    this.instance = new Instance<Exports>(module, () => new Uint8Array());
  }

  /**
   * Decompresses one xz stream.
   *
   * @param name what the stream is, for messages.
   * @param most the most bytes of the result, below 2^32.
   * @throws ModelFileError if the stream is damaged, has bytes after its end, or holds more.
   */
  xz(name: string, stream: Uint8Array, most: number): Uint8Array {
    return this.naming(`${name} is not a whole xz stream`, () =>
      this.instance.withBytes([stream], ([place]) => {
        const size = unsigned(this.instance.call((exports) => exports.decompress_xz(place as number, stream.length, most)));
        const start = unsigned(this.instance.call((exports) => exports.decompressed()));
        return new Uint8Array(this.instance.memory, start, size).slice();
      }),
    );
  }

  /** Decompresses a raw deflate stream; throws ModelFileError if it does not hold exactly `size` bytes. */
  inflate(name: string, stream: Uint8Array, size: number): Uint8Array {
    return this.naming(`${name} is not a whole deflate stream`, () => {
      const output = unsigned(this.instance.call((exports) => exports.allocate(size)));
      const result = this.instance.withBytes([stream], ([place]) => {
        this.instance.call((exports) => exports.inflate(place as number, stream.length, output, size));
        return new Uint8Array(this.instance.memory, output, size).slice();
      });
      this.instance.call((exports) => exports.release(output, size));
      return result;
    });
  }

  private naming<Result>(what: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw error instanceof ModelFileError ? new ModelFileError(`${what}: ${error.message}`) : error;
    }
  }
}
