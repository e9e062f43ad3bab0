/** Parses values of flags. */
import { createError } from "../../errors.js";
import { type FieldType, fieldTypes } from "../../model/field.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import { listOf } from "./arguments.js";

/** Parses `a=b` pairs. */
export function pairs(option: string, given: readonly string[] | undefined): Record<string, string> | undefined {
  if (!given) return undefined;
  const found = new Map<string, string>();
  for (const pair of given) {
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (at < 1 || value === "")
      throw createError("option-invalid", { option, value: pair, expected: "of the form name=value" });
    if (found.has(name))
      throw createError("option-invalid", { option, value: pair, expected: `the only one for ${name}` });
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

/** @throws option-invalid */
export function oneOf<T extends string>(
  option: string,
  value: string | undefined,
  choices: readonly T[],
  fallback: T,
): T {
  if (value === undefined) return fallback;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw createError("option-invalid", { option, value, expected: `one of ${choices.join(", ")}` });
}

/** @throws option-invalid */
export function parseCasts(given: readonly string[] | undefined): Record<string, FieldType> | undefined {
  const casts = pairs("--cast", listOf(given));
  for (const type of Object.values(casts ?? {})) {
    if (!fieldTypes.includes(type as FieldType))
      throw createError("option-invalid", {
        option: "--cast",
        value: type,
        expected: `one of ${fieldTypes.join(", ")}`,
      });
  }
  return casts as Record<string, FieldType> | undefined;
}

/** @throws option-invalid */
export function parseBox(text: string | undefined): ConvertRequest["bbox"] {
  if (text === undefined) return undefined;
  const numbers = text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map(Number);
  const [minX, minY, maxX, maxY] = numbers;
  const valid = numbers.length === 4 && numbers.every(Number.isFinite) && minY! <= maxY!;
  if (!valid)
    throw createError("option-invalid", {
      option: "--bbox",
      value: text,
      expected: "four numbers: minX,minY,maxX,maxY (minX > maxX only in degrees)",
    });
  return [minX!, minY!, maxX!, maxY!];
}

/** Numbers are parsed here and not by the argument parser, so that errors show the original text. @throws option-invalid */
export function numberOf(
  option: string,
  text: string | undefined,
  minimum: number,
  whole: boolean,
): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < minimum || (whole && !Number.isInteger(value))) {
    const expected = whole ? `a whole number from ${minimum}` : `a number from ${minimum}`;
    throw createError("option-invalid", { option, value: text, expected });
  }
  return value;
}

export const wholeNumber = (option: string, text: string | undefined, minimum: number): number | undefined =>
  numberOf(option, text, minimum, true);

/** A TCP port; 0 selects a free port. @throws option-invalid */
export function portNumber(option: string, text: string | undefined): number | undefined {
  const port = wholeNumber(option, text, 0);
  if (port !== undefined && port > 65_535)
    throw createError("option-invalid", { option, value: text!, expected: "below 65536" });
  return port;
}
