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

/** A layer as the tables about tables name it. */
interface RegisteredLayer {
  readonly table: string;
  readonly geometryColumn: string | null;
  readonly srsId: number | null;
}

const toTextOrNull = (value: SqliteValue | undefined): string => (typeof value === "string" ? value : "");
const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Reads a table about tables, each row by the lower-case names of its columns; none where there is no such table. */
type ReadRecords = (name: string) => Promise<readonly TableRow[]>;

/** The layers that gpkg_contents lists, in its order. Its own counts and extents are often wrong, and are left alone. */
async function registeredLayers(
  schema: ReadonlyMap<string, SchemaEntry>,
  contents: readonly TableRow[],
  records: ReadRecords,
): Promise<RegisteredLayer[]> {
  const columns = await records("gpkg_geometry_columns");
  const registered = contents
    .filter((row) => ["features", "attributes", "aspatial"].includes(toTextOrNull(row.get("data_type")).toLowerCase()))
    .map((row): RegisteredLayer => {
      const table = toTextOrNull(row.get("table_name"));
      const column = columns.find((each) => isSameName(toTextOrNull(each.get("table_name")), table));
      const srs = column?.get("srs_id") ?? row.get("srs_id");
      return {
        table,
        geometryColumn: column ? toTextOrNull(column.get("column_name")) : null,
        srsId: srs === null || srs === undefined ? null : Number(srs),
      };
    });
  return [...registered, ...unregisteredTables(schema, contents)];
}

/**
 * Tables that gpkg_contents does not know are layers too, unless the file registers tables without geometry: then what
 * it leaves out was left out on purpose.
 */
function unregisteredTables(
  schema: ReadonlyMap<string, SchemaEntry>,
  contents: readonly TableRow[],
): RegisteredLayer[] {
  const types = contents.map((row) => toTextOrNull(row.get("data_type")).toLowerCase());
  if (types.includes("attributes") || types.includes("aspatial")) return [];
  const known = new Set(contents.map((row) => toTextOrNull(row.get("table_name")).toLowerCase()));
  return [...schema.values()]
    .filter(({ name }) => !known.has(name.toLowerCase()) && !systemTableNames.test(name))
    .filter((entry) => entry.type === "view" || entry.root > 0)
    .map(({ name }) => ({ table: name, geometryColumn: null, srsId: null }));
}

export interface Contents {
  readonly layers: readonly LayerPlan[];
  readonly leftOut: readonly OmittedContent[];
}

/** What there is to read in a GeoPackage. Reads no rows but those of the tables about tables. @throws unsupported */
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
  const said: MetadataRecords = {
    contents: await records(layerMetadataTables.contents),
    dataColumns: await records(layerMetadataTables.dataColumns),
    constraints: await records(layerMetadataTables.constraints),
    metadata: await records(layerMetadataTables.metadata),
    references: await records(layerMetadataTables.references),
  };
  const kinds = textColumnTypes(said);
  const layers: LayerPlan[] = [];
  for (const listed of await registeredLayers(schema, said.contents, records)) {
    const entry = schema.get(listed.table.toLowerCase());
    if (!entry || systemTableNames.test(listed.table)) {
      const reason = entry ? "is a table of the database itself" : "is not there";
      context.reportNotice("table-missing", undefined, `gpkg_contents names "${listed.table}", which ${reason}`);
      continue;
    }
    const plan = await createLayerPlan(database, entry, listed, await crs(listed.srsId), kinds);
    const metadata = plan && readLayerMetadata(listed.table, layers.length === 0, said);
    if (plan) layers.push(metadata ? { ...plan, metadata } : plan);
    else context.reportNotice("table-virtual", undefined, `"${entry.name}" is a virtual table, which is not read`);
  }
  return { layers, leftOut: await findDroppedContent(database, schema, layers, said, records) };
}

/** What gpkg_data_columns says of text columns, by `table.column` in lower case: that they hold JSON, or times. */
function textColumnTypes({ dataColumns: columns, constraints }: MetadataRecords): Map<string, "json" | "time"> {
  const ofTimes = new Set(
    constraints
      .filter(
        (row) =>
          toTextOrNull(row.get("constraint_type")) === "glob" && toTextOrNull(row.get("value")) === timeConstraint.glob,
      )
      .map((row) => toTextOrNull(row.get("constraint_name"))),
  );
  const kinds = new Map<string, "json" | "time">();
  for (const row of columns) {
    const column = `${toTextOrNull(row.get("table_name"))}.${toTextOrNull(row.get("column_name"))}`.toLowerCase();
    if (/^application\/([\w.-]+\+)?json\b/i.test(toTextOrNull(row.get("mime_type")))) kinds.set(column, "json");
    else if (ofTimes.has(toTextOrNull(row.get("constraint_name")))) kinds.set(column, "time");
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
        plain.columns.map(({ initial }) => initial),
      )
    : (roles as FieldType[]);
  const columns = plain.columns.map(({ name, initial }, c) => ({ name, initial, role: found[c]! }));
  const [least, greatest] = await readRowidRange(database, entry.root);
  const ids = least >= -(2 ** 31) && greatest < 2 ** 31 ? "int32" : "int64";
  return { ...common, root: entry.root, columns, ids, geometryColumn: plain.columns[geometry]?.name ?? null };
}

/** The column that holds the geometry: the one that is registered, else one that is declared as a geometry. */
function findGeometryColumn({ columns }: DeclaredTable, listed: RegisteredLayer): number {
  const { geometryColumn } = listed;
  const registered = columns.findIndex((column) => geometryColumn !== null && isSameName(column.name, geometryColumn));
  if (registered >= 0) return registered;
  return columns.findIndex((column) => isGeometryType(column.type));
}
