import type { ColumnNames, Crs, FieldType, Layer, LayerMetadata } from "../../../src/model/index.js";
import type { DeclaredColumn } from "../schema/create-table.js";
import type { SqliteHeader } from "../sqlite/header.js";

/** What a column of a record becomes. */
export interface ColumnPlan {
  readonly name: string;
  /** A field of this type, the layer's geometry, or nothing: the rowid stands elsewhere. */
  readonly role: FieldType | "geometry" | "rowid";
  /** What rows have that were there before the column. */
  readonly initial: DeclaredColumn["initial"];
}

/** How a layer is read, as plain data. */
export interface LayerPlan {
  readonly name: string;
  /** As the schema spells it. */
  readonly table: string;
  /** The page where the table's tree starts; null where SQLite must be asked for the rows. */
  readonly root: number | null;
  readonly columns: readonly ColumnPlan[];
  readonly ids: "int32" | "int64" | null;
  readonly crs: Crs | null;
  readonly srsId: number | null;
  /** The column with the geometry; null where there is none. */
  readonly geometryColumn: string | null;
  readonly metadata?: LayerMetadata;
}

/** What opening a GeoPackage found out. */
export interface GeoPackagePlan {
  readonly header: SqliteHeader;
  readonly layers: readonly LayerPlan[];
}

export const fieldsOf = (plan: LayerPlan) =>
  plan.columns.flatMap(({ name, role }) => (role === "geometry" || role === "rowid" ? [] : [{ name, type: role }]));

/** What is known of a layer before it is read: what the tables about tables say beyond it, other programs let go stale. */
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
