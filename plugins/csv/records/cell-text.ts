import { CellMark, CellUnquoter } from "./record-scanner.js";

/** Where the cells of a record stand: as the scanner has them, or what is kept of it. */
export type CellPositions = { readonly [K in "starts" | "ends" | "marks"]: ArrayLike<number> };

const unquoter = new CellUnquoter();

/** What a cell of a record says, without its quotes. */
export function readCellText(bytes: Buffer, record: CellPositions, c: number): string {
  const [from, to, mark] = [record.starts[c]!, record.ends[c]!, record.marks[c]!];
  if (mark <= CellMark.quoted) return bytes.toString("utf8", from, to);
  unquoter.unquote(bytes, from, to, mark);
  return Buffer.from(unquoter.bytes.subarray(0, unquoter.length)).toString("utf8");
}
