/** The description of a network as the manifest has it, with defaults; the engine checks its values. */
import { ModelFileError } from "../errors.js";
import { type Json, type JsonObject, textMember } from "./json.js";

// Fields with defaults; null: there is none.
const DEFAULTS: JsonObject = {
  embeddings: "shared",
  source_vocabulary_size: 0,
  output_projection: "tied",
  output_bias: false,
  scale_embeddings: true,
  first_decoder_input: "bos",
  pad_id: 0,
  bos_id: 1,
  eos_id: 2,
  unk_id: 3,
  source_pad_id: null,
  source_eos_id: null,
  source_unk_id: null,
  ban_special_pieces: true,
  banned_ids: [],
  append_source_eos: true,
  vocabularies: "shared",
  normalization_epsilon: 1e-5,
};
const TRANSFORMER_DEFAULTS: JsonObject = {
  decoder_autoregression: "self_attention",
  tied_decoder_layers: false,
  encoder_heads: [],
  encoder_feed_forward: [],
  decoder_heads: [],
  decoder_cross_heads: [],
  decoder_feed_forward: [],
  average_attention_dimension: 0,
  average_attention_activation: "relu",
  average_attention_gate: true,
  activation: "relu",
  positions: "interleaved",
  position_offset: 0,
  embedding_norm: false,
};
const REAL_FIELDS = new Set(["normalization_epsilon"]);

/** A network's description. */
export class Architecture {
  readonly fields: JsonObject;

  constructor(given: JsonObject) {
    const lstm = textMember(given, "type", "manifest: architecture") === "lstm";
    this.fields = { ...DEFAULTS, ...(lstm ? {} : TRANSFORMER_DEFAULTS), ...given };
  }

  /** Lines of the description that the engine reads. */
  lines(): string[] {
    return Object.entries(this.fields)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => {
        if (!/^\w+$/.test(name)) throw new ModelFileError(`architecture: unknown field '${name.slice(0, 80)}'`);
        return fieldLine(name, value);
      });
  }

  /** A field that must be a whole number, which is below 2^32. */
  whole(name: string): number {
    const value = this.fields[name];
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value >= 2 ** 32)
      throw new ModelFileError(`architecture: ${name} is not a whole number`);
    return value;
  }

  /** The id of a special piece; null: there is none. */
  pieceId(name: "pad" | "bos" | "eos" | "unk", source: boolean): number | null {
    if (source && this.separateVocabularies) {
      if (name === "bos") return null;
      const own = this.fields[`source_${name}_id`];
      if (own !== null) return this.whole(`source_${name}_id`);
    }
    return this.fields[`${name}_id`] === null ? null : this.whole(`${name}_id`);
  }

  get separateVocabularies(): boolean {
    return this.fields["vocabularies"] === "separate";
  }

  get vocabularySize(): number {
    return this.whole("vocabulary_size");
  }

  get sourceSize(): number {
    return this.whole("source_vocabulary_size") || this.vocabularySize;
  }

  /** Whether the engine appends the end of a sentence to sources. */
  get appendsEnd(): boolean {
    return this.fields["append_source_eos"] === true;
  }

  /** How many pieces can be generated, without the end of a sentence. */
  get generatedPieces(): number {
    const { banned_ids: banned, ban_special_pieces: special } = this.fields;
    const never = new Set(Array.isArray(banned) ? banned : []);
    if (special === true) for (const name of ["pad", "bos", "unk"] as const) never.add(this.pieceId(name, false));
    never.delete(null);
    return this.vocabularySize - never.size - 1;
  }

  /** Inputs of a matrix, and elements of a vector. Of names that a network lacks, any number. */
  columns(name: string): number {
    return this.fields["type"] === "lstm" ? this.#lstmColumns(name) : this.#transformerColumns(name);
  }

  #transformerColumns(name: string): number {
    const model = this.whole("model_dimension");
    if (name.endsWith("output.bias") && !name.includes("attention")) return this.vocabularySize;
    const layer = /^(encoder|decoder)\.layers\.(\d+)\.(\w+)\.(\w+)\.(weight|bias)$/.exec(name);
    if (layer === null) return model;
    const [, stack, index, part, which, kind] = layer as unknown as [string, string, string, string, string, string];
    if (part === "feed_forward" && (which === "outer") === (kind === "weight"))
      return this.#pruned(`${stack}_feed_forward`, index) ?? this.whole("feed_forward_dimension");
    if (part === "average_attention" && (which === "outer" || which === "inner"))
      return (which === "outer") === (kind === "weight") ? this.whole("average_attention_dimension") : model;
    if (part !== "self_attention" && part !== "cross_attention") return model;
    if ((which === "output") !== (kind === "weight")) return model;
    const heads = this.#pruned(part === "cross_attention" ? "decoder_cross_heads" : `${stack}_heads`, index);
    const all = this.whole("attention_heads");
    const attention = (this.whole("attention_dimension") / all) * (heads ?? all);
    const copies = { query_key_value: 3, key_value: 2 }[which] ?? 1;
    return kind === "bias" ? copies * attention : attention;
  }

  #pruned(name: string, index: string): number | undefined {
    const sizes = this.fields[name];
    const size = Array.isArray(sizes) ? sizes[Number(index)] : undefined;
    return typeof size === "number" ? size : undefined;
  }

  #lstmColumns(name: string): number {
    const recurrent = this.whole("recurrent_dimension");
    const half = /lstm\.(left_to_right|right_to_left)\./.test(name);
    const size = half ? recurrent / 2 : recurrent;
    if (name.endsWith("lstm.input.bias") || (half && name.endsWith("input.bias"))) return 4 * size;
    if (name.endsWith("recurrent.weight")) return size;
    if (name.endsWith("attention.output.weight")) return this.whole("attention_dimension");
    const embedded = half || name === "embedding.weight" || name === "decoder.readout.bias";
    return embedded || name === "decoder.layers.0.lstm.input.weight" ? this.whole("model_dimension") : recurrent;
  }
}

function fieldLine(name: string, value: Json): string {
  if (typeof value === "boolean") return `flag ${name} ${value ? 1 : 0}`;
  if (typeof value === "string" && /^\S+$/.test(value)) return `text ${name} ${value}`;
  if (typeof value === "number" && (REAL_FIELDS.has(name) || !Number.isSafeInteger(value) || value < 0))
    return `real ${name} ${realBits(value)}`;
  if (typeof value === "number") return `whole ${name} ${value}`;
  if (Array.isArray(value) && value.every((each) => Number.isSafeInteger(each) && (each as number) >= 0))
    return ["list", name, ...value].join(" ");
  throw new ModelFileError(`architecture: ${name} has a value of another type`);
}

/** The bits of a number as float64, in hexadecimal digits. */
export function realBits(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16);
}
