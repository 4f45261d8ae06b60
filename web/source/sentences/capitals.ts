/** Sentences in capitals, of which most vocabularies have only single letters; models know them in lower case. */
import { inLowerCase } from "../text/letter_case.js";
import type { Vocabulary } from "../text/vocabulary.js";

const LEAST_PIECES = 0.75; // of a letter, on average, where a vocabulary spells words by letters

/**
 * A sentence in capitals in lower case, with its first letter as it is; undefined if it is to stay: if it has other letters
 * than capitals, fewer than two of these, or if the vocabulary has pieces of several capitals for it.
 */
export function withoutCapitals(vocabulary: Vocabulary, sentence: string, language: string): string | undefined {
  if (/[^\P{L}\p{Lu}]/u.test(sentence)) return undefined;
  const letters = [...sentence.matchAll(/\p{L}/gu)];
  const [first] = letters;
  if (first === undefined || letters.length < 2) return undefined;
  const ids = vocabulary.encode(sentence);
  if (ids.length < LEAST_PIECES * letters.length && !ids.includes(vocabulary.ids.unk)) return undefined;
  const start = first.index + first[0].length;
  return sentence.slice(0, start) + inLowerCase(sentence.slice(start), language);
}
