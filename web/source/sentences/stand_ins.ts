/** Stand-ins for the URLs, placeholders and numbers of a text: names and numbers that models copy. */
import { WORD } from "../text/unicode.js";
import { isInCapitals } from "./capitals.js";
import { type NumberFormats, rewrittenIn } from "./numbers.js";
import { type Part, replaceableParts } from "./protected.js";

// In the order of the first try, and of the second. Models exchange a person and a place, as in "in Tom with Boston". So places
// are tried first after prepositions of place, and after "to" and "from" where somebody moves: "give it to ..." is about a person.
const NAMES = ["Tom Anna Max Boston", "Max Tom Anna Boston"];
const PLACES = ["Boston Paris Tom Anna", "Paris Boston Max Tom"];
const BEFORE_PLACE = new RegExp(
  `(?<![${WORD}])(?:at|in|into|near|through|aus|durch|nach|à|en|vers|depuis|hacia|desde) (?:the )?$`,
  "iu",
);
const TO_OR_FROM = new RegExp(`(?<![${WORD}])(?:to|from) (?:the )?$`, "iu");
// It does not match in "I am going to talk to ..." and "Go and talk to ...".
const MOVE = new RegExp(
  (
    "(?<!W)(?:W+igratW+|arrivW+|been|bus|c[ao]m(?:e|es|ing)|dr[io]vW+|far|fl[eiy]W*|go|goes|going|gone|miles?" +
    "|movW+|planes?|returnW*|roads?|tickets?|trains?|travelW*|trips?|visits?|walkW*|way|welcome|went" +
    "|(?:get|gets|getting|got) to|(?:am|are|be|is|m|re|s|was|were)(?: not| you)? from)(?!W)(?! (?:to|and) (?!the )W+ )"
  ).replace(/W/g, `[${WORD}]`),
  "iu",
);
const LONGEST_BEFORE_PLACE = 12; // characters
const LONGEST_BEFORE_TO = 60; // characters
const NUMBERS = ["300 20 500 38 60 700", "30 50 200 40 600 80"];
const SMALL_NUMBERS = ["20 30 40 50", "30 40 50 20"];
const YEARS = ["2013 1990 2005 1985", "2012 1995 2001 1980"];
const MOST = 12; // words in place of parts
const YEAR = /^(?:19|20)\p{Nd}\p{Nd}$/u;
/** How often other words may stand in. */
export const TRIES = NAMES.length;
/** How many names may stand in. */
export const MOST_NAMES = (NAMES[0] as string).split(" ").length;
const SHORT = 11; // spaces
// In longer texts, of each try: how many words may be lost, and how many spaces there may be.
const LIMITS = [
  { lost: 2, spaces: 1000 },
  { lost: 1, spaces: 20 },
] as const;
const SIGNS_OF_NUMBERS = "$€£¥%";
// Of letters, only those that could belong to a name: a name may stand beside Chinese or Japanese characters.
const NAME_LETTERS = "A-Za-z0-9\\u00c0-\\u024f\\u1e00-\\u1eff";
// In German, the s has no apostrophe.
const GENITIVE = new RegExp(`^['’]?s(?![${WORD}])`, "u");

/** A part of a text for which a word can stand in. */
export type Place = Pick<Part, "text" | "start" | "isOfNumber" | "isNumber">;

/** A word, and the part of a text in whose place it stands. */
export interface StandIn {
  readonly word: string;
  /** The part, with its numbers as the target language writes them. */
  readonly part: string;
  /** Whether the part is followed by 's or s. */
  readonly isGenitive?: boolean;
  /** Characters that may not touch the part in a translation, since the text does not have them. */
  readonly added?: string;
}

/**
 * A text with stand-ins for its URLs, placeholders, numbers and unknown words, in capitals where the rest of the text is;
 * undefined if it has none or too many of these. Other numbers stay.
 *
 * @param attempt from 0 to TRIES - 1; others take other words.
 * @param unknown further parts, such as words with unknown characters; those that touch others, or lie within longer ones, are left out.
 * Ranges of numbers take the place of their numbers.
 * @param formats of the numbers of the text and of its translation.
 */
