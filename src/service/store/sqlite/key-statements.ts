import { digestKeys } from "../key-fields.js";
import type { WriteTransaction } from "../write-transaction.js";
import { runInBulk } from "./bulk.js";
import type { Connection } from "./connection.js";
import { seqFromPlaceSql } from "./feature-place.js";

/** Low bits of `seq` within a block; the keys of a block are adjacent in the index. */
const blockBits = 21;
const zeroListJson = (count: number): string => `[0${",0".repeat(count - 1)}]`;

/** An unused map number; map numbers start at 1. */
const removedFieldsMap = 0;

/** Statements that maintain and search the key index. @param getBatchSize number of features that `readKeys` reads */
export function keyStatements(
  db: Connection,
  getBatchSize: () => number,
): Pick<
  WriteTransaction,
  "findByKeys" | "addKeyField" | "readKeys" | "removeKeyField" | "markKeyFieldUsed" | "putKeys"
> {
  db.database.function("key_digest", { deterministic: true, directOnly: true }, (name, properties) => {
    return digestKeys(String(properties), [{ name: String(name) }])[0];
  });
  return {
    async findByKeys(field, digests) {
      if (digests.length === 0) return [];
      const blocks = db.get<{ count: number }>(
        `SELECT (next >> ${blockBits}) + 1 AS count FROM maps
        WHERE number = (SELECT map FROM key_fields WHERE number = ?)`,
        field,
      )!.count;
      // A single query with a single result takes a quarter of the time of one query per digest. The digests are passed
      // as one blob, indexed by a JSON array of zeros; a second array enumerates the blocks. Without CROSS JOIN and
      // INDEXED BY, SQLite would scan all keys of the field for each digest.
      const { found } = db.get<{ found: string }>(
        `SELECT json_group_array(json_array(n.key, k.seq, f.id)) AS found
        FROM json_each(@blocks) b CROSS JOIN json_each(@zeros) n
        CROSS JOIN feature_keys k INDEXED BY feature_keys_by_block
          ON k.field = @field AND k.seq >> ${blockBits} = b.key
            AND substr(k.digest, 1, 8) = substr(@digests, 32 * n.key + 1, 8)
            AND k.digest = substr(@digests, 32 * n.key + 1, 32)
        CROSS JOIN features f ON f.place = (SELECT map FROM key_fields WHERE number = @field) << 40 | k.seq`,
        {
          field,
          digests: Buffer.from(digests.join(""), "hex"),
          zeros: zeroListJson(digests.length),
          blocks: zeroListJson(blocks),
        },
      )!;
      const matches: [of: number, seq: number, id: string][] = JSON.parse(found);
      return matches
        .map(([of, seq, id]) => ({ of, seq, id }))
        .sort((one, other) => one.of - other.of || one.seq - other.seq);
    },
    async addKeyField(map, { name, used }) {
      return db.get<{ number: number }>(
        "INSERT INTO key_fields (map, name, used, read) VALUES (?, ?, ?, 0) RETURNING number",
        map,
        name,
        used,
      )!.number;
    },
    async readKeys(map, { number, name, read }) {
      const [after, maxSeq] = [read ?? 0, 2 ** 40 - 1];
      const last = db.get<{ seq: number }>(
        `SELECT ${seqFromPlaceSql} AS seq FROM features
        WHERE place > ? << 40 | ? AND place <= ? << 40 | ? ORDER BY place LIMIT 1 OFFSET ?`,
        map,
        after,
        map,
        maxSeq,
        getBatchSize() - 1,
      )?.seq;
      // Sorted by digest, so that each index page is written once. Features without a key are skipped, since the digest
      // must not be null.
      db.run(
        `INSERT OR IGNORE INTO feature_keys (field, seq, digest)
        SELECT ?, ${seqFromPlaceSql}, unhex(key_digest(?, properties)) AS digest FROM features
        WHERE place > ? << 40 | ? AND place <= ? << 40 | ? ORDER BY digest`,
        number,
        name,
        map,
        after,
        map,
        last ?? maxSeq,
      );
      db.run("UPDATE key_fields SET read = ? WHERE number = ?", last ?? null, number);
      return last ?? null;
    },
    async removeKeyField(field) {
      // Moves the field to an unused map number, whose keys are deleted in batches (`deleteRemovedMapRows`).
      db.run("UPDATE key_fields SET map = ?, name = number WHERE number = ?", removedFieldsMap, field);
      db.run("INSERT OR IGNORE INTO removed_maps (number) VALUES (?)", removedFieldsMap);
    },
    async markKeyFieldUsed(field, used) {
      db.run("UPDATE key_fields SET used = ? WHERE number = ?", used, field);
    },
    async putKeys(field, stored) {
      const sql = (values: string) =>
        `INSERT INTO feature_keys (field, seq, digest) VALUES ${values}
        ON CONFLICT (field, seq) DO UPDATE SET digest = excluded.digest WHERE digest <> excluded.digest`;
      const present = stored.filter(({ digest }) => digest !== null);
      runInBulk(db, sql, "(?, ?, unhex(?))", present, ({ seq, digest }) => [field, seq, digest]);
      const drop = db.statement<[number, number]>("DELETE FROM feature_keys WHERE field = ? AND seq = ?");
      for (const { seq, digest } of stored) if (digest === null) drop.run(field, seq);
    },
  };
}
