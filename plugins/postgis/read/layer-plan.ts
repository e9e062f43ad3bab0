import type { Crs, Field, FieldType, GeometryType, LayerInfo } from "../../../src/model/index.js";
import type { WireFormat } from "../column-types.js";

/** A column that becomes a field. */
export interface ColumnPlan extends Field {
  /** The SELECT expression. */
  readonly expression: string;
  readonly wire: WireFormat;
}

/** How a table, view or query is read, as plain data. */
export interface LayerPlan {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly explicitOnly: boolean;
  /** The FROM clause. */
  readonly from: string;
  readonly columns: readonly ColumnPlan[];
  readonly id: { readonly expression: string; readonly wire: WireFormat; readonly type: FieldType } | null;
  readonly geometry: {
    readonly column: string;
    readonly expression: string;
    /** SRID of all geometries; 0 for none. */
    readonly srid: number;
    readonly type: GeometryType | null;
  } | null;
  readonly crs: Crs | null;
  /** Number of pages, if the table can be read in page ranges; else null. */
  readonly pages: number | null;
  /** Size on disk; 0 if unknown. */
  readonly bytes: number;
  readonly isEmpty: boolean;
}

/** Result of opening a database, shared by all threads. */
export interface DatabasePlan {
  /** Exported snapshot that all connections use; null if the server supports none. */
  readonly snapshot: string | null;
  readonly layers: readonly LayerPlan[];
}

export const fieldsOf = ({ columns }: LayerPlan): Field[] =>
  columns.map(({ expression: _, wire: __, ...field }) => field);

export const layerInfoOf = (plan: LayerPlan): LayerInfo => ({
  name: plan.name,
  crs: plan.crs,
  fields: fieldsOf(plan),
  geometryTypes: plan.geometry === null ? [] : plan.geometry.type === null ? null : [plan.geometry.type],
  featureCount: plan.isEmpty ? 0 : null,
  extent: null,
  aliases: plan.aliases,
  explicitOnly: plan.explicitOnly,
});
