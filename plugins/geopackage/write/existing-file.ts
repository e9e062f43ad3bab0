import { type LayerMetadata, type MetadataTerm, metadataTerms } from "../../../src/model/index.js";
import {
  type Assembler,
  createError,
  type InPlaceTarget,
  type Sink,
  type TargetLayer,
  type WriteContext,
} from "../../../src/plugin/index.js";
import { type Database, loadNativeSqlite } from "../../../src/sqlite/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { rtreeName } from "../rtree/sql.js";
import { widenBoxBy } from "../rtree/widen-box.js";
import { isGeometryType } from "../schema/column-types.js";
import { replaceColumnType } from "../schema/create-table.js";
import { ForeignKeyCheck } from "../schema/foreign-keys.js";
import { designTable, type TableDesign, type WriteOptions } from "../schema/layer-design.js";
import { type LayerStatistics, MetadataTables } from "../schema/metadata-tables.js";
import { columnSql, type GeoPackageVersion, geoPackageVersions } from "../schema/schema-sql.js";
import { createSrsRecord, type SrsRecord } from "../schema/write-srs.js";
import { idChangedMessage, RowInserter } from "../sql/row-inserter.js";
import { checkJournalName, openDatabase, retryWhileLocked, runOrFail, toOutputError } from "../sql/session.js";
import type { GeoPackageChunk } from "./encoder.js";

/** The version of the existing file, which added tables follow. */
function versionOf(database: Database): GeoPackageVersion {
  const version = Number(database.pragma("user_version", { simple: true }));
  return version >= geoPackageVersions["1.4"].userVersion ? "1.4" : "1.2";
}

interface OpenLayer extends LayerStatistics {
  readonly table: string;
  readonly rows: RowInserter;
  geometries: number;
  withZ: number;
  withM: number;
  /** The table if this run creates it: its triggers are created after its rows. */
  readonly created: TableDesign | null;
  /** Indexes and triggers of a replaced layer, to be recreated. */
  readonly preserved: readonly PreservedObject[];
}

interface PreservedObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

interface ExistingTable {
  /** The name as spelled in the schema. */
  readonly table: string;
  readonly geometryColumn: string | null;
}

/**
 * Adds to a GeoPackage or replaces layers in one transaction: after an error or a crash the file is unchanged.
 */
export class ExistingFileWriter implements Assembler<GeoPackageChunk> {
  private readonly layers: OpenLayer[] = [];

  private constructor(
    private readonly output: string,
    private readonly database: Database,
    private readonly metadataTables: MetadataTables,
    private readonly foreignKeys: ForeignKeyCheck,
    private readonly options: WriteOptions,
    private readonly context: WriteContext,
  ) {}

