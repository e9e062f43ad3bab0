import type { ColumnNames, Crs, FieldType, Layer, LayerMetadata } from "../../../src/model/index.js";
import type { DeclaredColumn } from "../schema/create-table.js";
import type { SqliteHeader } from "../sqlite/header.js";

/** How a column of a record is read. */
export interface ColumnPlan {
  readonly name: string;
  /** A field of this type, the geometry, or the alias of the rowid, whose value is not in the record. */
  readonly role: FieldType | "geometry" | "rowid";
  /** Value of rows that are older than the column. */
  readonly defaultValue: DeclaredColumn["defaultValue"];
}

/** How a layer is read, as plain data. */
export interface LayerPlan {
  readonly name: string;
  /** The name as spelled in the schema. */
  readonly table: string;
  /** Root page of the table's b-tree; null if the rows are read by an SQL query. */
  readonly root: number | null;
  readonly columns: readonly ColumnPlan[];
  readonly ids: "int32" | "int64" | null;
  readonly crs: Crs | null;
  readonly srsId: number | null;
  /** Name of the geometry column; null if there is none. */
  readonly geometryColumn: string | null;
  readonly metadata?: LayerMetadata;
}

/** Result of opening a GeoPackage, passed to worker threads as plain data. */
export interface GeoPackagePlan {
  readonly header: SqliteHeader;
  readonly layers: readonly LayerPlan[];
}

export const fieldsOf = (plan: LayerPlan) =>
  plan.columns.flatMap(({ name, role }) => (role === "geometry" || role === "rowid" ? [] : [{ name, type: role }]));

/** Layer properties known before reading. Counts and extents in the metadata tables are often stale and not used. */
export const layerInfoOf = (plan: LayerPlan): Omit<Layer, "bytes" | "batches"> => ({
  name: plan.name,
  crs: plan.crs,
  fields: fieldsOf(plan),
  geometryTypes: plan.geometryColumn === null ? [] : null,
  featureCount: null,
  extent: null,
  columnNames: layerColumnNames(plan),
  ...(plan.metadata && { metadata: plan.metadata }),
});

function layerColumnNames({ columns, geometryColumn }: LayerPlan): ColumnNames {
  const key = columns.find(({ role }) => role === "rowid");
  return { ...(key && { id: key.name }), ...(geometryColumn !== null && { geometry: geometryColumn }) };
}
