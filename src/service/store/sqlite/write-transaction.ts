import type { Statement } from "better-sqlite3";
import type { KeyField, LockedMap, Match, StoredProperties, WriteTransaction } from "../transaction.js";
import type { Connection } from "./connection.js";
import { addAudit } from "./people.js";

/*
 * better-sqlite3 hands numbers over as REAL: `|`, unlike `+`, makes integers of them first, and a place beyond 2^53
 * stays exact.
 */
const seqOfPlace = "place & 0xFFFFFFFFFF";
const fieldsOfMap = "field IN (SELECT number FROM key_fields WHERE map = ?)";

/** The statements of a write; the transaction itself is begun and ended by the thread, which does one at a time. */
export function writeTransaction(db: Connection): WriteTransaction {
  return { ...mapStatements(db), ...outcomeStatements(db), ...featureStatements(db), ...removal(db), ...keys(db) };
}

function mapStatements(
  db: Connection,
): Pick<WriteTransaction, "lockMap" | "changeMap" | "addCounts" | "forgetCounts" | "addAudit"> {
  return {
    async lockMap(id) {
      const map = db.get<Omit<LockedMap, "keyFields">>(
        "SELECT number, revision, features, next FROM maps WHERE id = ?",
        id,
      );
      if (!map) return null;
      const keyFields = db.all<KeyField>("SELECT number, name, used FROM key_fields WHERE map = ?", map.number);
      return { ...map, keyFields };
    },
    async changeMap(map, { revision, features, next }) {
      db.run("UPDATE maps SET revision = ?, features = ?, next = ? WHERE number = ?", revision, features, next, map);
    },
    async addCounts(map, counts) {
      for (const { level, bucket, count } of counts) {
        const sum = db.get<{ count: number }>(
          `INSERT INTO bucket_counts (map, level, bucket, count) VALUES (?, ?, ?, ?)
          ON CONFLICT (map, level, bucket) DO UPDATE SET count = count + excluded.count RETURNING count`,
          map,
          level,
          bucket,
          count,
        )!;
        if (sum.count > 0) continue;
        db.run("DELETE FROM bucket_counts WHERE map = ? AND level = ? AND bucket = ?", map, level, bucket);
      }
    },
    async forgetCounts(map) {
      db.run("DELETE FROM bucket_counts WHERE map = ?", map);
    },
    async addAudit(entry) {
      addAudit(db, entry);
    },
  };
}

function outcomeStatements(db: Connection): Pick<WriteTransaction, "keptOutcome" | "keepOutcome"> {
  return {
    // Those in flight are told where requests arrive: this thread does one after the other.
    async keptOutcome({ scope, key }, since) {
      const row = db.get<{ fingerprint: Uint8Array; outcome: string }>(
        "SELECT fingerprint, outcome FROM outcomes WHERE scope = ? AND key = ? AND at > ?",
        scope,
        key,
        since,
      );
      return row ? { fingerprint: row.fingerprint, outcome: JSON.parse(row.outcome) } : null;
    },
    async keepOutcome({ scope, key }, { fingerprint, outcome }, now) {
      db.run(
        "INSERT OR REPLACE INTO outcomes (scope, key, fingerprint, outcome, at) VALUES (?, ?, ?, ?, ?)",
        scope,
        key,
        fingerprint,
        JSON.stringify(outcome),
        now,
      );
    },
  };
}

type Located = Omit<Match, "of">;

function featureStatements(
  db: Connection,
): Pick<WriteTransaction, "findByIds" | "findByKeys" | "propertiesOf" | "propertiesAfter" | "insert" | "update"> {
  return {
    async findByIds(map, ids) {
      const find = db.statement<[number, string], Located>(
        `SELECT ${seqOfPlace} AS seq, id FROM features WHERE place >> 40 = ? AND id = ?`,
      );
      return ids.flatMap((id, of) => {
        const found = find.get(map, id);
        return found ? [{ of, ...found }] : [];
      });
    },
    async findByKeys(field, digests) {
      const find: Statement<[number, Uint8Array], Located> = db.statement(
        `SELECT k.seq, f.id FROM feature_keys k JOIN key_fields n ON n.number = k.field
        JOIN features f ON f.place = n.map << 40 | k.seq
        WHERE k.field = ? AND k.digest = ? ORDER BY k.seq`,
      );
      return digests.flatMap((digest, of) => find.all(field, digest).map((found) => ({ of, ...found })));
    },
    async propertiesOf(map, seqs) {
      const find = db.statement<[number, number], { properties: string }>(
        "SELECT properties FROM features WHERE place = ? << 40 | ?",
      );
      return seqs.map((seq) => ({ seq, properties: find.get(map, seq)!.properties }));
    },
    async propertiesAfter(map, seq, limit) {
      return db.all<StoredProperties>(
        `SELECT ${seqOfPlace} AS seq, properties FROM features
        WHERE place > ? << 40 | ? AND place < ? << 40 ORDER BY place LIMIT ?`,
        map,
        seq,
        map + 1,
        limit,
      );
    },
    async insert(map, rows) {
      const add = db.statement<[number, number, string, string, string]>(
        "INSERT INTO features (place, id, geometry, properties) VALUES (? << 40 | ?, ?, ?, ?)",
      );
      for (const { seq, id, geometry, properties } of rows) add.run(map, seq, id, geometry, properties);
    },
    async update(map, rows) {
      const change = db.statement<[string | null, string | null, number, number, string | null, string | null]>(
        `UPDATE features SET geometry = coalesce(?, geometry), properties = coalesce(?, properties)
        WHERE place = ? << 40 | ? AND (geometry <> ? OR properties <> ?)`,
      );
      let changed = 0;
      for (const { seq, geometry, properties } of rows) {
        changed += change.run(geometry, properties, map, seq, geometry, properties).changes;
      }
      return changed;
    },
  };
}

function removal(db: Connection): Pick<WriteTransaction, "remove" | "removeAllBut"> {
  return {
    async remove(map, seqs) {
      const feature = db.statement<[number, number]>("DELETE FROM features WHERE place = ? << 40 | ?");
      const keysOf = db.statement<[number, number]>(`DELETE FROM feature_keys WHERE ${fieldsOfMap} AND seq = ?`);
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
        `DELETE FROM feature_keys WHERE ${fieldsOfMap} AND seq > ? AND seq < ?`,
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

function keys(
  db: Connection,
): Pick<WriteTransaction, "addKeyField" | "removeKeyField" | "markKeyFieldUsed" | "putKeys"> {
  return {
    async addKeyField(map, { name, used }) {
      return db.get<{ number: number }>(
        "INSERT INTO key_fields (map, name, used) VALUES (?, ?, ?) RETURNING number",
        map,
        name,
        used,
      )!.number;
    },
    async removeKeyField(field) {
      db.run("DELETE FROM feature_keys WHERE field = ?", field);
      db.run("DELETE FROM key_fields WHERE number = ?", field);
    },
    async markKeyFieldUsed(field, used) {
      db.run("UPDATE key_fields SET used = ? WHERE number = ?", used, field);
    },
    async putKeys(field, stored) {
      const put = db.statement<[number, number, Uint8Array]>(
        `INSERT INTO feature_keys (field, seq, digest) VALUES (?, ?, ?)
        ON CONFLICT (field, seq) DO UPDATE SET digest = excluded.digest WHERE digest <> excluded.digest`,
      );
      const drop = db.statement<[number, number]>("DELETE FROM feature_keys WHERE field = ? AND seq = ?");
      for (const { seq, digest } of stored) {
        if (digest) put.run(field, seq, digest);
        else drop.run(field, seq);
      }
    },
  };
}
