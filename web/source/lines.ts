/** Lines as parts: text that is copied, and the ids of sentences to translate. */
import { lowered } from "./sentences/capitals.js";
import { encodeLine } from "./sentences/segments.js";
import type { QuotationMarks } from "./sentences/quotation_marks.js";
import type { Abbreviations } from "./sentences/written_out.js";
import { type Span, translationSpans } from "./sentences/spans.js";
import type { UnknownWords } from "./sentences/unknown_words.js";
import type { Capitals } from "./text/letter_case.js";
import { WHITE, trimStart } from "./text/unicode.js";
import type { Vocabulary } from "./text/vocabulary.js";

/** A part of a line: text that is copied, or ids that are translated. */
export type Part = string | number[];

const FINAL_MARK = new RegExp(`(?<=[^${WHITE}])[.!?…。！？]+$`, "u");
const UNUSUAL_SPACE = /[^\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu;
const LINE_BREAK = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** A text that is translated, and which capitals its translation is given, since the source had them. */
export interface TranslatedText {
  readonly text: string;
  readonly capitals: Capitals;
}

/** The parts of a line, and the texts of those that are translated. */
export interface Parts {
  readonly parts: Part[];
  readonly texts: TranslatedText[];
}

/** What the division of lines into parts needs. */
export interface Division {
  readonly vocabulary: Vocabulary;
  readonly quotationMarks: QuotationMarks;
  readonly abbreviations: Abbreviations;
  readonly unknownWords: UnknownWords;
  /** Code of the source. */
  readonly language: string;
  readonly split: boolean;
  /** As in `translationSpans`. */
  readonly protect: boolean;
}

/** Divides a line; line breaks in it become spaces. */
export function divideLine(line: string, division: Division): Parts {
  const { vocabulary, quotationMarks, abbreviations, unknownWords, language, protect } = division;
  const parts: Part[] = [];
  const texts: TranslatedText[] = [];
  let end = 0;
  for (const span of knownSpans(line, division)) {
    const given = line.slice(span.start, span.end);
    const sentence = span.translated ? abbreviations.writtenOut(quotationMarks.replaced(given, language), language) : given;
    const begins = !protect || parts.length === 0;
    const [lower, capitals] = span.translated ? lowered(vocabulary, sentence, language, begins) : [sentence, "none" as const];
    const text = span.translated ? unknownWords.respelled(lower, language) : sentence;
    const segments = span.translated ? encodeLine(vocabulary, text) : [];
    const found = span.translated ? spaced(segments) : copied(text);
    if (found.length === 0) continue;
    if (span.start > end) parts.push(plainSpaces(line.slice(end, span.start)));
    parts.push(...found);
    for (const ids of segments)
      texts.push({ text: segments.length === 1 ? text : vocabulary.decode(ids), capitals });
    end = span.end;
  }
  if (parts.length > 0 && end < line.length) parts.push(plainSpaces(line.slice(end)));
  return { parts, texts };
}

/** Yields the sentences of a line and what is copied of it; sentences in an unknown script are. */
export function* knownSpans(line: string, { unknownWords, language, split, protect }: Omit<Division, "vocabulary" | "quotationMarks" | "abbreviations">): Generator<Span> {
  for (const span of translationSpans(line, language, split, protect))
    yield span.translated && unknownWords.isInUnknownScript(line.slice(span.start, span.end)) ? { ...span, translated: false } : span;
}

/** A translation of a part of a sentence, without the mark at its end if the part has none: models add it. */
export function withoutAddedMark(part: string, translation: string): string {
  return FINAL_MARK.test(part) ? translation : translation.replace(FINAL_MARK, "");
}

/** The space between sentences, with a space for each character that a program could take for a line's end. */
export function plainSpaces(text: string): string {
  return text.replace(UNUSUAL_SPACE, " ");
}

/** A translation as one line: byte pieces could spell a line break. */
export function oneLine(text: string): string {
  return text.replace(/(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/, "").replace(LINE_BREAK, " ");
}

function spaced(segments: readonly number[][]): Part[] {
  return segments.flatMap((segment, index) => (index > 0 ? [" ", segment] : [segment]));
}

/** A text that is not translated; characters that control a terminal or end a line become spaces. */
export function copied(text: string): Part[] {
  const line = oneLine(text).replace(/\p{Cc}/gu, " ");
  return trimStart(line) === "" ? [] : [line];
}
