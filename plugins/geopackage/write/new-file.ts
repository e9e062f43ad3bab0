import {
  type Assembler,
  createError,
  type Sink,
  type TargetLayer,
  type WriteContext,
} from "../../../src/plugin/index.js";
import { type Database, loadSqlite } from "../../../src/sqlite/index.js";
import { ScratchFile } from "../../shared/scratch-file.js";
import { quoteIdentifier, quoteLiteral } from "../../shared/sql-identifiers.js";
import { RtreeBuilder } from "../rtree/builder.js";
import { rtreeName } from "../rtree/sql.js";
import { widenBoxBy } from "../rtree/widen-box.js";
import { designTable, type TableDesign, type WriteOptions } from "../schema/layer-design.js";
import { type LayerStatistics, MetadataTables } from "../schema/metadata-tables.js";
import type { GeoPackageVersion } from "../schema/schema-sql.js";
import { SetAsideSchema } from "../schema/set-aside-schema.js";
import { createSrsRecord } from "../schema/write-srs.js";
import { idChangedMessage, RowInserter } from "../sql/row-inserter.js";
import { openDatabase, runOrFail } from "../sql/session.js";
import { PageWriter } from "../sqlite/page-writer.js";
import { int32HalvesOf } from "../sqlite/record-encoder.js";
import { TableBuilder } from "../sqlite/table-builder.js";
import type { GeoPackageChunk } from "./encoder.js";
import { checkNotLocked } from "./replaced-file.js";

const pageSize = 4096;

class LayerState implements LayerStatistics {
  geometries = 0;
  withZ = 0;
  withM = 0;
  readonly box = Float64Array.of(Infinity, Infinity, -Infinity, -Infinity);
  rows: TableBuilder | null = null;
  rtree: RtreeBuilder | null = null;
  /** Content of the R-tree's root node, known after all other nodes. */
  rtreeRoot: Buffer | null = null;
  /** Inserts rows by SQL, once ids no longer ascend. */
  inserter: RowInserter | null = null;
  started = false;
  /** Whether there is a row; `high` and `low` are the id of the last one. */
  hasRows = false;
  high = 0;
  low = 0;

  constructor(readonly design: TableDesign) {}

  get rtreeName(): string | null {
    const { table, geometry } = this.design;
    return geometry && rtreeName({ table, column: geometry.column });
  }

  addStatistics(chunk: GeoPackageChunk): void {
    this.geometries += chunk.geometries;
    this.withZ += chunk.withZ;
    this.withM += chunk.withM;
    const { boxes } = chunk;
    if (boxes) widenBoxBy(this.box, boxes);
  }
}

/**
 * Writes a new GeoPackage. SQLite writes the schema and the metadata; rows with ascending ids are written directly as
 * b-tree pages, and R-trees are bulk-loaded, which is many times faster than SQL.
 */
export class NewFileWriter implements Assembler<GeoPackageChunk> {
  private readonly layers: readonly LayerState[];
  private pages: PageWriter | null = null;
  private database: Database | null = null;
  /** Of the database that was opened last. */
  private metadataTables!: MetadataTables;
  private roots = new Map<string, number>();
  private scratchFiles = 0;

  private constructor(
    private readonly output: string,
    private readonly path: string,
    private readonly replacedPath: string | null,
    designs: readonly TableDesign[],
    private readonly options: WriteOptions,
    private readonly context: WriteContext,
  ) {
    this.layers = designs.map((design) => new LayerState(design));
  }

  static async create(
    sink: Sink,
    targets: readonly TargetLayer[],
    options: WriteOptions,
    context: WriteContext,
  ): Promise<NewFileWriter> {
    const { replacedPath = null } = sink;
    if (replacedPath !== null) await checkNotLocked(replacedPath, sink.name, context.signal);
    const { path } = await sink.create();
    if (path === null) throw createError("output-not-stream", { format: "geopackage" });
    const designs = targets.map((target) => designTable(target, options));
    const file = new NewFileWriter(sink.name, path, replacedPath, designs, options, context);
    await runOrFail(sink.name, () => file.initialize(targets));
    return file;
  }

