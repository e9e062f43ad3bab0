import { CellMark, CellUnquoter } from "./record-scanner.js";

/** The positions of the cells of a record, from the scanner or a copy. */
export type CellPositions = { readonly [K in "starts" | "ends" | "marks"]: ArrayLike<number> };

const unquoter = new CellUnquoter();

/** The text of a cell without its quotes. */
export function readCellText(bytes: Buffer, record: CellPositions, c: number): string {
  const [from, to, mark] = [record.starts[c]!, record.ends[c]!, record.marks[c]!];
  if (mark <= CellMark.quoted) return bytes.toString("utf8", from, to);
  unquoter.unquote(bytes, from, to, mark);
  return Buffer.from(unquoter.bytes.subarray(0, unquoter.length)).toString("utf8");
}
