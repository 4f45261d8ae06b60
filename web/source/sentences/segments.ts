/** Division of long sentences into segments, since models are trained on short ones; nothing is dropped. */
import { WHITE, trimEnd, trimStart } from "../text/unicode.js";
import type { Vocabulary } from "../text/vocabulary.js";
import { SPACED_MARKS } from "./boundaries.js";
import { CHINESE_JAPANESE, WITHOUT_SPACES } from "./spans.js";

const LONGEST_SEGMENT = 200; // pieces
const CLOSING = `["'”’»)\\]」』）】》〉]*`;
const OPENING = "「『（【《〈";
const LATIN = "A-Za-z\\u00c0-\\u024f\\uff21-\\uff3a\\uff41-\\uff5a";
// Chinese and Japanese marks need no space after them, nor do those of other scripts before letters of such scripts.
// Full stops are also those of initials ("U.S."), decimals ("３．１４") and Thai abbreviations ("พ.ศ.").
const NOT_INITIAL = `(?<!(?<![${LATIN}])[${LATIN}])`;
const STOP = `${NOT_INITIAL}(?:．(?!(?<=\\p{Nd}．)\\p{Nd})|\\.(?=${CLOSING}[${CHINESE_JAPANESE}${OPENING}]))`;
const UNSPACED_END = `(?:[。！？｡]|${STOP}|[!?](?=${CLOSING}[${WITHOUT_SPACES}${OPENING}]))+${CLOSING}[${WHITE}]*`;
const SENTENCE_END = new RegExp(`${UNSPACED_END}|[${SPACED_MARKS}]${CLOSING}[${WHITE}]+`, "gu");
const SPACED_WORD = /[^ ]+ ?/gu;

/** The ids of a line's segments: one, unless it is longer than the limit; none for a line without text. */
export function encodeLine(vocabulary: Vocabulary, given: string): number[][] {
  const line = given.replace(/\p{Cs}/gu, "\ufffd");
  const ids = vocabulary.encode(line);
  if (ids.length <= LONGEST_SEGMENT) return ids.length > 0 ? [ids] : [];
  const segments: number[][] = [];
  for (const text of joined(vocabulary, [...divided(vocabulary, line)])) {
    const found = vocabulary.encode(text);
    for (let start = 0; start < found.length; start += LONGEST_SEGMENT) segments.push(found.slice(start, start + LONGEST_SEGMENT));
  }
  return segments;
}

function fits(vocabulary: Vocabulary, text: string): boolean {
  return vocabulary.encode(text).length <= LONGEST_SEGMENT;
}

/** Yields the sentences of a line, normalized, and the words of a sentence that is too long; spaces follow them. */
function* divided(vocabulary: Vocabulary, given: string): Generator<string> {
  const line = trimStart(trimEnd(given));
  // Normalization makes "！" the same as "!", so the ends are found before.
  const ends = [...line.matchAll(SENTENCE_END)].map((match) => match.index + match[0].length);
  let start = 0;
  for (const end of [...ends, line.length]) {
    const text = line.slice(start, end);
    const sentence = vocabulary.normalize(text) + (trimEnd(text) === text ? "" : " ");
    yield* fits(vocabulary, sentence) ? [sentence] : (sentence.match(SPACED_WORD) ?? []);
    start = end;
  }
}

/** Joins sentences or words into texts within the limit, as few as possible; one that is longer is a text alone. */
function* joined(vocabulary: Vocabulary, units: readonly string[]): Generator<string> {
  let start = 0;
  while (start < units.length) {
    const end = lastThatFits(vocabulary, units, start);
    yield units.slice(start, end).join("");
    start = end;
  }
}

/** The end of the most units from `start` on that are within the limit together; the joined text is not encoded for each unit. */
function lastThatFits(vocabulary: Vocabulary, units: readonly string[], start: number): number {
  const fit = (end: number): boolean => fits(vocabulary, units.slice(start, end).join(""));
  let fitting = start + 1;
  let size = 2;
  while (start + size <= units.length && fit(start + size)) {
    fitting = start + size;
    size *= 2;
  }
  let excess = Math.min(start + size, units.length + 1);
  while (excess - fitting > 1) {
    const middle = (fitting + excess) >> 1;
    if (fit(middle)) fitting = middle;
    else excess = middle;
  }
  return fitting;
}
