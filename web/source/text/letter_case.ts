/** Text in lower case and in capitals, by the rules of its language. */
const DOTTED = ["tr", "az"]; // Languages with a dotted and a dotless I.

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
