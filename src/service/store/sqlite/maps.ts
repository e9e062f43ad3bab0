import type { Bearer, StoredMap } from "../contract.js";
import { createMapVersion, randomStamp } from "../map-version.js";
import type { Connection } from "./connection.js";
import type { SyncStoreMethods } from "./store-methods.js";

type MapRow = Omit<StoredMap, "private"> & { readonly private: number };

const selectMaps = `SELECT m.id, m.owner, a.email AS ownerEmail, a.name AS ownerName, m.name, m.private, m.created, m.features, m.revision, m.version
  FROM maps m JOIN accounts a ON a.id = m.owner`;
const toStoredMap = (row: MapRow): StoredMap => ({ ...row, private: row.private === 1 });

function findMap(db: Connection, id: string): StoredMap | null {
  const row = db.get<MapRow>(`${selectMaps} WHERE m.id = ?`, id);
  return row ? toStoredMap(row) : null;
}

export function mapReadMethods(db: Connection): SyncStoreMethods<"map" | "maps" | "access"> {
  return {
    map: (id) => findMap(db, id),
    maps: ({ account, readable, size = -1, skip = 0, after }) =>
      db
        .all<MapRow>(
          `${selectMaps} WHERE (m.owner = @account ${readable ? "OR m.private = 0" : ""})
          ${after ? "AND (m.name, m.id) > (@name, @id)" : ""} ORDER BY m.name, m.id LIMIT @size OFFSET @skip`,
          { account, size, skip, ...after },
        )
        .map(toStoredMap),
    access: ({ tokenHash, map, now }) => ({
      bearer:
        db.get<Bearer>(
          `SELECT c.account, a.email, c.id AS credential, t.expires FROM tokens t
          JOIN credentials c ON c.number = t.credential JOIN accounts a ON a.id = c.account
          WHERE t.hash = ? AND t.expires > ? AND c.revoked IS NULL`,
          tokenHash,
          now,
        ) ?? null,
      map: map === null ? null : findMap(db, map),
    }),
  };
}

export function mapWriteMethods(db: Connection): SyncStoreMethods<"addMap" | "changeMap" | "deleteMap"> {
  return {
    addMap: ({ id, owner, name, private: hidden, created }) => {
      db.run(
        "INSERT INTO maps (id, owner, name, private, created, version) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        owner,
        name,
        hidden ? 1 : 0,
        created,
        createMapVersion(0),
      );
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
