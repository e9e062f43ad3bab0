import type { Crs, FieldType, OmittedContent } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { inferColumnTypes, readRowidRange } from "../read/infer-types.js";
import type { ColumnPlan, LayerPlan } from "../read/layer-plan.js";
import type { ViewLayers } from "../sql/view-layers.js";
import { type Database, declareReadableTable, type SchemaEntry } from "../sqlite/database.js";
import type { SqliteValue } from "../sqlite/values.js";
import { isGeometryType, typeOfDeclaration } from "./column-types.js";
import { type DeclaredTable, parseCreateTable } from "./create-table.js";
import { findDroppedContent } from "./dropped-content.js";
import { layerMetadataTables, type MetadataRecords, readLayerMetadata, type TableRow } from "./read-metadata.js";
import { readSrs } from "./read-srs.js";
import { timeConstraint } from "./schema-sql.js";
import { systemTableNames } from "./system-tables.js";

/** A layer as registered in gpkg_contents and gpkg_geometry_columns. */
interface RegisteredLayer {
  readonly table: string;
  readonly geometryColumn: string | null;
  readonly srsId: number | null;
}

const toText = (value: SqliteValue | undefined): string => (typeof value === "string" ? value : "");
const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Reads a metadata table; rows are maps with lower-case column names. Returns no rows if the table is missing. */
type ReadRecords = (name: string) => Promise<readonly TableRow[]>;

/** The layers in gpkg_contents, in its order. Its counts and extents are often wrong and not used. */
async function registeredLayers(
  schema: ReadonlyMap<string, SchemaEntry>,
  contents: readonly TableRow[],
  records: ReadRecords,
): Promise<RegisteredLayer[]> {
  const columns = await records("gpkg_geometry_columns");
  const registered = contents
    .filter((row) => ["features", "attributes", "aspatial"].includes(toText(row.get("data_type")).toLowerCase()))
    .map((row): RegisteredLayer => {
      const table = toText(row.get("table_name"));
      const column = columns.find((each) => isSameName(toText(each.get("table_name")), table));
      const srs = column?.get("srs_id") ?? row.get("srs_id");
      return {
        table,
        geometryColumn: column ? toText(column.get("column_name")) : null,
        srsId: srs === null || srs === undefined ? null : Number(srs),
      };
    });
  return [...registered, ...unregisteredTables(schema, contents)];
}

/**
 * Tables that are not in gpkg_contents are layers too, unless the file registers attributes tables: then the omission is
 * assumed to be on purpose.
 */
function unregisteredTables(
  schema: ReadonlyMap<string, SchemaEntry>,
  contents: readonly TableRow[],
): RegisteredLayer[] {
  const types = contents.map((row) => toText(row.get("data_type")).toLowerCase());
  if (types.includes("attributes") || types.includes("aspatial")) return [];
  const known = new Set(contents.map((row) => toText(row.get("table_name")).toLowerCase()));
  return [...schema.values()]
    .filter(({ name }) => !known.has(name.toLowerCase()) && !systemTableNames.test(name))
    .filter((entry) => entry.type === "view" || entry.root > 0)
    .map(({ name }) => ({ table: name, geometryColumn: null, srsId: null }));
}

export interface Contents {
  readonly layers: readonly LayerPlan[];
  readonly omitted: readonly OmittedContent[];
}

