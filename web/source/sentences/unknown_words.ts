/** Words that a vocabulary lacks: with unknown characters, acronyms, and words in capitals for stress. */
import { folded, inLowerCase, withoutAccents } from "../text/letter_case.js";
import { WHITE, WORD } from "../text/unicode.js";
import type { Vocabulary } from "../text/vocabulary.js";
import type { WordFilter } from "../text/word_filter.js";
import { isInCapitals } from "./capitals.js";
import { Names } from "./names.js";
import { unprotected } from "./protected.js";
import { WITHOUT_SPACES } from "./spans.js";
import { type Place, apart } from "./stand_ins.js";

const LEAST_PIECES = 0.75; // of a character, on average, where a vocabulary spells words by letters
const UNKNOWN_SHARE = 0.8; // of the letters of a text in an unknown script
const LONGEST_ACRONYM = 5; // letters of one that is a whole text
// Acronyms that are words in lower case.
const ACRONYMS = ["ACT", "AIDS", "AM", "CAT", "ICE", "IT", "MIT", "PM", "SAT", "US", "WHO"];
// Words with a known part, such as "Eiscrème", are no names there.
const WITH_COMPOUNDS = ["de", "lb"];
const SHORTEST_PART = 4; // characters, with that of the space
const LETTER = `(?:(?![${WITHOUT_SPACES}])[\\p{L}\\p{N}])`;
// A word between backquotes or brackets, a name such as "C++", letters of scripts without spaces, or a word such as "Tom" or
// "R&D".
const QUOTED = "`[^`" + WHITE + "]+`|\\[[^\\[\\]" + WHITE + "]+\\]";
const SIGN = `(?<sign>(?<![${WORD}])[A-Za-z][+#]{1,2}(?![${WORD}+#]))`;
const WORDS = new RegExp(`${QUOTED}|${SIGN}|(?<unspaced>[${WITHOUT_SPACES}]+)|(?<plain>${LETTER}+(?:&${LETTER}+)*)`, "gu");
// Marks of Markdown within a line, such as those of **this**.
const EMPHASIS = new RegExp(
  `(?<![${WORD}*~])(\\*{1,3}|~{1,2}|_)(?=[^${WHITE}*~_])([^*~_]*[^${WHITE}*~_])\\1(?![${WORD}*~])`,
  "gu",
);
const PLAIN_WORD = new RegExp(`[${WORD}]+`, "gu");
const MAY_BE_UNKNOWN = /[A-Z\u00c0-\u00de][A-Z0-9\u00c0-\u00de]|[`[&+#]/u;
const FIRST_LETTER = /[\p{L}\p{N}]/u;
const LATIN = /[\u00c0-\u024f\u1e00-\u1eff]/u;
const LATIN_ALONE = /^[\0-\x7f\u00c0-\u024f\u1e00-\u1eff]*$/u;
const TWO_CAPITALS = /[A-Z\u00c0-\u00de]{2}/u;
const ROMAN_NUMERAL = /^[IVX]+$/u;
const AFTER_NUMBER = /\p{Nd}[ \u00a0]?$/u;
const AND = new Map(
  "cs a da og de und en and es y fi ja fr et hu és it e nl en no og pl i pt e ro și ru и sv och tr ve uk і"
    .split(" ")
    .flatMap((word, index, all) => (index % 2 ? [[all[index - 1] as string, word] as const] : [])),
);

/** A word of a text. */
interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether it is a letter with signs, such as "C++". */
  readonly hasSign: boolean;
  /** Whether its letters are of scripts without spaces. */
  readonly isUnspaced: boolean;
  /** Whether it has no brackets and no such signs, and is of other scripts. */
  readonly isPlain: boolean;
  /** Whether it has the first letter or digit of its text. */
  readonly begins: boolean;
}

/** Finds the words of a text that a model does not know. Languages are codes of the source, without script and region. */
export class UnknownWords {
  private readonly usual = new Set<string>(); // characters that are neither unknown nor rare, of those looked at
  private readonly unknown = new Map<string, boolean>();

  readonly names: Names | undefined;

  /**
   * @param vocabulary of the source.
   * @param known words that the model translates, in lower case; undefined: the model file has none.
   */
  constructor(
    private readonly vocabulary: Vocabulary,
    known?: WordFilter,
  ) {
    this.names = known === undefined ? undefined : new Names(known);
  }

  /**
   * A text whose unknown words have another spelling where the vocabulary has that as one piece: lower case, or a capital and
   * lower case, for words in capitals in other text, and no accents for words with unknown characters. An unknown "&" between
   * words becomes "and" in some languages. Unknown marks of emphasis are left out.
   */
  respelled(given: string, language: string): string {
    if (!this.#mayBeUnknown(given)) return given;
    const text = this.#withoutEmphasis(given);
    if (isInCapitals(text)) return text;
    let end = 0;
    let respelled = "";
    for (const word of words(text)) {
      respelled += text.slice(end, word.start) + (this.#otherSpelling(word, language) ?? word.text);
      end = word.end;
    }
    respelled += text.slice(end);
    const and = AND.get(language);
    if (and === undefined || !respelled.includes(" & ") || !this.#isUnknownCharacter("&")) return respelled;
    return respelled.replaceAll(" & ", ` ${and} `);
  }

  /**
   * The words of a text with unknown characters, and its acronyms for which there are only letters. A name with Latin letters
   * that occur in no longer piece counts as unknown, too, and so do the names after an unknown one that are no pieces.
   *
   * Letters of scripts without spaces are one word, which is unknown if all of its characters are. Words that `respelled` could
   * change are left out, and so are texts of several words in capitals, acronyms after a number, as in "5 PM", and Roman numerals.
   */
  find(text: string, language: string): Place[] {
    if (!this.#mayBeUnknown(text) || (isInCapitals(text) && !this.#isAcronymAlone(text))) return [];
    const places: Place[] = [];
    let nameEnd = -1; // of the last part, if it is a name
    for (const word of words(text)) {
      const continues = nameEnd >= 0 && text.slice(nameEnd, word.start) === " " && this.#continuesName(word);
      const isName = continues || this.#isUnknownName(word, language);
      if (!(isName || this.#isUnknown(text, word)) || this.#otherSpelling(word, language) !== undefined) continue;
      const start = continues ? (places.pop() as Place).start : word.start;
      places.push({ start, text: text.slice(start, word.end), isOfNumber: false, isNumber: false });
      nameEnd = isName ? word.end : -1;
    }
    return places;
  }

  /**
   * The words that `find` finds in a text, and names, that its translation lacks. Case and accents do not count. Acronyms may be
   * translated in words; they are lost if the translation has other capitals with the same first letter.
   */
  lost(text: string, translation: string, language: string): Place[] {
    const words = this.#lostWords(text, translation, language);
    const names = this.names?.lost(text, translation, language) ?? [];
    return [...words, ...apart(names, words)];
  }

  /** A text without the marks of emphasis that the vocabulary lacks, but for those of protected parts. */
  #withoutEmphasis(text: string): string {
    let end = 0;
    let kept = "";
    const marked = [...text.matchAll(EMPHASIS)].map(({ 0: all, 2: inside, index: start }) => ({ start, end: start + all.length, inside }));
    for (const match of unprotected(text, marked)) {
      if (!this.#isUnknownCharacter(text[match.start] as string)) continue;
      kept += text.slice(end, match.start) + match.inside;
      end = match.end;
    }
    return kept + text.slice(end);
  }

  #lostWords(text: string, translation: string, language: string): Place[] {
    const places = this.find(text, language);
    if (places.length === 0) return [];
    const ofText = new Set(withCapitals(text));
    const others = new Set(withCapitals(translation).filter((word) => !ofText.has(word)).map(firstOf));
    const found = folded(translation);
    const missing = places.filter((place) => !found.includes(folded(place.text)));
    return missing.filter((place) => others.has(firstOf(place.text)) || !this.#isAcronym(place.text));
  }

  /** Whether a text has characters of unknown words; quick, since few texts do. */
  #mayBeUnknown(text: string): boolean {
    if (MAY_BE_UNKNOWN.test(text)) return true;
    let isUsual = true;
    for (const character of text) {
      if (this.usual.has(character)) continue;
      if (this.#isUnknownCharacter(character) || this.#isRare(character)) isUsual = false;
      else this.usual.add(character);
    }
    return !isUsual;
  }

  #isAcronymAlone(text: string): boolean {
    const found = [...text.matchAll(WORDS)].filter(({ groups }) => groups?.["unspaced"] === undefined);
    const words = found.map(([word]) => word);
    return words.length === 1 && [...(words[0] as string)].length <= LONGEST_ACRONYM && !this.#isPiece((words[0] as string).toLowerCase());
  }

  #isUnknown(text: string, word: Word): boolean {
    if (word.hasSign) return true;
    if (word.isUnspaced) return [...word.text].every((character) => this.#isUnknownCharacter(character));
    if (!word.isPlain) return !word.begins && this.#hasUnknown(word.text);
    return this.#isSpelledCapitals(word.text) && !AFTER_NUMBER.test(text.slice(0, word.start).slice(-3));
  }

  #isUnknownName({ text, isPlain }: Word, language: string): boolean {
    if (!isPlain) return false;
    if (this.#hasUnknown(text)) return true;
    if (!hasCapital(text) || ![...text].some((letter) => this.#isRare(letter))) return false;
    const first = this.vocabulary.pieces[this.vocabulary.encode(text)[0] as number] as string;
    return !WITH_COMPOUNDS.includes(language) || [...first].length < SHORTEST_PART;
  }

  /** Whether a word after an unknown name may belong to it: it has a capital, and is no piece. */
  #continuesName({ text, isPlain }: Word): boolean {
    return isPlain && hasCapital(text) && !this.#isPiece(text) && !this.#isPiece(text.toLowerCase());
  }

  #isAcronym(word: string): boolean {
    return this.#isSpelledCapitals(word) && !this.#hasUnknown(word);
  }

  /** Whether a letter beyond ASCII hardly occurred in the training text: no longer piece has it in either case. */
  #isRare(letter: string): boolean {
    if (!LATIN.test(letter)) return false;
    const frequent = this.vocabulary.frequentCharacters;
    return !frequent.has(letter) && !frequent.has(letter.toLowerCase());
  }

  #otherSpelling(word: Word, language: string): string | undefined {
    if (!word.isPlain) return undefined;
    const letters = [...word.text];
    let others: string[] = [];
    if (this.#isSpelledCapitals(word.text) && !ACRONYMS.includes(word.text)) {
      const lower = inLowerCase(word.text, language);
      const capital = letters[0] + [...lower].slice(1).join("");
      others = word.begins ? [capital, lower] : [lower, capital];
    } else if (this.#hasUnknown(word.text)) {
      others = [withoutAccents(word.text)];
    }
    return others.find((other) => this.#isPiece(other));
  }

  #isPiece(word: string): boolean {
    const ids = this.vocabulary.encode(word);
    return ids.length === 1 && ids[0] !== this.vocabulary.ids.unk;
  }

  /** Whether a word is in Latin capitals, for which the vocabulary has hardly more than single letters. */
  #isSpelledCapitals(word: string): boolean {
    const capitals = [...word.matchAll(/\p{Uppercase}/gu)].length;
    if (capitals < 2 || /\p{Lowercase}/u.test(word) || !LATIN_ALONE.test(word) || ROMAN_NUMERAL.test(word)) return false;
    return this.vocabulary.encode(word).length >= LEAST_PIECES * [...word].length;
  }

  /** Whether more than 80 % of a text's letters are unknown characters. */
  isInUnknownScript(text: string): boolean {
    if (ASCII.test(text)) return false;
    const letters = text.match(/\p{L}/gu) ?? [];
    return letters.filter((letter) => this.#isUnknownCharacter(letter)).length > UNKNOWN_SHARE * letters.length;
  }

  #hasUnknown(word: string): boolean {
    return [...word].some((character) => this.#isUnknownCharacter(character));
  }

  #isUnknownCharacter(character: string): boolean {
    if (WHITE_SPACE.test(character)) return false;
    const isUnknown = this.unknown.get(character) ?? this.vocabulary.encode(character).includes(this.vocabulary.ids.unk);
    this.unknown.set(character, isUnknown);
    return isUnknown;
  }
}

const ASCII = /^[\0-\x7f]*$/;
const WHITE_SPACE = new RegExp(`[${WHITE}]`, "u");

function hasCapital(word: string): boolean {
  return /^\p{Uppercase}/u.test(word);
}

function firstOf(word: string): string {
  return [...word][0] as string;
}

/** The words of a text that are in none of its URLs, tags and placeholders. */
function words(text: string): Word[] {
  const first = FIRST_LETTER.exec(text)?.index ?? -1;
  const found = [...text.matchAll(WORDS)].map(({ 0: word, index: start, groups }) => {
    const end = start + word.length;
    const is = (name: string): boolean => groups?.[name] !== undefined;
    const kind = { hasSign: is("sign"), isUnspaced: is("unspaced"), isPlain: is("plain") };
    return { text: word, start, end, ...kind, begins: start <= first && first < end };
  });
  return unprotected(text, found);
}

/** The words of a text in which a capital follows another. */
function withCapitals(text: string): string[] {
  return (text.match(PLAIN_WORD) ?? []).filter((word) => TWO_CAPITALS.test(word));
}
