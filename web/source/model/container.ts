/** The container of a model file: header, tensors and digest. docs/reference/model-file.md describes it. */
import { EngineError, ModelFileError } from "../errors.js";
import { type Json, type JsonObject, isObject, parseObject } from "./json.js";
import { type Decompressor, isXz } from "./decompressor.js";

const ALIGNMENT = 64;
const LENGTH_BYTES = 8;
const MOST_HEADER = 4 << 20;
const MOST_EXPANSION = 32;
const MOST_BYTES = 2 ** 31; // of a decompressed file
const ELEMENT_BYTES: Readonly<Record<string, number>> = { F32: 4, BF16: 2, I8: 1, U8: 1 };
const DIGEST = /^[0-9a-f]{64}$/;

/** A tensor of a file. */
export interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The parts of a model file, checked against its size and its digest. */
export interface Container {
  readonly manifest: JsonObject;
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** SHA-256 of the file, as its header states it. */
  readonly digest: string;
  /** For the parts that are compressed. */
  readonly decompressor: Decompressor;
}

/**
 * Reads a model file.
 *
 * @throws ModelFileError naming the rule that the file breaks.
 * @throws EngineError if the host has no SHA-256.
 */
export async function readContainer(given: Uint8Array, decompressor: Decompressor): Promise<Container> {
  const file = isXz(given) ? decompressor.xz("the file", given, Math.min(MOST_EXPANSION * given.length, MOST_BYTES)) : given;
  const header = headerBytes(file);
  const entries = parseObject(header, "the header");
  const metadata = entries["__metadata__"];
  if (!isObject(metadata) || Object.keys(metadata).sort().join() !== "digest,pocketmt")
    throw new ModelFileError("__metadata__ must hold exactly 'pocketmt' and 'digest': not a model file");
  const { digest, pocketmt } = metadata;
  if (typeof digest !== "string" || typeof pocketmt !== "string")
    throw new ModelFileError("__metadata__ must hold strings: not a model file");
  await checkDigest(file, header, digest);
  const start = LENGTH_BYTES + header.length;
  return { manifest: parseObject(pocketmt, "the manifest"), tensors: readTensors(entries, file, start), digest, decompressor };
}

function headerBytes(file: Uint8Array): Uint8Array {
  if (file.length < LENGTH_BYTES)
    throw new ModelFileError(`only ${file.length} bytes long: not a model file, or cut off`);
  const view = new DataView(file.buffer, file.byteOffset, LENGTH_BYTES);
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (length > MOST_HEADER)
    throw new ModelFileError(`not a model file: its header would have ${length} bytes, and may have ${MOST_HEADER}`);
  if (length > file.length - LENGTH_BYTES)
    throw new ModelFileError(`the header claims ${length} bytes, ${file.length - LENGTH_BYTES} are there: cut off`);
  if ((LENGTH_BYTES + length) % ALIGNMENT)
    throw new ModelFileError(`the header's ${length} bytes do not end on a ${ALIGNMENT}-byte boundary`);
  return file.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
}

async function checkDigest(file: Uint8Array, header: Uint8Array, digest: string): Promise<void> {
  const text = new TextDecoder("latin1").decode(header);
  const place = text.indexOf(digest);
  if (!DIGEST.test(digest) || place !== text.lastIndexOf(digest))
    throw new ModelFileError("the digest is not 64 characters that stand once in the header");
  if (globalThis.crypto?.subtle === undefined)
    throw new EngineError("this page has no SHA-256: serve it by https, or from localhost");
  // The digest is computed while its characters are 0. They are put back at once, so that nothing is copied.
  const stated = file.subarray(LENGTH_BYTES + place, LENGTH_BYTES + place + digest.length);
  stated.fill(0x30);
  let hash: ArrayBuffer;
  try {
    hash = await crypto.subtle.digest("SHA-256", file as Uint8Array<ArrayBuffer>);
  } finally {
    stated.set(new TextEncoder().encode(digest));
  }
  const found = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== digest)
    throw new ModelFileError("the digest does not match: the file was damaged or changed after it was written");
}

function readTensors(entries: JsonObject, file: Uint8Array, start: number): Map<string, Tensor> {
  const tensors = new Map<string, Tensor>();
  const ranges: [number, number, string][] = [];
  for (const [name, entry] of Object.entries(entries)) {
    if (name === "__metadata__") continue;
    const tensor = readTensor(name, entry, file, start);
    const offset = tensor.bytes.byteOffset - file.byteOffset;
    ranges.push([offset, offset + tensor.bytes.length, name]);
    if (/^padding\.(0|[1-9][0-9]{0,9})$/.test(name)) continue;
    if (offset % ALIGNMENT)
      throw new ModelFileError(`tensor '${name}' starts at byte ${offset}, not a multiple of ${ALIGNMENT}`);
    tensors.set(name, tensor);
  }
  let end = start;
  for (const [first, last, name] of ranges.sort((left, right) => left[0] - right[0] || left[1] - right[1])) {
    if (first !== end) throw new ModelFileError(`tensor '${name}' does not follow the one before it`);
    end = last;
  }
  if (end !== file.length) throw new ModelFileError(`the tensors end at byte ${end}, the file at ${file.length}`);
  return tensors;
}

function readTensor(name: string, entry: Json | undefined, file: Uint8Array, start: number): Tensor {
  const where = `tensor '${name.slice(0, 120)}'`;
  if (!isObject(entry) || Object.keys(entry).sort().join() !== "data_offsets,dtype,shape")
    throw new ModelFileError(`${where}: expected dtype, shape and data_offsets`);
  const { dtype, shape, data_offsets: offsets } = entry;
  const size = typeof dtype === "string" ? ELEMENT_BYTES[dtype] : undefined;
  if (typeof dtype !== "string" || size === undefined) throw new ModelFileError(`${where}: its dtype is unknown`);
  if (!isWholeNumbers(shape, 1, 2 ** 32) || shape.length < 1 || shape.length > 4)
    throw new ModelFileError(`${where}: shape is not 1 to 4 whole numbers of at least 1`);
  const limit = file.length - start;
  if (!isWholeNumbers(offsets, 0, limit) || offsets.length !== 2)
    throw new ModelFileError(`${where}: data_offsets are not [begin, end] within 0 and ${limit}`);
  const [begin, end] = offsets as [number, number];
  if (shape.reduce((product, each) => product * each, size) !== end - begin)
    throw new ModelFileError(`${where}: its shape and its data_offsets have different sizes`);
  return { dtype, shape, bytes: file.subarray(start + begin, start + end) };
}

function isWholeNumbers(value: Json | undefined, lowest: number, highest: number): value is number[] {
  return Array.isArray(value) && value.every((each) => Number.isInteger(each) && lowest <= (each as number) && (each as number) <= highest);
}
