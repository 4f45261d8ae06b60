/** Abbreviations that a vocabulary does not know, written as words: "etc." as "and so on". */
import { WHITE, WORD } from "../text/unicode.js";
import type { Vocabulary } from "../text/vocabulary.js";

// A full stop after a single letter may be followed by a space; one after several letters may be left out for "~".
const WORDS: Record<string, readonly (readonly [string, string])[]> = {
  en: [
    ["e.g.", "such as"],
    ["i.e.", "that is"],
    ["etc.", "and so on"],
    ["vs~", "against"],
    ["approx.", "about"],
  ],
  de: [
    ["z.B.", "zum Beispiel"],
    ["d.h.", "das heißt"],
    ["u.a.", "auch"],
    ["i.d.R.", "normalerweise"],
    ["usw~", "und so weiter"],
    ["etc.", "und so weiter"],
    ["bzw~", "oder"],
    ["ca.", "etwa"],
    ["inkl.", "mit"],
    ["evtl.", "vielleicht"],
    ["ggf.", "wenn nötig"],
  ],
};
const MAY_BE = /\.[^]|etc|vs|usw|bzw/; // Few sentences have a full stop before their end.
const NEVER_FIRST = ["approx."]; // "About 5" could become "Über 5", which is more than 5.
const END_LISTS = ["etc.", "usw~"];
const GAP = "[ \\u00a0\\u202f]?";
// Signs of paths, options, code and variables.
const BEFORE = `(?<![${WORD}./\\\\~$@#\`{\\-])`;
const AFTER = `(?![${WORD}/\\\\~\`}@\\-])`;
const ENDS_TEXT = new RegExp(`^[${WHITE}"'“”’]*$`, "u");
const NEXT_SENTENCE = new RegExp(`^[${WHITE}]+[A-ZÄÖÜ]`, "u");

/** Writes abbreviations of source text as words, for one vocabulary. */
export class Abbreviations {
  private readonly known = new Map<string, boolean>();
  private readonly patterns = new Map<string, RegExp>();

  constructor(private readonly vocabulary: Vocabulary) {}

  /**
   * A text whose abbreviations are words, unless the vocabulary has each as one piece. The full stop of one that ends the text stays.
   *
   * @param language code without script and region.
   */
  writtenOut(text: string, language: string): string {
    const words = WORDS[language];
    if (words === undefined || !MAY_BE.test(text)) return text;
    let found = text;
    const pattern = this.patterns.get(language) ?? patternOf(words.map(([abbreviation]) => abbreviation));
    this.patterns.set(language, pattern);
    found = found.replace(pattern, (match: string, ...others: unknown[]) => {
      const number = words.findIndex((_, index) => others[index] !== undefined);
      const [abbreviation, written] = words[number] as readonly [string, string];
      const begins = /^[A-Z]/.test(match);
      if (this.#isKnown(abbreviation.replace(/[.~]$/, "")) || (begins && NEVER_FIRST.includes(abbreviation))) return match;
      const after = text.slice((others[words.length] as number) + match.length);
      const ends = ENDS_TEXT.test(after) || (END_LISTS.includes(abbreviation) && NEXT_SENTENCE.test(after));
      const stop = ends && match.endsWith(".") ? "." : "";
      return (begins ? written.charAt(0).toUpperCase() + written.slice(1) : written) + stop;
    });
    return found;
  }

  #isKnown(abbreviation: string): boolean {
    const known = this.known.get(abbreviation) ?? this.vocabulary.encode(abbreviation).length === 1;
    this.known.set(abbreviation, known);
    return known;
  }
}

/** The pattern of abbreviations, a group each, also with a first capital. */
function patternOf(abbreviations: readonly string[]): RegExp {
  const groups = abbreviations.map((abbreviation) => {
    const [first, rest] = [abbreviation.charAt(0), abbreviation.slice(1, -1)];
    const end = abbreviation.endsWith(".") ? "\\.(?!\\.)" : "(?:\\.(?!\\.))?";
    return `([${first.toUpperCase()}${first}]${rest.replaceAll(".", `\\.${GAP}`)}${end})`;
  });
  return new RegExp(`${BEFORE}(?:${groups.join("|")})${AFTER}`, "gu");
}
