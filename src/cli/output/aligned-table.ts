/** Tables with aligned columns that fit a width. */

export interface TableColumn {
  readonly title: string;
  readonly align: "left" | "right";
  /** Cells, safe to print. */
  readonly cells: readonly string[];
  /** Whether its cells may be cut; numbers are not. */
  readonly isCut: boolean;
}

/** Widths to which columns are cut at most. */
const minCutWidth = 8;
const gap = 2;

/** Number of characters; one of several UTF-16 units counts once. */
const widthOf = (text: string): number => [...text].length;

/** The text, or its beginning with an ellipsis. */
export function cutText(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join("")}…`;
}

function pad(text: string, width: number, align: TableColumn["align"]): string {
  const cut = cutText(text, width);
  const blanks = " ".repeat(Math.max(0, width - widthOf(cut)));
  return align === "left" ? cut + blanks : blanks + cut;
}

export interface AlignedTable {
  readonly lines: readonly string[];
  /** Columns at the end that did not fit. */
  readonly left: number;
}

/** The wide columns are cut first, equally; then columns at the end are left out. At least one column stays. */
export function alignTable(columns: readonly TableColumn[], width: number): AlignedTable {
  const natural = columns.map(({ title, cells }) =>
    cells.reduce((most, cell) => Math.max(most, widthOf(cell)), widthOf(title)),
  );
  const least = columns.map(({ isCut }, c) => (isCut ? Math.min(natural[c]!, minCutWidth) : natural[c]!));
  let shown = 1;
  for (let total = least[0]! + gap + (least[1] ?? 0); shown < columns.length && total <= width; shown++)
    total += gap + (least[shown + 1] ?? 0);
  const widths = fitWidths(natural.slice(0, shown), least, width);
  const row = (cell: (column: TableColumn) => string): string =>
    columns
      .slice(0, shown)
      .map((column, c) => pad(cell(column), widths[c]!, column.align))
      .join(" ".repeat(gap))
      .trimEnd();
  const count = columns[0]?.cells.length ?? 0;
  const lines = [row(({ title }) => title)];
  for (let r = 0; r < count; r++) lines.push(row(({ cells }) => cells[r]!));
  return { lines, left: columns.length - shown };
}

function fitWidths(natural: readonly number[], least: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, one) => sum + one, gap * (widths.length - 1));
  while (total() > width) {
    const widest = widths.reduce((at, one, c) => {
      const isWider = one > least[c]! && (at < 0 || one > widths[at]!);
      return isWider ? c : at;
    }, -1);
    if (widest < 0) break;
    widths[widest]!--;
  }
  return widths;
}
