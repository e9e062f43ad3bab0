import { sha256 } from "../../identifiers/sha256.js";
import { parseOutcome, serializeOutcome } from "../stored-outcome.js";
import type {
  FeatureMatch,
  KeyField,
  LockedMap,
  OutcomeKey,
  StoredProperties,
  WriteTransaction,
} from "../write-transaction.js";
import { addAuditEntry } from "./accounts.js";
import { int2Array, int8Array, repeatInt8, textArray, uuidArray } from "./arrays.js";
import type { Transaction } from "./database.js";
import { deleteKeyRows, type KeyIndexWork, keyStatements, type LockedMapState } from "./key-statements.js";
import { uuidParameter } from "./uuid-parameter.js";

/**
 * The statements of one write; each handles all features of its kind at once. Lists repeat the map number in each row:
 * this leaves a single plan, a nested loop over the index.
 */
export function createWriteTransaction(tx: Transaction, keys: KeyIndexWork): WriteTransaction {
  const locked: LockedMapState = { number: 0, fields: [] };
  return {
    ...outcomeStatements(tx),
    ...mapStatements(tx, locked),
    ...featureReads(tx),
    ...featureWrites(tx),
    ...featureDeletes(tx, locked),
    ...keyStatements(tx, locked, keys),
  };
}

/** Keys are arbitrary header values, hashed because index entries must be short. */
const digestOutcomeKey = ({ scope, key }: OutcomeKey): Buffer => sha256(JSON.stringify([scope, key]));

function outcomeStatements(tx: Transaction): Pick<WriteTransaction, "readOutcome" | "saveOutcome"> {
  return {
    async readOutcome(key, since) {
      const digest = digestOutcomeKey(key);
      const [lock] = await tx.rows<{ taken: boolean }>(
        "SELECT pg_try_advisory_xact_lock($1) AS taken",
        digest.readBigInt64BE(),
      );
      if (!lock!.taken) return "in-flight";
      // A separate statement, to see what the last holder of the lock has committed.
      const [row] = await tx.rows<{ fingerprint: Uint8Array; outcome: string }>(
        "SELECT fingerprint, outcome FROM outcomes WHERE key_digest = $1 AND at > $2",
        digest,
        since,
      );
      return row ? { fingerprint: row.fingerprint, outcome: parseOutcome(row.outcome) } : null;
    },
    async saveOutcome(key, { fingerprint, outcome }, now) {
      await tx.run(
        `INSERT INTO outcomes (key_digest, fingerprint, outcome, at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (key_digest) DO UPDATE SET
          fingerprint = excluded.fingerprint, outcome = excluded.outcome, at = excluded.at`,
        digestOutcomeKey(key),
        fingerprint,
        serializeOutcome(outcome),
        now,
      );
    },
  };
}

function mapStatements(
  tx: Transaction,
  locked: LockedMapState,
): Pick<WriteTransaction, "lockMap" | "changeMap" | "addCounts" | "forgetCounts" | "addAudit"> {
  return {
    async lockMap(id) {
      const [map] = await tx.rows<Omit<LockedMap, "keyFields">>(
        "SELECT number, revision, version, features, next FROM maps WHERE id = $1 FOR UPDATE",
        uuidParameter(id),
      );
      if (!map) return null;
      locked.number = map.number;
      // Must follow the lock: a statement sees only what was committed before it began, and the previous one waited for
      // the lock.
      const keyFields = await tx.rows<KeyField>(
        "SELECT number, name, used, read FROM key_fields WHERE map = $1",
        map.number,
      );
      locked.fields = keyFields.map((field) => field.number);
      return { ...map, keyFields };
    },
    async changeMap(map, { revision, version, features, next }) {
      await tx.run(
        "UPDATE maps SET revision = $2, version = $3, features = $4, next = $5 WHERE number = $1",
        map,
        revision,
        version,
        features,
        next,
      );
    },
    async addCounts(map, counts) {
      if (counts.length === 0) return;
      const bits = int2Array(counts.map((one) => one.bits));
      const buckets = int8Array(counts.map(({ bucket }) => bucket));
      await tx.run(
        `INSERT INTO bucket_counts AS b (map, bits, bucket, count)
        SELECT $1, * FROM unnest($2::smallint[], $3::bigint[], $4::bigint[])
        ON CONFLICT (map, bits, bucket) DO UPDATE SET count = b.count + excluded.count`,
        map,
        bits,
        buckets,
        int8Array(counts.map(({ count }) => count)),
      );
      if (!counts.some(({ count }) => count < 0)) return;
      await tx.run(
        `DELETE FROM bucket_counts b USING unnest($1::bigint[], $2::smallint[], $3::bigint[]) AS c (map, bits, bucket)
        WHERE b.map = c.map AND b.bits = c.bits AND b.bucket = c.bucket AND b.count = 0`,
        repeatInt8(map, counts),
        bits,
        buckets,
      );
    },
    async forgetCounts(map) {
      await tx.run("DELETE FROM bucket_counts WHERE map = $1", map);
    },
    addAudit: (entry) => addAuditEntry(tx, entry),
  };
}

