import type { Batch } from "../../model/batch.js";
import type { Column } from "../../model/column.js";
import type { FieldType } from "../../model/field.js";
import type { ProofRules } from "./proof-rules.js";

/** A column of a batch, in the order of the canonical form. */
export interface ProofColumn {
  /** The name; the position if the file has no names. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly column: Column;
  /** The type that was written; null if it is that of the column. */
  readonly writtenType: FieldType | null;
}

/** The columns of a batch by name (by UTF-16 code units). */
export function proofColumns({ fields, columns }: Batch, rules: ProofRules): ProofColumn[] {
  return fields
    .map((field, f): ProofColumn => {
      const name = rules.byPosition ? String(f) : field.name;
      const types = rules.writtenTypes ?? {};
      const writtenType = rules.byPosition
        ? (Object.values(types)[f] ?? null)
        : Object.hasOwn(types, name)
          ? types[name]!
          : null;
      return { name, bytes: Buffer.from(name), column: columns[f]!, writtenType };
    })
    .filter(({ name }) => !rules.ignoredFields.includes(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
