/**
 * What a column can hold. `date` is `YYYY-MM-DD`, `time` is `HH:MM:SS[.sss]`, `datetime` is ISO 8601 with `T` and,
 * where known, an offset or `Z`; `binary` is bytes; `json` is the text of a JSON value that no other type holds.
 */
export type FieldType =
  | "boolean"
  | "int32"
  | "int64"
  | "double"
  | "text"
  | "date"
  | "time"
  | "datetime"
  | "binary"
  | "json";

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Greatest width in the source's own unit (bytes in a DBF), where it declares one. */
  readonly width?: number;
  /** Decimals, where the source declares them. */
  readonly decimals?: number;
}

/** The least type that holds values of both. Mixed numbers widen; all else meets as text, nested values as json. */
export function unite(a: FieldType, b: FieldType): FieldType {
  if (a === b) return a;
  const ranks = ["int32", "int64", "double"];
  if (ranks.includes(a) && ranks.includes(b)) return ranks[Math.max(ranks.indexOf(a), ranks.indexOf(b))] as FieldType;
  if ((a === "date" && b === "datetime") || (a === "datetime" && b === "date")) return "text";
  if (a === "json" || b === "json") return "json";
  return "text";
}

/** The name itself, or `name_1`, `name_2` … where it is taken. */
export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 1; ; n++) {
    const candidate = `${name}_${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}