  static async open(
    sink: Sink,
    { path, mode }: InPlaceTarget,
    targets: readonly TargetLayer[],
    options: WriteOptions,
    context: WriteContext,
  ): Promise<ExistingFileWriter> {
    checkJournalName(path, sink.name);
    const systems: (SrsRecord | null)[] = [];
    const designs = targets.map((target) => designTable(target, options));
    for (const { crs, srsId } of designs) systems.push(crs && (await createSrsRecord(crs, srsId, context)));
    return runOrFail(sink.name, async () => {
      const database = openDatabase(path, loadNativeSqlite());
      try {
        await retryWhileLocked(context.signal, () => database.exec("BEGIN IMMEDIATE"));
        const metadataTables = new MetadataTables(database, versionOf(database), context.now);
        if (!metadataTables.has("gpkg_contents") || !metadataTables.has("gpkg_spatial_ref_sys")) {
          throw createError("unsupported", {
            source: sink.name,
            reason: "it is not a GeoPackage: it has no gpkg_contents or gpkg_spatial_ref_sys",
          });
        }
        const tables = designs.map(({ table }) => table);
        const foreignKeys = new ForeignKeyCheck(database, tables);
        const file = new ExistingFileWriter(sink.name, database, metadataTables, foreignKeys, options, context);
        designs.forEach((design, index) => {
          file.layers.push(file.prepare(design, systems[index]!, mode, targets[index]!));
        });
        return file;
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  /** Finds a table, ignoring case. */
  private find(name: string): ExistingTable | null {
    const { database } = this;
    type Named = { readonly name: string; readonly type: string };
    const found = database
      .prepare<[string], Named>(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE",
      )
      .get(name);
    if (!found) return null;
    if (found.type === "view") {
      const reason = `"${found.name}" is a view, which cannot be written to`;
      throw createError("unsupported", { source: this.output, reason });
    }
    const column = this.metadataTables.has("gpkg_geometry_columns")
      ? database
          .prepare<[string], { column_name: string }>(
            "SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ? COLLATE NOCASE",
          )
          .get(found.name)
      : undefined;
    return { table: found.name, geometryColumn: column?.column_name ?? null };
  }

  private prepare(
    design: TableDesign,
    system: SrsRecord | null,
    mode: InPlaceTarget["mode"],
    target: TargetLayer,
  ): OpenLayer {
    const existing = this.find(design.table);
    if (existing && mode === "append") {
      this.reportKeptMetadata(existing.table, target.metadata ?? {});
      return this.add(design, existing);
    }
    const kept = existing ? this.readPreservedObjects(existing.table) : [];
    const metadata = existing
      ? mergeMetadata(target.metadata ?? {}, this.metadataTables.metadataOf(existing.table))
      : target.metadata;
    if (existing) this.metadataTables.removeLayer(existing.table, existing.geometryColumn);
    const named = existing ? { ...design, table: existing.table } : design;
    const srsId = system ? this.metadataTables.idOf(system) : design.srsId;
    this.metadataTables.addLayer(named, srsId, existing?.table ?? target.name, metadata);
    if (this.options.index) this.metadataTables.addIndex(named);
    const { table, fid, geometry, fields } = named;
    const columns = [fid, ...(geometry ? [geometry.column] : []), ...fields.map((field) => field.name)];
    const rtree = geometry && this.options.index ? rtreeName({ table, column: geometry.column }) : null;
    return this.createOpenLayer(named.table, columns, rtree, geometry ? srsId : null, named, kept);
  }

  /** Reports metadata of the input that differs: appending keeps the metadata of the layer. */
  private reportKeptMetadata(table: string, added: LayerMetadata): void {
    const there = this.metadataTables.metadataOf(table);
    const differ = (Object.keys(added) as MetadataTerm[]).filter(
      (term) => JSON.stringify(added[term]) !== JSON.stringify(there[term]),
    );
    if (differ.length === 0) return;
    const words = differ.map((term) => metadataTerms[term]).join(", ");
    const example = `"${table}" keeps its metadata, and the input's differs: ${words}`;
    this.context.reportLoss("metadata-left-out", undefined, example);
  }

  private createOpenLayer(
    table: string,
    columns: readonly string[],
    rtree: string | null,
    srsId: number | null,
    created: TableDesign | null,
    kept: readonly PreservedObject[],
  ): OpenLayer {
    const rows = new RowInserter(this.database, { output: this.output, table, columns, rtree, srsId });
    const box = Float64Array.of(Infinity, Infinity, -Infinity, -Infinity);
    return { table, rows, created, preserved: kept, geometries: 0, withZ: 0, withM: 0, box };
  }

  /** Indexes and triggers of other programs; those for the R-tree and feature counts are generated. */
  private readPreservedObjects(table: string): PreservedObject[] {
    const all = this.database
      .prepare<[string], PreservedObject>(
        "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL",
      )
      .all(table);
    return all.filter(({ name }) => !/^(rtree_|trigger_(insert|delete)_feature_count_)/i.test(name));
  }

  /** Prepares an existing layer for appending: adds columns for new fields. */
  private add(design: TableDesign, { table, geometryColumn }: ExistingTable): OpenLayer {
    const { database, metadataTables } = this;
    type Column = { readonly name: string; readonly type: string; readonly pk: bigint };
    const columns = database.pragma(`table_info(${quoteIdentifier(table)})`) as Column[];
    const keys = columns.filter((column) => Number(column.pk) > 0);
    const key = keys.length === 1 && keys[0]!.type.toUpperCase() === "INTEGER" ? keys[0]!.name : "rowid";
    const geometry = geometryColumn ?? columns.find((column) => isGeometryType(column.type))?.name ?? null;
    if (design.geometry && geometry === null) {
      const reason = `"${table}" is a table without a geometry column, but the input has geometries`;
      throw createError("unsupported", { source: this.output, place: { layer: table }, reason });
    }
    const known = new Map(columns.map((column) => [column.name.toLowerCase(), column.name]));
    const names = design.fields.map(({ name, type }) => {
      const there = known.get(name.toLowerCase());
      if (there !== undefined && there !== key && there !== geometry) return there;
      if (there !== undefined) {
        const reason = `the field "${name}" has the name of the column with the ${there === key ? "ids" : "geometry"}; give it another with --rename`;
        throw createError("unsupported", { source: this.output, place: { layer: table }, reason });
      }
      database.exec(`ALTER TABLE ${quoteIdentifier(table)} ADD COLUMN ${columnSql(name, type)}`);
      metadataTables.describeType(table, name, type);
      return name;
    });
    const srsId = geometry === null ? null : this.widenType(design, table, geometry);
    const places = [key, ...(design.geometry ? [geometry!] : []), ...names];
    return this.createOpenLayer(
      table,
      places,
      this.rtreeWithoutTrigger(table, geometry),
      design.geometry ? srsId : null,
      null,
      [],
    );
  }

  /** The R-tree of a table if there is one and no trigger updates it. */
  private rtreeWithoutTrigger(table: string, geometry: string | null): string | null {
    if (geometry === null) return null;
    const rtree = rtreeName({ table, column: geometry });
    if (!this.metadataTables.has(rtree)) return null;
    const trigger = this.database
      .prepare("SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ? COLLATE NOCASE")
      .get(`${rtree}_insert`);
    return trigger === undefined ? rtree : null;
  }

  /** Widens the geometry type of a layer if needed. @returns its srs_id */
  private widenType({ geometry }: TableDesign, table: string, column: string): number | null {
    const { database } = this;
    const row = database
      .prepare<[string], { geometry_type_name: string; srs_id: bigint }>(
        "SELECT geometry_type_name, srs_id FROM gpkg_geometry_columns WHERE table_name = ? COLLATE NOCASE",
      )
      .get(table);
    if (!row) return null;
    const declared = row.geometry_type_name.toUpperCase();
    if (geometry && !geometry.isEmpty && declared !== "GEOMETRY" && declared !== geometry.type)
      this.declareAsGeometry(table, column, declared);
    return Number(row.srs_id);
  }

  /** Declares a geometry column as GEOMETRY, also in the schema, which must agree (Requirement 31). */
  private declareAsGeometry(table: string, column: string, declared: string): void {
    const { database } = this;
    database
      .prepare("UPDATE gpkg_geometry_columns SET geometry_type_name = 'GEOMETRY' WHERE table_name = ? COLLATE NOCASE")
      .run(table);
    const entry = database
      .prepare<[string], { sql: string }>("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?")
      .get(table);
    const sql = entry && replaceColumnType(entry.sql, column, "GEOMETRY");
    if (sql) {
      // Changing the declared type does not change stored values (SQLite, "Making Other Kinds Of Table Schema Changes").
      const [{ schema_version: version }] = database.pragma("schema_version") as [{ schema_version: bigint }];
      database.unsafeMode(true);
      database.pragma("writable_schema = ON");
      database.prepare("UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?").run(sql, table);
      database.pragma(`schema_version = ${version + 1n}`);
      database.pragma("writable_schema = OFF");
      database.unsafeMode(false);
    }
    const example = `the geometry type of "${table}" changed from ${declared} to GEOMETRY`;
    this.context.reportNotice("geometry-type-widened", undefined, example);
  }

  append(chunk: GeoPackageChunk, index: number): Promise<void> {
    return runOrFail(this.output, () => {
      const layer = this.layers[index]!;
      const renumbered = layer.rows.add(chunk, 0);
      if (renumbered > 0) this.context.reportLoss("id-changed", undefined, idChangedMessage, renumbered);
      layer.geometries += chunk.geometries;
      layer.withZ += chunk.withZ;
      layer.withM += chunk.withM;
      if (chunk.boxes) widenBoxBy(layer.box, chunk.boxes);
    });
  }

  finish(): Promise<void> {
    return runOrFail(this.output, () => {
      for (const layer of this.layers) {
        this.metadataTables.updateStatistics(layer.table, layer, layer.created !== null);
        if (layer.created && this.options.index) this.metadataTables.addTriggers(layer.created);
        for (const kept of layer.preserved) this.restore(kept);
      }
      this.foreignKeys.check(this.output);
    });
  }

  /** Recreates an index or trigger, which may refer to columns that no longer exist. */
  private restore({ type, name, sql }: PreservedObject): void {
    try {
      this.database.exec(sql);
    } catch (error) {
      const example = `the ${type} "${name}" does not fit the new layer: ${(error as Error).message}`;
      this.context.reportNotice("definition-dropped", undefined, example);
    }
  }

  async commit(): Promise<void> {
    await runOrFail(this.output, async () => {
      // Another program that reads the file delays this.
      await retryWhileLocked(this.context.signal, () => this.database.exec("COMMIT"));
      this.database.close();
    });
  }

  async abort(): Promise<void> {
    if (!this.database.open) return;
    try {
      if (this.database.inTransaction) this.database.exec("ROLLBACK");
    } catch (error) {
      throw toOutputError(this.output, error);
    } finally {
      this.database.close();
    }
  }
}

/** Metadata of a replaced layer: the input's, completed with that from before. */
function mergeMetadata(said: LayerMetadata, before: LayerMetadata): LayerMetadata {
  const { columns = [] } = said;
  const described = new Set(columns.map(({ column }) => column));
  const others = (before.columns ?? []).filter(({ column }) => !described.has(column));
  return { ...before, ...said, columns: [...columns, ...others] };
}
