/** Protected parts of a source text that its translation lacks. */
import { inAnyCase } from "../text/unicode.js";
import { type NumberFormat, type NumberFormats, readNumber, timeOfDay, valueOf } from "./numbers.js";
import { AMOUNT_SIGN, type Part, allParts } from "./protected.js";

const CURRENCY_NAMES = ["eur", "pound", "pfund", "libra", "livre", "sterlin", "yen", "jen", "rupee", "rupi"].map(inAnyCase).join("|");
const CURRENCY_NAME = new RegExp(`${CURRENCY_NAMES}|евро|фунт|иен|рупи|руб|ευρώ|円|元|유로|ユーロ`, "u");
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
 * Whether a translation lacks a protected part of its source. A part that occurs twice is needed twice.
 *
 * A number needs its value, in the format of the target language; without `formats`, or where a number is not in the format of
 * its language, its digits are enough.
 *
 * @param numbers whether numbers are looked at: exact ones, which are rarely written as words, amounts with a sign but that of
 * dollars, and, if the translation has a number that the source lacks, round ones in groups of three digits.
 */
export function losesParts(source: string, translation: string, numbers: boolean, formats: NumberFormats | undefined): boolean {
  if (source === translation) return false;
  const needed = allParts(source, formats?.source);
  if (needed.length === 0) return false;
  const signs = numbers && !CURRENCY_NAME.test(translation);
  const found = new Found(allParts(translation), formats?.target, signs);
  const missing = needed.filter((part) => !found.take(formsNeeded(part, formats?.source, signs)));
  const kept = found.hasNumbersLeft() ? ["exact", "round"] : ["exact"];
  return missing.some(
    (part) => !part.mayBeNumber || (numbers && kept.includes(part.exactness) && (signs || !isOftenSpelledOut(part.text))),
  );
}

function formsNeeded(part: Part, written: NumberFormat | undefined, signs: boolean): string[] {
  if (!isNumber(part)) return [part.text];
  const [sign, number] = signAndNumber(part, signs);
  const read = written && readNumber(number, written);
  if (read === undefined) return [sign + digits(number)];
  return [`${sign}=${valueOf(read)}`, ...timeForms(sign, number)];
}

function formsFound(part: Part, written: NumberFormat | undefined, signs: boolean): string[] {
  if (!isNumber(part)) return [part.text];
  const [sign, number] = signAndNumber(part, signs);
  const read = written && readNumber(number, written);
  return [...(read === undefined ? [] : [`${sign}=${valueOf(read)}`]), sign + digits(number), ...timeForms(sign, number)];
}

function isNumber({ kind }: Part): boolean {
  return kind === "amount" || kind === "number";
}

function timeForms(sign: string, number: string): string[] {
  const time = timeOfDay(number);
  return time === "" ? [] : [`${sign}time ${time}`];
}

/** The sign of an amount if it is compared, and the number; then cents of 00 are left out. */
function signAndNumber({ text, kind }: Part, signs: boolean): [string, string] {
  if (kind !== "amount") return ["", text];
  const number = text.replace(AMOUNT_SIGN, "").trim();
  return signs ? [(text.match(AMOUNT_SIGN) ?? []).join(""), number.replace(ZEROS, "")] : ["", number];
}

function digits(number: string): string {
  return number.replace(/\P{Nd}/gu, "");
}

function isOftenSpelledOut(part: string): boolean {
  return /^(?:0?\p{Nd}|1[0-2])$/u.test(part.replace(AMOUNT_SIGN, "").trim());
}
