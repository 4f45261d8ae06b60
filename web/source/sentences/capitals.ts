/** Sentences in capitals, of which most vocabularies have only single letters; models know them in lower case. */
import { inLowerCase } from "../text/letter_case.js";
import type { Vocabulary } from "../text/vocabulary.js";
import { protectedParts } from "./protected.js";

const LEAST_PIECES = 0.75; // of a letter, on average, where a vocabulary spells words by letters

/**
 * A sentence in capitals in lower case, with its first letter as it is; undefined if it is to stay: if it has other letters
 * than capitals, fewer than two of these, or if the vocabulary has pieces of several capitals for it. URLs, tags, placeholders
 * and the like stay in any case, and their letters are not looked at.
 */
export function withoutCapitals(vocabulary: Vocabulary, sentence: string, language: string): string | undefined {
  const parts = protectedParts(sentence);
  const around: string[] = [];
  let end = 0;
  for (const { start, text } of parts) {
    around.push(sentence.slice(end, start));
    end = start + text.length;
  }
  around.push(sentence.slice(end));
  const rest = around.join(" ");
  if (!isInCapitals(rest) || /(?!\p{Uppercase})\p{L}/u.test(rest)) return undefined;
  const words = rest.replace(/\P{L}/gu, " ").trim().split(/ +/);
  const letters = [...words.join("")].length;
  if (letters < 2) return undefined;
  const ids = vocabulary.encode(words.join(" "));
  if (ids.length < LEAST_PIECES * letters && !ids.includes(vocabulary.ids.unk)) return undefined;
  let isFirst = true;
  const lowered = around.map((text) => {
    const first = isFirst ? /\p{L}/u.exec(text) : null;
    if (first !== null) isFirst = false;
    const start = first === null ? 0 : first.index + first[0].length;
    return text.slice(0, start) + inLowerCase(text.slice(start), language);
  });
  return lowered.map((text, index) => text + (parts[index]?.text ?? "")).join("");
}

/** Whether a text has capitals, and no small letters. */
export function isInCapitals(text: string): boolean {
  return /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
}
