import type { LayerMetadata } from "../../../src/model/index.js";
import type { Database, Statement } from "../../../src/sqlite/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { createRtreeSql, triggersOf } from "../rtree/sql.js";
import type { SqliteValue } from "../sqlite/values.js";
import type { TableDesign } from "./layer-design.js";
import { layerMetadataTables, readLayerMetadata } from "./read-metadata.js";
import {
  coreTables,
  createLayerSql,
  extensionDefinition,
  type GeoPackageVersion,
  geoPackageVersions,
  jsonMimeType,
  timeConstraint,
} from "./schema-sql.js";
import { changeSchema } from "./set-aside-schema.js";
import { insertColumnMetadata, insertDocument } from "./write-metadata.js";
import { type SrsRecord, undefinedSrsRecords } from "./write-srs.js";

const applicationId = 0x47504b47;

const extentColumns = ["min_x", "min_y", "max_x", "max_y"] as const;

type CoreTable = keyof typeof coreTables;

/** Value of the z and m columns of gpkg_geometry_columns: 0 prohibited, 1 mandatory, 2 optional (Table 6). */
export const zmPresence = (count: number, of: number): number => (count === 0 ? 0 : count === of ? 1 : 2);

/** Statistics of the rows written to a layer. */
export interface LayerStatistics {
  readonly geometries: number;
  readonly withZ: number;
  readonly withM: number;
  /** Min x, min y, max x, max y; min > max if empty. */
  readonly box: Float64Array;
}

/** Maintains the gpkg_* metadata tables. */
export class MetadataTables {
  /** By their SQL: a statement that is not used any more is only closed when it is collected as garbage. */
  private readonly statements = new Map<string, Statement>();

  constructor(
    private readonly database: Database,
    private readonly version: GeoPackageVersion,
    private readonly now: Date,
  ) {}

