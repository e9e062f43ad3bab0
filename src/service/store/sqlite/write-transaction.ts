import { parseOutcome, serializeOutcome } from "../stored-outcome.js";
import type { FeatureMatch, KeyField, LockedMap, WriteTransaction } from "../write-transaction.js";
import { addAuditEntry } from "./accounts.js";
import { runInBulk } from "./bulk.js";
import type { Connection } from "./connection.js";
import { seqFromPlaceSql } from "./feature-place.js";
import { keyStatements } from "./key-statements.js";

const keyFieldsOfMapSql = "field IN (SELECT number FROM key_fields WHERE map = ?)";

/** The statements of a write. The thread begins and ends the transaction, and runs one at a time. */
export function createWriteTransaction(db: Connection, getBatchSize: () => number): WriteTransaction {
  return {
    ...mapStatements(db),
    ...outcomeStatements(db),
    ...featureStatements(db),
    ...featureDeletes(db),
    ...keyStatements(db, getBatchSize),
  };
}

function mapStatements(
  db: Connection,
): Pick<WriteTransaction, "lockMap" | "changeMap" | "addCounts" | "forgetCounts" | "addAudit"> {
  return {
    async lockMap(id) {
      const map = db.get<Omit<LockedMap, "keyFields">>(
        "SELECT number, revision, version, features, next FROM maps WHERE id = ?",
        id,
      );
      if (!map) return null;
      const keyFields = db.all<KeyField>("SELECT number, name, used, read FROM key_fields WHERE map = ?", map.number);
      return { ...map, keyFields };
    },
    async changeMap(map, { revision, version, features, next }) {
      db.run(
        "UPDATE maps SET revision = ?, version = ?, features = ?, next = ? WHERE number = ?",
        revision,
        version,
        features,
        next,
        map,
      );
    },
    async addCounts(map, counts) {
      for (const { bits, bucket, count } of counts) {
        const sum = db.get<{ count: number }>(
          `INSERT INTO bucket_counts (map, bits, bucket, count) VALUES (?, ?, ?, ?)
          ON CONFLICT (map, bits, bucket) DO UPDATE SET count = count + excluded.count RETURNING count`,
          map,
          bits,
          bucket,
          count,
        )!;
        if (sum.count > 0) continue;
        db.run("DELETE FROM bucket_counts WHERE map = ? AND bits = ? AND bucket = ?", map, bits, bucket);
      }
    },
    async forgetCounts(map) {
      db.run("DELETE FROM bucket_counts WHERE map = ?", map);
    },
    async addAudit(entry) {
      addAuditEntry(db, entry);
    },
  };
}

function outcomeStatements(db: Connection): Pick<WriteTransaction, "readOutcome" | "saveOutcome"> {
  return {
    // Concurrent requests with the same key are rejected before they reach this thread (`InFlightRequests`).
    async readOutcome({ scope, key }, since) {
      const row = db.get<{ fingerprint: Uint8Array; outcome: string }>(
        "SELECT fingerprint, outcome FROM outcomes WHERE scope = ? AND key = ? AND at > ?",
        scope,
        key,
        since,
      );
      return row ? { fingerprint: row.fingerprint, outcome: parseOutcome(row.outcome) } : null;
    },
    async saveOutcome({ scope, key }, { fingerprint, outcome }, now) {
      db.run(
        "INSERT OR REPLACE INTO outcomes (scope, key, fingerprint, outcome, at) VALUES (?, ?, ?, ?, ?)",
        scope,
        key,
        fingerprint,
        serializeOutcome(outcome),
        now,
      );
    },
  };
}

type LocatedFeature = Omit<FeatureMatch, "of">;

function featureStatements(
  db: Connection,
): Pick<WriteTransaction, "findByIds" | "readProperties" | "insert" | "update"> {
  return {
    async findByIds(map, ids) {
      const find = db.statement<[number, string], LocatedFeature>(
        `SELECT ${seqFromPlaceSql} AS seq, id FROM features WHERE place >> 40 = ? AND id = ?`,
      );
      return ids.flatMap((id, of) => {
        const found = find.get(map, id);
        return found ? [{ of, ...found }] : [];
      });
    },
    async readProperties(map, seqs) {
      const find = db.statement<[number, number], { properties: string }>(
        "SELECT properties FROM features WHERE place = ? << 40 | ?",
      );
      return seqs.map((seq) => ({ seq, properties: find.get(map, seq)!.properties }));
    },
    async insert(map, rows) {
      const sql = (values: string) => `INSERT INTO features (place, id, geometry, properties) VALUES ${values}`;
      runInBulk(db, sql, "(? << 40 | ?, ?, ?, ?)", rows, ({ seq, id, geometry, properties }) => [
        map,
        seq,
        id,
        geometry,
        properties,
      ]);
    },
    async update(map, rows) {
      // All rows exist, so that each insert conflicts: an upsert takes half the time of UPDATE … FROM (VALUES …), which
      // materializes all rows first. An empty text, which is not JSON, keeps the column.
      const sql = (values: string) =>
        `INSERT INTO features AS f (place, id, geometry, properties) VALUES ${values}
        ON CONFLICT (place) DO UPDATE SET
          geometry = coalesce(nullif(excluded.geometry, ''), f.geometry),
          properties = coalesce(nullif(excluded.properties, ''), f.properties)
        WHERE excluded.geometry NOT IN (f.geometry, '') OR excluded.properties NOT IN (f.properties, '')`;
      return runInBulk(db, sql, "(? << 40 | ?, '', ?, ?)", rows, ({ seq, geometry, properties }) => [
        map,
        seq,
        geometry ?? "",
        properties ?? "",
      ]);
    },
  };
}

function featureDeletes(db: Connection): Pick<WriteTransaction, "remove" | "removeAllBut"> {
  return {
    async remove(map, seqs) {
      const feature = db.statement<[number, number]>("DELETE FROM features WHERE place = ? << 40 | ?");
      const keysOf = db.statement<[number, number]>(`DELETE FROM feature_keys WHERE ${keyFieldsOfMapSql} AND seq = ?`);
      for (const seq of seqs) {
        feature.run(map, seq);
        keysOf.run(map, seq);
      }
    },
    async removeAllBut(map, seqs) {
      const features = db.statement<[number, number, number, number]>(
        "DELETE FROM features WHERE place > ? << 40 | ? AND place < ? << 40 | ?",
      );
      const keysOf = db.statement<[number, number, number]>(
        `DELETE FROM feature_keys WHERE ${keyFieldsOfMapSql} AND seq > ? AND seq < ?`,
      );
      let removed = 0;
      let before = 0;
      for (const seq of [...seqs, 2 ** 40 - 1]) {
        const gap = seq > before + 1 ? features.run(map, before, map, seq).changes : 0;
        if (gap > 0) keysOf.run(map, before, seq);
        removed += gap;
        before = seq;
      }
      return removed;
    },
  };
}
