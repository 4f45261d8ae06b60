/** Checks of the arguments that programs give. */
import type { SearchOptions } from "./public_types.js";

type Type = "boolean" | "function" | "number" | "string" | "AbortSignal";

/** Types of options: of all that an interface has, so that the compiler refuses a list that lacks one. */
export type Types<Options> = Readonly<Record<keyof Options, Type>>;

export const SEARCH_OPTIONS: Types<SearchOptions> = {
  beamSize: "number",
  lengthPenalty: "number",
  maxLength: "number",
  shortlist: "boolean",
  batchSize: "number",
  sourceLanguage: "string",
  targetLanguage: "string",
};

/** Throws TypeError if there is an option without a known name, or of another type. */
export function checkOptions(options: unknown, known: Readonly<Record<string, Type>>): void {
  if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, not ${typeName(options)}`);
  const names = Object.keys(known);
  for (const [name, value] of Object.entries(options)) {
    if (!names.includes(name)) throw new TypeError(`unknown option '${name}'; known: ${names.join(", ")}`);
    if (value !== undefined && !isOf(known[name], value))
      throw new TypeError(`${name} must be of type ${known[name]}, not ${typeName(value)}`);
  }
}

/** Whether a value is of a type; an AbortSignal may come from another window. */
function isOf(type: Type | undefined, value: unknown): boolean {
  return type === "AbortSignal" ? typeof Object(value).aborted === "boolean" : typeof value === type;
}

/** Throws TypeError for anything but an array of strings. */
export function checkLines(lines: unknown, expected = "lines must be an array of strings"): void {
  if (!Array.isArray(lines)) throw new TypeError(`${expected}, not ${typeName(lines)}`);
  for (const [index, line] of lines.entries()) {
    if (typeof line !== "string") throw new TypeError(`lines[${index}] must be a string, not ${typeName(line)}`);
  }
}

/** The type of a value for messages. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
