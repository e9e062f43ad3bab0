/** Parses the features of a part of a file. */
import { isUtf8 } from "node:buffer";
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
  return JSON.parse(text.replace(textOrLongInteger, (part) => (part.startsWith('"') ? part : `"${part}"`)));
}

/** @param bytes JSON objects with commas between them */
export function parseFeatures(bytes: Buffer): ParsedFeatures {
  const hasInvalidUtf8 = !isUtf8(bytes);
  try {
    return { values: parseExactly(`[${bytes.toString("utf8")}]`) as unknown[], malformed: [], hasInvalidUtf8 };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ...parseEach(bytes), hasInvalidUtf8 };
  }
}

const opening = '{"features":[';

/** Parses the features one by one, to find those that are malformed. */
function parseEach(bytes: Buffer): Pick<ParsedFeatures, "values" | "malformed"> {
  const scanner = new StructureScanner(0, -opening.length);
  scanner.push(Buffer.from(opening));
  scanner.push(bytes);
  const values: unknown[] = [];
  const malformed: MalformedFeature[] = [];
  for (const { start, end } of scanner.ranges) {
    const text = bytes.toString("utf8", start, end);
    try {
      values.push(parseExactly(text));
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
