/** Numbers as languages write them: 1,250.5 in English is 1.250,5 in German. */
import { WHITE, WORD, inAnyCase } from "../text/unicode.js";

/** How a language writes numbers: the sign between groups of three digits, and that before the decimals. */
export interface NumberFormat {
  readonly group: string;
  readonly decimal: string;
}

/** The formats of a translation's two languages. */
export interface NumberFormats {
  readonly source: NumberFormat;
  readonly target: NumberFormat;
}

/** A number: the digits of its whole part and its decimals, and whether it is written in groups of three digits. */
export interface WrittenNumber {
  readonly whole: string;
  readonly decimals: string;
  readonly inGroups: boolean;
}

// By the signs between groups and before decimals, as in the Unicode CLDR.
const LANGUAGES: readonly [string, string, string][] = [
  [",", ".", "en zh ja ko th he ms ga cy mt sw fil tl"],
  [".", ",", "de es it pt nl da id tr el hr sl sr bs ro vi ca gl eu is mk az"],
  ["\u00a0", ",", "fr ru uk be pl cs sk sv nb nn no fi et lv lt hu bg kk hy ka sq uz ky af eo"],
];
const OTHER_GROUPS = " \u00a0\u202f'’"; // which any language may have
const LEAST_EXACT = 3; // digits, without zeros at the end, of a number that is rarely written as words
const NUMBER = new RegExp(`\\p{Nd}(?:[\\p{Nd}.,${OTHER_GROUPS}]*\\p{Nd})?`, "gu");
const DATE = /^\p{Nd}{1,2}\.\p{Nd}{1,2}\.(?:\p{Nd}\p{Nd}|\p{Nd}{4})$/u;
const VERSION = /^\p{Nd}+(?:\.\p{Nd}+){2,}$/u;
const GROUPS = /^\p{Nd}{1,3}(?:\.\p{Nd}{3})+$/u;
const TIME = /^(?:[01]?\p{Nd}|2[0-4])[.:][0-5]\p{Nd}$/u;
const TIME_WORDS = ["at", "until", "till", "before", "after", "since", "from"].map(inAnyCase).join("|");
const BEFORE_TIME = new RegExp(`(?<![${WORD}])(?:${TIME_WORDS})[${WHITE}]$`, "u");
const AFTER_TIME = new RegExp(`^[${WHITE}]?(?:[aApP]\\.?[mM]|[oO]['’]${inAnyCase("clock")}|[hH])(?![${WORD}])`, "u");

/** The formats of two languages, given by their codes without script and region; undefined if one is not known. */
export function numberFormats(source: string, target: string): NumberFormats | undefined {
  const [written, expected] = [format(source), format(target)];
  return written && expected && { source: written, target: expected };
}

function format(language: string): NumberFormat | undefined {
  const found = LANGUAGES.find(([, , codes]) => codes.split(" ").includes(language));
  return found && { group: found[0], decimal: found[1] };
}

/** The number that a text is in a format; undefined if it is none. Spaces and apostrophes may group digits, too. */
export function readNumber(text: string, { group, decimal }: NumberFormat): WrittenNumber | undefined {
  const whole = `\\p{Nd}{1,3}([${OTHER_GROUPS}${group}])\\p{Nd}{3}(?:\\2\\p{Nd}{3})*|\\p{Nd}+`;
  const found = new RegExp(`^(${whole})(?:[${decimal}](\\p{Nd}+))?$`, "u").exec(text);
  if (found === null) return undefined;
  const digits = (found[1] as string).replace(/\P{Nd}/gu, "");
  return { whole: digits, decimals: found[3] ?? "", inGroups: digits !== found[1] };
}

/** A number in a form of which each value has one; a whole number without signs keeps its zeros: 007. */
export function valueOf({ whole, decimals, inGroups }: WrittenNumber): string {
  const fraction = decimals.replace(/0+$/, "");
  const digits = decimals !== "" || inGroups ? whole.replace(/^0+/, "") || "0" : whole;
  return fraction === "" ? digits : `${digits}.${fraction}`;
}

/** Whether a number is whole and often written as words, such as 5,000, but not 1,250. */
export function isRound({ whole, decimals }: WrittenNumber): boolean {
  return decimals === "" && [...whole.replace(/0+$/, "")].length < LEAST_EXACT;
}

/** A text, such as an amount, with its number as the target language writes it; what is no number of the source stays. */
export function rewrittenIn(text: string, formats: NumberFormats): string {
  return text.replace(NUMBER, (number) => rewritten(number, formats));
}

function rewritten(text: string, { source, target }: NumberFormats): string {
  const number = readNumber(text, source);
  if (number === undefined || !(number.inGroups || number.decimals !== "")) return text;
  const digits = [...number.whole];
  const first = digits.length % 3 || 3;
  const groups = [digits.slice(0, first).join("")];
  for (let place = first; place < digits.length; place += 3) groups.push(digits.slice(place, place + 3).join(""));
  const whole = number.inGroups ? groups.join(target.group) : number.whole;
  return number.decimals === "" ? whole : whole + target.decimal + number.decimals;
}

/** Whether a text is a number of a version or an address, such as 2.13.0, and neither a date nor a large number. */
export function isVersion(text: string): boolean {
  return VERSION.test(text) && !DATE.test(text) && !GROUPS.test(text);
}

/** The digits of a text that may be a time of day, such as 8.30; empty if it is none. */
export function timeOfDay(text: string): string {
  return TIME.test(text) ? text.replace(/\P{Nd}/gu, "") : "";
}

/** Whether a number is a time of day in an English text, with the text before and after it. */
export function isSurelyTime(text: string, before: string, after: string): boolean {
  return (BEFORE_TIME.test(before) || AFTER_TIME.test(after)) && timeOfDay(text) !== "";
}
