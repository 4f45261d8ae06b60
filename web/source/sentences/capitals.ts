/** Text in capitals, of which most vocabularies have only single letters, and labels; models know both in lower case. */
import { type Capitals, inLowerCase } from "../text/letter_case.js";
import { splitWords } from "../text/unicode.js";
import type { Vocabulary } from "../text/vocabulary.js";
import { protectedParts } from "./protected.js";

const LONGEST_LABEL = 3; // words
const WITH_NOUNS_IN_CAPITALS = ["de", "lb"];
const CAPITALIZED = /^(\p{Uppercase})(\p{L}+)(?=[^.!?…。！？]*$)/u; // the first word of a text without marks
const LEAST_PIECES = 0.75; // of a letter, on average, where a vocabulary spells words by letters

/** A text in the letter case in which it is translated, and which capitals its translation is to have. `language` is that of the source. */
export function lowered(vocabulary: Vocabulary, text: string, language: string): [string, Capitals] {
  const lower = withoutCapitals(vocabulary, text, language);
  if (lower !== undefined) return [lower, "all"];
  const label = withoutFirstCapital(vocabulary, text, language);
  return label === undefined ? [text, "none"] : [label, "first"];
}

/**
 * A text of at most three words with its first letter in lower case; undefined if it is to stay: if it has a final mark, or if
 * the first word is no piece of the vocabulary in lower case. If it is a piece with the capital as well, only a single word is
 * put in lower case, and in German only one that is then more frequent, as the order of the pieces tells: nouns have capitals.
 */
function withoutFirstCapital(vocabulary: Vocabulary, text: string, language: string): string | undefined {
  const [word, , rest] = CAPITALIZED.exec(text) ?? [];
  if (word === undefined || rest === undefined || !/\p{Lowercase}/u.test(rest) || /[\p{Uppercase}\p{Lt}]/u.test(rest)) return undefined;
  const count = splitWords(text).length;
  if (count > LONGEST_LABEL) return undefined;
  const lower = inLowerCase(word, language);
  const [ids, lowerIds] = [vocabulary.encode(word), vocabulary.encode(lower)];
  if (lowerIds.length > 1 || lowerIds.includes(vocabulary.ids.unk)) return undefined;
  const isNoun = WITH_NOUNS_IN_CAPITALS.includes(language) && (ids[0] as number) < (lowerIds[0] as number);
  if (ids.length === 1 && (count > 1 || isNoun)) return undefined;
  return lower + text.slice(word.length);
}

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
