/** Text in capitals, of which most vocabularies have only single letters, and labels; models know both in lower case. */
import { type Capitals, inLowerCase } from "../text/letter_case.js";
import { WORD, splitWords } from "../text/unicode.js";
import type { Vocabulary } from "../text/vocabulary.js";
import { protectedParts } from "./protected.js";

const LONGEST_LABEL = 3; // words
const LONGEST_ACRONYM = 5; // letters
const WITH_NOUNS_IN_CAPITALS = ["de", "lb"];
const FIRST_WORD = /^\p{Uppercase}(\p{L}+)/u;
const FINAL_MARK = /[.!?…。！？]["'”’»)]*$/u;
// Names of people that are words as well.
const NAMES = [
  "Amber|Bill|Carter|Chase|Christian|Clay|Cliff|Dale|Daisy|Dawn|Dean|Dick|Drew|Ernst|Eve|Faith|Frank|Gene|Glen",
  "Grace|Grant|Guy|Hans|Heath|Holly|Hope|Hunter|Iris|Ivy|Jack|Jasmine|Joy|June|Lang|Lily|Mark|Mason|Max|May|Miles",
  "Nick|Parker|Pat|Penny|Ray|Rich|Rob|Robin|Rose|Ruby|Sandy|Stark|Sue|Taylor|Tiffany|Wade|Will|Wolf",
];
const NAME = new RegExp(`^(?:${NAMES.join("|")})(?![${WORD}])`, "u");
const LEAST_PIECES = 0.75; // of a letter, on average, where a vocabulary spells words by letters

/**
 * A text in the letter case in which it is translated, and which capitals its translation is to have.
 *
 * @param language of the source.
 * @param begins whether the text begins a sentence, so that its first capital tells nothing about its first word.
 */
export function lowered(vocabulary: Vocabulary, text: string, language: string, begins: boolean): [string, Capitals] {
  const lower = withoutCapitals(vocabulary, text, language);
  if (lower !== undefined) return [lower, "all"];
  const count = begins ? wordsOfLabel(text) : 0;
  if (count === 0) return [text, "none"];
  const label = withoutFirstCapital(vocabulary, text, language);
  const mayBeNoun = count === 1 && WITH_NOUNS_IN_CAPITALS.includes(language);
  return label === undefined && mayBeNoun ? [text, "none"] : [label ?? text, "first"];
}

/**
 * A text of at most three words with its first letter in lower case; undefined if it is to stay: if it has a final mark, if the
 * first word is no piece of the vocabulary in lower case, or if that may be a name and other words follow. If it is a piece with
 * the capital as well, only a single word is put in lower case, and none in German, whose nouns have capitals.
 */
function withoutFirstCapital(vocabulary: Vocabulary, text: string, language: string): string | undefined {
  const [word, rest] = FIRST_WORD.exec(text) ?? [];
  if (word === undefined || rest === undefined) return undefined;
  if (!/\p{Lowercase}/u.test(rest) || /[\p{Uppercase}\p{Lt}]/u.test(rest)) return undefined;
  const count = wordsOfLabel(text);
  if (count === 0 || (count > 1 && NAME.test(text))) return undefined;
  const lower = inLowerCase(word, language);
  const lowerIds = vocabulary.encode(lower);
  if (lowerIds.length > 1 || lowerIds.includes(vocabulary.ids.unk)) return undefined;
  const isKnown = vocabulary.encode(word).length === 1;
  if (isKnown && (count > 1 || WITH_NOUNS_IN_CAPITALS.includes(language))) return undefined;
  return lower + text.slice(word.length);
}

/** The number of words of a text that begins with a capital and has no final mark; 0 for others and above 3. */
function wordsOfLabel(text: string): number {
  const count = splitWords(text).length;
  return /^\p{Uppercase}/u.test(text) && count <= LONGEST_LABEL && !FINAL_MARK.test(text) ? count : 0;
}

/**
 * A sentence in capitals in lower case, with its first letter as it is; undefined if it is to stay: if it has other letters
 * than capitals, fewer than two of these, if the vocabulary has pieces of several capitals for it, or if it is several acronyms:
 * short words, none of them a piece in lower case. URLs, tags, placeholders and the like stay in any case, and their letters are
 * not looked at.
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
  const isAcronym = (word: string): boolean => [...word].length <= LONGEST_ACRONYM && vocabulary.encode(inLowerCase(word, language)).length > 1;
  if (words.length > 1 && words.every(isAcronym)) return undefined;
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
