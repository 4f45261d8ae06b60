/** Parts of a text that a translation must keep: URLs, e-mail addresses, tags, placeholders and symbols. */
import { WHITE, WORD, inAnyCase, readInteger } from "../text/unicode.js";
import { type NumberFormat, digitsIn24Hours, followsName, isExact, isSurelyTime, isVersion, readNumber } from "./numbers.js";

const URL = `(?:(?:${inAnyCase("http")}[sS]?|${inAnyCase("ftp")})://|[wW]{3}\\.)[^${WHITE}<>"“”«»]*[^${WHITE}<>"“”«».,;:!?…)\\]}'’。、！？]`;
const EMAIL = `(?<![${WORD}.+\\-])[${WORD}.+\\-]+@[${WORD}\\-]+(?:\\.[${WORD}\\-]+)+`;
// An attribute has a quoted value, the first one has a value, or it is one of HTML's that have none: other words in angle
// brackets are text.
const ATTRIBUTE = `[^${WHITE}"'<>/=]+`;
const QUOTED = `[${WHITE}]*=[${WHITE}]*(?:"[^"<]*"|'[^'<]*')`;
const VALUE = `(?:${QUOTED}|=[^${WHITE}"'<>]+)`;
const NAMES_ALONE = [
  ..."allowfullscreen async autofocus autoplay checked controls default defer disabled formnovalidate hidden".split(" "),
  ..."inert ismap itemscope loop multiple muted nomodule noshade novalidate nowrap open playsinline".split(" "),
  ..."readonly required reversed selected".split(" "),
];
const ALONE = `(?:${NAMES_ALONE.map(inAnyCase).join("|")}|${inAnyCase("data-")}[a-zA-Z0-9\\-]+)(?![^${WHITE}/>])`;
const AFTER_OTHERS = `(?:[${WHITE}]+${ATTRIBUTE})+[${WHITE}]+${ATTRIBUTE}${QUOTED}`;
const FIRST = `(?:[${WHITE}]+${ATTRIBUTE}${VALUE}|[${WHITE}]+${ALONE}|${AFTER_OTHERS})`;
const ATTRIBUTES = `${FIRST}(?:[${WHITE}]+${ATTRIBUTE}(?:${VALUE})?)*`;
// Tags, those that are numbers in React's texts, and blocks of templates.
const TAG_NAME = `(?:[A-Za-z][A-Za-z0-9_.:\\-]*(?:${ATTRIBUTES})?[${WHITE}]*|\\p{Nd}{1,3})`;
const TAG = `</?${TAG_NAME}/?>|<%[^%<>]*%>|\\{%[^{}%]*%\\}`;
// {{ name }}, {{ name | filter }}, {{- name, format(x) }}, $t(key, {"x": 1}), and arguments of ICU messages such as {when, date, short}.
const FILTERED = `\\{\\{-?[ \\t]*[^{}${WHITE}|,]+[ \\t]*(?:[|,][^{}\\n]*)?\\}\\}`;
const NESTED = `\\$t\\([A-Za-z_][${WORD}.:\\-]*,[^()\\n]*\\)`;
const ICU_ARGUMENT =
  `\\{[ \\t]*[${WORD}]+[ \\t]*,[ \\t]*(?:date|duration|number|ordinal|spellout|time)[ \\t]*(?:,[^{}\\n]*)?\\}`;
