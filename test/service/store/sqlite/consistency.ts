import Sqlite from "better-sqlite3";
import { expect } from "vitest";
import { digestRemoteKey } from "../../../../src/service/identifiers/remote-key.js";

/** Compares the counts and keys of a database with its features, read by plain SQL. */
export function expectConsistent(path: string): void {
  const database = new Sqlite(path, { readonly: true });
  try {
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    const maps = database.prepare("SELECT number, features, next FROM maps").all() as {
      number: number;
      features: number;
      next: number;
    }[];
    for (const { number, features, next } of maps) {
      const rows = database
        .prepare("SELECT place - ? * (1 << 40) AS seq, properties FROM features WHERE place >> 40 = ? ORDER BY place")
        .all(BigInt(number), number) as { seq: number; properties: string }[];
      expect(rows).toHaveLength(features);
      for (const { seq } of rows) expect(seq).toBeLessThan(next);
      for (const bits of [8, 14, 20]) {
        const size = 2 ** bits;
        const counted = database
          .prepare("SELECT bucket, count FROM bucket_counts WHERE map = ? AND bits = ? ORDER BY bucket")
          .raw()
          .all(number, bits);
        const real = new Map<number, number>();
        for (const { seq } of rows) real.set(Math.floor(seq / size), (real.get(Math.floor(seq / size)) ?? 0) + 1);
        expect(counted).toEqual([...real]);
      }
      expectKeys(database, number, rows);
    }
    const owners = `SELECT count(*) FROM features
      WHERE place >> 40 NOT IN (SELECT number FROM maps UNION SELECT number FROM removed_maps)`;
    expect(database.prepare(owners).pluck().get()).toBe(0);
  } finally {
    database.close();
  }
}

function expectKeys(
  database: Sqlite.Database,
  map: number,
  rows: readonly { readonly seq: number; readonly properties: string }[],
): void {
  const fields = database.prepare("SELECT number, name, read FROM key_fields WHERE map = ?").all(map) as {
    number: number;
    name: string;
    read: number | null;
  }[];
  for (const { number, name, read } of fields) {
    const stored = database
      .prepare("SELECT seq, lower(hex(digest)) FROM feature_keys WHERE field = ? ORDER BY seq")
      .raw()
      .all(number) as [seq: number, digest: string][];
    const real = rows.flatMap(({ seq, properties }): [number, string][] => {
      const value = new Map<string, unknown>(Object.entries(JSON.parse(properties))).get(name);
      const usable = typeof value === "string" ? value !== "" : Number.isSafeInteger(value);
      if (!usable) return [];
      return [[seq, digestRemoteKey(value as string | number)]];
    });
    // Beyond the indexed range, only written features have keys.
    const isRead = ([seq]: readonly [number, string]) => read === null || seq <= read;
    expect(stored.filter(isRead)).toEqual(real.filter(isRead));
    const current = new Map(real);
    expect(stored.filter(([seq, digest]) => current.get(seq) !== digest)).toEqual([]);
  }
}
