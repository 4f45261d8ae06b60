/** Marks around sentences that are copied: of lists, headings, quotations, brackets, emphasis, and cells of tables. */
import { WHITE, WORD, trimEnd, trimStart } from "../text/unicode.js";
import { ORDINAL_LANGUAGES } from "./abbreviations.js";
import { protectedSpans } from "./protected.js";

const MARKER =
  /(?:[-–—*•‣◦▪·●○]|#{1,6}|>{1,3}|\[[ xX]?\]|\(?(?<ordinal>\p{Nd}{1,3})\.|\(?(?:\p{Nd}{1,3}|[A-Za-z])\))(?:[ \u00a0]+|$)/uy;
const MOST_MARKERS = 4; // such as "> - [ ] text"
// What follows an ordinal number more often than the first word of an item of a list: months, and some German nouns.
const NOUNS =
  "Jan(?:uar)?|Jänner|Feb(?:ruar)?|März|Apr(?:il)?|Mai|Juni?|Juli?|Aug(?:ust)?|Sept?(?:ember)?|Okt(?:ober)?|Nov(?:ember)?|" +
  "Dez(?:ember)?|Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık|Dünya|Jahrhunderts?|Jahrestag|" +
  "Geburtstag|Weltkriegs?|Klasse|Stock|Etage|Platz|Liga|Bundesliga|Advent|Kapitel|Teil|Akt|Tag";
const AFTER_ORDINAL = new RegExp(`(?:${NOUNS})(?![${WORD}])|\\p{Nd}`, "uy");
const BETWEEN_SPACES = `(?<![^${WHITE}])[|·•](?![^${WHITE}])`;
const SEPARATOR = new RegExp(`\\t|${BETWEEN_SPACES}`, "gu");
const ROW = new RegExp(`[\\t|]|${BETWEEN_SPACES}`, "gu");
const BRACKETS = new Map([
  ["(", ")"],
  ["[", "]"],
]);
const EMPHASIS = new RegExp(`^(([*~])\\2{0,2})(?=[^${WHITE}*~])`, "u");
const CODE = /^`[^`]+`$/u;
const ANY_CODE = /`[^`]+`/gu;
const SMILEY_AT_END = /[:;=]['’]?-?$/u;
const LABEL = new RegExp(`^\\[(?![A-Z])[\\p{L}\\p{Nl}\\p{No}][^\\[\\]]{1,59}\\](?=[${WHITE}])`, "u"); // such as "[laughs]" at the beginning
const ELLIPSIS = /^(?:\.{2,}|…)(?=[\p{L}\p{N}])/u; // at the beginning
const SPACE = new RegExp(`[${WHITE}]`, "u");

type Place = [start: number, end: number];

/**
 * Start and end of the parts of a line between tabs and bars, and of the bars, and whether it is one.
 *
 * Bars are those of a table's row, and signs between spaces, as in "Home | Contact", not within placeholders and code.
 */
export function cells(line: string): [start: number, end: number, isBar: boolean][] {
  const text = trimEnd(trimStart(line));
  const isRow = text.length > 1 && text.startsWith("|") && text.endsWith("|");
  const within = placesWithin(line);
  const places: [number, number, boolean][] = [];
  let start = 0;
  for (const { 0: sign, index } of line.matchAll(isRow ? ROW : SEPARATOR)) {
    if (within.has(index)) continue;
    places.push([start, index, false]);
    if (sign !== "\t") places.push([index, index + 1, true]);
    start = index + 1;
  }
  return [...places, [start, line.length, false]];
}

/** The places of the characters within placeholders, tags and code. */
function placesWithin(line: string): Set<number> {
  if (!line.includes("|")) return new Set();
  const code = [...line.matchAll(ANY_CODE)].map(({ 0: text, index }): Place => [index, index + text.length]);
  const found = new Set<number>();
  for (const [first, last] of [...protectedSpans(line), ...code]) {
    for (let place = first; place < last; place++) found.add(place);
  }
  return found;
}

/**
 * The end of the markers that a part of a line begins with, such as "- " and "1. "; `start` if it has none.
 *
 * In languages whose ordinal numbers have a full stop, "3. Mai" and "1. deutsche" begin with one.
 */
export function markerEnd(line: string, start: number, end: number, language: string): number {
  const part = line.slice(start, end);
  let position = part.length - trimStart(part).length;
  let found = 0;
  for (let count = 0; count < MOST_MARKERS; count++) {
    MARKER.lastIndex = position;
    const match = MARKER.exec(part);
    if (match === null) break;
    const following = match.index + match[0].length;
    if (match.groups?.["ordinal"] !== undefined && ORDINAL_LANGUAGES.has(language) && isOrdinal(part, following)) break;
    position = found = following;
  }
  return start + found;
}

function isOrdinal(part: string, following: number): boolean {
  AFTER_ORDINAL.lastIndex = following;
  return /^\p{Lowercase}/u.test(part.slice(following, following + 2)) || AFTER_ORDINAL.test(part);
}

/**
 * Start and end of the marks of a sentence that are copied, in their order: brackets and signs of emphasis around all of it, square
 * brackets around its first words in lower case, code between backquotes that is all of it, and an ellipsis that touches its first word.
 */
export function marksAround(text: string): Place[] {
  const length = lengthAround(text);
  if (length > 0) {
    const moved = marksAround(text.slice(length, -length)).map(([start, end]): Place => [start + length, end + length]);
    return [[0, length], ...moved, [text.length - length, text.length]];
  }
  if (CODE.test(text)) return [[0, text.length]];
  const ellipsis = ELLIPSIS.exec(text)?.[0].length;
  if (ellipsis !== undefined) return [[0, ellipsis]];
  const label = LABEL.exec(text)?.[0].length;
  return label === undefined
    ? []
    : [
        [0, 1],
        [label - 1, label],
      ];
}

/** The length of the mark that a sentence begins with, and ends with the other of; 0: there is none. */
function lengthAround(text: string): number {
  const closing = BRACKETS.get(text.slice(0, 1));
  if (closing !== undefined && text.endsWith(closing) && text.length > "()".length) {
    const inner = text.slice(1, -1);
    const isSingle = !inner.includes(text[0] as string) && !inner.includes(closing);
    return isSingle && !SMILEY_AT_END.test(inner.slice(-4)) ? 1 : 0;
  }
  const [mark, , sign] = EMPHASIS.exec(text) ?? [];
  if (mark === undefined || sign === undefined || !text.endsWith(mark)) return 0;
  const inner = text.slice(mark.length, -mark.length);
  return inner !== "" && !inner.includes(sign) && !SPACE.test(inner.slice(-1)) ? mark.length : 0;
}
