import { digestKeys } from "../key-fields.js";
import type { FeatureMatch, StoredKey, StoredProperties, WriteTransaction } from "../write-transaction.js";
import { hexArray, int8Array, repeatInt8 } from "./arrays.js";
import type { Transaction } from "./database.js";

/** The map locked by the write, and its key fields. */
export interface LockedMapState {
  number: number;
  fields: readonly number[];
}

/** Features whose keys are read by one statement. */
const keyBatchSize = 1000;

export interface KeyIndexWork {
  /** Features whose keys are read in one transaction. */
  readonly batchSize: number;
  /** Counts deleted key rows of removed fields. */
  removed: number;
}

/** Statements that maintain and search the key index. */
export function keyStatements(
  tx: Transaction,
  locked: LockedMapState,
  work: KeyIndexWork,
): Pick<
  WriteTransaction,
  "findByKeys" | "addKeyField" | "readKeys" | "removeKeyField" | "markKeyFieldUsed" | "putKeys"
> {
  return {
    // OFFSET 0 prevents PostgreSQL from flattening the subquery: with outdated statistics, it would scan all keys of
    // the field for a list.
    findByKeys: async (field, digests) =>
      digests.length === 0
        ? []
        : tx.rows<FeatureMatch>(
            `SELECT n.place - 1 AS of, k.seq, f.id
            FROM unnest($1::bytea[]) WITH ORDINALITY AS n (digest, place)
              CROSS JOIN LATERAL (
                SELECT seq FROM feature_keys WHERE map = $2 AND field = $3 AND feature_keys.digest = n.digest OFFSET 0
              ) k
              CROSS JOIN LATERAL (SELECT id FROM features WHERE map = $2 AND features.seq = k.seq OFFSET 0) f
            ORDER BY n.place, k.seq`,
            hexArray(digests),
            locked.number,
            field,
          ),
    async addKeyField(map, { name, used }) {
      const [field] = await tx.rows<{ number: number }>(
        "INSERT INTO key_fields (map, name, used, read) VALUES ($1, $2, $3, 0) RETURNING number",
        map,
        name,
        used,
      );
      locked.fields = [...locked.fields, field!.number];
      return field!.number;
    },
    async readKeys(map, field) {
      let seq: number | null = field.read ?? 0;
      for (let rest = work.batchSize; rest > 0 && seq !== null; rest -= keyBatchSize) {
        const limit = Math.min(rest, keyBatchSize);
        const rows: readonly StoredProperties[] = await tx.rows<StoredProperties>(
          "SELECT seq, properties FROM features WHERE map = $1 AND seq > $2 ORDER BY seq LIMIT $3",
          map,
          seq,
          limit,
        );
        const keys = rows.map((row) => ({ seq: row.seq, digest: digestKeys(row.properties, [field])[0]! }));
        await saveKeyRows(
          tx,
          map,
          field.number,
          keys.filter(({ digest }) => digest !== null),
        );
        seq = rows.length < limit ? null : rows.at(-1)!.seq;
      }
      await tx.run("UPDATE key_fields SET read = $3 WHERE map = $1 AND number = $2", map, field.number, seq);
      return seq;
    },
    async removeKeyField(field) {
      await tx.expectLongStatements();
      work.removed += await tx.run("DELETE FROM feature_keys WHERE map = $1 AND field = $2", locked.number, field);
      await tx.run("DELETE FROM key_fields WHERE map = $1 AND number = $2", locked.number, field);
      locked.fields = locked.fields.filter((number) => number !== field);
    },
    async markKeyFieldUsed(field, used) {
      await tx.run("UPDATE key_fields SET used = $3 WHERE map = $1 AND number = $2", locked.number, field, used);
    },
    putKeys: (field, keys) => saveKeyRows(tx, locked.number, field, keys),
  };
}

async function saveKeyRows(tx: Transaction, map: number, field: number, keys: readonly StoredKey[]): Promise<void> {
  const upserted = keys.flatMap(({ seq, digest }) => (digest ? [{ seq, digest }] : []));
  if (upserted.length > 0) {
    await tx.run(
      `INSERT INTO feature_keys AS k (map, field, seq, digest)
          SELECT $1, $2, * FROM unnest($3::bigint[], $4::bytea[])
          ON CONFLICT (map, field, seq) DO UPDATE SET digest = excluded.digest WHERE k.digest <> excluded.digest`,
      map,
      field,
      int8Array(upserted.map(({ seq }) => seq)),
      hexArray(upserted.map(({ digest }) => digest)),
    );
  }
  const dropped = keys.flatMap(({ seq, digest }) => (digest ? [] : [{ field, seq }]));
  if (dropped.length > 0) await deleteKeyRows(tx, map, dropped);
}

export async function deleteKeyRows(
  tx: Transaction,
  map: number,
  keys: readonly { readonly field: number; readonly seq: number }[],
): Promise<void> {
  await tx.run(
    `DELETE FROM feature_keys k USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS r (map, field, seq)
    WHERE k.map = r.map AND k.field = r.field AND k.seq = r.seq`,
    repeatInt8(map, keys),
    int8Array(keys.map(({ field }) => field)),
    int8Array(keys.map(({ seq }) => seq)),
  );
}
