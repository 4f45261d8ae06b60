/** Stand-ins for the URLs, e-mail addresses and placeholders of a text: names and numbers, which models copy. */
import { WORD } from "../text/unicode.js";
import { isInCapitals } from "./capitals.js";
import { protectedParts } from "./protected.js";

const NAMES = ["Tom", "Boston", "Paris", "John"];
const NUMBERS = ["300", "20", "500", "38"];

// Of letters, only those that could belong to a name: a name may stand beside Chinese or Japanese characters.
const NAME_LETTERS = "A-Za-z0-9\\u00c0-\\u024f\\u1e00-\\u1eff";
// A genitive may have its s without an apostrophe, as in German.
const GENITIVE = new RegExp(`^['’]s(?![${WORD}])`, "u");

/** A word, and the part of a text in whose place it stands. */
export interface StandIn {
  readonly word: string;
  readonly part: string;
  /** Whether the part is followed by 's. */
  readonly isGenitive: boolean;
}

/**
 * A text with stand-ins for its URLs, e-mail addresses and placeholders, in capitals where the rest of the text is; undefined
 * if it has none or too many of these.
 */
export function withStandIns(text: string): { text: string; standIns: StandIn[] } | undefined {
  const parts = protectedParts(text).filter(({ isReplaceable }) => isReplaceable);
  if (parts.length === 0) return undefined;
  const ends = [0, ...parts.map(({ text: part, start }) => start + part.length)];
  const between = [...parts.map(({ start }, index) => text.slice(ends[index], start)), text.slice(ends.at(-1))];
  const names = NAMES.map((word) => (isInCapitals(between.join("")) ? word.toUpperCase() : word)).filter((word) => !text.includes(word));
  const numbers = NUMBERS.filter((word) => !text.includes(word));
  const standIns: StandIn[] = [];
  for (const [index, part] of parts.entries()) {
    const word = (part.isOfNumber ? numbers : names).shift();
    if (word === undefined) return undefined;
    const end = ends[index + 1] as number;
    const isGenitive = GENITIVE.test(text.slice(end, end + 3));
    standIns.push({ word, part: part.text, isGenitive });
  }
  return { text: between.map((rest, index) => rest + (standIns[index]?.word ?? "")).join(""), standIns };
}

/** A translation with the parts in place of the stand-ins; undefined unless it has each exactly once. */
export function withParts(translation: string, standIns: readonly StandIn[]): string | undefined {
  let restored = translation;
  for (const { word, part, isGenitive } of standIns) {
    const after = isGenitive ? `(?=s?(?![${NAME_LETTERS}]))` : `(?![${NAME_LETTERS}])`;
    const found = restored.split(new RegExp(`(?<![${NAME_LETTERS}])${word}${after}`));
    if (found.length !== 2) return undefined;
    restored = found.join(part);
  }
  return restored;
}
