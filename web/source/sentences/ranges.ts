/** Ranges of whole numbers, such as 3-5, that a translation changed into another number, such as 35. */
import { WORD, readInteger } from "../text/unicode.js";
import type { Part } from "./protected.js";

const RANGE = new RegExp(
  `(?<![${WORD}.,:/'’–—-])(\\p{Nd}{1,4})[ \\u00a0]?[-–—][ \\u00a0]?(\\p{Nd}{1,4})(?![${WORD}/–—-]|[.,:'’]\\p{Nd})`,
  "gu",
);
const DIGITS = /\p{Nd}+/gu;

/**
 * The ranges of a source of which a translation lacks a number, if it has one that the source lacks. A range may have become words.
 * Its first number is the smaller one, unlike in many results of games.
 */
export function changedRanges(source: string, translation: string): Part[] {
  const ranges = [...source.matchAll(RANGE)].filter(([, first, last]) => readInteger(first as string) < readInteger(last as string));
  if (ranges.length === 0) return [];
  const given = new Set(source.match(DIGITS));
  const found = new Set(translation.match(DIGITS));
  if ([...found].every((each) => given.has(each))) return [];
  return ranges
    .filter(([, first, last]) => !found.has(first as string) || !found.has(last as string))
    .map(({ 0: text, index }) => ({
      ...{ text, start: index, kind: "other", mayBeNumber: true, exactness: "round", isTime: false, in24Hours: [] },
      ...{ isOfNumber: true, isNumber: false, isReplaceable: false, isApart: true },
    }));
}
