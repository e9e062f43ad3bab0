import type { Access, Bearer, MapStore, StoredMap } from "../contract.js";
import { newStamp, newVersion } from "../version.js";
import type { Database, Session } from "./database.js";
import { uuid } from "./ids.js";

const stored = `m.id, m.owner, a.email AS "ownerEmail", a.name AS "ownerName", m.name, m.private, m.created, m.features, m.revision, m.version`;
const select = `SELECT ${stored} FROM maps m JOIN accounts a ON a.id = m.owner`;

async function mapOf(db: Session, id: string): Promise<StoredMap | null> {
  const [map] = await db.rows<StoredMap>(`${select} WHERE m.id = $1`, uuid(id));
  return map ?? null;
}

export function mapStore(db: Database): MapStore {
  return {
    async addMap({ id, owner, name, private: hidden, created }) {
      await db.run(
        "INSERT INTO maps (id, owner, name, private, created, version) VALUES ($1, $2, $3, $4, $5, $6)",
        id,
        owner,
        name,
        hidden,
        created,
        newVersion(0),
      );
    },
    map: (id) => mapOf(db, id),
    maps: ({ account, readable, size = null, skip = 0, after }) =>
      db.rows<StoredMap>(
        `${select} WHERE (m.owner = $1 ${readable ? "OR NOT m.private" : ""})
        ${after ? "AND (m.name, m.id) > ($4, $5::uuid)" : ""} ORDER BY m.name, m.id LIMIT $2 OFFSET $3`,
        uuid(account),
        size,
        skip,
        ...(after ? [after.name, uuid(after.id)] : []),
      ),
    async changeMap({ id, name = null, private: hidden = null }) {
      await db.run(
        `UPDATE maps SET name = coalesce($2, name), private = coalesce($3, private), revision = revision + 1,
          version = (revision + 1) || '-' || $4
        WHERE id = $1 AND (name <> coalesce($2, name) OR private <> coalesce($3, private))`,
        uuid(id),
        name,
        hidden,
        newStamp(),
      );
      return mapOf(db, id);
    },
    deleteMap: (id) => deleteMap(db, id),
    access: (question) => access(db, question),
  };
}

function deleteMap(db: Database, id: string): Promise<boolean> {
  return db.transaction(id, async (tx) => {
    await tx.expectLongStatements();
    const [map] = await tx.rows<{ number: number }>("DELETE FROM maps WHERE id = $1 RETURNING number", uuid(id));
    if (!map) return false;
    for (const table of ["features", "bucket_counts", "feature_keys", "key_fields"]) {
      await tx.run(`DELETE FROM ${table} WHERE map = $1`, map.number);
    }
    return true;
  });
}

type AccessRow = { [K in keyof Bearer]: Bearer[K] | null } & {
  readonly [K in keyof StoredMap]: StoredMap[K] | null;
};

async function access(db: Database, { tokenHash, map, now }: Parameters<MapStore["access"]>[0]): Promise<Access> {
  const [row] = await db.rows<AccessRow>(
    `SELECT b.*, ${stored} FROM (VALUES (0)) AS one
      LEFT JOIN (
        SELECT c.account, a.email, c.id AS credential, t.expires FROM tokens t
          JOIN credentials c ON c.number = t.credential JOIN accounts a ON a.id = c.account
        WHERE t.hash = $1 AND t.expires > $2 AND c.revoked IS NULL
      ) b ON true
      LEFT JOIN (maps m JOIN accounts a ON a.id = m.owner) ON m.id = $3`,
    tokenHash,
    now,
    uuid(map),
  );
  const { account, email, credential, expires, ...found } = row!;
  return {
    bearer: account === null ? null : ({ account, email, credential, expires } as Bearer),
    map: found.id === null ? null : (found as StoredMap),
  };
}
