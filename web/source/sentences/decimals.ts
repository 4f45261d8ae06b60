/** Decimals that a translation has as its source writes them, such as those of "2.5 Euro". */
import { WHITE, WORD, inAnyCase, isLower } from "../text/unicode.js";
import { type NumberFormats, followsName, isPair, readNumber, rewrittenIn } from "./numbers.js";
import { AMOUNT_SIGN, type Part, allParts, standsApart, textBefore } from "./protected.js";
import { type StandIn, withParts } from "./stand_ins.js";

const DECIMALS = /\p{Nd}[.,]\p{Nd}/u;
const MAY_BE_DATE = /^(?:0?[1-9]|[12]\p{Nd}|3[01])\.(?:0?[1-9]|1[0-2])$/u;
const beforeDate = (words: string): RegExp =>
  new RegExp(`(?<![${WORD}])(?:${words.split(" ").map(inAnyCase).join("|")})[${WHITE}]$`, "u");
const BEFORE_DATE = beforeDate("on until till since");
const BEFORE_GERMAN_DATE = beforeDate("am vom zum bis seit");
const AFTER_DATE = new RegExp(`^\\.[${WHITE}]`);
const MAY_BE_VERSION = /^\p{Nd}+\.\p{Nd}{1,2}$/u;
const NAME = new RegExp(`(?<![${WORD}])[A-Z][${WORD}]{2,}[${WHITE}]$`, "u");
const NAME_WITHIN_SENTENCE = new RegExp(`[${WORD}][^${WORD}.!?]+[A-Z][${WORD}]*[${WHITE}]$`, "u");
// What shows that a number is a quantity: a sign or a word after it, perhaps after more numbers, or a sign before it.
const QUANTITY = new RegExp(
  "^(?:[ ,–\\-]{0,2}(?:to|and|or|by|bis|und|oder|mal|x)?[ ]?\\p{Nd}{1,9}(?:[.,]\\p{Nd}{1,9})?){0,4}" +
    "[ \\u00a0\\u202f\\-]?(?:[%‰°$]|((?:\\p{L}|[\\p{Nl}\\p{No}])+))",
  "u",
);
const SIGN_BEFORE = new RegExp(`\\$[${WHITE}]?$`);
const NO_UNITS = [
  ..."to and or but is was are were has had have says said in on at for of the a an with by from as than that which".split(" "),
  ..."bis und oder ist war sind waren hat haben sagt im am an auf für von vom zum mit als dass".split(" "),
];
const LONGEST_SYMBOL = 3; // letters, such as "GHz"

/** A number in a text. */
interface Place {
  readonly text: string;
  readonly part: Part;
}

/**
 * A translation in which quantities whose decimals are as in the source are as the target language writes them, but none of a text
 * with a number that may be a time, a date or a version. Numbers that either text has twice, or that touch letters, stay.
 */
export function withDecimals(source: string, translation: string, formats: NumberFormats | undefined): string {
  if (formats === undefined || formats.source.decimal === formats.target.decimal) return translation;
  if (!DECIMALS.test(source) || !DECIMALS.test(translation)) return translation;
  const inTranslation = pairs(translation);
  const kept: StandIn[] = [];
  for (const [number, place] of pairs(source)) {
    const other = inTranslation.get(number);
    const decimals = readNumber(number, formats.source)?.decimals ?? "";
    if (place === undefined || other === undefined || decimals === "") continue;
    if (stays(number, place, other)) return translation;
    const areApart = [place, other].every(({ text, part }) => standsApart(text, part));
    if (areApart && isQuantity(place, formats.source.decimal))
      kept.push({ word: number, part: rewrittenIn(number, formats) });
  }
  return withParts(translation, kept) ?? translation;
}

function isQuantity({ text, part }: Place, decimal: string): boolean {
  if (part.kind === "amount" || SIGN_BEFORE.test(textBefore(text, part.start))) return true;
  const after = QUANTITY.exec(text.slice(part.start + part.text.length));
  const word = after?.[1];
  if (word === undefined) return after !== null;
  if (NO_UNITS.includes(word)) return false;
  // Where numbers of sections have the same sign, a title may follow.
  return decimal !== "." || isLower(word) || [...word].length <= LONGEST_SYMBOL;
}

/** The numbers with one sign of a text; undefined: there are several that are the same. */
function pairs(text: string): Map<string, Place | undefined> {
  const found = new Map<string, Place | undefined>();
  for (const part of allParts(text)) {
    const number = part.text.replace(AMOUNT_SIGN, "").trim();
    if ((part.kind !== "number" && part.kind !== "amount") || !isPair(number)) continue;
    found.set(number, found.has(number) ? undefined : { text, part });
  }
  return found;
}

/** Whether a number may be a time, a date or a version; `other` is its place in the translation. */
function stays(number: string, { text, part }: Place, other: Place): boolean {
  const [before, beforeOther] = [textBefore(text, part.start), textBefore(other.text, other.part.start)];
  if (part.isTime || other.part.isTime) return true;
  const after = text.slice(part.start + part.text.length);
  const isBesideDate = BEFORE_DATE.test(before) || BEFORE_GERMAN_DATE.test(beforeOther) || AFTER_DATE.test(after);
  if (MAY_BE_DATE.test(number) && isBesideDate) return true;
  if (!MAY_BE_VERSION.test(number)) return false;
  const name = NAME.exec(before)?.[0];
  if (name !== undefined && name === NAME.exec(beforeOther)?.[0]) return true;
  return followsName(number, before) || NAME_WITHIN_SENTENCE.test(before);
}
