/** Names of a text: words with a capital that the training text of a model did not translate. */
import { folded } from "../text/letter_case.js";
import { WHITE, WORD } from "../text/unicode.js";
import type { WordFilter } from "../text/word_filter.js";
import { isInCapitals } from "./capitals.js";
import { unprotected } from "./protected.js";
import { type Place, withParts } from "./stand_ins.js";

const LETTER = "[A-Za-z\\u00c0-\\u024f\\u0300-\\u036f\\u1e00-\\u1eff]";
// A word, or a name such as "O'Malley".
const CAPITALIZED = new RegExp(
  `(?<![${WORD}])[A-Z\\u00c0-\\u00de\\u0100-\\u024f\\u1e00-\\u1eff]${LETTER}*(?:['’][A-Z]${LETTER}+)?(?![${WORD}])`,
  "gu",
);
const ANY_WORD = new RegExp(`(?<![${WORD}])${LETTER}+(?:['’][A-Z]${LETTER}+)?(?![${WORD}])`, "gu");
// There, nouns have capitals, and a word that ends with a known noun is no name.
const CAPITAL_NOUNS = ["de", "lb"];
const SHORTEST_STEM = 3; // letters, of a whole word
const SHORTEST_NOUN = 5; // letters, without its ending, at the end of a compound
// What is added to a known word in its other forms, by language.
const INFLECTIONS = new Map([
  ["de", ["", ..."e en er es et in innen n s st t te ten".split(" ")]],
  ["en", ["", ..."al d ed er ers es ing ly s".split(" ")]],
]);
// Words with these endings are rarely names, where other words may have a capital, too.
const ENDINGS_OF_OTHERS = new Map([
  [
    "de",
    /(?:ung|heit|keit|schaft|[st]ion|tät)(?:en)?$|(?:isch|lich)(?:e[mnrs]?)?$|(?:ig|los)e[mnrs]?$|(?:ismus|end|innen|em|ten?)$/u,
  ],
  ["en", /(?:(?:al|ent|ant|ous|ed|ing|ab|iv)ly|[a-z]{5}ing|[st]ion|ness|ism|ment|less|ful|ous|able)s?$/u],
]);
// Titles, and words at the beginning of sentences, which training text may lack.
const NO_NAMES = (
  "ca etc evtl ggf inkl vs dr frau fräulein herr herrn miss mr mrs ms prof amid furthermore hence hey hmm hooray meanwhile " +
  "moreover nevertheless nope oops " +
  "ouch thus whoa whoops wow yeah yep yuck yup andererseits außerdem demnach hoppla hurra igitt insbesondere somit tja unterdessen zudem"
).split(" ");
// What stands between the words of a name.
const BETWEEN_WORDS = /^(?:[ -]|(?: (?:al|bin|da|de|del|della|den|der|di|dos|du|ibn|la|le|ten|ter|van|von))+ )$/;
// German words before nouns, which are rarely before names.
const ARTICLE = new RegExp(
  `(?<![${WORD}])(?:de[rsmn]|die|das|k?ein(?:e[mnrs]?)?|[mds]ein(?:e[mnrs]?)?|(?:ihr|euer|eur|unser|unsr)(?:e[mnrs]?)?|` +
    "dies(?:e[mnrs]?)|(?:jed|welch|manch)e[mnrs]?|(?:all|viel|wenig|einig|mehrer)e[nr]?|" +
    "[ai]m|ans|beim|fürs|ins|übers|vom|zu[mr]) $",
  "iu",
);
// After the first word of an English sentence, a sign that it is a verb, as in "Rinse the dishes".
const AFTER_VERB = new RegExp(`^ (?:(?:the|an?|your|my|our|its|these|those) (?:[a-z]|[A-Z]{2})|(?:it|them)(?![${WORD}]))`, "u");
const LONGEST_AFTER = 12; // characters
const BEGINNING = new RegExp(`(?:^|[.!?…:"“”„»«‚‘'’(–—|*]|(?<![${WORD}])-)[${WHITE}]*$`, "u");
const GENITIVE = /^[^s]s (?=[A-ZÄÖÜ])/u;
const LONGEST_BEFORE = 12; // characters
const LONGEST_NAME = 40; // letters
const MOST_SEEN = 100_000; // words

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Name extends Span {
  readonly isLost: boolean;
}

/** Finds names in texts. Languages are codes of the source, without script and region. */
export class Names {
  private readonly seen = new Map<string, boolean>(); // whether words are known

  /** @param known words that are translated, in lower case. */
  constructor(private readonly known: WordFilter) {}

