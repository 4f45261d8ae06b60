/** Lines as parts: text that is copied, and the ids of sentences to translate. */
import { encodeLine } from "./sentences/segments.js";
import { translationSpans } from "./sentences/spans.js";
import { trimStart } from "./text/unicode.js";
import type { Vocabulary } from "./text/vocabulary.js";

/** A part of a line: text that is copied, or ids that are translated. */
export type Part = string | number[];

const UNUSUAL_SPACE = /[^\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu;
const LINE_BREAK = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** Divides a line; line breaks in it become spaces. `protect` is that of `translationSpans`. */
export function divideLine(given: string, vocabulary: Vocabulary, language: string, split: boolean, protect: boolean): Part[] {
  const line = given.replace(/[\r\n]+$/, "");
  const parts: Part[] = [];
  let end = 0;
  for (const span of translationSpans(line, language, split, protect)) {
    const text = line.slice(span.start, span.end);
    const found = span.translated ? spaced(encodeLine(vocabulary, text)) : copied(text);
    if (found.length === 0) continue;
    if (span.start > end) parts.push(line.slice(end, span.start).replace(UNUSUAL_SPACE, " "));
    parts.push(...found);
    end = span.end;
  }
  if (parts.length > 0 && end < line.length) parts.push(line.slice(end).replace(UNUSUAL_SPACE, " "));
  return parts;
}

/** A translation as one line: byte pieces could spell a line break. */
export function oneLine(text: string): string {
  return text.replace(/(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/, "").replace(LINE_BREAK, " ");
}

function spaced(segments: readonly number[][]): Part[] {
  return segments.flatMap((segment, index) => (index > 0 ? [" ", segment] : [segment]));
}

function copied(text: string): Part[] {
  const line = oneLine(text).replace(/\p{Cs}/gu, "\ufffd").replace(/\p{Cc}/gu, " ");
  return trimStart(line) === "" ? [] : [line];
}
