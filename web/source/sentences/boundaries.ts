/** Boundaries of sentences by rules, as src/pocketmt/sentences/boundaries.py finds them. */
import { WHITE, WORD, isLower, trimEnd, trimStart } from "../text/unicode.js";
import { ORDINAL_LANGUAGES, abbreviations } from "./abbreviations.js";

/** Final punctuation of scripts with spaces; a space must follow, after closing quotation marks and brackets. */
export const SPACED_MARKS = ".!?…‥։؟۔।॥።፧។៕";
const SPACED = `(?<![${SPACED_MARKS}])[${SPACED_MARKS}]+`;
const CLOSING = `(?:["'”’»«)\\]›“」』）】]|[ \\u00a0\\u202f]»)*`;
const UNSPACED_MARKS = "。！？｡．";
const UNSPACED = `(?<![${UNSPACED_MARKS}])[${UNSPACED_MARKS}]+`;
const BREAK = `(?<![${WHITE}])[${WHITE}]*[\\n\\r][${WHITE}]*`;
const GAP = `(?:(?![\\n\\r])[${WHITE}])`;
const CANDIDATE = new RegExp(
  `(?<break>${BREAK})|(?<unspaced>${UNSPACED})(?<closed>[」』）】”’"]*)(?<gap>${GAP}*)(?=[^${WHITE}])` +
    `|(?<mark>${SPACED})${CLOSING}(?<space>${GAP}+)(?=[^${WHITE}])`,
  "gu",
);
const MARK = new RegExp(`[\\n\\r${SPACED_MARKS}${UNSPACED_MARKS}]`, "u");
const OPENING_BRACKETS = "「『（【";
const CLOSING_BRACKETS = "」』）】";
const CONTINUES = "とっのはがをにもなで、，";
const OPENING = `"'“”‘„«»‹(<[{¿¡\\-–—*•#`;
const FOLLOWING = new RegExp(`^[${OPENING} ]*([${WORD}]+(?:['’][${WORD}]+)?)`, "u");
const OPENED = new RegExp(`^[${OPENING}]+`, "u");
const ACRONYM = new RegExp(`^(?:[${WORD}]\\.)+[${WORD}]$`, "u");
const ROMAN = /^[IVXL]{1,6}$/;
const DECIMAL = /^\p{Nd}+$/u;

/** Start and end of each sentence in a text, without the white space around it; none if the text is blank. */
export function sentenceSpans(text: string, language: string): [number, number][] {
  const spans: [number, number][] = [];
  let start = text.length - trimStart(text).length;
  const stop = trimEnd(text).length;
  if (start >= stop) return spans;
  if (MARK.test(text.slice(start, stop - 1))) {
    for (const [end, following] of boundaries(text, language)) {
      if (start < end) spans.push([start, end]);
      start = following;
    }
  }
  if (start < stop) spans.push([start, stop]);
  return spans;
}

/** Yields the end of each sentence but the last, and the start of the next. */
function* boundaries(text: string, language: string): Generator<[number, number]> {
  const brackets = new Brackets(text);
  let anyCase: boolean | undefined;
  let start = 0;
  for (const match of text.matchAll(CANDIDATE)) {
    const { break: lineBreak, unspaced, closed = "", gap = "", mark = "", space = "" } = match.groups ?? {};
    const end = match.index + match[0].length;
    if (lineBreak !== undefined) {
      yield [match.index, end];
    } else if (unspaced !== undefined) {
      const closedEnd = end - gap.length;
      const continues = closed !== "" && gap === "" && CONTINUES.includes(text[end] ?? " ");
      if (brackets.openAt(closedEnd) || continues) continue;
      yield [closedEnd, end];
    } else {
      anyCase ??= text === text.toLowerCase();
      if (!ends(text, start, match.index, mark, end, language, anyCase)) continue;
      yield [end - space.length, end];
    }
    start = end;
  }
}

/** Whether the final punctuation at a place ends a sentence that starts at `start`. */
function ends(text: string, start: number, place: number, mark: string, end: number, language: string, anyCase: boolean): boolean {
  const following = followingWord(text, end);
  const [first = ""] = following;
  const rest = following.slice(first.length);
  if (isLower(first) && !anyCase && (isLower(rest) || rest === "")) return false;
  if (mark !== ".") return true;
  const words = abbreviations(language);
  const word = wordBefore(text, start, place);
  const plain = word.toLowerCase();
  if (words.never_final.has(plain)) return false;
  if (words.before_number.has(plain)) return !DECIMAL.test(first);
  const isStarter = words.starters.has(following.toLowerCase()) && !anyCase;
  if (words.sometimes_final.has(plain)) return isStarter;
  // "P.S." at the beginning is no sentence.
  if (ACRONYM.test(word)) return isStarter && place - word.length > start;
  if (/^\p{L}$/u.test(word)) return word === "I" && isStarter;
  if (DECIMAL.test(word)) {
    if (place - word.length <= start) return false;
    return word.length > 2 || !ORDINAL_LANGUAGES.has(language) || isStarter;
  }
  return ORDINAL_LANGUAGES.has(language) && ROMAN.test(word) ? isStarter : true;
}

/** The word from a place on, without quotation marks, brackets and dashes before it. */
function followingWord(text: string, start: number): string {
  return FOLLOWING.exec(text.slice(start, start + 40))?.[1] ?? "";
}

/** The word that ends at a place, with full stops in it and without brackets before it. */
function wordBefore(text: string, start: number, end: number): string {
  const word = text.slice(Math.max(start, end - 20), end);
  const words = trimEnd(word).split(new RegExp(`[${WHITE}]`, "u"));
  return (words[words.length - 1] as string).replace(OPENED, "");
}

/** Whether a position is inside brackets that are closed later; each question is further in the text. */
class Brackets {
  private readonly last: number;
  private position = 0;
  private depth = 0;

  constructor(private readonly text: string) {
    this.last = Math.max(...[...CLOSING_BRACKETS].map((closing) => text.lastIndexOf(closing)));
  }

  openAt(position: number): boolean {
    for (const character of this.text.slice(this.position, position)) {
      if (OPENING_BRACKETS.includes(character)) ++this.depth;
      else if (CLOSING_BRACKETS.includes(character)) this.depth = Math.max(0, this.depth - 1);
    }
    this.position = position;
    return this.depth > 0 && this.last >= position;
  }
}
