/** JSON of model files, and checks of its values. */
import { ModelFileError } from "../errors.js";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses an object from text or UTF-8; throws ModelFileError, naming it by `what`. */
export function parseObject(given: string | Uint8Array, what: string): JsonObject {
  let value: Json;
  try {
    const text = typeof given === "string" ? given : new TextDecoder("utf-8", { fatal: true }).decode(given);
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new ModelFileError(`${what} is not valid JSON: ${String(error).slice(0, 200)}`);
  }
  if (!isObject(value)) throw new ModelFileError(`${what} is not a JSON object`);
  return value;
}

/** Returns a member that must be an object. */
export function objectMember(value: JsonObject, name: string, where: string): JsonObject {
  const member = value[name];
  if (!isObject(member)) throw new ModelFileError(`${where}: ${name} is missing or not an object`);
  return member;
}

/** Returns a member that must be a list. */
export function listMember(value: JsonObject, name: string, where: string): Json[] {
  const member = value[name];
  if (!Array.isArray(member)) throw new ModelFileError(`${where}: ${name} is missing or not a list`);
  return member;
}

/** Returns a member that must be a text. */
export function textMember(value: JsonObject, name: string, where: string): string {
  const member = value[name];
  if (typeof member !== "string") throw new ModelFileError(`${where}: ${name} is missing or not a string`);
  return member;
}

/** Returns a member that must be a whole number within bounds. */
export function wholeMember(value: JsonObject, name: string, where: string, lowest: number, highest: number): number {
  const member = value[name];
  if (typeof member !== "number" || !Number.isInteger(member) || member < lowest || member > highest)
    throw new ModelFileError(`${where}: ${name} is not a whole number from ${lowest} to ${highest}`);
  return member;
}

/** Returns a value that must be an object of texts. */
export function textsOf(value: Json | undefined, where: string): Record<string, string> {
  if (!isObject(value) || !Object.values(value).every((each) => typeof each === "string"))
    throw new ModelFileError(`${where} is not an object of strings`);
  return value as Record<string, string>;
}