  private async initialize(targets: readonly TargetLayer[]): Promise<void> {
    const { context } = this;
    const systems = new Map<number, Awaited<ReturnType<typeof createSrsRecord>>>();
    for (const { design } of this.layers) {
      if (design.crs) systems.set(design.srsId, await createSrsRecord(design.crs, design.srsId, context));
    }
    const wgs84 = await createSrsRecord(context.crs.wgs84, 4326, context);
    const first = await this.openDatabase(() => `page_size = ${pageSize}`);
    first.exec("BEGIN");
    this.metadataTables.initialize(wgs84);
    for (const system of systems.values()) this.metadataTables.addSystem(system);
    const schema = new SetAsideSchema(first);
    for (const [index, { design }] of this.layers.entries()) {
      this.metadataTables.addLayer(design, design.srsId, targets[index]!.name, targets[index]!.metadata);
      if (this.options.index) this.metadataTables.addIndex(design);
      await this.endLayer(schema);
    }
    const { database } = schema;
    schema.restore();
    database.exec("COMMIT");
    type Entry = { readonly name: string; readonly rootpage: bigint };
    const entries = database.prepare<[], Entry>("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'").all();
    this.roots = new Map(entries.map(({ name, rootpage }) => [name, Number(rootpage)]));
    this.closeDatabase();
  }

  /**
   * Keeps the creation of many layers fast: SQLite visits all prepared statements of the connection after each CREATE,
   * and each R-tree keeps nine.
   */
  private async endLayer(schema: SetAsideSchema): Promise<void> {
    if (!schema.countLayer()) return;
    this.database!.exec("COMMIT");
    this.closeDatabase();
    schema.database = await this.openDatabase();
    schema.database.exec("BEGIN");
  }

  private async openDatabase(first?: () => string): Promise<Database> {
    const database = openDatabase(this.path, await loadSqlite());
    this.database = database;
    this.metadataTables = new MetadataTables(database, this.options.version as GeoPackageVersion, this.context.now);
    if (first) database.pragma(first());
    // Durability is not needed: the host removes the file after an error, and syncs it at the end.
    for (const setting of ["journal_mode = MEMORY", "synchronous = OFF", "locking_mode = EXCLUSIVE"]) {
      database.pragma(setting);
    }
    return database;
  }

  private closeDatabase(): void {
    this.database?.close();
    this.database = null;
  }

  private async openPages(): Promise<PageWriter> {
    if (this.pages) return this.pages;
    const database = this.database ?? (await this.openDatabase());
    if (database.inTransaction) database.exec("COMMIT");
    const [{ page_count: count }] = database.pragma("page_count") as [{ page_count: bigint }];
    for (const layer of this.layers) layer.inserter = null;
    this.closeDatabase();
    this.pages = new PageWriter(this.path, pageSize, Number(count));
    return this.pages;
  }

  append(chunk: GeoPackageChunk, index: number): Promise<void> {
    return runOrFail(this.output, async () => {
      const layer = this.layers[index]!;
      layer.addStatistics(chunk);
      const done = layer.started && !layer.rows ? 0 : await this.addOrdered(layer, chunk);
      if (done < chunk.rows) await this.insertUnordered(layer, chunk, done);
    });
  }

  /** Writes rows as pages as long as ids ascend. @returns how many */
  private async addOrdered(layer: LayerState, chunk: GeoPackageChunk): Promise<number> {
    const pages = await this.openPages();
    if (!layer.started) this.start(layer, pages);
    const { records, offsets, ids, hasRequestedId, boxes, rows } = chunk;
    const halves = ids && int32HalvesOf(ids);
    for (let row = 0; row < rows; row++) {
      const isRequested = halves !== null && hasRequestedId![row] === 1;
      if (
        !(isRequested
          ? this.useRequestedId(layer, halves[2 * row + 1]!, halves[2 * row]! >>> 0)
          : this.useNextId(layer))
      )
        return row;
      const { high, low } = layer;
      layer.rows!.add(high, low, records, offsets[row]!, offsets[row + 1]!);
      const box = 4 * row;
      if (layer.rtree && boxes && boxes[box]! <= boxes[box + 2]!) {
        if (layer.rtree.isFull) await layer.rtree.spill(() => this.createScratchFile());
        layer.rtree.add(high, low, boxes, box);
      }
    }
    return rows;
  }

  private async createScratchFile(): Promise<ScratchFile> {
    return new ScratchFile(this.output, await this.context.createTemporaryPath(`rtree-${this.scratchFiles++}`));
  }

