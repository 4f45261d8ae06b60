/** Stand-ins for the URLs, e-mail addresses and placeholders of a text: names and numbers, which models copy. */
import { protectedParts } from "./protected.js";

const NAMES = ["Tom", "Anna", "Paul", "Maria"];
const NUMBERS = ["27", "38", "46", "59"];

/** A word, and the part of a text in whose place it stands. */
export interface StandIn {
  readonly word: string;
  readonly part: string;
}

/** A text with stand-ins for its URLs, e-mail addresses and placeholders; undefined if it has none or too many of these. */
export function withStandIns(text: string): { text: string; standIns: StandIn[] } | undefined {
  const names = NAMES.filter((word) => !text.includes(word));
  const numbers = NUMBERS.filter((word) => !text.includes(word));
  const standIns: StandIn[] = [];
  let replaced = "";
  let end = 0;
  for (const part of protectedParts(text)) {
    if (!part.isReplaceable) continue;
    const word = (part.isOfNumber ? numbers : names).shift();
    if (word === undefined) return undefined;
    standIns.push({ word, part: part.text });
    replaced += text.slice(end, part.start) + word;
    end = part.start + part.text.length;
  }
  return end === 0 ? undefined : { text: replaced + text.slice(end), standIns };
}

/** A translation with the parts in place of the stand-ins; undefined unless it has each exactly once. */
export function withParts(translation: string, standIns: readonly StandIn[]): string | undefined {
  let restored = translation;
  for (const { word, part } of standIns) {
    const found = restored.split(new RegExp(`(?<![A-Za-z0-9])${word}(?![A-Za-z0-9])`));
    if (found.length !== 2) return undefined;
    restored = found.join(part);
  }
  return restored;
}
