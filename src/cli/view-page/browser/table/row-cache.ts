/** The rows of the table near those in sight. */
import type { TableQuery, TableRow, ViewSource } from "../../../../view/protocol.js";

const rowsOfPage = 100;
const maxPages = 60;

export class RowCache {
  private readonly pages = new Map<number, readonly TableRow[] | null>();
  /** Why the last request failed. */
  error: unknown = null;
  private isCurrent = true;

  constructor(
    private readonly source: ViewSource,
    private readonly layer: number,
    private readonly query: TableQuery,
    private readonly onRows: () => void,
  ) {}

  /** The row at a position; null if it is being loaded. */
  rowAt(position: number): TableRow | null {
    const page = Math.floor(position / rowsOfPage);
    if (!this.pages.has(page)) this.load(page);
    return this.pages.get(page)?.[position - page * rowsOfPage] ?? null;
  }

  private load(page: number): void {
    this.pages.set(page, null);
    if (this.pages.size > maxPages) this.pages.delete(this.pages.keys().next().value!);
    this.source
      .rows(this.layer, this.query, page * rowsOfPage, rowsOfPage)
      .then((rows) => {
        if (this.pages.has(page)) this.pages.set(page, rows);
      })
      .catch((error: unknown) => {
        this.error = error;
      })
      .finally(() => {
        if (this.isCurrent) this.onRows();
      });
  }

  close(): void {
    this.isCurrent = false;
  }
}
