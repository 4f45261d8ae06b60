/** Checks of the arguments that programs give. */
import type { SearchOptions } from "./public_types.js";

/** Names of options: of all that a type has, so that the compiler refuses a list that lacks one. */
export type Names<Options> = Readonly<Record<keyof Options, true>>;

export const SEARCH_OPTIONS: Names<SearchOptions> = {
  beamSize: true,
  lengthPenalty: true,
  maxLength: true,
  shortlist: true,
  batchSize: true,
  sourceLanguage: true,
  targetLanguage: true,
};

/** Throws TypeError if there is an option without a known name. */
export function checkOptions(options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, not ${typeName(options)}`);
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown option '${unknown}'; known: ${names.join(", ")}`);
}

/** Throws TypeError for anything but an array of strings. */
export function checkLines(lines: unknown, expected = "lines must be an array of strings"): void {
  if (!Array.isArray(lines)) throw new TypeError(`${expected}, not ${typeName(lines)}`);
  for (const [index, line] of lines.entries()) {
    if (typeof line !== "string") throw new TypeError(`lines[${index}] must be a string, not ${typeName(line)}`);
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
