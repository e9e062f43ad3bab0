/**
 * Which rows are in sight. Browsers limit the height of a page to some 30 million pixels: of a longer table, a pixel of
 * the scroll bar stands for several rows.
 */
const maxHeight = 12_000_000;

export class ScrollRange {
  /** A position that was set exactly, and where the scroll bar was put for it. */
  private exact: { readonly first: number; readonly top: number } | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly rowHeight: number,
    readonly rows: number,
    /** Pixels that do not scroll. */
    private readonly headHeight: () => number,
  ) {}

  get height(): number {
    return Math.min(maxHeight, this.rows * this.rowHeight);
  }

  /** Whether a pixel of the scroll bar stands for more than a pixel of rows. */
  get isScaled(): boolean {
    return this.height < this.rows * this.rowHeight;
  }

  /** Rows that are in sight as a whole. */
  get visible(): number {
    return Math.max(1, Math.floor((this.element.clientHeight - this.headHeight()) / this.rowHeight));
  }

  private get lastFirst(): number {
    return Math.max(0, this.rows - this.visible);
  }

  private get scrollable(): number {
    return Math.max(1, this.element.scrollHeight - this.element.clientHeight);
  }

  /** The first row in sight, with a fraction. */
  get first(): number {
    const top = this.element.scrollTop;
    if (this.exact && Math.abs(this.exact.top - top) < 1.5) return this.exact.first;
    this.exact = null;
    if (!this.isScaled) return Math.min(this.rows, top / this.rowHeight);
    return (top / this.scrollable) * this.lastFirst;
  }

  scrollTo(first: number): void {
    const limited = Math.max(0, Math.min(this.lastFirst, first));
    this.element.scrollTop = this.isScaled
      ? (limited / Math.max(1, this.lastFirst)) * this.scrollable
      : limited * this.rowHeight;
    this.exact = { first: limited, top: this.element.scrollTop };
  }

  /** Scrolls as little as needed for a row to be in sight. */
  reveal(row: number): void {
    const { first, visible } = this;
    if (row < first) this.scrollTo(row);
    else if (row >= Math.floor(first) + visible) this.scrollTo(row - visible + 1);
  }
}
