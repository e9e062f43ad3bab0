import type { Field } from "../../../../model/field.js";
import type { Cell } from "../../../../view/protocol.js";

const numericTypes = new Set<string>(["int32", "int64", "double"]);

export const isNumeric = (type: Field["type"]): boolean => numericTypes.has(type);

/** Numbers as they are, since a group of digits could be read as another number. */
export const cellText = (cell: Cell): string => (cell === null ? "" : String(cell));

/** Pixels of a column: for its title, and for what its values usually take. */
export function columnWidth({ name, type }: Field, samples: readonly string[]): number {
  const usual: Readonly<Record<string, number>> = { boolean: 80, int32: 92, int64: 110, double: 120, date: 110 };
  const longest = samples.reduce((most, text) => Math.max(most, text.length), 0);
  const content = samples.length === 0 ? (usual[type] ?? 160) : 24 + 7.4 * longest;
  return Math.round(Math.max(96, Math.min(340, Math.max(content, 36 + 8.2 * name.length))));
}
