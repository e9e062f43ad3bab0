/**
 * The rows of the service's bench in tables of their own, by the statements that one would write by hand: for a
 * synchronisation, to insert or update by `ref` and to delete the others. A location is a file or postgres://…
 */
import Database from "better-sqlite3";
import pg from "pg";

const columns = "(seq, id, geometry, properties)";

/** A row of a feature, its texts made. */
const rowOf = (seq, { geometry, properties }) => [
  seq,
  `00000000-0000-7000-8000-${String(seq).padStart(12, "0")}`,
  JSON.stringify(geometry),
  JSON.stringify(properties),
];

export const bareStore = (location, count, feature) =>
  location.startsWith("postgres") ? postgresql(location, count, feature) : sqlite(location, count, feature);

async function sqlite(location, count, feature) {
  const db = new Database(location);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  const table = "(seq INTEGER PRIMARY KEY, id TEXT UNIQUE, geometry TEXT, properties TEXT, ref TEXT UNIQUE)";
  db.exec(`CREATE TABLE bare ${table}; CREATE TABLE bare_small ${table};`);
  const insert = db.prepare(`INSERT INTO bare ${columns} VALUES (?, ?, ?, ?)`);
  db.transaction(() => {
    for (let i = 0; i < count; i++) insert.run(...rowOf(i + 1, feature(i, 0)));
  })();
  const put = db.prepare(
    `INSERT INTO bare_small (seq, id, geometry, properties, ref) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (ref) DO UPDATE SET geometry = excluded.geometry, properties = excluded.properties`,
  );
  const removeOthers = db.prepare("DELETE FROM bare_small WHERE ref NOT IN (SELECT value FROM json_each(?))");
  const replace = db.transaction((features) => {
    for (const [i, one] of features.entries()) put.run(...rowOf(i + 1, one), one.properties.ref);
    removeOthers.run(JSON.stringify(features.map(({ properties }) => properties.ref)));
  });
  return {
    location,
    replace: (features) => replace.immediate(features),
    close: () => db.close(),
  };
}

async function postgresql(location, count, feature) {
  const client = new pg.Client(location);
  await client.connect();
  const unnest = "SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[])";
  const columnsOf = (rows) => [0, 1, 2, 3].map((i) => rows.map((row) => row[i]));
  for (const table of ["bare", "bare_small"]) {
    await client.query(`DROP TABLE IF EXISTS ${table}`);
    await client.query(
      `CREATE TABLE ${table} (seq bigint PRIMARY KEY, id uuid UNIQUE, geometry text, properties text, ref text UNIQUE)`,
    );
  }
  for (let from = 0; from < count; from += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, count - from) }, (_, i) =>
      rowOf(from + i + 1, feature(from + i, 0)),
    );
    await client.query(`INSERT INTO bare ${columns} ${unnest}`, columnsOf(rows));
  }
  await client.query("ANALYZE bare");
  const put = `INSERT INTO bare_small (seq, id, geometry, properties, ref)
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[])
    ON CONFLICT (ref) DO UPDATE SET geometry = excluded.geometry, properties = excluded.properties`;
  return {
    location,
    async replace(features) {
      const refs = features.map(({ properties }) => properties.ref);
      const values = [...columnsOf(features.map((one, i) => rowOf(i + 1, one))), refs];
      await client.query("BEGIN");
      await client.query({ name: "put", text: put, values });
      await client.query({ name: "rest", text: "DELETE FROM bare_small WHERE ref <> ALL($1)", values: [refs] });
      await client.query("COMMIT");
    },
    async close() {
      await client.query("DROP TABLE bare, bare_small");
      await client.end();
    },
  };
}
