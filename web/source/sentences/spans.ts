/** Division of a line into sentences that are translated and text that is copied. */
import { WHITE, splitWords, trimEnd, trimStart } from "../text/unicode.js";
import { sentenceSpans } from "./boundaries.js";
import { cells, markerEnd, marksAround } from "./layout.js";
import { hasWords, protectedSpans } from "./protected.js";

const LONGEST_SENTENCE = 50_000;
const LONGEST_WORD = 1000;
/** Letters, for a character class. */
export const CHINESE_JAPANESE = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff66-\\uff9f";
/** Letters of scripts without spaces between words, for a character class. */
export const WITHOUT_SPACES = `\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff${CHINESE_JAPANESE}`;
const LONG_WORD = new RegExp(`(?<![^${WHITE}${WITHOUT_SPACES}])[^${WHITE}${WITHOUT_SPACES}]{${LONGEST_WORD + 1},}`, "gu");
const LEAST_UNREADABLE = 8;
const MOST_UNREADABLE = 0.3;

/** A part of a line without white space around it, and whether it is translated, or copied. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly translated: boolean;
}

/**
 * Yields the sentences of a line and what is copied of it; between them is only white space.
 *
 * If the line is split, tabs and the bars of a table's row end sentences. Markers of lists, headings and quotations, and brackets
 * and signs of emphasis around a sentence, are copied.
 *
 * @param protect whether URLs, e-mail addresses, tags, placeholders and symbols are copied, and the text between them is
 * translated piece by piece.
 */
export function* translationSpans(line: string, language: string, split: boolean, protect: boolean): Generator<Span> {
  for (const span of sentencesAndCopies(line, language, split)) {
    let position = span.start;
    if (protect && span.translated) {
      for (const [first, last] of protectedSpans(line.slice(span.start, span.end))) {
        yield* trimmed(line, position, span.start + first);
        position = span.start + last;
        yield { start: span.start + first, end: position, translated: false };
      }
    }
    if (position === span.start) yield span;
    else yield* trimmed(line, position, span.end);
  }
}

function* sentencesAndCopies(line: string, language: string, split: boolean): Generator<Span> {
  for (const { start, end, translated } of split ? sentencesAndMarks(line, language) : [{ start: 0, end: line.length, translated: true }]) {
    if (!translated) {
      yield { start, end, translated };
      continue;
    }
    let position = start;
    const sentence = line.slice(start, end);
    if (sentence.length > LONGEST_WORD && isTranslated(sentence)) {
      for (const match of sentence.matchAll(LONG_WORD)) {
        yield* trimmed(line, position, start + match.index);
        position = start + match.index + match[0].length;
        yield { start: start + match.index, end: position, translated: false };
      }
    }
    yield* trimmed(line, position, end);
  }
}

/** Yields the sentences of a line, and the marks around them, which are not translated; between them is only white space. */
function* sentencesAndMarks(line: string, language: string): Generator<Span> {
  for (const [first, last, isBar] of cells(line)) {
    if (isBar) {
      yield { start: first, end: last, translated: false };
      continue;
    }
    const start = markerEnd(line, first, last, language);
    yield* withoutSpace(line, first, start, false);
    for (const [begin, end] of sentenceSpans(line.slice(start, last), language)) {
      let position = start + begin;
      for (const [markStart, markEnd] of marksAround(line.slice(position, start + end))) {
        yield* withoutSpace(line, position, start + begin + markStart, true);
        position = start + begin + markEnd;
        yield { start: start + begin + markStart, end: position, translated: false };
      }
      yield* withoutSpace(line, position, start + end, true);
    }
  }
}

function* withoutSpace(line: string, from: number, to: number, translated: boolean): Generator<Span> {
  const text = line.slice(from, to);
  const start = to - trimStart(text).length;
  const end = from + trimEnd(text).length;
  if (start < end) yield { start, end, translated };
}

function* trimmed(line: string, from: number, to: number): Generator<Span> {
  for (const { start, end } of withoutSpace(line, from, to, true)) yield { start, end, translated: isTranslated(line.slice(start, end)) };
}

function isTranslated(sentence: string): boolean {
  if (sentence.length > LONGEST_SENTENCE) return false;
  const visible = splitWords(sentence).join("");
  const unreadable = (visible.match(/[\ufffd\p{Cc}\p{Co}\p{Cn}\p{Cs}]/gu) ?? []).length;
  if (unreadable >= LEAST_UNREADABLE && unreadable > MOST_UNREADABLE * [...visible].length) return false;
  return hasWords(sentence);
}
