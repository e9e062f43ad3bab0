import type { Split } from "../../../src/model/index.js";
import type { SourceFile } from "../../../src/plugin/format.js";

export const recordSeparator = 0x1e;
const lineFeed = 10;

/** A range of whole features. */
export interface FeatureSplit extends Split {
  readonly start: number;
  readonly end: number;
  /** Elements of an array between commas, consecutive values, or texts ended by this byte. */
  readonly form: "array" | "values" | "lines" | "records";
  /** Whether it starts with a feature rather than with the comma before one. */
  readonly opens: boolean;
}

export function createFeatureSplit(
  start: number,
  end: number,
  form: FeatureSplit["form"],
  opens: boolean,
): FeatureSplit {
  return { start, end, bytes: end - start, form, opens };
}

/** The splits of a file whose values, from `first` on, are ended by line feeds or opened by record separators (RFC 8142). */
export async function* splitTexts(
  file: SourceFile,
  first: number,
  splitSize: number,
  form: "lines" | "records",
): AsyncGenerator<FeatureSplit> {
  let start = first;
  while (start < file.size) {
    let from = start + splitSize;
    let end = -1;
    while (end < 0) {
      const block = await file.read(from, 1 << 16);
      const found = block.indexOf(form === "lines" ? lineFeed : recordSeparator);
      if (block.length === 0) end = file.size;
      else if (found >= 0) end = from + found + (form === "lines" ? 1 : 0);
      from += block.length;
    }
    yield createFeatureSplit(start, end, form, true);
    start = end;
  }
}
