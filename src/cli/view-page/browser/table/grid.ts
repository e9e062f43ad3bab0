/**
 * The table of a layer: a grid (WAI-ARIA 1.2) of which only the rows in sight exist. The grid has the focus, and names the
 * active cell; row 0 is the head.
 */
import type { Field } from "../../../../model/field.js";
import type { TableQuery, TableRow, ViewSource } from "../../../../view/protocol.js";
import { maxTableFields } from "../../../../view/protocol.js";
import { make } from "../dom.js";
import { cellText, columnWidth, isNumeric } from "./cell-text.js";
import { RowCache } from "./row-cache.js";
import { ScrollRange } from "./scroll-range.js";

export interface GridContent {
  readonly layer: number;
  readonly label: string;
  readonly fields: readonly Field[];
  readonly hasIds: boolean;
  readonly query: TableQuery;
  /** Number of rows of the query, and of the layer. */
  readonly rows: number;
  readonly layerRows: number;
}

export interface GridEvents {
  onSelect(row: number): void;
  /** Enter or a double click. */
  onOpen(row: number): void;
  /** @param field index of the field; -1: ids; the order of the source for the third time */
  onSort(field: number): void;
  onError(error: unknown): void;
  /** What a column head shows below the name. */
  summaryOf(field: number): readonly HTMLElement[];
}

const rowHeight = 28;
const extraRows = 4;
/** Pixels of the column with the numbers of rows. */
const numberWidth = (rows: number): number => Math.max(56, Math.round(24 + 8.4 * rows.toLocaleString("en").length));

interface GridColumn {
  /** Index of the field; -1: ids. */
  readonly field: number;
  readonly name: string;
  readonly type: Field["type"] | null;
  readonly width: number;
}

