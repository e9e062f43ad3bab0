import type { Field, FieldType } from "../../../../src/model/field.js";
import type { CoordinateCandidate, Crs, Split } from "../../../../src/model/layer.js";
import type { LayerSummary } from "../../../../src/model/layer-summary.js";
import type { FormatRules } from "../columns/column-format.js";
import type { NumberFormat } from "../columns/number-format.js";
import type { GeometryPlan } from "../geometry/geometry-columns.js";
import type { TextEncoding } from "../records/text-blocks.js";

/** A range of whole records, in bytes of the source. */
export interface TableSplit extends Split {
  readonly from: number;
  readonly to: number;
}

export interface ColumnPlan {
  readonly name: string;
  readonly type: FieldType;
  /** Whether it becomes an attribute. */
  readonly kept: boolean;
  /** The number format, if it differs from the dialect. */
  readonly numbers: NumberFormat | null;
  /** Whether its dates have the month first. */
  readonly monthFirst: boolean;
}

/** The notation of records and cells. */
export interface Dialect {
  readonly delimiter: number;
  readonly decimal: number;
  readonly header: boolean;
  /** Whether quotes mark text cells, and no others. */
  readonly hasTypedCells: boolean;
  /** Lines before the first record. */
  readonly lines: number;
  /** Options that apply to the cells of all columns. */
  readonly rules: FormatRules;
}

/** The results of inspecting a file: plain data, the scan result for workers. */
export interface TablePlan extends Dialect {
  readonly encoding: TextEncoding;
  readonly columns: readonly ColumnPlan[];
  readonly geometry: GeometryPlan;
  /** Names of columns that may be coordinates, if there is no geometry. */
  readonly candidates: readonly CoordinateCandidate[];
  readonly crs: Crs | null;
  /** The SRID of the geometries, from them or from an option. */
  readonly srid: number | null;
  /** Whether an option sets it; it then applies to geometries without an SRID. */
  readonly isSridGiven: boolean;
  /** Number of features, if the scan determined it. */
  readonly features: number | null;
  /** Null unless the whole file was scanned. */
  readonly splits: readonly TableSplit[] | null;
  /** Summary of all features, if the scan determined it. */
  readonly summary: LayerSummary | null;
}

const fieldsByPlan = new WeakMap<TablePlan, readonly Field[]>();

/** Returns the same fields on every call, because there may be very many. */
export function fieldsOf(plan: TablePlan): readonly Field[] {
  let fields = fieldsByPlan.get(plan);
  if (!fields) {
    fields = plan.columns.filter((column) => column.kept).map(({ name, type }) => ({ name, type }));
    fieldsByPlan.set(plan, fields);
  }
  return fields;
}
