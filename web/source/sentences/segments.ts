/** Division of long sentences into segments, since models are trained on short ones; nothing is dropped. */
import type { Vocabulary } from "../text/vocabulary.js";

const LONGEST_SEGMENT = 200; // pieces
const SENTENCE_END = [".", "!", "?", "…"];
const CLOSING = /["'”’»)\]]+$/;

/** The ids of a line's segments: one, unless it is longer than the limit; none for a line without text. */
export function encodeLine(vocabulary: Vocabulary, given: string): number[][] {
  const line = given.replace(/\p{Cs}/gu, "\ufffd");
  const ids = vocabulary.encode(line);
  if (ids.length <= LONGEST_SEGMENT) return ids.length > 0 ? [ids] : [];
  const segments: number[][] = [];
  for (const text of pack(vocabulary, sentences(vocabulary.normalize(line)))) {
    const found = vocabulary.encode(text);
    for (let start = 0; start < found.length; start += LONGEST_SEGMENT) segments.push(found.slice(start, start + LONGEST_SEGMENT));
  }
  return segments;
}

/** Yields the sentences of a normalized text, each as words with the space that follows. */
function* sentences(text: string): Generator<string[]> {
  let words: string[] = [];
  for (const spaced of text.split(" ")) {
    const parts = spaced.match(/[^。]+。*|。+/gu) ?? [""];
    parts[parts.length - 1] += " ";
    for (const part of parts) {
      words.push(part);
      const ending = part.slice(0, -1).replace(CLOSING, "").slice(-1);
      if (!part.endsWith("。") && !SENTENCE_END.includes(ending)) continue;
      yield words;
      words = [];
    }
  }
  if (words.length > 0) yield words;
}

/** Joins sentences, or the words of a sentence that is too long, into texts within the limit. */
function* pack(vocabulary: Vocabulary, all: Iterable<string[]>): Generator<string> {
  const size = (text: string): number => vocabulary.encode(text).length;
  let text = "";
  let pieces = 0;
  for (const words of all) {
    const sentence = words.join("");
    const units = size(sentence) > LONGEST_SEGMENT ? words : [sentence];
    for (const unit of units) {
      const added = size(unit);
      if (text !== "" && pieces + added > LONGEST_SEGMENT) {
        yield text;
        text = "";
        pieces = 0;
      }
      text += unit;
      pieces += added;
    }
  }
  yield text;
}