const BRACES = `${FILTERED}|${NESTED}|${ICU_ARGUMENT}|[$%#]?\\{\\{?[^{}${WHITE}]*\\}?\\}|\\$t?\\([A-Za-z_][${WORD}.:\\-]*\\)`;
const FORMAT_START = "%(?:\\p{Nd}+\\$|\\([" + WORD + "]+\\))?[\\-+#0]{0,4}\\p{Nd}{0,4}(?:\\.\\p{Nd}{1,4})?";
const FORMAT_OF_NUMBER = `${FORMAT_START}(?:hh?|ll?|[jzt])?[diufFeEgGxX](?![${WORD}])(?:%%)?`;
const FORMAT = `${FORMAT_START}[a-zA-Z@](?![${WORD}])(?:%%)?`;
// $name, $name$, %NAME%, __name__, :name or :smile:, @:key, @name, #name.
const VARIABLE = [
  `\\$[A-Za-z_][${WORD}@\\-]*\\$(?![${WORD}])|\\$[A-Za-z_][${WORD}]*|%[A-Z][A-Z0-9_]+%|__[${WORD}]+__|(?<![${WORD}:/]):[a-z_][${WORD}]+:?`,
  `@(?:\\.[a-z]+)?:(?:[${WORD}]+(?:\\.[${WORD}]+)*|\\{'[^'{}\\n]*'\\})`,
  `(?<![${WORD}@.])@[A-Za-z_][${WORD}]*|(?<![${WORD}&#])#[A-Za-z_][${WORD}]*`,
].join("|");
// Names of sites without http://, and of files.
const DOMAIN =
  `(?<![${WORD}.@\\-])(?:[A-Za-z0-9\\-]+\\.)*[A-Za-z0-9\\-]{2,}\\.(?:com|org|net|edu|gov|io|dev|de|ch|uk|fr|eu)(?![${WORD}\\-])`;
const ENDINGS = "pdf txt html htm jpeg jpg png gif svg docx doc xlsx xls csv json xml zip mp3 mp4 py js exe".split(" ");
const FILE = `(?<![${WORD}.\\-])[${WORD}\\-]+\\.(?:${ENDINGS.map(inAnyCase).join("|")})(?![${WORD}])`;
// Such as v1.2.3-beta.
const VERSION = `(?<![${WORD}.\\-])[vV]\\p{Nd}+(?:\\.\\p{Nd}+)+(?:-[${WORD}.\\-]*[${WORD}])?(?![${WORD}]|\\.\\p{Nd})`;
const PHONE =
  `\\+\\p{Nd}[\\p{Nd} ()/.\\-]{5,20}\\p{Nd}(?![${WORD}])` +
  `|(?<![${WORD}.,/\\-])(?:0\\p{Nd}{2,5}[ /\\-]\\p{Nd}{4,15}|\\p{Nd}{3}-\\p{Nd}{4})(?:-\\p{Nd}{1,6})?(?![${WORD}\\-])`;
const DOLLARS = "\\$\\p{Nd}(?![\\p{Nd}.,]*\\p{Nd})"; // a placeholder or an amount of money
// Arrows, mathematical, technical and geometric signs, dingbats and emoji, with what selects and joins their forms.
const SIGNS = "©®±×÷†‡‰′″™\\u2190-\\u23ff\\u2500-\\u27bf\\u2900-\\u297f\\u2b00-\\u2bff\\u{1f000}-\\u{1faff}";
const SYMBOLS = `(?:[${SIGNS}][\\ufe0e\\ufe0f\\u200d\\u{e0020}-\\u{e007f}]*)+`;
// Smileys such as :-) that stand apart.
const SMILEY = `(?<![^${WHITE}])(?:[:;=]['’]?-?[()DPp|*]|[xX]D|<3|\\^_?\\^)(?=$|[${WHITE}.,!?])`;
const NUMBER =
  "\\p{Nd}{1,3}(?:[ \\u00a0\\u202f]\\p{Nd}{3})+(?:[.,]\\p{Nd}+)?(?!\\p{Nd})|\\p{Nd}+(?:[.,:'’]\\p{Nd}+)*";
