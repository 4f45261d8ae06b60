/** Text without words: what is left outside URLs, e-mail addresses, tags, placeholders and numbers. */
import { WHITE, WORD } from "../text/unicode.js";

const URL = `(?:(?:https?|ftp)://|www\\.)[^${WHITE}<>"“”«»]*[^${WHITE}<>"“”«».,;:!?…)\\]}'’。、！？]`;
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
const BRACES = `\\$?\\{\\{?[^{}${WHITE}]*\\}?\\}|\\$\\([A-Za-z_][${WORD}]*\\)`;
const FORMAT = `%(?:\\p{Nd}+\\$|\\([${WORD}]+\\))?[\\-+#0]{0,4}\\p{Nd}{0,4}(?:\\.\\p{Nd}{1,4})?[a-zA-Z@](?![${WORD}])`;
const VARIABLE = `\\$(?:[A-Za-z_][${WORD}]*|\\p{Nd}(?![\\p{Nd}.,]*\\p{Nd}))`;
const NUMBER = "\\p{Nd}{1,3}(?:[ \\u00a0\\u202f]\\p{Nd}{3})+(?!\\p{Nd})|\\p{Nd}+(?:[.,:'’]\\p{Nd}+)*";
const PROTECTED = new RegExp([URL, EMAIL, TAG, BRACES, FORMAT, VARIABLE, NUMBER].join("|"), "gu");
const MARKS = /[\p{Nd}@%{$</]|www\./u;
const LETTER = /\p{L}|[\p{Nl}\p{No}]/u;

/** Whether a text has letters outside its URLs, e-mail addresses, tags and placeholders. */
export function hasWords(text: string): boolean {
  return LETTER.test(MARKS.test(text) ? text.replace(PROTECTED, " ") : text);
}

function inAnyCase(name: string): string {
  return name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