export function withStandIns(
  text: string,
  attempt: number,
  unknown: readonly Place[],
  formats: NumberFormats | undefined,
): { text: string; standIns: StandIn[] } | undefined {
  const known = replaceableParts(text, formats?.source);
  if (known.length + unknown.length > MOST) return undefined;
  const kept = known.filter((part) => !unknown.some((range) => isInRange(part, range)));
  const parts = [...kept, ...apart([...unknown].sort(byStart), kept)].sort(byStart);
  if (parts.length === 0) return undefined;
  const ends = [0, ...parts.map(({ text: part, start }) => start + part.length)];
  const between = [...parts.map(({ start }, index) => text.slice(ends[index], start)), text.slice(ends[ends.length - 1])];
  const rest = between.join("");
  const inCapitals = /\p{L}{2}/u.test(rest) && isInCapitals(rest); // "I" and "A" alone are not.
  const used = new Set<string>();
  const added = [...SIGNS_OF_NUMBERS].filter((sign) => !rest.includes(sign)).join("");
  const standIns: StandIn[] = [];
  for (const [index, part] of parts.entries()) {
    const kind = wordsFor(part, text)[attempt] as string;
    const words = (inCapitals ? kind.toUpperCase() : kind).split(" ");
    const word = words.find((each) => !text.includes(each) && !used.has(each));
    if (word === undefined) return undefined;
    used.add(word);
    const after = ends[index + 1] as number;
    const shown = formats !== undefined && part.isNumber ? rewrittenIn(part.text, formats) : part.text;
    standIns.push({ word, part: shown, isGenitive: GENITIVE.test(text.slice(after, after + 3)), added });
  }
  return { text: between.map((before, index) => before + (standIns[index]?.word ?? "")).join(""), standIns };
}

/** The parts of a text that touch none of the others, nor begin within another one; both are in order. */
export function apart(parts: readonly Place[], others: readonly Place[]): Place[] {
  let next = 0;
  let last = 0; // the end of the last part
  return parts.filter((part) => {
    while (next < others.length && end(others[next] as Place) < part.start) ++next;
    if (part.start < last || end(part) >= (others[next]?.start ?? Infinity)) return false;
    last = end(part);
    return true;
  });
}

/** Whether a part is a number of another one, a range of numbers. */
function isInRange(part: Place, other: Place): boolean {
  return other.isOfNumber && !other.isNumber && part.isNumber && other.start <= part.start && end(part) <= end(other);
}

function byStart(one: Place, other: Place): number {
  return one.start - other.start || end(other) - end(one);
}

function end({ start, text }: Place): number {
  return start + text.length;
}

/** Whether stand-ins for a number of lost words may help: in long texts, models rarely keep several names. */
export function mayHelp(text: string, lost: number, attempt: number): boolean {
  const spaces = text.split(" ").length - 1;
  const most = LIMITS[attempt] ?? { lost: 0, spaces: 0 };
  return spaces <= SHORT || (lost <= most.lost && spaces <= most.spaces);
}

/** The words that may stand in for a part of a line, of each try. */
function wordsFor({ start, text, isOfNumber, isNumber }: Place, line: string): string[] {
  if (YEAR.test(text)) return YEARS;
  if (isNumber && [...text].length === 2) return SMALL_NUMBERS;
  if (isOfNumber) return NUMBERS;
  return isPlace(line, start, start + text.length) ? PLACES : NAMES;
}

/** Whether the words around a part of a line tell that it is a place. */
function isPlace(line: string, start: number, end: number): boolean {
  const before = line.slice(Math.max(start - LONGEST_BEFORE_PLACE, 0), start);
  if (TO_OR_FROM.test(before)) {
    const moves = MOVE.test(line.slice(Math.max(start - LONGEST_BEFORE_TO, 0), start));
    return moves && !GENITIVE.test(line.slice(end, end + 3));
  }
  return BEFORE_PLACE.test(before);
}

/** A translation with the parts in place of the stand-ins; undefined unless it has each exactly once. */
export function withParts(translation: string, standIns: readonly StandIn[]): string | undefined {
  let restored = translation;
  for (const { word, part, isGenitive, added = "" } of standIns) {
    const after = isGenitive ? `(?=s?(?![${NAME_LETTERS}]))` : `(?![${NAME_LETTERS}])`;
    const found = restored.split(new RegExp(`(?<![${NAME_LETTERS}])${word.replace(".", "\\.")}${after}`));
    // A name that stands in may not occur a second time as part of a word either, such as "Toms".
    if (found.length !== 2 || (/^\p{L}+$/u.test(word) && restored.split(word).length > 2)) return undefined;
    const around = [...(found[0]?.slice(-1) ?? ""), ...(found[1]?.slice(0, 1) ?? "")];
    if (around.some((character) => added.includes(character))) return undefined;
    restored = found.join(part);
  }
  return restored;
}
