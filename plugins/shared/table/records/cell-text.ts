import { CellUnquoter, needsUnquoting } from "./record-scanner.js";

/** The positions of the cells of a record, from the scanner or a copy. */
export type CellPositions = { readonly [K in "starts" | "ends" | "marks"]: ArrayLike<number> };

const unquoter = new CellUnquoter();

/** The text of a cell without its quotes. */
export function readCellText(bytes: Buffer, record: CellPositions, c: number): string {
  const from = record.starts[c]!;
  const to = record.ends[c]!;
  const mark = record.marks[c]!;
  if (!needsUnquoting(mark)) return bytes.toString("utf8", from, to);
  unquoter.unquote(bytes, from, to, mark);
  return Buffer.from(unquoter.bytes.buffer, unquoter.bytes.byteOffset, unquoter.length).toString("utf8");
}