  /**
   * The names of a text that its translation lacks; names beside each other are one.
   *
   * Case and accents do not count, nor does an s at the end, which may be that of a genitive. Before a German noun, it is no
   * part of the name.
   */
  lost(text: string, translation: string, language: string): Place[] {
    if (this.#areKept(text, translation)) return [];
    const words = this.#words(text, language);
    const found = folded(translation);
    const isLost = ({ start, end }: Span): boolean => !found.includes(folded(text.slice(start, end)).replace(/s$/u, ""));
    const names = words.map((word) => ({ ...word, isLost: isLost(word) }));
    if (!names.some((name) => name.isLost)) return [];
    return joined(text, names).flatMap(({ start, end, isLost }) => {
      if (!isLost || text[start - 1] === "-" || text[end] === "-") return [];
      const last = CAPITAL_NOUNS.includes(language) ? withoutGenitive(text, end) : end;
      return [{ start, text: text.slice(start, last), isOfNumber: false, isNumber: false }];
    });
  }

  /**
   * A translation with the names that it has in another case as the text has them. An s at the end of the text's name, which may be
   * that of a genitive, may be missing there.
   */
  withCase(text: string, translation: string, language: string): string {
    if (this.#areKept(text, translation) || isInCapitals(translation)) return translation;
    const words = translation.match(ANY_WORD) ?? [];
    const found = this.#words(text, language).flatMap(({ start, end }) => {
      const name = text.slice(start, end);
      for (const part of [name, name.replace(/s$/u, "")]) {
        const same = words.filter((word) => word.toLowerCase() === part.toLowerCase());
        if (same.length > 0) return same.includes(part) ? [] : [{ word: same[0] as string, part }];
      }
      return [];
    });
    return withParts(translation, found) ?? translation;
  }

  /** The words of a text that are names or parts of names. */
  #words(text: string, language: string): Span[] {
    if (isInCapitals(text)) return [];
    const words = [...text.matchAll(CAPITALIZED)].flatMap(({ 0: word, index: start }): Span[] => {
      const isCapitalized = /^\p{Uppercase}/u.test(word) && !isInCapitals(word);
      return isCapitalized && this.#isName(text, word, start, language) ? [{ start, end: start + word.length }] : [];
    });
    return unprotected(text, words);
  }

  #isKnown(word: string): boolean {
    if (word.length > LONGEST_NAME) return true; // as no name
    let known = this.seen.get(word);
    if (known === undefined) {
      if (this.seen.size >= MOST_SEEN) this.seen.clear();
      const lower = word.normalize("NFC").toLowerCase();
      known = this.known.has(lower) || NO_NAMES.includes(lower);
      this.seen.set(word, known);
    }
    return known;
  }

  #isName(text: string, word: string, start: number, language: string): boolean {
    if (this.#isKnown(word)) return false;
    const hasCapitalNouns = CAPITAL_NOUNS.includes(language);
    const before = text.slice(Math.max(start - LONGEST_BEFORE, 0), start);
    const begins = BEGINNING.test(before);
    if (!begins && !hasCapitalNouns) return true;
    const endings = INFLECTIONS.get(language);
    if (endings === undefined || (!begins && ARTICLE.test(before))) return false;
    const end = start + word.length;
    if (language === "en" && begins && AFTER_VERB.test(text.slice(end, end + LONGEST_AFTER))) return false;
    const lower = word.normalize("NFC").toLowerCase();
    if (ENDINGS_OF_OTHERS.get(language)?.test(lower) || this.#hasKnownStem(lower, endings, SHORTEST_STEM)) return false;
    const letters = [...lower];
    const last = hasCapitalNouns ? letters.length - SHORTEST_NOUN : 0;
    for (let first = 2; first <= last; ++first) {
      if (this.#hasKnownStem(letters.slice(first).join(""), endings, SHORTEST_NOUN)) return false;
    }
    return true;
  }

  /** Whether a translation surely has all names of a text; quick, since few texts have others. */
  #areKept(text: string, translation: string): boolean {
    return [...text.matchAll(CAPITALIZED)].every(([word]) => this.#isKnown(word) || translation.includes(word));
  }

  #hasKnownStem(word: string, endings: readonly string[], shortest: number): boolean {
    return endings.some((ending) => {
      const stem = word.slice(0, word.length - ending.length);
      return word.endsWith(ending) && this.known.has(stem) && this.#letters(stem) >= shortest;
    });
  }

  /** The length of a word without the s of a genitive, such as "bergs", the end of "Heisenbergs". */
  #letters(word: string): number {
    return [...word].length - (word.endsWith("s") && this.known.has(word.slice(0, -1)) ? 1 : 0);
  }
}

/** Names of which those beside each other are one, which is lost if one of them is. */
function joined(text: string, names: readonly Name[]): Name[] {
  const found: Name[] = [];
  for (const name of names) {
    const last = found[found.length - 1];
    const continues = last !== undefined && BETWEEN_WORDS.test(text.slice(last.end, name.start));
    if (continues) found[found.length - 1] = { start: last.start, end: name.end, isLost: last.isLost || name.isLost };
    else found.push(name);
  }
  return found;
}

/** The end of a name without the s of a genitive, such as that of "Einsteins Haus". */
function withoutGenitive(text: string, end: number): number {
  return GENITIVE.test(text.slice(end - 2, end + 2)) ? end - 1 : end;
}
