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

/** An element around a value in XML, or the attribute that has it, with its prefix and namespace. Plain data. */
export interface XmlPathStep {
  readonly name: string;
  readonly namespace: string;
  readonly isAttribute?: boolean;
}

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Greatest width in the source's own unit (bytes in a DBF), where it declares one. */
  readonly width?: number;
  /** Decimals, where the source declares them. */
  readonly decimals?: number;
  /** Where an XML source has it, of another namespace than the format's: from the outermost element to the innermost. */
  readonly element?: readonly XmlPathStep[];
  /** The same of the members of a `json` field's objects, by their names. Only the fields of a batch say it. */
  readonly members?: Readonly<Record<string, readonly XmlPathStep[]>>;
}

/** Whether a field says no more than its name and type, as most do: there may be very many. */
export const isPlainField = ({ width, decimals, element }: Pick<Field, "width" | "decimals" | "element">): boolean =>
  width === undefined && decimals === undefined && !element;

/** What a field declares besides its name and type. */
export const fieldDeclarations = ({ width, decimals, element }: Pick<Field, "width" | "decimals" | "element">) => ({
  ...(width === undefined ? {} : { width }),
  ...(decimals === undefined ? {} : { decimals }),
  ...(element ? { element } : {}),
});

const numericTypes: readonly FieldType[] = ["int32", "int64", "double"];
const textTypes: readonly FieldType[] = ["text", "date", "time", "datetime"];

/**
 * The least type that holds values of both: numbers widen, dates and text meet as text, and what has nothing in common
 * (text and numbers, nested values) as json, which keeps the type of every value.
 */
export function commonType(a: FieldType, b: FieldType): FieldType {
  if (a === b) return a;
  if (numericTypes.includes(a) && numericTypes.includes(b))
    return numericTypes[Math.max(numericTypes.indexOf(a), numericTypes.indexOf(b))]!;
  return textTypes.includes(a) && textTypes.includes(b) ? "text" : "json";
}

/** The name itself, or `name_1`, `name_2` … where it is taken. */
export function uniqueName(name: string, taken: Pick<ReadonlySet<string>, "has">): string {
  if (!taken.has(name)) return name;
  for (let n = 1; ; n++) {
    const candidate = `${name}_${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/**
 * Finds fields by their names, −1 where there is none. Who asks in the order that they have is answered without an
 * index of all names, which for very many fields is larger than what is found.
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
