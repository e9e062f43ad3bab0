/** Parses the features of a part of a file. */
import { isUtf8 } from "node:buffer";
import { parseExactly } from "../../../src/model/index.js";
import { StructureScanner } from "./structure-scanner.js";

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
