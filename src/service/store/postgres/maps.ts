import {
  type AccessResult,
  type Bearer,
  type MapListRequest,
  type MapStore,
  maxTokenLifetimeMs,
  type StoredMap,
} from "../contract.js";
import { createMapVersion, randomStamp } from "../map-version.js";
import type { Database, QueryRunner } from "./database.js";
import { uuidParameter } from "./uuid-parameter.js";

const mapColumns = `m.id, m.owner, a.email AS "ownerEmail", a.name AS "ownerName", m.name, m.private, m.created, m.features, m.revision, m.version`;
const selectMaps = `SELECT ${mapColumns} FROM maps m JOIN accounts a ON a.id = m.owner`;

const scopeConditions: Readonly<Record<MapListRequest["scope"], string>> = {
  own: "m.owner = $1",
  others: "m.owner <> $1 AND NOT m.private",
  readable: "(m.owner = $1 OR NOT m.private)",
};

async function findMap(db: QueryRunner, id: string): Promise<StoredMap | null> {
  const [map] = await db.rows<StoredMap>(`${selectMaps} WHERE m.id = $1`, uuidParameter(id));
  return map ?? null;
}

export function mapStore(db: Database): MapStore {
  return {
    async addMap({ id, owner, name, private: hidden, created, limit = Number.MAX_SAFE_INTEGER }) {
      const added = await db.rows(
        `INSERT INTO maps (id, owner, name, private, created, version)
        SELECT $1::uuid, $2::uuid, $3, $4::boolean, $5::bigint, $6
        WHERE (SELECT count(*) FROM maps WHERE owner = $2::uuid) < $7::bigint RETURNING id`,
        id,
        owner,
        name,
        hidden,
        created,
        createMapVersion(0),
        limit,
      );
      return added.length > 0;
    },
    map: (id) => findMap(db, id),
    maps: ({ account, scope, size = null, skip = 0, after }) =>
      db.rows<StoredMap>(
        `${selectMaps} WHERE ${scopeConditions[scope]}
        ${after ? "AND (m.name, m.id) > ($4, $5::uuid)" : ""} ORDER BY m.name, m.id LIMIT $2 OFFSET $3`,
        uuidParameter(account),
        size,
        skip,
        ...(after ? [after.name, uuidParameter(after.id)] : []),
      ),
    async changeMap({ id, name = null, private: hidden = null }) {
      await db.run(
        `UPDATE maps SET name = coalesce($2, name), private = coalesce($3, private), revision = revision + 1,
          version = (revision + 1) || '-' || $4
        WHERE id = $1 AND (name <> coalesce($2, name) OR private <> coalesce($3, private))`,
        uuidParameter(id),
        name,
        hidden,
        randomStamp(),
      );
      return findMap(db, id);
    },
    deleteMap: (id) => deleteMap(db, id),
    access: (query) => checkAccess(db, query),
  };
}

function deleteMap(db: Database, id: string): Promise<boolean> {
  return db.transaction(id, async (tx) => {
    await tx.expectLongStatements();
    const [map] = await tx.rows<{ number: number }>(
      "DELETE FROM maps WHERE id = $1 RETURNING number",
      uuidParameter(id),
    );
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

async function checkAccess(
  db: Database,
  { tokenHash, map, now }: Parameters<MapStore["access"]>[0],
): Promise<AccessResult> {
  const [row] = await db.rows<AccessRow>(
    `SELECT b.*, ${mapColumns} FROM (VALUES (0)) AS one
      LEFT JOIN (
        SELECT c.account, a.email, c.id AS credential, t.expires FROM tokens t
          JOIN credentials c ON c.number = t.credential JOIN accounts a ON a.id = c.account
        WHERE t.hash = $1 AND t.expires > $2 AND t.expires <= $4 AND c.revoked IS NULL
      ) b ON true
      LEFT JOIN (maps m JOIN accounts a ON a.id = m.owner) ON m.id = $3`,
    tokenHash,
    now,
    uuidParameter(map),
    now + maxTokenLifetimeMs,
  );
  const { account, email, credential, expires, ...found } = row!;
  return {
    bearer: account === null ? null : ({ account, email, credential, expires } as Bearer),
    map: found.id === null ? null : (found as StoredMap),
  };
}
