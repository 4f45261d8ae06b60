/** Text in lower case and in capitals, by the rules of its language. */
const DOTTED = ["tr", "az"]; // Languages with a dotted and a dotless I.

/** Which letters of a text are capitals, whatever the others are. */
export type Capitals = "none" | "first" | "all";

/**
 * A text with its first character, or all of it, in capitals. A first word with another capital, such as "iPhone", stays as it is.
 *
 * @param language its code, without script and region.
 */
export function withCapitals(text: string, capitals: Capitals, language: string): string {
  if (capitals === "all") return inCapitals(text, language);
  const first = [...text.slice(0, 2)][0] ?? "";
  if (capitals === "none" || /\p{Uppercase}/u.test(text.slice(first.length).split(" ")[0] as string)) return text;
  return inCapitals(first, language) + text.slice(first.length);
}

/** A text without the marks that belong to letters. */
export function withoutAccents(text: string): string {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "");
}

/** A text in which neither case nor accents count. */
export function folded(text: string): string {
  return withoutAccents(text).toLowerCase();
}

/** A text in lower case. `language` is its code, without script and region. */
export function inLowerCase(text: string, language: string): string {
  return (DOTTED.includes(language) ? text.replace(/I/g, "ı").replace(/İ/g, "i") : text).toLowerCase();
}

/** A text in capitals, without accents in Greek. `language` is its code, without script and region. */
export function inCapitals(text: string, language: string): string {
  if (DOTTED.includes(language)) return text.replace(/i/g, "İ").toUpperCase();
  if (language === "el") return text.normalize("NFD").replace(/\u0301/g, "").normalize("NFC").toUpperCase();
  return text.toUpperCase();
}
