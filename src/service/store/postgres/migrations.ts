import { createError } from "../../../errors.js";
import type { Database, Transaction } from "./database.js";

/**
 * Schema migrations, one per version; never changed after release. Each is a script that runs in the first schema of
 * the connection's `search_path`.
 *
 * Tables and keys of a map start with its number, so that the tables can be partitioned by it (docs/scaling.md). They
 * have no foreign key to `maps`: writers lock the row of the map anyway, and a check per feature would cost as much as
 * the insert. User text in an index is stored as a digest, since an index entry is limited to 2704 bytes.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    email text NOT NULL,
    email_key text COLLATE "C" NOT NULL UNIQUE,
    password_hash text NOT NULL,
    created bigint NOT NULL
  );

  CREATE TABLE credentials (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    account uuid NOT NULL REFERENCES accounts,
    name text NOT NULL,
    client_id text COLLATE "C" NOT NULL UNIQUE,
    secret_hash bytea NOT NULL,
    created bigint NOT NULL,
    last_used bigint,
    revoked bigint
  );
  CREATE INDEX credentials_of_account ON credentials (account);

  CREATE TABLE tokens (
    hash bytea PRIMARY KEY,
    credential bigint NOT NULL REFERENCES credentials,
    expires bigint NOT NULL
  );
  CREATE INDEX tokens_of_credential ON tokens (credential);
  CREATE INDEX tokens_by_end ON tokens (expires);

  CREATE TABLE sessions (
    hash bytea PRIMARY KEY,
    account uuid NOT NULL REFERENCES accounts,
    created bigint NOT NULL,
    expires bigint NOT NULL
  );
  CREATE INDEX sessions_of_account ON sessions (account);

  CREATE TABLE setup_token (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    hash bytea NOT NULL,
    expires bigint NOT NULL
  );

  CREATE TABLE attempts (
    name_digest bytea PRIMARY KEY,
    count bigint NOT NULL,
    until bigint NOT NULL
  );

  -- Entries outlive what they name.
  CREATE TABLE audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    account uuid,
    map uuid,
    action text NOT NULL,
    detail text NOT NULL,
    address text
  );
  CREATE INDEX audit_of_account ON audit (account, number);
  CREATE INDEX audit_of_map ON audit (map, number);

  -- Rows of maps and counts change with every write: in a page with room for it, without touching an index.
  CREATE TABLE maps (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    owner uuid NOT NULL REFERENCES accounts,
    name text COLLATE "C" NOT NULL,
    private boolean NOT NULL,
    created bigint NOT NULL,
    features bigint NOT NULL DEFAULT 0,
    revision bigint NOT NULL DEFAULT 0,
    next bigint NOT NULL DEFAULT 1
  ) WITH (fillfactor = 50);
  CREATE INDEX maps_of_owner ON maps (owner);

  CREATE TABLE features (
    map bigint NOT NULL,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    geometry text NOT NULL,
    properties text NOT NULL,
    PRIMARY KEY (map, seq),
    UNIQUE (map, id)
  );

  CREATE TABLE bucket_counts (
    map bigint NOT NULL,
    bits smallint NOT NULL,
    bucket bigint NOT NULL,
    -- A running sum of these is much faster than one of bigint.
    count integer NOT NULL,
    PRIMARY KEY (map, bits, bucket)
  ) WITH (fillfactor = 50);

  CREATE TABLE key_fields (
    map bigint NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    used bigint NOT NULL,
    PRIMARY KEY (map, number)
  );

  CREATE TABLE feature_keys (
    map bigint NOT NULL,
    field bigint NOT NULL,
    seq bigint NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (map, field, seq)
  );
  CREATE INDEX feature_keys_by_digest ON feature_keys (map, field, digest);

  CREATE TABLE outcomes (
    key_digest bytea PRIMARY KEY,
    fingerprint bytea NOT NULL,
    outcome text NOT NULL,
    at bigint NOT NULL
  );
  CREATE INDEX outcomes_by_time ON outcomes (at);
  `,
  "ALTER TABLE key_fields ADD COLUMN read bigint",
  // `digest` precedes `field`. Otherwise the planner, without statistics, considered this index as good as the primary
  // key for deleting a single key, and read all keys of the field.
  `
  DROP INDEX IF EXISTS feature_keys_by_digest, feature_keys_map_field_digest_idx;
  CREATE INDEX feature_keys_by_digest ON feature_keys (map, digest, field);
  `,
  "CREATE INDEX maps_by_name ON maps (name, id)",
  `
  ALTER TABLE maps ADD COLUMN version text COLLATE "C" NOT NULL DEFAULT '';
  UPDATE maps SET version = revision || '-' || left(md5(random()::text || id), 16);
  `,
  "ALTER TABLE accounts ADD COLUMN name text NOT NULL DEFAULT ''",
  // Unlogged, since a crash or failover may lose cursors: writes need no log and no sync.
  `
  CREATE UNLOGGED TABLE page_ends (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    credential uuid NOT NULL,
    map uuid NOT NULL,
    size integer NOT NULL,
    page bigint NOT NULL,
    token bigint NOT NULL,
    seq bigint NOT NULL,
    version text COLLATE "C" NOT NULL,
    exact boolean NOT NULL,
    at bigint NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
  CREATE INDEX page_ends_of_page ON page_ends (credential, map, page, size, token, seq);
  `,
];

/**
 * Migrates a database to the current schema, in one transaction that other processes wait for.
 * @throws store-encoding; store-foreign if the tables belong to another program; store-newer if a later version has
 * migrated the database
 */
export async function migrate(db: Database, store: string): Promise<void> {
  await db.transaction("migrations", async (tx) => {
    await tx.expectLongStatements();
    await tx.run("SELECT pg_advisory_xact_lock(hashtextextended('geoferry migrations ' || current_schema(), 0))");
    const version = await readSchemaVersion(tx, store);
    if (version > migrations.length) throw createError("store-newer", { store, version, known: migrations.length });
    for (const migration of migrations.slice(version)) await tx.run(migration);
    if (version < migrations.length) await tx.run("UPDATE geoferry_schema SET version = $1", migrations.length);
  });
}

/** Returns 0 for a database without tables of the service, and then creates the version table. */
async function readSchemaVersion(tx: Transaction, store: string): Promise<number> {
  const [found] = await tx.rows<{ encoding: string; versioned: boolean; foreign: boolean }>(
    `SELECT current_setting('server_encoding') AS encoding,
      to_regclass(quote_ident(current_schema()) || '.geoferry_schema') IS NOT NULL AS versioned,
      to_regclass(quote_ident(current_schema()) || '.features') IS NOT NULL
        OR to_regclass(quote_ident(current_schema()) || '.accounts') IS NOT NULL AS foreign`,
  );
  const { encoding, versioned, foreign } = found!;
  if (encoding !== "UTF8") throw createError("store-encoding", { store, encoding });
  if (!versioned) {
    if (foreign) throw createError("store-foreign", { store });
    await tx.run("CREATE TABLE geoferry_schema (version bigint NOT NULL)");
    await tx.run("INSERT INTO geoferry_schema VALUES (0)");
  }
  const [row] = await tx.rows<{ version: number }>("SELECT version FROM geoferry_schema");
  return row!.version;
}
