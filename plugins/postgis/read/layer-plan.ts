import type { Crs, Field, FieldType, GeometryType, LayerInfo } from "../../../src/model/index.js";
import type { WireFormat } from "../column-types.js";

/** A column that becomes a field. */
export interface ColumnPlan extends Field {
  /** What is selected for it. */
  readonly expression: string;
  readonly wire: WireFormat;
}

/** How a table, view or query is read, as plain data. */
export interface LayerPlan {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly aside: boolean;
  /** What stands behind FROM. */
  readonly from: string;
  readonly columns: readonly ColumnPlan[];
  readonly id: { readonly expression: string; readonly wire: WireFormat; readonly type: FieldType } | null;
  readonly geometry: {
    readonly column: string;
    readonly expression: string;
    /** What all geometries are in; 0 for none. */
    readonly srid: number;
    readonly type: GeometryType | null;
  } | null;
  readonly crs: Crs | null;
  /** Of a table that is read in ranges of its pages: how many there are; else null. */
  readonly pages: number | null;
  /** Bytes on disk; 0 where that is not known. */
  readonly bytes: number;
  readonly isEmpty: boolean;
}

/** What opening a database found out: the same for all threads. */
export interface DatabasePlan {
  /** All connections see the database as it was when this was taken; null where a server gives none. */
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
  explicitOnly: plan.aside,
});
