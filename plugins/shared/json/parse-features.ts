/** Parses the features of a part of a file. */
import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { StructureScanner } from "./structure-scanner.js";

/** Integers that a double does not hold exactly may begin with this many digits. */
const longInteger = /[:[,]\s*-?\d{16,}\s*[,}\]]/;
const textOrLongInteger = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs;

/** A feature that is not valid JSON. */
export interface MalformedFeature {
  /** Its index in the part. */
  readonly index: number;
  /** Its offset in the bytes. */
  readonly offset: number;
  readonly text: string;
  readonly reason: string;
}

export interface ParsedFeatures {
  /** Undefined where a feature is malformed. */
  readonly values: readonly unknown[];
  readonly malformed: readonly MalformedFeature[];
  readonly hasInvalidUtf8: boolean;
}

/** Parses JSON; integers beyond 2^53 become texts, because numbers would round them. @throws SyntaxError */
export function parseExactly(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  return JSON.parse(markIntegers(text, ""));
}

/** Makes a text of each long integer, which begins with a mark. */
const markIntegers = (text: string, mark: string): string =>
  text.replace(textOrLongInteger, (part) => (part.startsWith('"') ? part : `"${mark}${part}"`));

/** Begins no text of a document, since it is another one in each process. */
const integerMark = `${randomUUID()}:`;
const markedInteger = new RegExp(`"${integerMark}(-?\\d+)"`, "g");

/** As `parseExactly`, but integers between 2^53 and 2^63 become bigints. @throws SyntaxError */
export function parseWithBigints(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  return JSON.parse(markIntegers(text, integerMark), (_, value: unknown) =>
    typeof value === "string" && value.startsWith(integerMark) ? toInteger(value.slice(integerMark.length)) : value,
  );
}

/** A number if it is exact, a bigint if it has 64 bits, else the digits as text. */
function toInteger(digits: string): number | bigint | string {
  const value = BigInt(digits);
  if (Number.isSafeInteger(Number(value))) return Number(value);
  return BigInt.asIntN(64, value) === value ? value : digits;
}

/** JSON of a value that may have bigints, which become numbers. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const marked = JSON.stringify(value, (_, each: unknown) =>
      typeof each === "bigint" ? `${integerMark}${each}` : each,
    );
    return marked.replace(markedInteger, "$1");
  }
}

/**
 * @param bytes JSON objects with commas between them
 * @param parse how to parse long integers
 */
export function parseFeatures(bytes: Buffer, parse: (text: string) => unknown = parseExactly): ParsedFeatures {
  const hasInvalidUtf8 = !isUtf8(bytes);
  try {
    return { values: parse(`[${bytes.toString("utf8")}]`) as unknown[], malformed: [], hasInvalidUtf8 };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ...parseEach(bytes, parse), hasInvalidUtf8 };
  }
}

const opening = '{"features":[';

/** Parses the features one by one, to find those that are malformed. */
function parseEach(bytes: Buffer, parse: (text: string) => unknown): Pick<ParsedFeatures, "values" | "malformed"> {
  const scanner = new StructureScanner(0, -opening.length);
  scanner.push(Buffer.from(opening));
  scanner.push(bytes);
  const values: unknown[] = [];
  const malformed: MalformedFeature[] = [];
  for (const { start, end } of scanner.ranges) {
    const text = bytes.toString("utf8", start, end);
    try {
      values.push(parse(text));
    } catch (error) {
      malformed.push({ index: values.length, offset: start, text, reason: describeSyntaxError(error) });
      values.push(undefined);
    }
  }
  return { values, malformed };
}

/** The message of V8 without the text that it quotes, which may be long. */
export const describeSyntaxError = (error: unknown): string =>
  `not valid JSON: ${(error instanceof Error ? error.message : String(error)).replace(/, (\.\.\.)?".*$/s, "").slice(0, 120)}`;
