import type { Field, FieldSummary, FieldType } from "../../../src/model/index.js";
import { createError, type TargetLayer } from "../../../src/plugin/index.js";
import { maxFields } from "../limits.js";

/** One column of a table to be written. */
export interface DbfOutputColumn {
  readonly name: string;
  /** The type of the field in the layer. */
  readonly fieldType: FieldType;
  readonly letter: "C" | "N" | "L" | "D";
  readonly offset: number;
  readonly width: number;
  readonly decimals: number;
}

export interface DbfOutputTable {
  readonly columns: readonly DbfOutputColumn[];
  readonly recordBytes: number;
  readonly headerBytes: number;
  /** Whether the layer has no fields; the only column then holds the record number, which only the assembler knows. */
  readonly numbered: boolean;
}

/** The maximum width of a text column in dBASE III+. */
const maxTextWidth = 254;
/** Any nine digits fit an int32; ten and more read as int64. */
const int32Width = 9;
/** The sign and 19 digits of the minimum int64. */
const int64Width = 20;
/** ogr2ogr's width of a double: fits every shortest exact text, if necessary with an exponent. */
const doubleShape = { width: 24, decimals: 15 };
/** The header stores the length of a record in 16 bits. */
const maxRecordBytes = 65_535;
/** The limit of columns in a GeoPackage. */
const maxGeoPackageColumns = 1998;

type ColumnShape = Pick<DbfOutputColumn, "letter" | "width" | "decimals">;

const clamp = (least: number, value: number, most: number) => Math.min(most, Math.max(least, value));

/** The column that holds all values of a field: as wide as the source declares, or as the values need. */
function columnShape(field: Field, known: FieldSummary | undefined): ColumnShape {
  const needed = known?.maxBytes ?? 0;
  const declared = field.width ?? 0;
  switch (field.type) {
    case "boolean":
      return { letter: "L", width: 1, decimals: 0 };
    case "date":
      return { letter: "D", width: 8, decimals: 0 };
    case "int32": {
      const width = declared <= int32Width ? declared : 0;
      return { letter: "N", width: Math.max(1, width, needed), decimals: 0 };
    }
    case "int64": {
      const width = declared <= int64Width ? declared : 0;
      return { letter: "N", width: clamp(int32Width + 1, Math.max(width, needed), int64Width), decimals: 0 };
    }
    case "double": {
      const decimals = field.decimals ?? 0;
      // Keeps a declared shape if it reads as a double again.
      const fits = declared >= 3 && declared <= 32 && decimals > 0 && decimals <= declared - 2;
      return { letter: "N", ...(fits ? { width: declared, decimals } : doubleShape) };
    }
    default:
      return {
        letter: "C",
        width: clamp(1, Math.max(Math.min(declared, maxTextWidth), needed), maxTextWidth),
        decimals: 0,
      };
  }
}

/** The names and offsets of the columns of a layer. @throws unsupported if there are too many fields or bytes */
export function createTableLayout(layer: TargetLayer): DbfOutputTable {
  const known = new Map((layer.summary?.fields ?? []).map((field) => [field.name, field]));
  const fields = layer.fields ?? layer.summary?.fields ?? [];
  let offset = 1;
  const columns: DbfOutputColumn[] = [];
  for (const field of fields) {
    const shape = columnShape(field, known.get(field.name));
    columns.push({ name: field.name, fieldType: field.type, offset, ...shape });
    offset += shape.width;
  }
  const numbered = columns.length === 0;
  if (numbered) {
    columns.push({ name: "FID", fieldType: "int32", letter: "N", offset, width: int32Width, decimals: 0 });
    offset += int32Width;
  }
  if (offset > maxRecordBytes || columns.length > maxFields) {
    const reason =
      columns.length > maxFields
        ? `a .dbf holds at most ${maxFields} fields, this layer has ${columns.length}`
        : `a record of a .dbf holds at most ${maxRecordBytes} bytes, this layer's fields take ${offset}`;
    const remedy =
      columns.length > maxGeoPackageColumns
        ? "leave fields out with --select, or write GeoJSON or CSV"
        : "leave fields out with --select or write a GeoPackage";
    throw createError("unsupported", { source: layer.name, reason: `${reason}; ${remedy}` });
  }
  return { columns, recordBytes: offset, headerBytes: 33 + 32 * columns.length, numbered };
}

/** The header of a table of `rows` rows (dBASE III+), with the date of `now` (UTC) as the last update. */
export function encodeTableHeader(
  table: DbfOutputTable,
  rows: number,
  now: Date,
  language: number,
  encode: (text: string) => Uint8Array,
): Buffer {
  const header = Buffer.alloc(table.headerBytes);
  header[0] = 0x03;
  header[1] = clamp(0, now.getUTCFullYear() - 1900, 255);
  header[2] = now.getUTCMonth() + 1;
  header[3] = now.getUTCDate();
  header.writeUInt32LE(rows, 4);
  header.writeUInt16LE(table.headerBytes, 8);
  header.writeUInt16LE(table.recordBytes, 10);
  header[29] = language;
  table.columns.forEach((column, i) => {
    const at = 32 + 32 * i;
    header.set(encode(column.name).subarray(0, 10), at);
    header.write(column.letter, at + 11, "latin1");
    header[at + 16] = column.width;
    header[at + 17] = column.decimals;
  });
  header[table.headerBytes - 1] = 0x0d;
  return header;
}
