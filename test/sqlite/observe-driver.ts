/** Runs the same statements with any driver of SQLite and records what each call returns or throws. */
import { readFileSync, rmSync } from "node:fs";
import { type Database, type SqliteDriver, sqliteErrorCode } from "../../src/sqlite/index.js";

/** Plain data in which bigints, blobs and classes differ. */
function describeValue(value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (Buffer.isBuffer(value)) return `buffer ${value.toString("hex")}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return value.map(describeValue);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, describeValue(each)]));
  return value === undefined ? "undefined" : value;
}

/** @param folder for the database files */
export function observeDriver(Sqlite: SqliteDriver, folder: string): Record<string, unknown> {
  const observed: Record<string, unknown> = {};
  const observe = (name: string, work: () => unknown): void => {
    try {
      observed[name] = describeValue(work());
    } catch (error) {
      observed[name] = `${sqliteErrorCode(error) ?? (error as Error).name}: ${(error as Error).message}`;
    }
  };
  const path = `${folder}/driver.db`;
  rmSync(path, { force: true });

  observe("a missing file", () => new Sqlite(`${folder}/missing.db`, { fileMustExist: true }));
  observe("a missing file to read", () => new Sqlite(`${folder}/missing.db`, { readonly: true }));
  const database: Database = new Sqlite(path);
  observe("a pragma that sets", () => database.pragma("page_size = 4096"));
  observe("a pragma", () => database.pragma("page_size"));
  observe("a simple pragma", () => database.pragma("page_size", { simple: true }));
  observe("foreign keys by default", () => database.pragma("foreign_keys", { simple: true }));
  database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, n, i INTEGER, r REAL, s TEXT NOT NULL DEFAULT '', b BLOB)");
  const insert = database.prepare("INSERT INTO t (n, i, r, s, b) VALUES (?, ?, ?, ?, ?)");
  observe("an insert", () => insert.run(1, 2, 3, "é\u{1f6a2}", Buffer.from([0, 255])));
  observe("an insert from an array", () => insert.run([1n, 9007199254740993n, 0.5, "", Buffer.alloc(0)]));
  observe("named parameters", () => {
    const named = database.prepare("INSERT INTO t (n, i, s) VALUES (@n, :i, $s)");
    return named.run({ n: null, i: -1n, s: "named" });
  });
  observe("types of stored values", () =>
    database.prepare("SELECT typeof(n), typeof(i), typeof(r) FROM t").raw().all(),
  );
  observe("rows", () => database.prepare("SELECT * FROM t WHERE id <> 2").all());
  observe("rows as arrays", () => database.prepare("SELECT * FROM t WHERE id <> 2").raw().all());
  observe("one row", () => database.prepare("SELECT * FROM t WHERE id = ?").get(1));
  observe("no row", () => database.prepare("SELECT * FROM t WHERE id = ?").get(99));
  observe("a plucked value", () => database.prepare("SELECT s FROM t ORDER BY id").pluck().get());
  observe("plucked values", () => database.prepare("SELECT b FROM t ORDER BY id").pluck().all());
  observe("safe integers", () => database.prepare("SELECT id, i, r FROM t").safeIntegers(true).all());
  observe("columns", () =>
    database
      .prepare("SELECT id, s AS x, i + 1 FROM t")
      .columns()
      .map(({ name, type }) => ({ name, type })),
  );
  observe("an iteration", () => [...database.prepare("SELECT id FROM t ORDER BY id").iterate()]);
  observe("an iteration that stops early", () => {
    for (const row of database.prepare("SELECT id FROM t ORDER BY id").iterate()) return row;
    return null;
  });
  observe("an unknown table", () => database.prepare("SELECT * FROM nothing"));
  observe("bad SQL", () => database.exec("SELEC 1"));
  observe("a taken key", () => database.prepare("INSERT INTO t (id) VALUES (1)").run());
  observe("a missing value", () => database.prepare("INSERT INTO t (s) VALUES (NULL)").run());
  database.exec("CREATE TABLE u (k TEXT UNIQUE, t INTEGER REFERENCES t(id)); INSERT INTO u VALUES ('a', 1)");
  observe("a value that is not unique", () => database.prepare("INSERT INTO u VALUES ('a', 1)").run());
  observe("a foreign key", () => database.prepare("INSERT INTO u VALUES ('b', 99)").run());

  const count = database.prepare("SELECT count(*) FROM u").pluck();
  const add = database.transaction((key: string, fails: boolean) => {
    database.prepare("INSERT INTO u VALUES (?, 1)").run(key);
    if (fails) throw new Error("no");
    return database.inTransaction;
  });
  observe("a transaction", () => add("c", false));
  observe("a failing transaction", () => add("d", true));
  observe("an immediate transaction", () => add.immediate("e", false));
  observe("a nested transaction", () => database.transaction(() => [add("f", false), add.immediate("g", true)])());
  observe("rows after transactions", () => [count.get(), database.inTransaction]);

  database.function("describe", { deterministic: true }, (value: unknown) => String(describeValue(value)));
  observe("a function", () =>
    database.prepare("SELECT describe(nullif(b, x'')), describe(i), describe(s) FROM t").raw().all(),
  );
  observe("a function with too many arguments", () => database.prepare("SELECT describe(1, 2)").get());
  observe("a function that throws", () => {
    database.function("fail", {}, () => {
      throw new Error("out of order");
    });
    try {
      return database.prepare("SELECT fail()").get();
    } catch (error) {
      return /out of order/.test((error as Error).message);
    }
  });

  observe("an R-tree", () => {
    database.exec("CREATE VIRTUAL TABLE tree USING rtree(id, minx, maxx, miny, maxy)");
    database.prepare("INSERT INTO tree VALUES (?, ?, ?, ?, ?)").run(7n, 0, 1, 2, 3);
    return database.prepare("SELECT * FROM tree WHERE minx <= ? AND maxx >= ?").all(0.5, 0.5);
  });
  observe("a changed schema", () => {
    database.unsafeMode(true);
    database.pragma("writable_schema = ON");
    database.prepare("UPDATE sqlite_master SET sql = replace(sql, 'k TEXT', 'k VARCHAR') WHERE name = 'u'").run();
    database.pragma("writable_schema = OFF");
    database.unsafeMode(false);
    return database.prepare("SELECT sql FROM sqlite_master WHERE name = 'u'").pluck().get();
  });
  database.defaultSafeIntegers(true);
  observe("safe integers by default", () => [
    database.prepare("SELECT 1 AS one").get(),
    database.pragma("user_version", { simple: true }),
    database.prepare("INSERT INTO u VALUES ('z', 1)").run(),
  ]);
  observe("integrity", () => database.pragma("integrity_check", { simple: true }));
  observe("an open database", () => database.open);
  database.close();
  observe("a closed database", () => database.open);

  observe("a database that is none", () => {
    const broken = new Sqlite(`${folder}/text.db`, { readonly: true });
    try {
      return broken.prepare("SELECT * FROM sqlite_schema").all();
    } finally {
      broken.close();
    }
  });
  const reader = new Sqlite(path, { readonly: true });
  observe("a write to a database that is only read", () => reader.exec("DELETE FROM u"));
  reader.close();
  observe("bytes of the header", () => readFileSync(path).toString("latin1", 0, 15));
  return observed;
}
