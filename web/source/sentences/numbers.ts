/** Numbers as languages write them: 1,250.5 in English is 1.250,5 in German. */
import { WHITE, WORD, inAnyCase, readInteger } from "../text/unicode.js";

/** How a language writes numbers: the sign between groups of three digits, and that before the decimals. */
export interface NumberFormat {
  readonly group: string;
  readonly decimal: string;
  /** Digits of a number that has groups. */
  readonly leastGrouped: number;
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

// By the signs between groups and before decimals, as in pocketmt.sentences.numbers.
const LANGUAGES: readonly [string, string, string][] = [
  [",", ".", "en he th ms ga cy mt sw fil tl"],
  [".", ",", "de es it pt nl da id tr el hr sl sr sh bs ro vi ca gl eu is mk az"],
  ["\u00a0", ",", "ru uk be pl cs sk sv nb nn no fi et lv lt hu bg kk hy ka sq uz ky af"],
  ["\u202f", ",", "fr eo"],
];
const FOUR_WITHOUT_SIGN = "be bg es et hu hy it ka lv pl sl sq".split(" "); // which write 1234 so
const OTHER_GROUPS = "\u00a0\u202f'’"; // which any language may have
const LEAST_EXACT = 3; // digits, without zeros at the end, of a large number that is rarely written as words
const D = "\\p{Nd}";
const NUMBER = new RegExp(`${D}(?:[${D}.,${OTHER_GROUPS} ]*${D})?`, "gu");
const DATE = new RegExp(`^(?:${D}{1,2}\\.${D}{1,2}\\.(?:${D}{2}|${D}{4})|${D}{4}\\.${D}{1,2}\\.${D}{1,2})$`, "u");
const VERSION = new RegExp(`^${D}+(?:\\.${D}+){2,}$`, "u");
const ADDRESS = new RegExp(`^(?!0)${D}{1,3}(?:\\.(?:0|[1-9]${D}{0,2})){3}$`, "u");
const GROUPS = new RegExp(`^[1-9]${D}{0,2}(?:\\.${D}{3})+$`, "u");
const BOTH_SIGNS = new RegExp(`^([1-9]${D}{0,2}([.,'’])${D}{3}(?:\\2${D}{3})*)(?!\\2)[.,](${D}+)$`, "u");
const PAIR = new RegExp(`^(?![1-9]${D}{0,2}[.,]${D}{3}$)${D}+[.,:]${D}+$`, "u");
const TIME = new RegExp(`^(?:[01]?${D}|2[0-4])(?:[.:][0-5]${D})?$`, "u");
const BEFORE = "at by until till before after since from between um bis vor nach seit gegen".split(" ").map(inAnyCase).join("|");
const TIME_OF_HALF_DAY = /^(0?[1-9]|1[0-2])[.:]([0-5][0-9])$/;
const AFTERNOON = new RegExp(`^[${WHITE}]?[pP]\\.?[mM](?![${WORD}])`, "u");
const BEFORE_TIME = new RegExp(`(?<![${WORD}])(?:${BEFORE})[${WHITE}]$`, "u");
// Or it is the first of two, as in "13 bis 15 Uhr".
const SECOND_TIME = `(?:[${WHITE}]?(?:${["and", "bis", "to", "und"].map(inAnyCase).join("|")}|[-–])[${WHITE}]?[${D}:.]{1,5})?`;
const AFTER_TIME = new RegExp(
  `^${SECOND_TIME}[${WHITE}]?(?:[aApP]\\.?[mM]|[oO]['’]${inAnyCase("clock")}|${inAnyCase("uhr")}|[hH])(?![${WORD}])`,
  "u",
);
// A name, such as that of a program, or another word that has numbers of versions or sections after it.
const NAMES = [
  ..."version release section chapter part figure fig table update v room page p lesson exercise rule model level unit".split(" "),
  ..."gate scene step question article paragraph season episode volume no nr abschnitt kapitel seite abbildung abb".split(" "),
  ..."tabelle nummer".split(" "),
]
  .map(inAnyCase)
  .join("|");
const PROGRAMS = "Python|Windows|Android|Java|Linux|Ubuntu|Bluetooth";
const BEFORE_VERSION = new RegExp(`(?:(?<![${WORD}])(?:[${WORD}]+[A-Z][${WORD}]*|${PROGRAMS}|(?:${NAMES})[sS]?\\.?)|§)[${WHITE}]?$`, "u");
const MINOR = new RegExp(`^${D}+\\.${D}{1,2}$`, "u");

/** The formats of two languages, given by their codes without script and region; undefined if one is not known. */
export function numberFormats(source: string, target: string): NumberFormats | undefined {
  const [written, expected] = [format(source), format(target)];
  return written && expected && { source: written, target: expected };
}

function format(language: string): NumberFormat | undefined {
  const found = LANGUAGES.find(([, , codes]) => codes.split(" ").includes(language));
  return found && { group: found[0], decimal: found[1], leastGrouped: FOUR_WITHOUT_SIGN.includes(language) ? 5 : 4 };
}

/**
 * The number that a text is in a format; undefined if it is none.
 *
 * Any language may have apostrophes or no-break spaces between groups, and numbers with two kinds of signs are those of any
 * format. Groups with plain spaces are read in the languages that write spaces; elsewhere, "12 345" may be two numbers.
 */
export function readNumber(text: string, { group, decimal }: NumberFormat): WrittenNumber | undefined {
  if (isAddress(text)) return undefined;
  const signs = OTHER_GROUPS + (/\s/u.test(group) ? " " : group);
  const whole = `[1-9]${D}{0,2}([${signs}])${D}{3}(?:\\2${D}{3})*|${D}+`;
  const found = new RegExp(`^(${whole})(?:[${decimal}](${D}+))?$`, "u").exec(text) ?? BOTH_SIGNS.exec(text);
  if (found === null) return undefined;
  const digits = (found[1] as string).replace(/\P{Nd}/gu, "");
  return { whole: digits, decimals: found[3] ?? "", inGroups: digits !== found[1] };
}

/** A number in a form of which each value has one; a whole number without signs keeps its zeros: 007. */
export function valueOf({ whole, decimals, inGroups }: WrittenNumber): string {
  const fraction = withoutLastZeros(decimals);
  const digits = decimals !== "" || inGroups ? whole.replace(/^0+/, "") || "0" : whole;
  return fraction === "" ? digits : `${digits}.${fraction}`;
}

/** Whether a number is rarely written as words, unlike 16, 300 and 5,000: it has decimals, or is 110 or 1,250. */
export function isExact({ whole, decimals, inGroups }: WrittenNumber): boolean {
  if (decimals !== "") return true;
  const counted = inGroups ? withoutLastZeros(whole) : whole;
  return [...counted.slice(0, 2 * LEAST_EXACT)].length >= LEAST_EXACT && (inGroups || !whole.endsWith("00"));
}

// A pattern that ends in $ is tried from each place of a run of zeros.
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") --end;
  return digits.slice(0, end);
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
  const whole = number.inGroups && digits.length >= target.leastGrouped ? groups.join(target.group) : number.whole;
  return number.decimals === "" ? whole : whole + target.decimal + number.decimals;
}

