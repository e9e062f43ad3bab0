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
import { checkJournalName, openDatabase, runOrFail, toOutputError } from "../sql/session.js";
import type { GeoPackageChunk } from "./encoder.js";

/** What is added follows the version that the file says it is of. */
function versionOf(database: Database): GeoPackageVersion {
  const version = Number(database.pragma("user_version", { simple: true }));
  return version >= geoPackageVersions["1.4"].userVersion ? "1.4" : "1.2";
}

/** A layer that rows are added to. */
interface OpenLayer extends LayerStatistics {
  readonly table: string;
  readonly rows: RowInserter;
  geometries: number;
  withZ: number;
  withM: number;
  /** Made in this run: its triggers come when its rows are there. */
  readonly created: TableDesign | null;
  /** What the layer had besides its rows, to be made again when it was replaced. */
  readonly kept: readonly PreservedObject[];
}

interface PreservedObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

interface ExistingTable {
  /** The name as the schema spells it. */
  readonly table: string;
  readonly geometryColumn: string | null;
}

/**
 * Adds to a GeoPackage, or replaces layers of it, in one transaction: whatever goes wrong, and whenever the process
 * dies, the file is as it was.
 */
export class ExistingFileWriter implements Assembler<GeoPackageChunk> {
  private readonly layers: OpenLayer[] = [];

