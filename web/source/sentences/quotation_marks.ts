/** Quotation marks that a vocabulary hardly knows, replaced by those that it knows. */
import { WHITE, WORD } from "../text/unicode.js";
import type { Vocabulary } from "../text/vocabulary.js";

const DOUBLE = "“”„‟«»";
const MARKS = new RegExp(`[${DOUBLE}‘‚‹›´\`]`, "u");
const OTHER_DOUBLE = new RegExp(`[${DOUBLE}"]`, "u");
const OMISSION = `(?:[Tt]is|[Tt]was|em|n)(?![${WORD}])|\\p{Nd}`; // as in "‘tis" and "‘60s"
const SINGLE = new RegExp(`(?<![${WORD}])[‘‚‹›](?![${WHITE}])(?!${OMISSION})([^‘’‚‹›]{0,2000}[^${WHITE}‘’‚‹›])[’‘‹›](?![${WORD}])`, "gu");
const ACCENT = /(?<=\p{L}|[\p{Nl}\p{No}])[´`](?=\p{L}|[\p{Nl}\p{No}])/gu;
// Languages that quote „so“.
const LOW_OPENING = "bg cs de et hr hu is lb lt mk pl ro sk sl sr".split(" ");
const OPENS = new RegExp(`^$|^[${WHITE}(\\[{:*_/–—\\-]$`, "u");

/** Replaces quotation marks of source text, for one vocabulary. */
export class QuotationMarks {
  constructor(private readonly vocabulary: Vocabulary) {}

  /**
   * A text with quotation marks that the training text had.
   *
   * Double marks stay if the vocabulary has longer pieces with all of them: a mark that occurred often has such pieces. Others
   * become „so“ in the languages that write it, or "so". Single marks around words become double ones if the text has no others
   * and they are in no longer pieces, and an accent between letters becomes an apostrophe.
   *
   * @param language code without script and region.
   */
  replaced(text: string, language: string): string {
    if (!MARKS.test(text)) return text;
    const [marks, found] = [this.#usualMarks(language), doubleMarks(text)];
    let replaced = text;
    if (marks !== undefined && !this.#areUsual(found, language)) {
      const characters = [...text];
      replaced = characters
        .map((character, place) => {
          if (!found.includes(character)) return character;
          return marks[OPENS.test(characters[place - 1] ?? "") ? 0 : 1];
        })
        .join("");
    }
    const singles = text.match(/[‘‚‹›]/gu) ?? [];
    if (marks !== undefined && !singles.some((mark) => this.#isFrequent(mark)) && !OTHER_DOUBLE.test(replaced))
      replaced = replaced.replace(SINGLE, (_, inner: string) => marks[0] + inner + marks[1]);
    const apostrophe = this.vocabulary.encode("’").includes(this.vocabulary.ids.unk) ? "'" : "’";
    return replaced.replace(ACCENT, (accent) => (this.#isFrequent(accent) ? accent : apostrophe));
  }

  #areUsual(found: readonly string[], language: string): boolean {
    // “ may be known from another language, which quotes „so“.
    const hidden = found.includes("“") && !found.includes("„") && !LOW_OPENING.includes(language) ? ["”"] : [];
    return [...found, ...hidden].every((mark) => this.#isFrequent(mark));
  }

  /** The opening and the closing mark that the vocabulary knows; undefined: it knows no common ones. */
  #usualMarks(language: string): readonly [string, string] | undefined {
    if (LOW_OPENING.includes(language) && this.#isFrequent("„") && this.#isFrequent("“")) return ["„", "“"];
    return this.#isFrequent('"') ? ['"', '"'] : undefined;
  }

  #isFrequent(mark: string): boolean {
    return this.vocabulary.frequentCharacters.has(mark);
  }
}

/** The double marks of a text, without « and » that are no pairs, as in "Home » News". */
function doubleMarks(text: string): string[] {
  const found = [...text].filter((character) => DOUBLE.includes(character));
  const count = (mark: string): number => found.filter((each) => each === mark).length;
  const isPaired = count("«") === count("»");
  return [...new Set(found)].filter((mark) => isPaired || (mark !== "«" && mark !== "»"));
}
