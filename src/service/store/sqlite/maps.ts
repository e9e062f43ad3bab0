import type { Bearer, StoredMap } from "../contract.js";
import { newStamp, newVersion } from "../version.js";
import type { Connection } from "./connection.js";
import type { Operations } from "./operations.js";

type MapRow = Omit<StoredMap, "private"> & { readonly private: number };

const select = `SELECT m.id, m.owner, a.email AS ownerEmail, a.name AS ownerName, m.name, m.private, m.created, m.features, m.revision, m.version
  FROM maps m JOIN accounts a ON a.id = m.owner`;
const stored = (row: MapRow): StoredMap => ({ ...row, private: row.private === 1 });

function mapOf(db: Connection, id: string): StoredMap | null {
  const row = db.get<MapRow>(`${select} WHERE m.id = ?`, id);
  return row ? stored(row) : null;
}

export function mapReading(db: Connection): Operations<"map" | "maps" | "access"> {
  return {
    map: (id) => mapOf(db, id),
    maps: ({ account, readable, size = -1, skip = 0, after }) =>
      db
        .all<MapRow>(
          `${select} WHERE (m.owner = @account ${readable ? "OR m.private = 0" : ""})
          ${after ? "AND (m.name, m.id) > (@name, @id)" : ""} ORDER BY m.name, m.id LIMIT @size OFFSET @skip`,
          { account, size, skip, ...after },
        )
        .map(stored),
    access: ({ tokenHash, map, now }) => ({
      bearer:
        db.get<Bearer>(
          `SELECT c.account, a.email, c.id AS credential, t.expires FROM tokens t
          JOIN credentials c ON c.number = t.credential JOIN accounts a ON a.id = c.account
          WHERE t.hash = ? AND t.expires > ? AND c.revoked IS NULL`,
          tokenHash,
          now,
        ) ?? null,
      map: map === null ? null : mapOf(db, map),
    }),
  };
}

export function mapWriting(db: Connection): Operations<"addMap" | "changeMap" | "deleteMap"> {
  return {
    addMap: ({ id, owner, name, private: hidden, created }) => {
      db.run(
        "INSERT INTO maps (id, owner, name, private, created, version) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        owner,
        name,
        hidden ? 1 : 0,
        created,
        newVersion(0),
      );
    },
    changeMap: ({ id, name = null, private: hidden }) => {
      db.run(
        `UPDATE maps SET name = coalesce(@name, name), private = coalesce(@hidden, private),
          revision = revision + 1, version = (revision + 1) || '-' || @stamp
        WHERE id = @id AND (name <> @name OR private <> @hidden)`,
        { id, name, hidden: hidden === undefined ? null : Number(hidden), stamp: newStamp() },
      );
      return mapOf(db, id);
    },
    deleteMap: (id) => {
      const map = db.get<{ number: number }>("DELETE FROM maps WHERE id = ? RETURNING number", id);
      if (map) db.run("INSERT INTO removed_maps (number) VALUES (?)", map.number);
      return map !== undefined;
    },
  };
}