  private constructor(
    private readonly output: string,
    private readonly database: Database,
    private readonly registrar: MetadataTables,
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
        database.exec("BEGIN IMMEDIATE");
        const registrar = new MetadataTables(database, versionOf(database), context.now);
        if (!registrar.has("gpkg_contents") || !registrar.has("gpkg_spatial_ref_sys")) {
          throw createError("unsupported", { source: sink.name, reason: "it is no GeoPackage that could be added to" });
        }
        const tables = designs.map(({ table }) => table);
        const foreignKeys = new ForeignKeyCheck(database, tables);
        const file = new ExistingFileWriter(sink.name, database, registrar, foreignKeys, options, context);
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

  /** The table of this name, in whatever case. */
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
      const reason = `"${found.name}" is a view, which nothing can be added to`;
      throw createError("unsupported", { source: this.output, reason });
    }
    const column = this.registrar.has("gpkg_geometry_columns")
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
      this.tellKept(existing.table, target.metadata ?? {});
      return this.add(design, existing);
    }
    const kept = existing ? this.keep(existing.table) : [];
    const metadata = existing
      ? mergeMetadata(target.metadata ?? {}, this.registrar.metadataOf(existing.table))
      : target.metadata;
    if (existing) this.registrar.removeLayer(existing.table, existing.geometryColumn);
    const named = existing ? { ...design, table: existing.table } : design;
    const srsId = system ? this.registrar.idOf(system) : design.srsId;
    this.registrar.addLayer(named, srsId, existing?.table ?? target.name, metadata);
    if (this.options.index) this.registrar.addIndex(named);
    const { table, fid, geometry, fields } = named;
    const columns = [fid, ...(geometry ? [geometry.column] : []), ...fields.map((field) => field.name)];
    const rtree = geometry && this.options.index ? rtreeName({ table, column: geometry.column }) : null;
    return this.opened(named.table, columns, rtree, geometry ? srsId : null, named, kept);
  }

  /** A layer that rows are added to goes on saying of itself what it says. */
  private tellKept(table: string, added: LayerMetadata): void {
    const there = this.registrar.metadataOf(table);
    const differ = (Object.keys(added) as MetadataTerm[]).filter(
      (term) => JSON.stringify(added[term]) !== JSON.stringify(there[term]),
    );
    if (differ.length === 0) return;
    const words = differ.map((term) => metadataTerms[term]).join(", ");
    const example = `"${table}" keeps what it says of itself, and the input says otherwise: ${words}`;
    this.context.reportLoss("metadata-left-out", undefined, example);
  }

  private opened(
    table: string,
    columns: readonly string[],
    rtree: string | null,
    srsId: number | null,
    created: TableDesign | null,
    kept: readonly PreservedObject[],
  ): OpenLayer {
    const rows = new RowInserter(this.database, { output: this.output, table, columns, rtree, srsId });
    const box = Float64Array.of(Infinity, Infinity, -Infinity, -Infinity);
    return { table, rows, created, kept, geometries: 0, withZ: 0, withM: 0, box };
  }

  /** Indexes and triggers of others: those that keep the R-tree or count features are recreated. */
  private keep(table: string): PreservedObject[] {
    const all = this.database
      .prepare<[string], PreservedObject>(
        "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL",
      )
      .all(table);
    return all.filter(({ name }) => !/^(rtree_|trigger_(insert|delete)_feature_count_)/i.test(name));
  }

  /** Makes a layer that is there ready for more rows: with columns for the fields that it lacks. */
  private add(design: TableDesign, { table, geometryColumn }: ExistingTable): OpenLayer {
    const { database, registrar } = this;
    type Column = { readonly name: string; readonly type: string; readonly pk: bigint };
    const columns = database.pragma(`table_info(${quoteIdentifier(table)})`) as Column[];
    const keys = columns.filter((column) => Number(column.pk) > 0);
    const key = keys.length === 1 && keys[0]!.type.toUpperCase() === "INTEGER" ? keys[0]!.name : "rowid";
    const geometry = geometryColumn ?? columns.find((column) => isGeometryType(column.type))?.name ?? null;
    if (design.geometry && geometry === null) {
      const reason = `"${table}" is a table without geometry, and what is to be added has one`;
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
      registrar.describe(table, name, type);
      return name;
    });
    const srsId = geometry === null ? null : this.widenType(design, table, geometry);
    const places = [key, ...(design.geometry ? [geometry!] : []), ...names];
    return this.opened(table, places, this.untriggered(table, geometry), design.geometry ? srsId : null, null, []);
  }

  /** The R-tree of a table, where there is one and no trigger fills it. */
  private untriggered(table: string, geometry: string | null): string | null {
    if (geometry === null) return null;
    const rtree = rtreeName({ table, column: geometry });
    if (!this.registrar.has(rtree)) return null;
    const trigger = this.database
      .prepare("SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ? COLLATE NOCASE")
      .get(`${rtree}_insert`);
    return trigger === undefined ? rtree : null;
  }

  /** Lets a layer hold other kinds of geometry than it says so far. @returns the id of its system */
  private widenType({ geometry }: TableDesign, table: string, column: string): number | null {
    const { database } = this;
    const row = database
      .prepare<[string], { geometry_type_name: string; srs_id: bigint }>(
        "SELECT geometry_type_name, srs_id FROM gpkg_geometry_columns WHERE table_name = ? COLLATE NOCASE",
      )
      .get(table);
    if (!row) return null;
    const declared = row.geometry_type_name.toUpperCase();
    if (geometry && declared !== "GEOMETRY" && declared !== geometry.type) this.declareAny(table, column, declared);
    return Number(row.srs_id);
  }

  /** Declares a geometry column for any geometry, in the schema too, which has to say the same (Requirement 31). */
  private declareAny(table: string, column: string, declared: string): void {
    const { database } = this;
    database
      .prepare("UPDATE gpkg_geometry_columns SET geometry_type_name = 'GEOMETRY' WHERE table_name = ? COLLATE NOCASE")
      .run(table);
    const entry = database
      .prepare<[string], { sql: string }>("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?")
      .get(table);
    const sql = entry && replaceColumnType(entry.sql, column, "GEOMETRY");
    if (sql) {
      // What a column holds does not change with its name of a type (SQLite, "Making Other Kinds Of Table Schema Changes").
      const [{ schema_version: version }] = database.pragma("schema_version") as [{ schema_version: bigint }];
      database.unsafeMode(true);
      database.pragma("writable_schema = ON");
      database.prepare("UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?").run(sql, table);
      database.pragma(`schema_version = ${version + 1n}`);
      database.pragma("writable_schema = OFF");
      database.unsafeMode(false);
    }
    const example = `"${table}" was for ${declared}, and is for any geometry now`;
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
        this.registrar.note(layer.table, layer, layer.created !== null);
        if (layer.created && this.options.index) this.registrar.addTriggers(layer.created);
        for (const kept of layer.kept) this.restore(kept);
      }
      this.foreignKeys.check(this.output);
    });
  }

  /** Makes an index or trigger again; it may speak of columns that the layer no longer has. */
  private restore({ type, name, sql }: PreservedObject): void {
    try {
      this.database.exec(sql);
    } catch (error) {
      const example = `the ${type} "${name}" does not fit the new layer: ${(error as Error).message}`;
      this.context.reportNotice("definition-dropped", undefined, example);
    }
  }

  async commit(): Promise<void> {
    await runOrFail(this.output, () => {
      this.database.exec("COMMIT");
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

/** What a layer says of itself after it was replaced: what the input says, and what it leaves open as it was. */
function mergeMetadata(said: LayerMetadata, before: LayerMetadata): LayerMetadata {
  const { columns = [] } = said;
  const described = new Set(columns.map(({ column }) => column));
  const others = (before.columns ?? []).filter(({ column }) => !described.has(column));
  return { ...before, ...said, columns: [...columns, ...others] };
}
