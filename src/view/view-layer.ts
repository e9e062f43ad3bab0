/** A layer as the map and the table ask for it, with the filters, orders and colors that were asked for last. */
import { type Classes, type ColorChoice, classify } from "./colors/classify.js";
import { buildIndex, filterIndex, type ShapeIndex } from "./index/shape-index.js";
import type { LayerData } from "./layer-data.js";
import { type Picked, type Place, pick } from "./pick.js";
import { type Filtered, filterRows } from "./table/filter-rows.js";
import { maxValueCharacters, readRows, type TableRow } from "./table/read-rows.js";
import { type SortOrder, sortRows } from "./table/sort-rows.js";
import { buildTile, type TileAddress } from "./tiles/build-tile.js";
import type { TileContent } from "./tiles/tile-content.js";

/** Filters, orders and classes that are kept. */
const kept = 3;

/** Which features of a layer are shown. */
export interface TableQuery {
  /** A condition; null: all features. */
  readonly where: string | null;
  readonly sort: SortOrder | null;
}

class Recent<V> {
  private readonly entries = new Map<string, Promise<V>>();

  get(key: string, create: () => Promise<V>): Promise<V> {
    const known = this.entries.get(key) ?? create();
    this.entries.delete(key);
    this.entries.set(key, known);
    // A failure is not kept.
    known.catch(() => this.entries.delete(key));
    if (this.entries.size > kept) this.entries.delete(this.entries.keys().next().value!);
    return known;
  }
}

export class ViewLayer {
  private readonly index: ShapeIndex;
  private readonly filters = new Recent<Filtered & { readonly index: ShapeIndex }>();
  private readonly orders = new Recent<Uint32Array>();
  private readonly colors = new Recent<Classes>();

  constructor(readonly data: LayerData) {
    this.index = buildIndex(data);
  }

  /** Number of features that are on the map. */
  get located(): number {
    return this.index.rows.length;
  }

  private filtered(where: string) {
    return this.filters.get(where, async () => {
      const filtered = await filterRows(this.data, where);
      return { ...filtered, index: filterIndex(this.index, filtered.bits, filtered.rows.length) };
    });
  }

  private async indexOf(where: string | null): Promise<ShapeIndex> {
    return where === null ? this.index : (await this.filtered(where)).index;
  }

  /** @throws expression-invalid, field-missing, usage */
  async tile(address: TileAddress, where: string | null, color: ColorChoice | null): Promise<TileContent> {
    const [index, classes] = await Promise.all([this.indexOf(where), color && this.classes(color)]);
    return buildTile(this.data, index, address, classes?.of ?? null);
  }

  classes(choice: ColorChoice): Promise<Classes> {
    return this.colors.get(JSON.stringify(choice), () => classify(this.data, choice));
  }

  /** The rows of the table in order; null: all rows in the order of the source. */
  private async order({ where, sort }: TableQuery): Promise<Uint32Array | null> {
    const rows = where === null ? null : (await this.filtered(where)).rows;
    if (sort === null) return rows;
    return this.orders.get(JSON.stringify([where, sort]), () => sortRows(this.data, rows, sort));
  }

  /** Number of features that meet the condition, and how many of them are on the map. */
  async count(where: string | null): Promise<{ readonly rows: number; readonly located: number }> {
    if (where === null) return { rows: this.data.rows, located: this.located };
    const { rows, index } = await this.filtered(where);
    return { rows: rows.length, located: index.rows.length };
  }

  /** @param from position of the first row in the order of the query */
  async rows(query: TableQuery, from: number, count: number, fields: readonly number[]): Promise<TableRow[]> {
    const order = await this.order(query);
    const end = Math.min(order?.length ?? this.data.rows, from + count);
    const rows =
      order?.subarray(from, end) ?? Uint32Array.from({ length: Math.max(0, end - from) }, (_, at) => from + at);
    return readRows(this.data, rows, fields);
  }

  /** The position of a feature in the order of a query; -1 if it is not among its rows. */
  async positionOf(query: TableQuery, row: number): Promise<number> {
    const order = await this.order(query);
    return order === null ? row : order.indexOf(row);
  }

  /** A feature with all its values. */
  feature(row: number): TableRow {
    return readRows(
      this.data,
      [row],
      this.data.fields.map((_, field) => field),
      maxValueCharacters,
    )[0]!;
  }

  async pick(place: Place, where: string | null): Promise<Picked> {
    return pick(this.data, await this.indexOf(where), place);
  }
}