// Amounts of money, but not dollars, which languages write as words more often.
const CURRENCIES = "£¥\\u20a0-\\u20c0";
const GAP = "[ \\u00a0\\u202f]?";
// "5 Millionen €" has a word between, so "€5 million" is left to the model, too.
const LARGE_NAMES = ["mi", "bi", "tr", "ml", "mrd", "bn", "thou", "taus"].map(inAnyCase).join("|");
const LARGE = `${GAP}(?:${LARGE_NAMES}|[kKmM](?![${WORD}])|тыс|млн|млрд)`;
const SIGN_FIRST = `[${CURRENCIES}]${GAP}(?:${NUMBER})`;
const AMOUNT = `(?:${SIGN_FIRST}|(?:${NUMBER})${GAP}[${CURRENCIES}](?!${GAP}\\p{Nd}))(?!${LARGE})(?!\\p{Nd}|[.,:'’]\\p{Nd})`;
const DIGIT_BEFORE = new RegExp(`\\p{Nd}[${WHITE}]?$`, "u");
const DIGIT_AFTER = new RegExp(`^[${WHITE}]?\\p{Nd}`, "u");
const REPLACEABLE = [URL, EMAIL, DOMAIN, FILE, BRACES, `(?<ofNumber>${FORMAT_OF_NUMBER}|${PHONE}|${VERSION})`, FORMAT, VARIABLE].join("|");
const NUMBERS = `(?<amount>${AMOUNT})|(?<dollars>${DOLLARS})|(?<number>${NUMBER})`;
const PROTECTED = new RegExp(`(?<replaceable>${REPLACEABLE})|${SMILEY}|${TAG}|${SYMBOLS}|${NUMBERS}`, "gu");
export const AMOUNT_SIGN = new RegExp(`[${CURRENCIES}]`, "gu");
const SPELLED_OUT = 12;
const LONGEST_WORD_OF_TIME = 18; // characters
const LONGEST_NAME = 20; // characters
const MARKS = new RegExp(`[\\p{Nd}@%{$</#${SIGNS}]|[wW]{3}\\.|[${WORD}]\\.[A-Za-z]|:[a-z_]|__|[:;=]['’]?-?[()DPp|*]|[xX]D|\\^`, "u");
const PUNCTUATION = /(?!_)[\p{P}\p{S}]/u;
const SUFFIX = new RegExp(`['’][${WORD}]+`, "uy"); // such as the 's of a genitive
const LETTER = /\p{L}|[\p{Nl}\p{No}]/u;

/** Whether a text has letters outside its URLs, e-mail addresses, tags and placeholders. */
export function hasWords(text: string): boolean {
  return LETTER.test(MARKS.test(text) ? text.replace(PROTECTED, " ") : text);
}

/** Start and end of the protected parts of a text that are no numbers, with punctuation and suffixes. */
export function protectedSpans(text: string): [number, number][] {
  const parts = protectedParts(text);
  let last = 0;
  return parts.map((part, index) => {
    let start = part.start;
    let end = start + part.text.length;
    const next = parts[index + 1]?.start ?? text.length;
    while (start > last && isPunctuation(characterBefore(text, start))) start -= characterBefore(text, start).length;
    while (end < next && isPunctuation(characterAt(text, end))) {
      SUFFIX.lastIndex = end;
      const [suffix] = SUFFIX.exec(text.slice(0, next)) ?? [characterAt(text, end)];
      end += suffix.length;
    }
    last = end;
    return [start, end];
  });
}

/**
 * Whether a number is rarely written as words. Round and small numbers, such as 5,000 and 6, may be written so, but not as 500
 * and 60. Times of day, and what else could be none, are "none".
 */
export type Exactness = "exact" | "round" | "none";

/** A protected part of a text. */
export interface Part {
  readonly text: string;
  readonly start: number;
  readonly kind: "amount" | "dollars" | "number" | "other";
  /** Whether it is a number, but no version or address, or may be an amount of dollars. */
  readonly mayBeNumber: boolean;
  readonly exactness: Exactness;
  /** Whether it is a number, a telephone number, a version, or a placeholder of a number. */
  readonly isOfNumber: boolean;
  /** Whether it is a number or an amount that the target language may write in another way, unlike "Python 3.8". */
  readonly isNumber: boolean;
  /** Whether it is surely a time of day, in English or German. */
  readonly isTime: boolean;
  /** The digits of a time in the afternoon as it is counted to 24. */
  readonly in24Hours: string[];
  /** Whether a word can stand in for it: a URL or a placeholder, or an exact number. */
  readonly isReplaceable: boolean;
  /** Whether it is a number or an amount that stands apart from letters and other numbers. */
  readonly isApart: boolean;
}

/** The protected parts of a text that are surely no numbers. */
export function protectedParts(text: string): Part[] {
  return allParts(text).filter(({ mayBeNumber }) => !mayBeNumber);
}

/** Those of some words of a text, in order, that are in none of its protected parts; numbers are no such. */
export function unprotected<Word extends { readonly start: number; readonly end: number }>(text: string, words: readonly Word[]): Word[] {
  if (words.length === 0) return [];
  const kept = protectedParts(text);
  const endOf = ({ start, text: part }: Part): number => start + part.length;
  let next = 0;
  return words.filter(({ start, end }) => {
    while (next < kept.length && endOf(kept[next] as Part) <= start) ++next;
    return next === kept.length || end <= (kept[next] as Part).start;
  });
}

