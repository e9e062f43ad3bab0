/** Counts the types of columns whose values, none of them text, have no common type. */
import type { Notices } from "../header/first-record.js";
import { CellTypeFlag } from "./classify-cell.js";

/** Values that a notice needs at least. */
const minValues = 10;
/** Longest cell that a notice names, in bytes. */
const maxExampleBytes = 40;

/** In the order of `familyOf`. */
const familyWords = ["numbers", "true or false", "dates", "times", "dates with times"] as const;

/** Which types have a common one. Text is no family. */
function familyOf(flags: number): number {
  if ((flags & CellTypeFlag.datetime) !== 0) return 4;
  if ((flags & CellTypeFlag.time) !== 0) return 3;
  if ((flags & CellTypeFlag.date) !== 0) return 2;
  return (flags & CellTypeFlag.boolean) !== 0 ? 1 : 0;
}

/** A cell; `line` is in the scanned records, from 1. */
interface Cell {
  readonly line: number;
  readonly text: string;
}

/** A column of several types. */
interface Mixture {
  /** The family of its first values. */
  readonly initial: number;
  /** Values of each family. */
  readonly counts: number[];
  /** The first cell of another family. */
  readonly change: Cell;
}

/** What was found, by column, as plain data. */
export interface MixedTypesState {
  readonly mixtures: ReadonlyMap<number, Mixture>;
  /** The first cell of each column. */
  readonly first: ReadonlyMap<number, Cell>;
}

/** What is known of the columns of a part of a file. */
interface ColumnFacts {
  readonly flags: Uint32Array;
  /** Values that are not blank. */
  readonly values: Uint32Array;
}

const unmixed = (flags: number, values: number, change: Cell): Mixture => ({
  initial: familyOf(flags),
  counts: familyWords.map((_, family) => (family === familyOf(flags) ? values : 0)),
  change,
});

export class MixedTypes {
  private readonly mixtures = new Map<number, Mixture>();
  private readonly first = new Map<number, Cell>();
  /** 1 for columns whose values `add` must get, all of them. */
  readonly isMixed: Uint8Array;

  constructor(columns: number) {
    this.isMixed = new Uint8Array(columns);
  }

  get state(): MixedTypesState {
    const { mixtures, first } = this;
    return { mixtures, first };
  }

  /**
   * Adds a value that is not text, of a column that is mixed or has no flags like this yet.
   * @param known flags of the values before it; `values` is their number
   */
  add(c: number, known: number, flag: number, values: number, cell: () => Cell): void {
    let mixture = this.mixtures.get(c);
    if (!mixture) {
      if (known === 0 && flag !== 0) this.first.set(c, cell());
      if (known === 0 || flag === 0 || familyOf(known) === familyOf(flag)) return;
      mixture = unmixed(known, values, cell());
      this.set(c, mixture);
    }
    if (flag !== 0) mixture.counts[familyOf(flag)]!++;
  }

  /** Merges the state of the part that follows, before its other facts are merged. @param lines lines before that part */
  merge(next: MixedTypesState, own: ColumnFacts, others: ColumnFacts, lines: number): void {
    const moved = (cell: Cell): Cell => ({ ...cell, line: lines + cell.line });
    for (const [c, cell] of next.first) {
      const [flags, more] = [own.flags[c]!, others.flags[c]!];
      const [before, after] = [this.mixtures.get(c), next.mixtures.get(c)];
      if (!this.first.has(c)) {
        this.first.set(c, moved(cell));
        if (after) this.set(c, { ...after, change: moved(after.change) });
        continue;
      }
      if (!before && !after && familyOf(flags) === familyOf(more)) continue;
      const one = before ?? unmixed(flags, own.values[c]!, cell);
      const two = after ?? unmixed(more, others.values[c]!, cell);
      const counts = one.counts.map((count, family) => count + two.counts[family]!);
      const change = before?.change ?? moved(one.initial === two.initial ? two.change : cell);
      this.set(c, { initial: one.initial, counts, change });
    }
  }

  private set(c: number, mixture: Mixture): void {
    this.mixtures.set(c, mixture);
    this.isMixed[c] = 1;
  }

  /** The notice about a column that is text since its types differ; null if less than half of the values have one type. */
  noticeOf(c: number, name: string, linesBefore: number): Notices[number] | null {
    const mixture = this.mixtures.get(c);
    if (!mixture) return null;
    const { counts, change } = mixture;
    const total = counts.reduce((sum, count) => sum + count, 0);
    const [most, ...rest] = counts
      .map((count, family) => ({ count, family }))
      .filter(({ count }) => count > 0)
      .toSorted((a, b) => b.count - a.count);
    if (!most || rest.length === 0 || total < minValues || 2 * most.count < total) return null;
    const others = rest.map(({ count, family }) => `${count} are ${familyWords[family]}`).join(", ");
    const place = `, which first differ with ${JSON.stringify(change.text)} in line ${linesBefore + change.line}`;
    const example = `${most.count} of ${total} values are ${familyWords[most.family]} and ${others}${place}, so the column is text; write them all the same way in the file`;
    return ["column-as-text", name, example, total - most.count];
  }
}

/** The text of a cell for a notice. */
export const describeCell = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, maxExampleBytes))
    .toString("utf8")
    .trim();