  /** Turns an empty database into a GeoPackage. */
  initialize(wgs84: SrsRecord): void {
    const { database } = this;
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${geoPackageVersions[this.version].userVersion}`);
    for (const name of ["gpkg_spatial_ref_sys", "gpkg_contents", "gpkg_geometry_columns"] as const) this.ensure(name);
    for (const system of [...undefinedSrsRecords, wgs84]) this.addSystem(system);
  }

  private prepare(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }

  has(name: string): boolean {
    const found = this.prepare(
      "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE",
    ).get(name);
    return found !== undefined;
  }

  private ensure(name: CoreTable): void {
    if (!this.has(name)) this.database.exec(coreTables[name]);
  }

  private extension(table: string | null, column: string | null, name: string, anchor: string, scope: string): void {
    this.ensure("gpkg_extensions");
    const known = this.prepare(
      "SELECT 1 FROM gpkg_extensions WHERE extension_name = ? AND table_name IS ? COLLATE NOCASE AND column_name IS ? COLLATE NOCASE",
    ).get(name, table, column);
    if (known !== undefined) return;
    this.prepare("INSERT INTO gpkg_extensions VALUES (?, ?, ?, ?, ?)").run(
      table,
      column,
      name,
      extensionDefinition(this.version, anchor),
      scope,
    );
  }

  /** Lower-case column names of gpkg_spatial_ref_sys. */
  private systemColumns(): string[] {
    const columns = this.database.pragma("table_info(gpkg_spatial_ref_sys)") as { name: string }[];
    return columns.map((column) => column.name.toLowerCase());
  }

  addSystem(system: SrsRecord): void {
    const { database } = this;
    if (system.definition12063 !== null && !this.systemColumns().includes("definition_12_063")) {
      database.exec("ALTER TABLE gpkg_spatial_ref_sys ADD COLUMN definition_12_063 TEXT NOT NULL DEFAULT 'undefined'");
      this.extension("gpkg_spatial_ref_sys", "definition_12_063", "gpkg_crs_wkt", "crs_wkt", "read-write");
    }
    const has12063 = this.systemColumns().includes("definition_12_063");
    const names = "srs_name, srs_id, organization, organization_coordsys_id, definition, description";
    const more = has12063 ? ", definition_12_063" : "";
    database
      .prepare(
        `INSERT OR IGNORE INTO gpkg_spatial_ref_sys (${names}${more}) VALUES (?, ?, ?, ?, ?, ?${has12063 ? ", ?" : ""})`,
      )
      .run(
        system.name,
        system.srsId,
        system.organization,
        system.code,
        system.definition,
        system.description,
        ...(has12063 ? [system.definition12063 ?? "undefined"] : []),
      );
  }

  /** Returns the srs_id of a row with the same code or definition, or adds a row. */
  idOf(system: SrsRecord): number {
    const { database } = this;
    type Row = {
      readonly srs_id: bigint;
      readonly organization: string;
      readonly code: bigint;
      readonly definition: string;
    };
    const rows = database
      .prepare<[], Row>(
        "SELECT srs_id, organization, organization_coordsys_id AS code, definition FROM gpkg_spatial_ref_sys ORDER BY srs_id",
      )
      .all();
    const isSame = (row: Row) =>
      system.organization === "NONE"
        ? row.definition === system.definition && system.definition !== "undefined"
        : row.organization.toUpperCase() === system.organization && Number(row.code) === system.code;
    const same = rows.find(isSame);
    if (same) return Number(same.srs_id);
    const taken = new Set(rows.map((row) => Number(row.srs_id)));
    let id = system.srsId;
    while (taken.has(id)) id++;
    this.addSystem({ ...system, srsId: id });
    return id;
  }

  /** Creates a layer's table and its metadata rows. */
  addLayer(design: TableDesign, srsId: number, name: string, metadata: LayerMetadata = {}): void {
    const { database } = this;
    const { table, geometry } = design;
    const { title = name, description = "" } = metadata;
    database.exec(createLayerSql(design));
    this.prepare(
      "INSERT INTO gpkg_contents (table_name, data_type, identifier, description, last_change, srs_id) VALUES (?, ?, ?, ?, ?, ?)",
    ).run(
      table,
      geometry ? "features" : "attributes",
      this.freeIdentifier(title),
      description,
      this.now.toISOString(),
      geometry ? srsId : 0,
    );
    if (geometry) {
      this.ensure("gpkg_geometry_columns");
      this.prepare("INSERT INTO gpkg_geometry_columns VALUES (?, ?, ?, ?, 0, 0)").run(
        table,
        geometry.column,
        geometry.type,
        srsId,
      );
    }
    for (const { name, type } of design.fields) this.describeType(table, name, type);
    this.addMetadata(design, metadata);
  }

  metadataOf(table: string): LayerMetadata {
    const records = (name: string) => {
      const rows = this.has(name)
        ? this.database.prepare<[], Record<string, SqliteValue>>(`SELECT * FROM ${name}`).all()
        : [];
      return rows.map((row) => new Map(Object.entries(row).map(([column, value]) => [column.toLowerCase(), value])));
    };
    const said = {
      contents: records(layerMetadataTables.contents),
      dataColumns: records(layerMetadataTables.dataColumns),
      constraints: records(layerMetadataTables.constraints),
      metadata: records(layerMetadataTables.metadata),
      references: records(layerMetadataTables.references),
    };
    return readLayerMetadata(table, true, said) ?? {};
  }

  private addMetadata({ table, fid, geometry, fields }: TableDesign, { documents = [], columns = [] }: LayerMetadata) {
    const { database } = this;
    const names = new Set([fid, geometry?.column, ...fields.map((field) => field.name)]);
    const described = columns.filter(({ column }) => names.has(column));
    if (described.length > 0) this.ensureSchema();
    for (const each of described) insertColumnMetadata(database, table, each);
    const placed = documents.filter(({ column }) => column === undefined || names.has(column));
    if (placed.length === 0) return;
    for (const name of ["gpkg_metadata", "gpkg_metadata_reference"] as const) {
      this.ensure(name);
      this.extension(name, null, "gpkg_metadata", "metadata", "read-write");
    }
    for (const each of placed) insertDocument(database, table, each, this.now);
  }

  private freeIdentifier(wanted: string): string {
    const taken = this.prepare("SELECT 1 FROM gpkg_contents WHERE identifier = ?");
    for (let n = 0; ; n++) {
      const name = n === 0 ? wanted : `${wanted}_${n}`;
      if (taken.get(name) === undefined) return name;
    }
  }

  private ensureSchema(): void {
    for (const name of ["gpkg_data_columns", "gpkg_data_column_constraints"] as const) {
      this.ensure(name);
      this.extension(name, null, "gpkg_schema", "schema", "read-write");
    }
  }

  /** Marks a text column as JSON or times in gpkg_data_columns. */
  describeType(table: string, column: string, type: string): void {
    if (type !== "json" && type !== "time") return;
    this.ensureSchema();
    if (type === "time") {
      this.prepare(
        "INSERT OR IGNORE INTO gpkg_data_column_constraints (constraint_name, constraint_type, value, description) VALUES (?, 'glob', ?, 'a time of day')",
      ).run(timeConstraint.name, timeConstraint.glob);
    }
    this.prepare(
      "INSERT OR REPLACE INTO gpkg_data_columns (table_name, column_name, mime_type, constraint_name) VALUES (?, ?, ?, ?)",
    ).run(table, column, type === "json" ? jsonMimeType : null, type === "time" ? timeConstraint.name : null);
  }

  /** Creates the empty R-tree of a layer. */
  addIndex({ table, fid, geometry }: TableDesign): void {
    if (!geometry) return;
    this.database.exec(createRtreeSql({ table, column: geometry.column, fid }));
    this.extension(table, geometry.column, "gpkg_rtree_index", "rtree", "write-only");
  }

  /** Creates the triggers of the R-tree. Call after writing rows: triggers would only slow that down. */
  addTriggers({ table, fid, geometry }: TableDesign): void {
    if (!geometry) return;
    for (const { sql } of triggersOf({ table, column: geometry.column, fid }, this.version)) this.database.exec(sql);
  }

  /** The same for all layers of a file that is closed next: each `CREATE TRIGGER` would visit all tables of the file. */
  addTriggersToSchema(designs: readonly TableDesign[]): void {
    const { database, version } = this;
    changeSchema(database, () => {
      const insert = database.prepare("INSERT INTO sqlite_master VALUES ('trigger', ?, ?, 0, ?)");
      for (const { table, fid, geometry } of designs) {
        if (!geometry) continue;
        for (const { name, sql } of triggersOf({ table, column: geometry.column, fid }, version))
          insert.run(name, table, sql);
      }
    });
  }

  /** Updates the extent, the time of change and the z and m flags of a layer. */
  updateStatistics(table: string, { geometries, withZ, withM, box }: LayerStatistics, isNew: boolean): void {
    const hasExtent = box[0]! <= box[2]!;
    const sides = Object.fromEntries(extentColumns.map((side, n) => [side, hasExtent ? box[n]! : null]));
    const wider = extentColumns.map((side) => {
      const widest = side.startsWith("min") ? "min" : "max";
      return `${side} = coalesce(${widest}(${side}, @${side}), ${side}, @${side})`;
    });
    // Without COLLATE, the index of the table is used.
    const ofTable = `WHERE table_name = @table${isNew ? "" : " COLLATE NOCASE"}`;
    this.prepare(`UPDATE gpkg_contents SET last_change = @now, ${wider.join(", ")} ${ofTable}`).run({
      ...sides,
      now: this.now.toISOString(),
      table,
    });
    if (geometries === 0 || (!isNew && !this.has("gpkg_geometry_columns"))) return;
    const dimensions = { z: zmPresence(withZ, geometries), m: zmPresence(withM, geometries) };
    const set = isNew
      ? "z = @z, m = @m"
      : "z = CASE WHEN z = @z THEN z ELSE 2 END, m = CASE WHEN m = @m THEN m ELSE 2 END";
    this.prepare(`UPDATE gpkg_geometry_columns SET ${set} ${ofTable}`).run({ ...dimensions, table });
  }

  /** Removes a layer with its index and metadata. */
  removeLayer(table: string, geometryColumn: string | null): void {
    const { database } = this;
    if (geometryColumn !== null) {
      const rtree = `rtree_${table}_${geometryColumn}`;
      if (this.has(rtree)) database.exec(`DROP TABLE ${quoteIdentifier(rtree)}`);
    }
    const about = [
      "gpkg_geometry_columns",
      "gpkg_extensions",
      "gpkg_data_columns",
      "gpkg_ogr_contents",
      "gpkg_metadata_reference",
      "gpkg_contents",
    ];
    for (const name of about) {
      if (this.has(name)) database.prepare(`DELETE FROM ${name} WHERE table_name = ? COLLATE NOCASE`).run(table);
    }
    database.exec(`DROP TABLE ${quoteIdentifier(table)}`);
  }
}
