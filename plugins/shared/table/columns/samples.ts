import type { Head } from "../header/head.js";
import { type CellPositions, readCellText } from "../records/cell-text.js";
import { forEachRecord } from "../records/record-blocks.js";
import type { RecordScanner } from "../records/record-scanner.js";

const maxSamples = 100;

/** The first texts of each column, without blank ones. */
export interface ColumnSamples {
  of(column: number): readonly string[];
}

/**
 * Finds the first cells of all columns. It keeps only their positions: most texts are never read, and would need more
 * memory than the whole head of a wide table.
 */
export function collectSamples(
  { bytes, whole }: Head,
  scanner: RecordScanner,
  columns: number,
  isHeader: boolean,
): ColumnSamples {
  const found = new Uint8Array(columns);
  const records: CellPositions[] = [];
  let skip = isHeader;
  const visit = () => {
    if (skip) {
      skip = false;
      return;
    }
    const { starts, ends, marks, cells } = scanner;
    const width = Math.min(columns, cells);
    let isWanted = false;
    for (let c = 0; c < width; c++) {
      if (found[c]! >= maxSamples || !hasText(bytes, starts[c]!, ends[c]!)) continue;
      found[c]!++;
      isWanted = true;
    }
    if (!isWanted) return;
    records.push({
      starts: Uint32Array.from(starts.subarray(0, width)),
      ends: Uint32Array.from(ends.subarray(0, width)),
      marks: Uint8Array.from(marks.subarray(0, width)),
    });
  };
  forEachRecord(bytes, whole ? "file" : "more", scanner, visit, () => {});
  return {
    of(column) {
      const texts: string[] = [];
      for (let r = 0; r < records.length && texts.length < maxSamples; r++) {
        const places = records[r]!;
        if (column >= places.starts.length || places.starts[column] === places.ends[column]) continue;
        const text = readCellText(bytes, places, column).trim();
        if (text !== "") texts.push(text);
      }
      return texts;
    },
  };
}

function hasText(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i]! > 32) return true;
  return false;
}