export class Grid {
  private content: GridContent | null = null;
  private cache: RowCache | null = null;
  private range: ScrollRange;
  private columns: readonly GridColumn[] = [];
  private hasMeasured = false;
  private active = { position: 0, column: 0 };
  private selectedRow: number | null = null;
  private readonly body = make("div", { role: "rowgroup", class: "grid-body" });
  private readonly head = make("div", { role: "rowgroup", class: "grid-head" });
  private readonly spacer = make("div", { class: "grid-spacer", "aria-hidden": "true" });
  private isRequested = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly source: ViewSource,
    private readonly events: GridEvents,
  ) {
    element.append(this.head, this.spacer, this.body);
    this.range = this.newRange(0);
    element.addEventListener("scroll", () => this.requestRender());
    element.addEventListener("keydown", this.onKey);
    element.addEventListener("click", this.onClick);
    element.addEventListener("dblclick", () => this.openActive());
    element.addEventListener("wheel", this.onWheel, { passive: false });
    new ResizeObserver(() => this.requestRender()).observe(element);
  }

  private newRange(rows: number): ScrollRange {
    return new ScrollRange(this.element, rowHeight, rows, () => this.head.offsetHeight);
  }

  show(content: GridContent): void {
    const isSameLayer = content.layer === this.content?.layer;
    this.content = content;
    this.cache?.close();
    this.cache = new RowCache(this.source, content.layer, content.query, () => this.requestRender());
    this.range = this.newRange(content.rows);
    if (!isSameLayer) {
      this.hasMeasured = false;
      this.active = { position: 0, column: 0 };
      this.element.scrollLeft = 0;
      this.columns = this.columnsOf(content, []);
    }
    this.active.position = 0;
    this.element.setAttribute("aria-rowcount", String(content.rows + 1));
    this.element.setAttribute("aria-colcount", String(this.columns.length + 1));
    this.element.setAttribute("aria-label", content.label);
    this.spacer.style.height = `${this.range.height}px`;
    this.range.scrollTo(0);
    this.renderHead();
    this.render();
  }

  private columnsOf({ fields, hasIds }: GridContent, samples: readonly TableRow[]): GridColumn[] {
    const ids = samples.map(({ id }) => cellText(id));
    const idWidth = columnWidth({ name: "id", type: "text" }, ids);
    return [
      ...(hasIds ? [{ field: -1, name: "id", type: null, width: Math.min(200, idWidth) }] : []),
      ...fields.slice(0, maxTableFields).map((field, f) => ({
        field: f,
        name: field.name,
        type: field.type,
        width: columnWidth(
          field,
          samples.map(({ cells }) => cellText(cells[f] ?? null)),
        ),
      })),
    ];
  }

  /** Draws the head again, such as when statistics are there. */
  renderHead(): void {
    const { content, columns } = this;
    if (!content) return;
    const { sort } = content.query;
    const row = make("div", { role: "row", class: "grid-row", "aria-rowindex": "1" });
    row.append(make("div", { role: "columnheader", class: "cell number", "aria-colindex": "1", id: "cell-0-0" }, "#"));
    columns.forEach(({ field, name, width }, c) => {
      const isSorted = sort?.field === field;
      const cell = make(
        "div",
        {
          role: "columnheader",
          class: "cell",
          id: `cell-0-${c + 1}`,
          "aria-colindex": c + 2,
          "aria-sort": !isSorted ? "none" : sort.descending ? "descending" : "ascending",
          title: `Sort by ${name}`,
          "data-field": field,
        },
        make("span", { class: "field-name" }, make("bdi", {}, name)),
        ...(field < 0 ? [make("span", { class: "field-type" }, "of the source")] : this.events.summaryOf(field)),
      );
      cell.style.width = `${width}px`;
      row.append(cell);
    });
    this.head.replaceChildren(row);
    const own = numberWidth(content.layerRows);
    this.element.style.setProperty("--number-width", `${own}px`);
    const total = columns.reduce((sum, { width }) => sum + width, own);
    this.head.style.width = `${total}px`;
    this.body.style.width = `${total}px`;
    this.markActive();
  }

  private requestRender(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    requestAnimationFrame(() => {
      this.isRequested = false;
      this.render();
    });
  }

  private render(): void {
    const { content, cache, range } = this;
    if (!content || !cache) return;
    if (cache.error !== null) {
      this.events.onError(cache.error);
      cache.error = null;
    }
    const first = range.first;
    const from = Math.max(0, Math.floor(first) - extraRows);
    const to = Math.min(content.rows, Math.ceil(first) + range.visible + extraRows + 1);
    const rows: HTMLElement[] = [];
    for (let position = from; position < to; position++) rows.push(this.renderRow(position, cache.rowAt(position)));
    this.body.replaceChildren(...rows);
    this.body.style.transform = `translateY(${this.element.scrollTop - (first - from) * rowHeight}px)`;
    this.measure();
    this.markActive();
  }

  /** Widths follow the first rows. */
  private measure(): void {
    const { content, cache } = this;
    if (this.hasMeasured || !content || !cache || content.rows === 0) return;
    const samples = Array.from({ length: Math.min(60, content.rows) }, (_, at) => cache.rowAt(at));
    if (samples.includes(null)) return;
    this.hasMeasured = true;
    this.columns = this.columnsOf(content, samples as TableRow[]);
    this.renderHead();
    this.requestRender();
  }

  private renderRow(position: number, row: TableRow | null): HTMLElement {
    const isSelected = row !== null && row.row === this.selectedRow;
    const element = make("div", {
      role: "row",
      class: `grid-row${isSelected ? " chosen" : ""}`,
      "aria-rowindex": position + 2,
      "aria-selected": isSelected ? "true" : "false",
      "data-position": position,
    });
    const number = make("div", { role: "rowheader", class: "cell number", "aria-colindex": "1" });
    number.id = `cell-${position + 1}-0`;
    number.textContent = row ? (row.row + 1).toLocaleString("en") : "…";
    element.append(number);
    this.columns.forEach(({ field, type, width }, c) => {
      const value = row === null ? null : field < 0 ? row.id : (row.cells[field] ?? null);
      const isNull = row !== null && value === null;
      const alignment = type !== null && isNumeric(type) ? " right" : "";
      const cell = make("div", {
        role: "gridcell",
        class: `cell${alignment}${isNull ? " null" : ""}`,
        id: `cell-${position + 1}-${c + 1}`,
        "aria-colindex": c + 2,
        dir: "auto",
      });
      cell.textContent = isNull ? "null" : cellText(value);
      cell.style.width = `${width}px`;
      element.append(cell);
    });
    return element;
  }

  private markActive(): void {
    this.element.querySelector(".active-cell")?.classList.remove("active-cell");
    const cell = document.getElementById(`cell-${this.active.position}-${this.active.column}`);
    cell?.classList.add("active-cell");
    if (cell) this.element.setAttribute("aria-activedescendant", cell.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** @param position 0: the head */
  private moveTo(position: number, column: number): void {
    if (!this.content) return;
    const limitedPosition = Math.max(0, Math.min(this.content.rows, position));
    const limitedColumn = Math.max(0, Math.min(this.columns.length, column));
    const isOtherRow = limitedPosition !== this.active.position;
    this.active = { position: limitedPosition, column: limitedColumn };
    if (limitedPosition > 0) this.range.reveal(limitedPosition - 1);
    this.render();
    document
      .getElementById(`cell-${limitedPosition}-${limitedColumn}`)
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const row = limitedPosition > 0 ? this.cache?.rowAt(limitedPosition - 1) : null;
    if (isOtherRow && row) this.events.onSelect(row.row);
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const { position, column } = this.active;
    const page = this.range.visible;
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowDown: [position + 1, column],
      ArrowUp: [position - 1, column],
      ArrowRight: [position, column + 1],
      ArrowLeft: [position, column - 1],
      PageDown: [position + page, column],
      PageUp: [Math.max(1, position - page), column],
      Home: event.ctrlKey ? [1, 0] : [position, 0],
      End: event.ctrlKey ? [this.content?.rows ?? 0, this.columns.length] : [position, this.columns.length],
    };
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (move) this.moveTo(...move);
    else if (event.key === "Enter" || event.key === " ") this.openActive();
    else return;
    event.preventDefault();
  };

  private openActive(): void {
    const { position, column } = this.active;
    if (position === 0) {
      const field = this.columns[column - 1]?.field;
      if (field !== undefined) this.events.onSort(field);
      return;
    }
    const row = this.cache?.rowAt(position - 1);
    if (row) this.events.onOpen(row.row);
  }

  private readonly onClick = (event: MouseEvent): void => {
    const target = event.target as Element;
    const cell = target.closest<HTMLElement>(".cell");
    // Beside the last column, a click concerns the row.
    const row = target.closest<HTMLElement>("[data-position]");
    if (!cell && !row) return;
    const [position, column] = cell
      ? (cell.id.split("-").slice(1).map(Number) as [number, number])
      : [Number(row!.dataset.position) + 1, this.active.column];
    if (position === 0) {
      this.active = { position, column };
      this.openActive();
      return;
    }
    this.active = { position, column };
    this.markActive();
    const found = this.cache?.rowAt(position - 1);
    if (found && !getSelection()?.toString()) this.events.onSelect(found.row);
  };

  private readonly onWheel = (event: WheelEvent): void => {
    if (!this.range.isScaled || event.deltaY === 0 || event.ctrlKey) return;
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * rowHeight : event.deltaY;
    this.range.scrollTo(this.range.first + pixels / rowHeight);
    this.requestRender();
  };

  /** @param position of the row in the table; -1 if it is not there */
  select(row: number | null, position: number | null): void {
    this.selectedRow = row;
    if (position !== null && position >= 0) {
      this.active.position = position + 1;
      this.range.reveal(position);
    }
    this.render();
  }

  focus(): void {
    this.element.focus();
  }
}