/** Plans the layers of a GeoPackage. Reads rows of metadata tables only. @throws unsupported */
export async function readContents(database: Database, views: ViewLayers, context: ReadContext): Promise<Contents> {
  const schema = await database.schema();
  const records: ReadRecords = async (name) => {
    const entry = schema.get(name);
    return entry ? ((await database.records(entry)) ?? (await views.records(entry.name))) : [];
  };
  const systems = await records("gpkg_spatial_ref_sys");
  const known = new Map<number, Promise<Crs | null>>();
  const crs = (id: number | null): Promise<Crs | null> => {
    if (id === null) return Promise.resolve(null);
    const row = systems.find((each) => Number(each.get("srs_id")) === id);
    if (!known.has(id)) known.set(id, readSrs(row, id, context));
    return known.get(id)!;
  };
  const metadataRecords: MetadataRecords = {
    contents: await records(layerMetadataTables.contents),
    dataColumns: await records(layerMetadataTables.dataColumns),
    constraints: await records(layerMetadataTables.constraints),
    metadata: await records(layerMetadataTables.metadata),
    references: await records(layerMetadataTables.references),
  };
  const kinds = textColumnTypes(metadataRecords);
  const layers: LayerPlan[] = [];
  for (const listed of await registeredLayers(schema, metadataRecords.contents, records)) {
    const entry = schema.get(listed.table.toLowerCase());
    if (!entry || systemTableNames.test(listed.table)) {
      const reason = entry ? "is a system table" : "does not exist";
      context.reportNotice("table-missing", undefined, `gpkg_contents names "${listed.table}", which ${reason}`);
      continue;
    }
    const plan = await createLayerPlan(database, entry, listed, await crs(listed.srsId), kinds);
    const metadata = plan && readLayerMetadata(listed.table, layers.length === 0, metadataRecords);
    if (plan) layers.push(metadata ? { ...plan, metadata } : plan);
    else context.reportNotice("table-virtual", undefined, `"${entry.name}" is a virtual table, which is not read`);
  }
  return { layers, omitted: await findDroppedContent(database, schema, layers, metadataRecords, records) };
}

/** Text columns that hold JSON or times according to gpkg_data_columns, by lower-case `table.column`. */
function textColumnTypes({ dataColumns: columns, constraints }: MetadataRecords): Map<string, "json" | "time"> {
  const ofTimes = new Set(
    constraints
      .filter(
        (row) => toText(row.get("constraint_type")) === "glob" && toText(row.get("value")) === timeConstraint.glob,
      )
      .map((row) => toText(row.get("constraint_name"))),
  );
  const kinds = new Map<string, "json" | "time">();
  for (const row of columns) {
    const column = `${toText(row.get("table_name"))}.${toText(row.get("column_name"))}`.toLowerCase();
    if (/^application\/([\w.-]+\+)?json\b/i.test(toText(row.get("mime_type")))) kinds.set(column, "json");
    else if (ofTimes.has(toText(row.get("constraint_name")))) kinds.set(column, "time");
  }
  return kinds;
}

async function createLayerPlan(
  database: Database,
  entry: SchemaEntry,
  listed: RegisteredLayer,
  crs: Crs | null,
  kinds: ReadonlyMap<string, "json" | "time">,
): Promise<LayerPlan | null> {
  const plain = declareReadableTable(entry);
  const common = { name: listed.table, table: entry.name, crs, srsId: listed.srsId };
  if (!plain) {
    if (entry.type !== "view" && parseCreateTable(entry.sql) === null) return null;
    return { ...common, root: null, columns: [], ids: null, geometryColumn: listed.geometryColumn };
  }
  const geometry = findGeometryColumn(plain, listed);
  const roles = plain.columns.map((column, c): ColumnPlan["role"] | null => {
    if (c === plain.rowid) return "rowid";
    if (c === geometry) return "geometry";
    const type = typeOfDeclaration(column.type);
    const kind = kinds.get(`${entry.name}.${column.name}`.toLowerCase());
    return (type === "text" && kind) || type;
  });
  const found = roles.includes(null)
    ? await inferColumnTypes(
        database,
        entry.root,
        roles,
        plain.columns.map(({ defaultValue }) => defaultValue),
      )
    : (roles as FieldType[]);
  const columns = plain.columns.map(({ name, defaultValue }, c) => ({ name, defaultValue, role: found[c]! }));
  const [least, greatest] = await readRowidRange(database, entry.root);
  const ids = least >= -(2 ** 31) && greatest < 2 ** 31 ? "int32" : "int64";
  return { ...common, root: entry.root, columns, ids, geometryColumn: plain.columns[geometry]?.name ?? null };
}

/** The registered geometry column, else the first column declared with a geometry type; -1 if there is none. */
function findGeometryColumn({ columns }: DeclaredTable, listed: RegisteredLayer): number {
  const { geometryColumn } = listed;
  const registered = columns.findIndex((column) => geometryColumn !== null && isSameName(column.name, geometryColumn));
  if (registered >= 0) return registered;
  return columns.findIndex((column) => isGeometryType(column.type));
}
