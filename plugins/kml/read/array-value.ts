/** Values of gx:SimpleArrayData (Google's extension of KML 2.2), by the types of their gx:SimpleArrayField. */
import type { FieldType } from "../../../src/model/index.js";

export type ArrayValue = string | number | boolean | null;

const booleanWords: Readonly<Record<string, boolean>> = { 1: true, true: true, 0: false, false: false };

/** @param type the type in the Schema; without one, numbers are recognized. A value that does not fit the type is a text. */
export function parseArrayValue(text: string, type: FieldType | undefined): ArrayValue {
  if (text === "") return null;
  if (type === "text") return text;
  if (type === "boolean") return booleanWords[text.toLowerCase()] ?? text;
  const number = Number(text);
  return Number.isFinite(number) && /^[-+]?(\d|\.\d)/.test(text) && !/^[-+]?0\d/.test(text) ? number : text;
}