  private start(layer: LayerState, pages: PageWriter): void {
    const builder = (table: string) => new TableBuilder(pages, this.roots.get(table)!);
    layer.started = true;
    layer.rows = builder(layer.design.table);
    const name = this.options.index ? layer.rtreeName : null;
    if (name === null) return;
    const tables = {
      node: builder(`${name}_node`),
      rowid: builder(`${name}_rowid`),
      parent: builder(`${name}_parent`),
    };
    layer.rtree = new RtreeBuilder(tables, layer.design.extent);
  }

  private useNextId(layer: LayerState): true {
    layer.low = (layer.low + 1) >>> 0;
    if (layer.low === 0) layer.high++;
    layer.hasRows = true;
    return true;
  }

  /** Sets the id of the next row. @returns false if it is not greater than the last */
  private useRequestedId(layer: LayerState, high: number, low: number): boolean {
    if (layer.hasRows && (high < layer.high || (high === layer.high && low <= layer.low))) return false;
    layer.high = high;
    layer.low = low;
    layer.hasRows = true;
    return true;
  }

  /** Completes the b-trees and R-trees of all layers. */
  private async endPages(): Promise<void> {
    const { pages } = this;
    if (!pages) return;
    for (const layer of this.layers) {
      layer.rows?.finish();
      layer.rows = null;
      if (!layer.rtree) continue;
      layer.rtreeRoot = layer.rtree.finish();
      for (const table of Object.values(layer.rtree.tables)) (table as TableBuilder).finish();
      layer.rtree = null;
    }
    this.pages = null;
    await pages.close();
  }

  /** Inserts rows whose ids do not ascend by SQL. */
  private async insertUnordered(layer: LayerState, chunk: GeoPackageChunk, first: number): Promise<void> {
    await this.endPages();
    const database = this.database ?? (await this.openDatabase());
    this.putRoots();
    if (!database.inTransaction) database.exec("BEGIN");
    layer.inserter ??= this.createInserter(layer);
    const renumbered = layer.inserter.add(chunk, first);
    if (renumbered > 0) this.context.reportLoss("id-changed", undefined, idChangedMessage, renumbered);
  }

  private createInserter({ design, rtreeName: name }: LayerState): RowInserter {
    const { table, fid, geometry, fields } = design;
    const columns = [fid, ...(geometry ? [geometry.column] : []), ...fields.map((field) => field.name)];
    const { output } = this;
    const rtree = this.options.index ? name : null;
    return new RowInserter(this.database!, { output, table, columns, rtree, srsId: null });
  }

  /** Writes the root nodes of the R-trees, which are known last. */
  private putRoots(): void {
    const database = this.database!;
    for (const layer of this.layers) {
      if (!layer.rtreeRoot) continue;
      database.unsafeMode(true);
      database
        .prepare(`UPDATE ${quoteIdentifier(`${layer.rtreeName}_node`)} SET data = ? WHERE nodeno = 1`)
        .run(layer.rtreeRoot);
      database.unsafeMode(false);
      layer.rtreeRoot = null;
    }
  }

  finish(): Promise<void> {
    return runOrFail(this.output, async () => {
      await this.endPages();
      const database = this.database ?? (await this.openDatabase());
      if (!database.inTransaction) database.exec("BEGIN");
      this.putRoots();
      const { metadataTables } = this;
      const forgetId = database.prepare("DELETE FROM sqlite_sequence WHERE name = ?");
      for (const layer of this.layers) {
        const { table, fid } = layer.design;
        metadataTables.updateStatistics(table, layer, true);
        const id = quoteIdentifier(fid);
        // AUTOINCREMENT continues from here (file format, 2.6.2). ORDER BY … LIMIT 1 reads only the last page.
        forgetId.run(table);
        database.exec(
          `INSERT INTO sqlite_sequence SELECT ${quoteLiteral(table)}, ${id} FROM ${quoteIdentifier(table)} WHERE ${id} > 0 ORDER BY ${id} DESC LIMIT 1`,
        );
        layer.inserter = null;
      }
      if (this.options.index) metadataTables.addTriggersToSchema(this.layers.map(({ design }) => design));
      database.exec("COMMIT");
      this.closeDatabase();
      // Another program may have begun to write in the meantime.
      if (this.replacedPath !== null) await checkNotLocked(this.replacedPath, this.output, this.context.signal);
    });
  }

  async abort(): Promise<void> {
    const { pages } = this;
    this.pages = null;
    for (const { rtree } of this.layers) rtree?.abandon();
    await pages?.abandon();
    this.closeDatabase();
  }
}
