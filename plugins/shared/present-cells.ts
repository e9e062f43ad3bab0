import { type Column, Presence } from "../../src/model/index.js";

/** The minimum number of columns for which the index is built. */
const minColumnsForIndex = 256;

/** The columns in which each row has a value or null: those of row i are `columns[starts[i] … starts[i + 1]]`. */
export interface PresentCells {
  readonly starts: Uint32Array;
  readonly columns: Uint32Array;
}

/**
 * Indexes the cells that are not absent if there are many columns; null otherwise, when each row checks all columns.
 */
export function indexPresentCells(columns: readonly Column[], rows: number): PresentCells | null {
  if (columns.length < minColumnsForIndex) return null;
  const starts = new Uint32Array(rows + 1);
  for (const { presence } of columns)
    for (let row = 0; row < rows; row++) if (presence[row] !== Presence.absent) starts[row + 1]!++;
  for (let row = 0; row < rows; row++) starts[row + 1]! += starts[row]!;
  const found = new Uint32Array(starts[rows]!);
  const next = starts.slice();
  for (let c = 0; c < columns.length; c++) {
    const { presence } = columns[c]!;
    for (let row = 0; row < rows; row++) if (presence[row] !== Presence.absent) found[next[row]!++] = c;
  }
  return { starts, columns: found };
}

/** The indexes of the columns that any row has. Absent columns may share one object, which is checked once. */
export function presentColumns(columns: readonly Column[]): number[] {
  const within: number[] = [];
  const absent = new Set<Column>();
  let last: Column | null = null;
  for (let c = 0; c < columns.length; c++) {
    const column = columns[c]!;
    if (column === last || absent.has(column)) continue;
    if (isAbsent(column)) {
      absent.add(column);
      last = column;
    } else within.push(c);
  }
  return within;
}

function isAbsent({ presence }: Column): boolean {
  for (let row = 0; row < presence.length; row++) if (presence[row] !== Presence.absent) return false;
  return true;
}
