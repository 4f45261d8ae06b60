/** Marks around sentences that are copied: of lists, headings, quotations, brackets, emphasis, and cells of tables. */
import { WHITE, WORD, trimEnd, trimStart } from "../text/unicode.js";
import { ORDINAL_LANGUAGES } from "./abbreviations.js";

const MARKER = /(?:[-–—*•‣◦▪·●○]|#{1,6}|>{1,3}|\[[ xX]?\]|\(?(?<ordinal>\p{Nd}{1,3})\.|\(?(?:\p{Nd}{1,3}|[A-Za-z])\))[ \u00a0\t]+/uy;
const MOST_MARKERS = 4; // such as "> - [ ] text"
const MONTHS = "Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember";
const MONTH = new RegExp(`(?:${MONTHS})(?![${WORD}])`, "uy");
const BRACKETS = new Map([
  ["(", ")"],
  ["[", "]"],
]);
const EMPHASIS = new RegExp(`^(([*_~\`])\\2{0,2})(?=[^${WHITE}*_~\`])`, "u");
const LABEL = new RegExp(`^\\[(?![${WHITE}])[^\\[\\]]{1,60}\\](?=[${WHITE}])`, "u"); // such as "[laughs]" at the beginning
const SPACE_AT_END = new RegExp(`[${WHITE}]$`, "u");

type Place = [start: number, end: number];

/** Start and end of the parts of a line between tabs, and between the bars of a table's row. */
export function cells(line: string): Place[] {
  const text = trimEnd(trimStart(line));
  const isRow = text.length > 1 && text.startsWith("|") && text.endsWith("|");
  const places: Place[] = [];
  let start = 0;
  for (const { 0: sign, index } of line.matchAll(isRow ? /[\t|]/g : /\t/g)) {
    places.push([start, index]);
    if (sign === "|") places.push([index, index + 1]);
    start = index + 1;
  }
  return [...places, [start, line.length]];
}

/**
 * The end of the markers that a part of a line begins with, such as "- " and "1. "; `start` if it has none.
 *
 * In languages whose ordinal numbers have a full stop, "3. Mai" and "1. deutsche" begin with one.
 */
export function markerEnd(line: string, start: number, end: number, language: string): number {
  let position = end - trimStart(line.slice(start, end)).length;
  let found = start;
  for (let count = 0; count < MOST_MARKERS; count++) {
    MARKER.lastIndex = position;
    const match = MARKER.exec(line);
    if (match === null || match.index + match[0].length >= end) break;
    const following = match.index + match[0].length;
    if (match.groups?.["ordinal"] !== undefined && ORDINAL_LANGUAGES.has(language) && isOrdinal(line, following)) break;
    position = found = following;
  }
  return found;
}

function isOrdinal(line: string, following: number): boolean {
  MONTH.lastIndex = following;
  return /^\p{Lowercase}/u.test(line.slice(following, following + 2)) || MONTH.test(line);
}

/**
 * Start and end of the marks of a sentence that are copied: a pair of brackets or of signs of emphasis around all of it, and
 * square brackets around its first words.
 */
export function marksAround(text: string): Place[] {
  const closing = BRACKETS.get(text.slice(0, 1));
  const inBrackets = text.slice(1, -1);
  if (closing !== undefined && text.endsWith(closing) && !inBrackets.includes(text[0] as string) && !inBrackets.includes(closing))
    return [
      [0, 1],
      [text.length - 1, text.length],
    ];
  const [mark, , sign] = EMPHASIS.exec(text) ?? [];
  if (mark !== undefined && sign !== undefined) {
    const inner = text.slice(mark.length, -mark.length);
    if (text.endsWith(mark) && inner !== "" && !inner.includes(sign) && !SPACE_AT_END.test(inner.slice(-1)))
      return [
        [0, mark.length],
        [text.length - mark.length, text.length],
      ];
  }
  const label = LABEL.exec(text)?.[0];
  return label === undefined
    ? []
    : [
        [0, 1],
        [label.length - 1, label.length],
      ];
}
