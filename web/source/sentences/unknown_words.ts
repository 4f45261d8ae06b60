/** Words that a vocabulary lacks: with unknown characters, acronyms, and words in capitals for stress. */
import { inLowerCase } from "../text/letter_case.js";
import { WHITE, WORD } from "../text/unicode.js";
import type { Vocabulary } from "../text/vocabulary.js";
import { isInCapitals } from "./capitals.js";
import { protectedParts } from "./protected.js";
import { WITHOUT_SPACES } from "./spans.js";
import type { Place } from "./stand_ins.js";

const LEAST_PIECES = 0.75; // of a character, on average, where a vocabulary spells words by letters
const LEAST_STRESSED = 3; // letters of a word in capitals for stress: "US" and "IT" are acronyms
const LETTER = `(?:(?![${WITHOUT_SPACES}])[\\p{L}\\p{N}])`;
// A word between backquotes or brackets, two names with "&" between them, or a word such as "R&D" or "C++".
const NAMES = `(?<names>${LETTER}+ & ${LETTER}+)`;
const PLAIN = `(?<plain>${LETTER}+(?:&${LETTER}+)*[+#]*)`;
const WORDS = new RegExp("`[^`" + WHITE + "]+`|\\[[^\\[\\]" + WHITE + "]+\\]|" + `${NAMES}|${PLAIN}`, "gu");
const PLAIN_WORD = new RegExp(`[${WORD}]+`, "gu");
const MAY_BE_UNKNOWN = /[^a-z0-9 .,!?'-][^a-z .,!?'-]|[^\x00-\x7f]|[`[&+#]/u;
const FIRST_LETTER = /[\p{L}\p{N}]/u;
const LATIN = /[\u00c0-\u024f\u1e00-\u1eff]/u;
const TWO_CAPITALS = /[A-Z\u00c0-\u00de]{2}/u;
const ROMAN_NUMERAL = /^[IVX]+$/u;
const AFTER_NUMBER = /\p{Nd}[ \u00a0]?$/u;

/** A word of a text. */
interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether it is two names with "&" between them. */
  readonly hasNames: boolean;
  /** Whether it has no brackets or spaces. */
  readonly isPlain: boolean;
  /** Whether the text begins with it, but for punctuation. */
  readonly begins: boolean;
}

/** Finds the words of a text that the vocabulary of the source lacks. Languages are codes of the source. */
export class UnknownWords {
  private readonly unknown = new Map<string, boolean>();
  private frequent: ReadonlySet<string> | undefined; // characters of the pieces that have several

  constructor(private readonly vocabulary: Vocabulary) {}

  /**
   * A text whose unknown words have another spelling where the vocabulary has that as one piece: lower case for words of at
   * least three capitals in other text, and no accents for words with unknown characters.
   */
  respelled(text: string, language: string): string {
    if (!MAY_BE_UNKNOWN.test(text) || isInCapitals(text)) return text;
    let end = 0;
    let respelled = "";
    for (const word of words(text)) {
      respelled += text.slice(end, word.start) + (this.otherSpelling(word, language) ?? word.text);
      end = word.end;
    }
    return respelled + text.slice(end);
  }

  /**
   * The words of a text with unknown characters, and its acronyms for which there are only letters. A name with Latin letters
   * that occur in no longer piece counts as unknown, too, and names beside an unknown word that are no pieces belong to it.
   *
   * Words that `respelled` changes are left out, and so are words of scripts without spaces, acronyms of a text in capitals or
   * after a number, as in "5 PM", and Roman numerals.
   */
  find(text: string, language: string): Place[] {
    if (!MAY_BE_UNKNOWN.test(text)) return [];
    const inCapitals = isInCapitals(text);
    const found: [number, number][] = [];
    const names: [Word, boolean][] = []; // with whether each is unknown
    for (const word of words(text)) {
      if (word.isPlain && this.isUnknownName(word.text)) {
        if (this.otherSpelling(word, language) === undefined) names.push([word, true]);
      } else if (this.isUnknown(text, word, inCapitals)) {
        if (this.otherSpelling(word, language) === undefined) found.push([word.start, word.end]);
      } else if (this.isBesideNames(word)) {
        names.push([word, false]);
      }
    }
    found.push(...runs(text, names));
    found.sort(([one], [other]) => one - other);
    return found.map(([start, end]) => ({ start, text: text.slice(start, end), isOfNumber: false }));
  }

  /**
   * Whether a translation lacks a word that `find` finds in its source. Case and accents do not count. Acronyms may be
   * translated in words; they are lost if the translation has other capitals.
   */
  isLost(text: string, translation: string, language: string): boolean {
    const parts = this.find(text, language);
    if (parts.length === 0) return false;
    const ofText = new Set(withCapitals(text));
    const hasOtherCapitals = withCapitals(translation).some((word) => !ofText.has(word));
    const found = folded(translation);
    const lost = parts.filter((part) => !found.includes(folded(part.text)));
    return lost.some((part) => hasOtherCapitals || !this.isAcronym(part.text));
  }

  private isUnknown(text: string, word: Word, inCapitals: boolean): boolean {
    if (!word.isPlain) {
      const names = word.hasNames ? word.text.split(" & ") : [];
      return names.every((name) => /^\p{Uppercase}/u.test(name)) && this.hasUnknown(word.text);
    }
    if (/[+#]$/.test(word.text)) return true;
    return !inCapitals && !AFTER_NUMBER.test(text.slice(0, word.start).slice(-2)) && this.isSpelledCapitals(word.text);
  }

  private isAcronym(word: string): boolean {
    return this.isSpelledCapitals(word) && !this.hasUnknown(word);
  }

  private isUnknownName(word: string): boolean {
    return this.hasUnknown(word) || (/^\p{Uppercase}/u.test(word) && [...word].some((letter) => this.isRare(letter)));
  }

  /** Whether a word may belong to a name: it has a capital, does not begin the text, and is no piece. */
  private isBesideNames(word: Word): boolean {
    return word.isPlain && /^\p{Uppercase}/u.test(word.text) && !word.begins && !this.isPiece(word.text);
  }

  /** Whether a letter beyond ASCII is in no longer piece, so that it hardly occurred in the training text. */
  private isRare(letter: string): boolean {
    this.frequent ??= new Set([...this.vocabulary.pieces.filter((piece) => [...piece].length > 1).join("")]);
    return LATIN.test(letter) && !this.frequent.has(letter);
  }

  private otherSpelling(word: Word, language: string): string | undefined {
    if (!word.isPlain) return undefined;
    const letters = [...word.text];
    let others: string[] = [];
    if (letters.length >= LEAST_STRESSED && this.isSpelledCapitals(word.text)) {
      const lower = inLowerCase(word.text, language);
      others = word.begins ? [letters[0] + [...lower].slice(1).join(""), lower] : [lower];
    } else if (this.hasUnknown(word.text)) {
      others = [withoutAccents(word.text)];
    }
    return others.find((other) => this.isPiece(other));
  }

  private isPiece(word: string): boolean {
    const ids = this.vocabulary.encode(word);
    return ids.length === 1 && ids[0] !== this.vocabulary.ids.unk;
  }

  /** Whether a word is in capitals, for which the vocabulary has hardly more than single letters. */
  private isSpelledCapitals(word: string): boolean {
    const capitals = [...word.matchAll(/\p{Uppercase}/gu)].length;
    if (capitals < 2 || /\p{Lowercase}/u.test(word) || ROMAN_NUMERAL.test(word)) return false;
    return this.vocabulary.encode(word).length >= LEAST_PIECES * [...word].length;
  }

  private hasUnknown(word: string): boolean {
    return [...word].some((character) => {
      if (isWhite(character)) return false;
      const known = this.unknown.get(character) ?? this.vocabulary.encode(character).includes(this.vocabulary.ids.unk);
      this.unknown.set(character, known);
      return known;
    });
  }
}

const WHITE_SPACE = new RegExp(`[${WHITE}]`, "u");

function isWhite(character: string): boolean {
  return WHITE_SPACE.test(character);
}

/** The words of a text that are in none of its URLs, tags and placeholders. */
function words(text: string): Word[] {
  const kept = protectedParts(text).map((part) => [part.start, part.start + part.text.length] as const);
  const first = FIRST_LETTER.exec(text)?.index;
  let next = 0;
  return [...text.matchAll(WORDS)].flatMap(({ 0: word, index: start, groups }) => {
    const end = start + word.length;
    while (next < kept.length && (kept[next]?.[1] as number) <= start) ++next;
    if (next < kept.length && (kept[next]?.[0] as number) < end) return [];
    const hasNames = groups?.["names"] !== undefined;
    return [{ text: word, start, end, hasNames, isPlain: groups?.["plain"] !== undefined, begins: start === first }];
  });
}

/** Start and end of the longest sequences of names with a space between them, of those that have an unknown one. */
function runs(text: string, names: readonly [Word, boolean][]): [number, number][] {
  const found: { start: number; end: number; unknown: boolean }[] = [];
  for (const [{ start, end }, unknown] of names) {
    const last = found[found.length - 1];
    if (last !== undefined && text.slice(last.end, start) === " ") {
      last.end = end;
      last.unknown ||= unknown;
    } else {
      found.push({ start, end, unknown });
    }
  }
  return found.filter(({ unknown }) => unknown).map(({ start, end }) => [start, end]);
}

/** The words of a text in which a capital follows another. */
function withCapitals(text: string): string[] {
  return (text.match(PLAIN_WORD) ?? []).filter((word) => TWO_CAPITALS.test(word));
}

function withoutAccents(text: string): string {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "");
}

/** A text in which neither case nor accents count. */
function folded(text: string): string {
  return withoutAccents(text).toLowerCase();
}
