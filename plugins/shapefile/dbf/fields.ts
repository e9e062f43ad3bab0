import type { Field, FieldType } from "../../../src/model/index.js";
import type { DbfColumn, DbfHeader } from "./header.js";

/** The binary representation of a cell. */
export type CellKind =
  | "text"
  | "number"
  | "logical"
  | "date"
  | "int32"
  | "float64"
  | "currency"
  | "timestamp"
  | "memo"
  | "object"
  | "varchar"
  | "varbinary";

/** A column of the table and the field it becomes. */
export interface TableField {
  readonly field: Field;
  readonly column: DbfColumn;
  readonly cell: CellKind;
}

/** Integers of up to 9 digits fit int32; up to 20 characters (a sign and 19 digits) are read as int64. */
const int32Width = 9;
const int64Width = 20;

function numberType(column: DbfColumn, fractions: ReadonlySet<DbfColumn>): FieldType {
  if (column.decimals > 0 || fractions.has(column)) return "double";
  return column.width <= int32Width ? "int32" : column.width <= int64Width ? "int64" : "double";
}

function interpretColumn(
  column: DbfColumn,
  header: DbfHeader,
  fractions: ReadonlySet<DbfColumn>,
): { cell: CellKind; type: FieldType } {
  switch (column.type) {
    case "N":
      return { cell: "number", type: numberType(column, fractions) };
    case "F":
      return { cell: "number", type: "double" };
    case "L":
      return { cell: "logical", type: "boolean" };
    case "D":
      return { cell: "date", type: "date" };
    case "M":
      return { cell: "memo", type: "text" };
    case "G":
    case "P":
    case "W":
      return { cell: "object", type: "binary" };
    case "V":
      return { cell: "varchar", type: "text" };
    case "Q":
      return { cell: "varbinary", type: "binary" };
  }
  if (column.type === "B") {
    return column.width === 8 ? { cell: "float64", type: "double" } : { cell: "object", type: "binary" };
  }
  if ((column.type === "I" || column.type === "+") && column.width === 4) return { cell: "int32", type: "int32" };
  if (column.type === "O" && column.width === 8) return { cell: "float64", type: "double" };
  if (column.type === "Y" && column.width === 8 && !header.dbase7) return { cell: "currency", type: "double" };
  if ((column.type === "T" || column.type === "@") && column.width === 8) {
    return { cell: "timestamp", type: "datetime" };
  }
  return { cell: "text", type: "text" };
}

const typesWithWidth = new Set(["C", "N", "F"]);

/**
 * The name, or `name2`, `name3` … if an earlier column has it. GDAL uses the same names, so scripts stay compatible.
 */
function uniqueName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) if (!taken.has(`${name}${n}`)) return `${name}${n}`;
}

/** The fields of a table; `fractions` are integer columns that nevertheless hold fractions. */
export function createTableFields(
  header: DbfHeader,
  fractions: ReadonlySet<DbfColumn>,
  decodeName: (raw: string) => string,
  renamed: (from: string, to: string) => void,
): TableField[] {
  const taken = new Set<string>();
  return header.columns.map((column, i) => {
    const written = decodeName(column.rawName);
    const name = uniqueName(written === "" ? `field_${i + 1}` : written, taken);
    taken.add(name);
    if (name !== written) renamed(written, name);
    const { cell, type } = interpretColumn(column, header, fractions);
    const width = typesWithWidth.has(column.type) ? { width: column.width } : {};
    const decimals = column.type === "N" || column.type === "F" ? { decimals: column.decimals } : {};
    return { field: { name, type, ...width, ...decimals }, column, cell };
  });
}
