import type { FieldType } from "../../../../src/model/field.js";

/** What a `.csvt` declares for a column: a type, or a part of the geometry. */
export type CsvtColumnType = FieldType | "x" | "y" | "z" | "wkt";

/** Types as GDAL's CSV driver documents them, in lower case. */
const csvtTypes: Readonly<Record<string, CsvtColumnType>> = {
  integer: "int32",
  "integer(boolean)": "boolean",
  "integer(int16)": "int32",
  integer64: "int64",
  long: "int64",
  real: "double",
  "real(float32)": "double",
  float: "double",
  double: "double",
  string: "text",
  "string(json)": "text",
  "string(uuid)": "text",
  jsonstringlist: "text",
  date: "date",
  time: "time",
  datetime: "datetime",
  coordx: "x",
  "point(x)": "x",
  coordy: "y",
  "point(y)": "y",
  coordz: "z",
  "point(z)": "z",
  wkt: "wkt",
};

/** The types of a `.csvt`, by column; null if it does not declare one or uses an unknown word. */
export function parseCsvt(text: string): (CsvtColumnType | null)[] {
  const line = text.replace(/^\uFEFF/, "").split(/[\r\n]/, 1)[0]!;
  if (line.trim() === "") return [];
  const words = line.match(/"[^"]*"|[^,;\t("]*(\([^)]*\))?[^,;\t]*/g) ?? [];
  return words
    .filter((word, i) => word !== "" || words[i - 1] === "")
    .map((word) => {
      const plain = word.replaceAll('"', "").trim().toLowerCase();
      return csvtTypes[plain] ?? csvtTypes[plain.replace(/\(.*\)$/, "")] ?? null;
    });
}

const csvtWords: Partial<Readonly<Record<FieldType, string>>> = {
  boolean: "Integer(Boolean)",
  int32: "Integer",
  int64: "Integer64",
  double: "Real",
  date: "Date",
  time: "Time",
  datetime: "DateTime",
};

/** The word for a type in a `.csvt`. */
export const csvtWordOf = (type: FieldType) => csvtWords[type] ?? "String";
