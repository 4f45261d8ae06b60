/** Protected parts of a source text that its translation lacks. */
import { inAnyCase } from "../text/unicode.js";
import { type NumberFormat, type NumberFormats, isPair, isVersion, readNumber, valueOf } from "./numbers.js";
import { AMOUNT_SIGN, type Part, allParts, isOftenSpelledOut } from "./protected.js";
import { changedRanges } from "./ranges.js";

const CURRENCY_NAMES = ["eur", "pound", "pfund", "libra", "livre", "sterlin", "yen", "jen", "rupee", "rupi"].map(inAnyCase).join("|");
const CURRENCY_NAME = new RegExp(`${CURRENCY_NAMES}|евро|фунт|иен|рупи|руб|ευρώ|円|元|유로|ユーロ`, "u");
const DOLLAR_NAME = /[dD][oóòôöOÓÒÔÖ][lL]+[aáeéoAÁEÉO][rR]|долл|Долл|δολ|Δολ|ドル|美元|달러|\p{Nd}[ \u00a0]?\$/u;
const ZEROS = /[.,]00$/; // of cents

/** The parts of a translation; each can be taken once. */
class Found {
  private readonly byForm = new Map<string, number[]>();
  private readonly taken = new Set<number>();
  private readonly numbers: number[] = [];

  constructor(parts: readonly Part[], written: NumberFormat | undefined, signs: boolean) {
    for (const [index, part] of parts.entries()) {
      for (const form of formsFound(part, written, signs)) {
        const places = this.byForm.get(form);
        if (places === undefined) this.byForm.set(form, [index]);
        else places.push(index);
      }
      if (part.kind === "number") this.numbers.push(index);
    }
  }

  /** Whether there is a part with one of the forms, which is then taken. */
  take(forms: readonly string[]): boolean {
    for (const form of forms) {
      const remaining = this.byForm.get(form) ?? [];
      for (let index = remaining.pop(); index !== undefined; index = remaining.pop()) {
        if (this.taken.has(index)) continue;
        this.taken.add(index);
        return true;
      }
    }
    return false;
  }

  /** Whether there are numbers that were not taken. */
  hasNumbersLeft(): boolean {
    return this.numbers.some((index) => !this.taken.has(index));
  }
}

/**
 * The protected parts of a source that its translation lacks. A part that occurs twice is needed twice.
 *
 * A number needs its value, in the format of the target language; decimals may be written as in the source, and a time in the
 * afternoon counted to 24: 7:14 p.m. is kept by 19:14. Without `formats`, or
 * where a number is not in the format of its language, its digits are enough.
 *
 * @param numbers whether numbers are looked at: exact ones, amounts with a sign but that of dollars, and, if the translation has a
 * number that the source lacks, others that are no times of day, and ranges.
 */
export function lostParts(source: string, translation: string, numbers: boolean, formats: NumberFormats | undefined): Part[] {
  const ranges = numbers ? changedRanges(source, translation) : [];
  const needed = source === translation ? [] : allParts(source, formats?.source);
  if (needed.length === 0) return [];
  const signs = numbers && !CURRENCY_NAME.test(translation);
  const dollars = DOLLAR_NAME.test(translation);
  const found = new Found(allParts(translation), formats?.target, signs);
  const missing = needed.filter((part) => !found.take(formsNeeded(part, formats?.source, signs, dollars)));
  const isChanged = found.hasNumbersLeft();
  const lost = missing.filter((part) => !part.mayBeNumber || (numbers && isLost(part, signs, isChanged)));
  const within = new Set(ranges.flatMap(({ text, start }) => Array.from({ length: text.length }, (_, place) => start + place)));
  return [...lost.filter(({ start }) => !within.has(start)), ...ranges].sort((one, other) => one.start - other.start);
}

/** Whether a translation lacks a protected part of its source; see `lostParts`. */
export function losesParts(source: string, translation: string, numbers: boolean, formats: NumberFormats | undefined): boolean {
  return lostParts(source, translation, numbers, formats).length > 0;
}

/** The numbers that are no exact ones, are changed in a translation, and stand apart, and changed ranges. */
export function lostNumbers(source: string, translation: string, formats: NumberFormats | undefined): Part[] {
  return lostParts(source, translation, true, formats).filter(({ exactness }) => exactness === "round");
}

/** Whether a number that a translation lacks is surely lost; `isChanged`: the translation has another one. */
function isLost({ text, exactness, isApart }: Part, signs: boolean, isChanged: boolean): boolean {
  return (exactness === "exact" && (signs || !isOftenSpelledOut(text))) || (isChanged && isApart);
}

function formsNeeded(part: Part, written: NumberFormat | undefined, signs: boolean, dollars: boolean): string[] {
  if (part.kind === "dollars" && dollars) return [part.text, part.text.slice(1), `=${part.text.slice(1)}`];
  if (!isNumber(part)) return [part.text];
  const [sign, number] = signAndNumber(part, signs);
  const pairs = pairsOf(number, part).map((pair) => `${sign}pair ${pair}`);
  const read = written && readNumber(number, written);
  if (read === undefined) {
    if (written !== undefined && isVersion(number)) return [`${sign}version ${number}`];
    return pairs.length > 0 ? pairs : [sign + digits(number)];
  }
  return [`${sign}=${valueOf(read)}`, ...(read.decimals === "" ? [] : pairs)];
}

function formsFound(part: Part, written: NumberFormat | undefined, signs: boolean): string[] {
  if (!isNumber(part)) return [part.text];
  const [sign, number] = signAndNumber(part, signs);
  const read = written && readNumber(number, written);
  const forms = [digits(number)];
  if (read !== undefined) forms.push(`=${valueOf(read)}`);
  else if (number.includes(" ")) forms.push(`=${digits(number)}`); // Some write spaces between groups in any language.
  forms.push(...pairsOf(number, part).map((pair) => `pair ${pair}`));
  if (isVersion(number)) forms.push(`version ${number}`);
  // A number without a sign may have one in the translation.
  return [...new Set([sign, ""])].flatMap((prefix) => forms.map((form) => prefix + form));
}

function isNumber({ kind }: Part): boolean {
  return kind === "amount" || kind === "number";
}

/** The sign of an amount if it is compared, and the number; then cents of 00 are left out. */
function signAndNumber({ text, kind }: Part, signs: boolean): [string, string] {
  if (kind !== "amount") return ["", text];
  const number = text.replace(AMOUNT_SIGN, "").trim();
  return signs ? [(text.match(AMOUNT_SIGN) ?? []).join(""), number.replace(ZEROS, "")] : ["", number];
}

/** The digits of a number with a sign in it, and those of a time in the afternoon as it is counted to 24. */
function pairsOf(number: string, { in24Hours }: Part): string[] {
  return isPair(number) ? [digits(number), ...in24Hours] : [];
}

function digits(number: string): string {
  return number.replace(/\P{Nd}/gu, "");
}
