import type { FieldType } from "../model/field.js";

/**
 * How the values of a field are compared: `own` by value and kind of value; `number` with booleans as 0 and 1; `text` as
 * text, if both sides have types of different kinds.
 */
export type FieldComparison = "own" | "number" | "text";

/** What counts as equal. Plain data. */
export interface ComparisonRules {
  /** Decimals of x and y. */
  readonly decimals: number;
  /** The compared fields; null for all but `ignored`. */
  readonly fields: readonly string[] | null;
  readonly ignored: readonly string[];
  /** Fields that are not compared as `own`. */
  readonly comparisons: Readonly<Record<string, FieldComparison>>;
  /** An empty text equals null, since a format of either side cannot tell them apart. */
  readonly emptyTextIsNull: boolean;
  /** Blanks at the end of a text do not count, since a format of either side pads with them. */
  readonly ignoresTrailingBlanks: boolean;
  /** Heights do not count, since a format of either side has none. */
  readonly ignoresHeights: boolean;
  readonly ignoresMeasures: boolean;
  /** The ids of features are compared as well. */
  readonly withIds: boolean;
}

/** Decimals of heights, in metres. */
export const heightDecimals = 3;

type ValueKind = "number" | "text" | "boolean" | "binary" | "json";

const valueKinds: Readonly<Record<FieldType, ValueKind>> = {
  boolean: "boolean",
  int32: "number",
  int64: "number",
  double: "number",
  text: "text",
  date: "text",
  time: "text",
  datetime: "text",
  binary: "binary",
  json: "json",
};

export function comparisonOfTypes(one: FieldType, other: FieldType): FieldComparison {
  const kinds = [valueKinds[one], valueKinds[other]];
  if (kinds[0] === kinds[1]) return "own";
  return kinds.includes("number") && kinds.includes("boolean") ? "number" : "text";
}

export const isComparedField = ({ fields, ignored }: ComparisonRules, name: string): boolean =>
  !ignored.includes(name) && (fields === null || fields.includes(name));

export const comparisonOf = ({ comparisons }: ComparisonRules, name: string): FieldComparison =>
  Object.hasOwn(comparisons, name) ? comparisons[name]! : "own";
