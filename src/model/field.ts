/**
 * The type of a column. `date` is `YYYY-MM-DD`, `time` is `HH:MM:SS[.sss]`, `datetime` is ISO 8601 with `T` and,
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

/** All field types. */
export const fieldTypes: readonly FieldType[] = [
  "boolean",
  "int32",
  "int64",
  "double",
  "text",
  "date",
  "time",
  "datetime",
  "binary",
  "json",
];

/** An XML element or attribute on the path to a value, with its prefix and namespace. Plain data. */
export interface XmlPathStep {
  readonly name: string;
  readonly namespace: string;
  readonly isAttribute?: boolean;
}

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Declared maximum width in the source's unit (bytes in a DBF). */
  readonly width?: number;
  /** Declared number of decimals. */
  readonly decimals?: number;
  /** Path of elements in an XML source, outermost first, if it is not in the namespace of the format. */
  readonly element?: readonly XmlPathStep[];
  /** Paths of the members of objects in a `json` field, by name. Only set in the fields of a batch. */
  readonly members?: Readonly<Record<string, readonly XmlPathStep[]>>;
}

/** Whether a field has only a name and a type, like most fields. */
export const isPlainField = ({ width, decimals, element }: Pick<Field, "width" | "decimals" | "element">): boolean =>
  width === undefined && decimals === undefined && !element;

/** The declarations of a field besides name and type. */
export const fieldDeclarations = ({ width, decimals, element }: Pick<Field, "width" | "decimals" | "element">) => ({
  ...(width === undefined ? {} : { width }),
  ...(decimals === undefined ? {} : { decimals }),
  ...(element ? { element } : {}),
});

const numericTypes: readonly FieldType[] = ["int32", "int64", "double"];
const textTypes: readonly FieldType[] = ["text", "date", "time", "datetime"];

/**
 * The narrowest type that holds values of both: numbers are widened, dates and text become text, and types without a common
 * one (text and numbers, nested values) become json, which keeps the type of every value.
 */
export function commonType(a: FieldType, b: FieldType): FieldType {
  if (a === b) return a;
  if (numericTypes.includes(a) && numericTypes.includes(b))
    return numericTypes[Math.max(numericTypes.indexOf(a), numericTypes.indexOf(b))]!;
  return textTypes.includes(a) && textTypes.includes(b) ? "text" : "json";
}

/** A field without its declarations. */
export type TypedField = Pick<Field, "name" | "type">;

/**
 * Merges the fields of several layers by name; fields of the same name get their common type.
 * @param layers null for a layer whose fields are not known
 * @returns null if the fields of any layer are not known
 */
export function mergeFields(layers: readonly (readonly TypedField[] | null)[]): TypedField[] | null {
  const merged = new Map<string, FieldType>();
  if (layers.includes(null)) return null;
  for (const { name, type } of layers.flatMap((fields) => fields ?? [])) {
    const known = merged.get(name);
    merged.set(name, known === undefined ? type : commonType(known, type));
  }
  return [...merged].map(([name, type]) => ({ name, type }));
}

/** Returns the name, or `name_1`, `name_2` … if it is taken. */
export function uniqueName(name: string, taken: Pick<ReadonlySet<string>, "has">): string {
  if (!taken.has(name)) return name;
  for (let n = 1; ; n++) {
    const candidate = `${name}_${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/**
 * Returns a function that finds fields by name; −1 if there is none. Lookups in field order need no index, which would take
 * much memory for very many fields.
 */
export function createFieldIndex(fields: readonly Field[]): (name: string) => number {
  let next = 0;
  let byName: Map<string, number> | null = null;
  return (name) => {
    if (fields[next]?.name === name) return next++;
    if (!byName) {
      byName = new Map();
      for (let f = 0; f < fields.length; f++) byName.set(fields[f]!.name, f);
    }
    const found = byName.get(name) ?? -1;
    next = found + 1;
    return found;
  };
}
