import { textOfValue } from "../../canonical/canonical-value.js";
import type { Batch } from "../../model/batch.js";
import type { Column } from "../../model/column.js";

/** How features of both sides are matched. */
export type MatchKey = { readonly by: "field"; readonly name: string } | { readonly by: "id" };

/** Reads the keys of the rows of a batch; null for a row without one. */
export type RowKeyReader = (row: number) => string | null;

/** The column of a key; null if the batch has none. */
export function keyColumn(batch: Batch, key: MatchKey): Column | null {
  if (key.by === "id") return batch.ids;
  const at = batch.fields.findIndex(({ name }) => name === key.name);
  return at < 0 ? null : batch.columns[at]!;
}

/** Keys are texts: 7 matches "7", but not "007". Blanks around a text are not part of it, and a blank text is no key. */
export function createRowKeyReader(batch: Batch, key: MatchKey): RowKeyReader {
  const column = keyColumn(batch, key);
  if (column === null) return () => null;
  return (row) => {
    const text = textOfValue(column, row)?.trim();
    return text === undefined || text === "" ? null : text;
  };
}
