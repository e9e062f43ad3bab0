import type { SourceFile } from "../../../src/plugin/index.js";
import { type ChunkPlace, ColumnPages, type Page } from "./column-pages.js";
import type { Leaf } from "./schema.js";
import { countValues, joinValues, sliceValues, type Values } from "./values.js";

/** The entries and values of some rows of a leaf column. */
export interface LeafRows {
  readonly rows: number;
  /** Number of levels; `rows` in a column without lists. */
  readonly entries: number;
  /** Null if all entries have values. */
  readonly definitions: Uint8Array | null;
  /** Null in a column without lists. */
  readonly repetitions: Uint8Array | null;
  /** The values of the entries that have one. */
  readonly values: Values;
}

interface Piece {
  readonly page: Page;
  readonly from: number;
  readonly to: number;
  readonly values: Values;
}

/** Reads a column of a row group, a number of rows at a time. */
export class LeafReader {
  private readonly pages: ColumnPages;
  private page: Page | null = null;
  /** The next entry and the next value of the page. */
  private at = 0;
  private valueAt = 0;

  constructor(
    file: SourceFile,
    readonly leaf: Leaf,
    place: ChunkPlace,
  ) {
    this.pages = new ColumnPages(file, leaf, place);
  }

  private async hasEntry(): Promise<boolean> {
    while (!this.page || this.at >= this.page.entries) {
      this.page = await this.pages.next();
      this.at = 0;
      this.valueAt = 0;
      if (!this.page) return false;
    }
    return true;
  }

  /** The rows of the first page, in a column without lists. Does not move. */
  firstPageRows(): Promise<number> {
    return this.pages.firstPageEntries();
  }

  async skip(rows: number): Promise<void> {
    let left = rows;
    if (this.leaf.maxRepetition === 0 && !this.page) left -= await this.pages.skip(rows);
    // A small number at a time, since `take` copies what it returns.
    for (; left > 0; left -= 65536) await this.take(Math.min(left, 65536));
  }

  /** The next `rows` rows. @throws Error if the column ends before */
  async take(rows: number): Promise<LeafRows> {
    const pieces: Piece[] = [];
    let left = rows;
    // A row of lists ends where the next one begins.
    while (left > 0 || this.leaf.maxRepetition > 0) {
      if (!(await this.hasEntry())) break;
      const page = this.page!;
      const from = this.at;
      let to = Math.min(page.entries, from + left);
      if (page.repetitions) {
        to = from;
        for (; to < page.entries; to++) {
          if (page.repetitions[to] !== 0) continue;
          if (left === 0) break;
          left--;
        }
      } else left -= to - from;
      if (to > from) pieces.push(this.piece(page, from, to));
      if (to < page.entries) break;
    }
    if (left > 0) throw new Error(`the column ${this.leaf.path.join(".")} has fewer values than its row group`);
    return joinPieces(rows, pieces, this.leaf);
  }

  private piece(page: Page, from: number, to: number): Piece {
    const { maxDefinition } = this.leaf;
    let count = to - from;
    if (page.definitions) {
      count = 0;
      for (let i = from; i < to; i++) if (page.definitions[i] === maxDefinition) count++;
    }
    const values = sliceValues(page.values, this.valueAt, this.valueAt + count);
    this.valueAt += count;
    this.at = to;
    return { page, from, to, values };
  }
}

function joinPieces(rows: number, pieces: readonly Piece[], leaf: Leaf): LeafRows {
  const entries = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  const hasNulls = pieces.some(({ page }) => page.definitions !== null);
  const definitions = hasNulls ? new Uint8Array(entries).fill(leaf.maxDefinition) : null;
  const repetitions = leaf.maxRepetition > 0 ? new Uint8Array(entries) : null;
  let at = 0;
  for (const { page, from, to } of pieces) {
    if (page.definitions) definitions!.set(page.definitions.subarray(from, to), at);
    if (page.repetitions) repetitions!.set(page.repetitions.subarray(from, to), at);
    at += to - from;
  }
  const filled = pieces.filter(({ values }) => countValues(values) > 0);
  const values = joinValues((filled.length > 0 ? filled : pieces).map((piece) => piece.values));
  return { rows, entries, definitions, repetitions, values };
}
