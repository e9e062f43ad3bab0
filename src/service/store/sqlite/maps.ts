import { type Bearer, type MapListRequest, maxTokenLifetimeMs, type StoredMap } from "../contract.js";
import { createMapVersion, randomStamp } from "../map-version.js";
import type { Connection } from "./connection.js";
import type { SyncStoreMethods } from "./store-methods.js";

type MapRow = Omit<StoredMap, "private"> & { readonly private: number };

const selectMaps = `SELECT m.id, m.owner, a.email AS ownerEmail, a.name AS ownerName, m.name, m.private, m.created, m.features, m.revision, m.version
  FROM maps m JOIN accounts a ON a.id = m.owner`;
const toStoredMap = (row: MapRow): StoredMap => ({ ...row, private: row.private === 1 });

const scopeConditions: Readonly<Record<MapListRequest["scope"], string>> = {
  own: "m.owner = @account",
  others: "m.owner <> @account AND m.private = 0",
  readable: "(m.owner = @account OR m.private = 0)",
};

function findMap(db: Connection, id: string): StoredMap | null {
  const row = db.get<MapRow>(`${selectMaps} WHERE m.id = ?`, id);
  return row ? toStoredMap(row) : null;
}

export function mapReadMethods(db: Connection): SyncStoreMethods<"map" | "maps" | "access"> {
  return {
    map: (id) => findMap(db, id),
    maps: ({ account, scope, size = -1, skip = 0, after }) =>
      db
        .all<MapRow>(
          `${selectMaps} WHERE ${scopeConditions[scope]}
          ${after ? "AND (m.name, m.id) > (@name, @id)" : ""} ORDER BY m.name, m.id LIMIT @size OFFSET @skip`,
          { account, size, skip, ...after },
        )
        .map(toStoredMap),
    access: ({ tokenHash, map, now }) => ({
      bearer:
        db.get<Bearer>(
          `SELECT c.account, a.email, c.id AS credential, t.expires FROM tokens t
          JOIN credentials c ON c.number = t.credential JOIN accounts a ON a.id = c.account
          WHERE t.hash = ? AND t.expires > ? AND t.expires <= ? AND c.revoked IS NULL`,
          tokenHash,
          now,
          now + maxTokenLifetimeMs,
        ) ?? null,
      map: map === null ? null : findMap(db, map),
    }),
  };
}

export function mapWriteMethods(db: Connection): SyncStoreMethods<"addMap" | "changeMap" | "deleteMap"> {
  return {
    addMap: ({ id, owner, name, private: hidden, created, limit = Number.MAX_SAFE_INTEGER }) => {
      const added = db.get(
        `INSERT INTO maps (id, owner, name, private, created, version)
        SELECT @id, @owner, @name, @hidden, @created, @version
        WHERE (SELECT count(*) FROM maps WHERE owner = @owner) < @limit RETURNING id`,
        { id, owner, name, hidden: hidden ? 1 : 0, created, version: createMapVersion(0), limit },
      );
      return added !== undefined;
    },
    changeMap: ({ id, name = null, private: hidden }) => {
      db.run(
        `UPDATE maps SET name = coalesce(@name, name), private = coalesce(@hidden, private),
          revision = revision + 1, version = (revision + 1) || '-' || @stamp
        WHERE id = @id AND (name <> @name OR private <> @hidden)`,
        { id, name, hidden: hidden === undefined ? null : Number(hidden), stamp: randomStamp() },
      );
      return findMap(db, id);
    },
    deleteMap: (id) => {
      const map = db.get<{ number: number }>("DELETE FROM maps WHERE id = ? RETURNING number", id);
      if (map) db.run("INSERT INTO removed_maps (number) VALUES (?)", map.number);
      return map !== undefined;
    },
  };
}
