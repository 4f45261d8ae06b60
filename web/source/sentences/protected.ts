/** Parts of a text that a translation must keep: URLs, e-mail addresses, tags, placeholders and symbols. */
import { WHITE, WORD } from "../text/unicode.js";

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
const TAG = `</?[A-Za-z][A-Za-z0-9_.:\\-]*(?:${ATTRIBUTES})?[${WHITE}]*/?>`;
const BRACES = `\\{\\{[ \\t]*[^{}${WHITE}]+[ \\t]*\\}\\}|\\$?\\{\\{?[^{}${WHITE}]*\\}?\\}|\\$\\([A-Za-z_][${WORD}]*\\)`;
const FORMAT_START = "%(?:\\p{Nd}+\\$|\\([" + WORD + "]+\\))?[\\-+#0]{0,4}\\p{Nd}{0,4}(?:\\.\\p{Nd}{1,4})?";
const FORMAT_OF_NUMBER = `${FORMAT_START}[diufFeEgGxX](?![${WORD}])(?:%%)?`;
const FORMAT = `${FORMAT_START}[a-zA-Z@](?![${WORD}])(?:%%)?`;
const VARIABLE = `\\$[A-Za-z_][${WORD}]*`;
const DOLLARS = "\\$\\p{Nd}(?![\\p{Nd}.,]*\\p{Nd})"; // a placeholder or an amount of money
// Arrows, technical and geometric signs, dingbats and emoji, with what selects and joins their forms.
const SIGNS = "\\u2190-\\u21ff\\u2300-\\u23ff\\u2500-\\u27bf\\u2900-\\u297f\\u2b00-\\u2bff\\u{1f000}-\\u{1faff}";
const SYMBOLS = `(?:[${SIGNS}][\\ufe0e\\ufe0f\\u200d\\u{e0020}-\\u{e007f}]*)+`;
const NUMBER = "\\p{Nd}{1,3}(?:[ \\u00a0\\u202f]\\p{Nd}{3})+(?!\\p{Nd})|\\p{Nd}+(?:[.,:'’]\\p{Nd}+)*";
const REPLACEABLE = [URL, EMAIL, BRACES, `(?<ofNumber>${FORMAT_OF_NUMBER})`, FORMAT, VARIABLE].join("|");
const PROTECTED = new RegExp(`(?<replaceable>${REPLACEABLE})|${TAG}|${SYMBOLS}|(?<number>${DOLLARS}|${NUMBER})`, "gu");
const MARKS = new RegExp(`[\\p{Nd}@%{$</${SIGNS}]|[wW]{3}\\.`, "u");
const PUNCTUATION = /(?!_)[\p{P}\p{S}]/u;
const SUFFIX = new RegExp(`['’][${WORD}]+`, "uy"); // such as the 's of a genitive
const LETTER = /\p{L}|[\p{Nl}\p{No}]/u;

/** Whether a text has letters outside its URLs, e-mail addresses, tags and placeholders. */
export function hasWords(text: string): boolean {
  return LETTER.test(MARKS.test(text) ? text.replace(PROTECTED, " ") : text);
}

/** Whether a translation lacks a protected part of its source. A part that occurs twice is needed twice. */
export function losesParts(source: string, translation: string): boolean {
  const needed = protectedParts(source);
  if (needed.length === 0) return false;
  const found = new Map<string, number>();
  for (const { text } of protectedParts(translation)) found.set(text, (found.get(text) ?? 0) + 1);
  return needed.some(({ text }) => {
    const count = found.get(text) ?? 0;
    found.set(text, count - 1);
    return count <= 0;
  });
}

/** Start and end of the protected parts of a text, with punctuation and suffixes. */
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

/** A protected part of a text. */
export interface Part {
  readonly text: string;
  readonly start: number;
  /** Whether it is a URL, an e-mail address or a placeholder, and not a tag or a symbol. */
  readonly isReplaceable: boolean;
  /** Whether it is a placeholder of a number. */
  readonly isOfNumber: boolean;
}

/** The protected parts of a text. */
export function protectedParts(text: string): Part[] {
  if (!MARKS.test(text)) return [];
  return [...text.matchAll(PROTECTED)]
    .filter(({ groups }) => groups?.["number"] === undefined)
    .map(({ 0: found, index: start, groups }) => ({
      text: found,
      start,
      isReplaceable: groups?.["replaceable"] !== undefined,
      isOfNumber: groups?.["ofNumber"] !== undefined,
    }));
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

function inAnyCase(name: string): string {
  return name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
