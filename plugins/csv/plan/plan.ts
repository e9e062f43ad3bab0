import type { Field, FieldType } from "../../../src/model/field.js";
import type { Crs, Split } from "../../../src/model/layer.js";
import type { LayerSummary } from "../../../src/model/layer-summary.js";
import type { FormatRules } from "../columns/column-format.js";
import type { NumberFormat } from "../columns/number-format.js";
import type { GeometryPlan } from "../geometry/geometry-columns.js";
import type { TextEncoding } from "../records/text-blocks.js";

/** A stretch of whole records, as bytes of the source. */
export interface CsvSplit extends Split {
  readonly from: number;
  readonly to: number;
}

export interface ColumnPlan {
  readonly name: string;
  readonly type: FieldType;
  /** Whether it becomes an attribute. */
  readonly kept: boolean;
  /** How its numbers are written, where that is not as in the dialect. */
  readonly numbers: NumberFormat | null;
  /** Whether the month comes first in its dates. */
  readonly monthFirst: boolean;
}

/** How records and cells are written. */
export interface Dialect {
  readonly delimiter: number;
  readonly decimal: number;
  readonly header: boolean;
  /** Lines before the first record. */
  readonly lines: number;
  /** What options say of the cells of all columns. */
  readonly rules: FormatRules;
}

/** Everything that was found out about a file when it was opened first: plain data, the scan result for workers. */
export interface CsvPlan extends Dialect {
  readonly encoding: TextEncoding;
  readonly columns: readonly ColumnPlan[];
  readonly geometry: GeometryPlan;
  /** Names of columns that look like coordinates, where there is no geometry. */
  readonly candidates: readonly (readonly [x: string, y: string])[];
  readonly crs: Crs | null;
  /** The SRID of the geometries, where they name one or it was said. */
  readonly srid: number | null;
  /** It was said for the whole file, and holds for geometries that name none. */
  readonly isSridGiven: boolean;
  /** Features, where the scan could tell. */
  readonly features: number | null;
  /** Where the file was scanned whole. */
  readonly splits: readonly CsvSplit[] | null;
  /** What all features say together, where the scan could tell. */
  readonly summary: LayerSummary | null;
}

const fieldsByPlan = new WeakMap<CsvPlan, readonly Field[]>();

/** The same fields at every call: there may be very many. */
export function fieldsOf(plan: CsvPlan): readonly Field[] {
  let fields = fieldsByPlan.get(plan);
  if (!fields) {
    fields = plan.columns.filter((column) => column.kept).map(({ name, type }) => ({ name, type }));
    fieldsByPlan.set(plan, fields);
  }
  return fields;
}