function featureReads(tx: Transaction): Pick<WriteTransaction, "findByIds" | "readProperties"> {
  return {
    findByIds: async (map, ids) =>
      ids.length === 0
        ? []
        : tx.rows<FeatureMatch>(
            `SELECT n.place - 1 AS of, f.seq, f.id
            FROM unnest($1::bigint[], $2::uuid[]) WITH ORDINALITY AS n (map, id, place)
              JOIN features f ON f.map = n.map AND f.id = n.id
            ORDER BY n.place`,
            repeatInt8(map, ids),
            uuidArray(ids),
          ),
    readProperties: async (map, seqs) =>
      seqs.length === 0
        ? []
        : tx.rows<StoredProperties>(
            `SELECT f.seq, f.properties FROM unnest($1::bigint[], $2::bigint[]) AS n (map, seq)
              JOIN features f ON f.map = n.map AND f.seq = n.seq`,
            repeatInt8(map, seqs),
            int8Array(seqs),
          ),
  };
}

function featureWrites(tx: Transaction): Pick<WriteTransaction, "insert" | "update"> {
  return {
    async insert(map, rows) {
      if (rows.length === 0) return;
      await tx.run(
        `INSERT INTO features (map, seq, id, geometry, properties)
        SELECT $1, * FROM unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[])`,
        map,
        int8Array(rows.map(({ seq }) => seq)),
        uuidArray(rows.map(({ id }) => id)),
        textArray(rows.map(({ geometry }) => geometry)),
        textArray(rows.map(({ properties }) => properties)),
      );
    },
    async update(map, rows) {
      if (rows.length === 0) return 0;
      return tx.run(
        `UPDATE features f SET
          geometry = coalesce(c.geometry, f.geometry), properties = coalesce(c.properties, f.properties)
        FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS c (map, seq, geometry, properties)
        WHERE f.map = c.map AND f.seq = c.seq AND (f.geometry <> c.geometry OR f.properties <> c.properties)`,
        repeatInt8(map, rows),
        int8Array(rows.map(({ seq }) => seq)),
        textArray(rows.map(({ geometry }) => geometry)),
        textArray(rows.map(({ properties }) => properties)),
      );
    },
  };
}

function featureDeletes(tx: Transaction, locked: LockedMapState): Pick<WriteTransaction, "remove" | "removeAllBut"> {
  return {
    async remove(map, seqs) {
      if (seqs.length === 0) return;
      const listed = [repeatInt8(map, seqs), int8Array(seqs)];
      await tx.run(
        `DELETE FROM features f USING unnest($1::bigint[], $2::bigint[]) AS r (map, seq)
        WHERE f.map = r.map AND f.seq = r.seq`,
        ...listed,
      );
      const keys = locked.fields.flatMap((field) => seqs.map((seq) => ({ field, seq })));
      if (keys.length > 0) await deleteKeyRows(tx, map, keys);
    },
    /** Deletes the ranges between the kept features, so that these need not be read however large the map is. */
    async removeAllBut(map, seqs) {
      await tx.expectLongStatements();
      const after = [0, ...seqs];
      const before = [...seqs, Number.MAX_SAFE_INTEGER];
      const gaps = after.flatMap((seq, i) => (before[i]! > seq + 1 ? [i] : []));
      const bounds = (times: readonly unknown[]) =>
        [after, before].map((ends) => int8Array(times.flatMap(() => gaps.map((i) => ends[i]!))));
      const removed = await tx.run(
        `DELETE FROM features f USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS gap (map, behind, before)
        WHERE f.map = gap.map AND f.seq > gap.behind AND f.seq < gap.before`,
        repeatInt8(map, gaps),
        ...bounds([map]),
      );
      if (locked.fields.length === 0) return removed;
      await tx.run(
        `DELETE FROM feature_keys k
        USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS gap (map, behind, before, field)
        WHERE k.map = gap.map AND k.field = gap.field AND k.seq > gap.behind AND k.seq < gap.before`,
        int8Array(locked.fields.flatMap(() => gaps.map(() => map))),
        ...bounds(locked.fields),
        int8Array(locked.fields.flatMap((field) => gaps.map(() => field))),
      );
      return removed;
    },
  };
}
