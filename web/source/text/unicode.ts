/** Classes of characters as Python's str and re have them, which differ from those of JavaScript. */

/** White space, for a character class. */
export const WHITE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
/** Letters, digits and the underscore, for a character class. */
export const WORD = "\\p{L}\\p{N}_";

// Soft hyphens, marks of direction, word joiners and byte order marks. U+200C and U+200D are kept: Persian, Indic scripts
// and emoji need them.
const REMOVED = /[\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const SPLIT = new RegExp(`[${WHITE}]+`, "u");
const START = new RegExp(`^[${WHITE}]+`, "u");

/** A pattern of an ASCII name in lower case and in capitals. */
export function inAnyCase(name: string): string {
  return name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** A text without characters that are not shown and change no word, and a space for each U+200B. */
export function removeInvisible(text: string): string {
  return text.replace(REMOVED, "").replaceAll("\u200b", " ");
}

/** The words between white space. */
export function splitWords(text: string): string[] {
  return text.split(SPLIT).filter((word) => word !== "");
}

export function trimStart(text: string): string {
  return text.replace(START, "");
}

export function trimEnd(text: string): string {
  // A pattern that ends in $ is tried from each place of a run of spaces.
  let end = text.length;
  while (end > 0 && START.test(text[end - 1] as string)) --end;
  return text.slice(0, end);
}

/** Whether a text has lower-case letters and no upper-case ones, as str.islower. */
export function isLower(text: string): boolean {
  return /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
}

/** The number that the digits of a text are, in any script, as int reads it. */
export function readInteger(digits: string): number {
  return Number(digits.replace(/\p{Nd}/gu, (digit) => {
    let value = 0;
    // The digits of each script are in order, ten in a row.
    while (/\p{Nd}/u.test(String.fromCodePoint((digit.codePointAt(0) as number) - value - 1))) ++value;
    return `${value % 10}`;
  }));
}