/**
 * The parts of a text for which a word can stand in: URLs, placeholders, and exact numbers and amounts apart from letters.
 *
 * @param written the format of the text's numbers; undefined: of numbers with separators, only amounts and versions are taken.
 */
export function replaceableParts(text: string, written: NumberFormat | undefined): Part[] {
  return allParts(text, written).filter(({ isReplaceable }) => isReplaceable);
}

/** The protected parts of a text, whose numbers have a format. */
export function allParts(text: string, written?: NumberFormat): Part[] {
  if (!MARKS.test(text)) return [];
  return [...text.matchAll(PROTECTED)].map(({ 0: found, index: start, groups }) => {
    const kind: Part["kind"] = (["amount", "dollars", "number"] as const).find((each) => groups?.[each] !== undefined) ?? "other";
    const mayBeNumber = kind !== "other" && !(kind === "number" && isVersion(found));
    const part = { text: found, start, kind, mayBeNumber, isTime: isTime(text, found, start) };
    const exactness = exactnessOf(part, written);
    const isApart = exactness !== "none" && standsApart(text, part);
    return {
      ...part,
      exactness,
      isApart,
      in24Hours: digitsIn24Hours(found, text.slice(start + found.length)),
      isOfNumber: kind !== "other" || groups?.["ofNumber"] !== undefined,
      isNumber: kind !== "other" && !followsName(found, textBefore(text, start)),
      isReplaceable: groups?.["replaceable"] !== undefined || (exactness === "exact" && isApart),
    };
  });
}

/** The text before a place, long enough for a name. */
export function textBefore(text: string, place: number): string {
  return text.slice(Math.max(place - LONGEST_NAME, 0), place);
}

function isTime(text: string, number: string, start: number): boolean {
  const end = start + number.length;
  const before = text.slice(Math.max(start - LONGEST_WORD_OF_TIME, 0), start);
  return isSurelyTime(number, before, text.slice(end, end + LONGEST_WORD_OF_TIME));
}

function exactnessOf(part: Pick<Part, "text" | "kind" | "isTime">, written: NumberFormat | undefined): Exactness {
  if (part.kind === "amount") return "exact";
  if (part.kind !== "number") return "none";
  const isWhole = /^\p{Nd}+$/u.test(part.text);
  const number = isWhole ? { whole: part.text, decimals: "", inGroups: false } : written && readNumber(part.text, written);
  if (number === undefined) return isVersion(part.text) ? "exact" : written && part.text.includes(" ") ? "round" : "none";
  if (part.isTime) return "none";
  return isExact(number) ? "exact" : "round";
}

/** Whether a part is a number up to 12, or an amount of it, which many languages write as words. */
export function isOftenSpelledOut(part: string): boolean {
  const number = part.replace(AMOUNT_SIGN, "").trim();
  return /^\p{Nd}{1,2}$/u.test(number) && readInteger(number) <= SPELLED_OUT;
}

/** Whether a number or an amount stands apart from letters and other numbers. */
export function standsApart(text: string, { text: number, start, kind }: Pick<Part, "text" | "start" | "kind">): boolean {
  const end = start + number.length;
  const before = start > 0 ? characterBefore(text, start) : "";
  const around = before + (end < text.length ? characterAt(text, end) : "");
  if (/\p{L}/u.test(around)) return false;
  if (kind === "amount" || number.includes(" "))
    return !DIGIT_BEFORE.test(text.slice(Math.max(start - 4, 0), start)) && !DIGIT_AFTER.test(text.slice(end, end + 4));
  // A year such as '85 has no century.
  return !/[\-/]/.test(around) && before !== "'" && before !== "’";
}

function isPunctuation(character: string): boolean {
  return PUNCTUATION.test(character);
}

function characterAt(text: string, place: number): string {
  return String.fromCodePoint(text.codePointAt(place) as number);
}

function characterBefore(text: string, place: number): string {
  const pair = characterAt(text, Math.max(place - 2, 0));
  return pair.length === 2 && place >= 2 ? pair : (text[place - 1] as string);
}