/** Whether a text is a number of a version or an address, such as 2.13.0, and neither a date nor a large number. */
export function isVersion(text: string): boolean {
  return isAddress(text) || (VERSION.test(text) && !DATE.test(text) && !GROUPS.test(text));
}

function isAddress(text: string): boolean {
  return ADDRESS.test(text) && text.split(".").every((part) => readInteger(part) < 256);
}

/** Whether a text is two numbers with a sign between them, such as 3,14, 3.14 or 3:14, and surely not 3,140. */
export function isPair(text: string): boolean {
  return PAIR.test(text);
}

/** The digits of a time as it is counted to 24: "1930" for "7:30" before " p.m."; none for another number. */
export function digitsIn24Hours(text: string, after: string): string[] {
  const time = TIME_OF_HALF_DAY.exec(text);
  return time !== null && AFTERNOON.test(after) ? [`${(Number(time[1]) % 12) + 12}${time[2]}`] : [];
}

/** Whether a number is a time of day in an English or German text, with the text before and after it. */
export function isSurelyTime(text: string, before: string, after: string): boolean {
  return (BEFORE_TIME.test(before) || AFTER_TIME.test(after)) && TIME.test(text);
}

/** Whether a number with a full stop follows a name, as in "Python 3.8", or a word such as "section". */
export function followsName(text: string, before: string): boolean {
  return MINOR.test(text) && BEFORE_VERSION.test(before);
}
