/** Pairs the features that were written with those that were read back. */
import { cancelEqual, type RowSet } from "../../canonical/cancel-equal.js";
import { digestBytes } from "../../canonical/digest-file.js";
import type { ProofRowEncoder } from "./proof-row.js";
import type { ProofSide } from "./proof-side.js";

/** Rows count from 0; null if the other side has no counterpart. */
export type PairOfRows = readonly [written: number | null, read: number | null];

/** Rows that are looked at for a pair with the same geometry or attributes; others are paired in their order. */
const maxMatchedRows = 100_000;

/** Whether both sides are equal in order, and if not, whether they have the same features in another order. */
export interface DigestComparison {
  readonly isEqual: boolean;
  /** Rows in the same place that differ. */
  readonly differing: number;
}

/** Compares digests row by row. @param onDifferent called with each row of which the digests differ */
export function compareInOrder(
  written: ProofSide,
  read: ProofSide,
  onDifferent: (row: number) => void = () => {},
): DigestComparison {
  let differing = 0;
  const others = read.digests.digestBlocks();
  const rows = Math.min(written.rows, read.rows);
  for (const { firstRow, digests } of written.digests.digestBlocks()) {
    const other = others.next().value;
    if (!other) break;
    const length = Math.min(digests.length, (rows - firstRow) * digestBytes);
    if (digests.compare(other.digests, 0, length, 0, length) === 0) continue;
    for (let at = 0; at < length; at += digestBytes) {
      if (digests.compare(other.digests, at, at + digestBytes, at, at + digestBytes) === 0) continue;
      differing++;
      onDifferent(firstRow + at / digestBytes);
    }
  }
  return { isEqual: differing === 0 && written.rows === read.rows, differing };
}

function rowsOf(set: RowSet, rows: number): number[] {
  const found: number[] = [];
  if (set.size > 0) for (let row = 0; row < rows; row++) if (set.has(row)) found.push(row);
  return found;
}

/**
 * Pairs the features that only one side has, by equal geometries, then by equal attributes, then in order.
 * @returns no pairs if both sides have the same features in any order
 */
export function pairUnequal(written: ProofSide, read: ProofSide, encoder: ProofRowEncoder): PairOfRows[] {
  const remainders = cancelEqual(written.digests, read.digests);
  let left = rowsOf(remainders.old, written.rows);
  let right = rowsOf(remainders.new, read.rows);
  const pairs: PairOfRows[] = [];
  for (const part of ["geometry", "attributes"] as const) {
    if (left.length > maxMatchedRows || right.length > maxMatchedRows) break;
    const keyOf = (side: ProofSide, at: number): string => {
      const { batch, row } = side.rowAt(at);
      return encoder[part](batch, row).toString("latin1");
    };
    const candidates = new Map<string, number[]>();
    for (const row of right) {
      const key = keyOf(read, row);
      candidates.set(key, [...(candidates.get(key) ?? []), row]);
    }
    const taken = new Set<number>();
    left = left.filter((row) => {
      const other = candidates.get(keyOf(written, row))?.shift();
      if (other === undefined) return true;
      taken.add(other);
      pairs.push([row, other]);
      return false;
    });
    right = right.filter((row) => !taken.has(row));
  }
  for (let at = 0; at < Math.max(left.length, right.length); at++) pairs.push([left[at] ?? null, right[at] ?? null]);
  return pairs;
}
