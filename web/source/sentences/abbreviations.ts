/** Abbreviations and words that start sentences, by language. `make web` writes them from abbreviations.toml. */
import tables from "../generated/abbreviations.json" with { type: "json" };

const KINDS = ["never_final", "before_number", "sometimes_final", "starters"] as const;
type Words = Readonly<Record<(typeof KINDS)[number], ReadonlySet<string>>>;

/** A full stop after a number of one or two digits makes it an ordinal number, as in "3. Oktober". */
export const ORDINAL_LANGUAGES: ReadonlySet<string> = new Set(tables.ordinal_languages);

const found = new Map<string, Words>();

/** The words of a language: the common ones, and those of its table if there is one. */
export function abbreviations(language: string): Words {
  let words = found.get(language);
  if (words === undefined) {
    const all: Readonly<Record<string, Readonly<Record<string, string>>>> = tables.languages;
    const of = (kind: string): Set<string> =>
      new Set(["common", language].flatMap((name) => (all[name]?.[kind] ?? "").split(/\s+/).filter((word) => word !== "")));
    words = Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as unknown as Words;
    found.set(language, words);
  }
  return words;
}
