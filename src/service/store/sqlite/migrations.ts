import { createError } from "../../../errors.js";
import type { Database } from "../../../sqlite/index.js";

/**
 * Schema migrations, one per version; never changed after release. The `place` of a feature combines the number of its
 * map and its `seq` in one integer, `map << 40 | seq`, so that rows are stored by map and creation order without an
 * additional index.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    created INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE credentials (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    client_id TEXT NOT NULL UNIQUE,
    secret_hash BLOB NOT NULL,
    created INTEGER NOT NULL,
    last_used INTEGER,
    revoked INTEGER
  ) STRICT;
  CREATE INDEX credentials_of_account ON credentials (account);

  CREATE TABLE tokens (
    hash BLOB PRIMARY KEY,
    credential INTEGER NOT NULL REFERENCES credentials,
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tokens_of_credential ON tokens (credential);
  CREATE INDEX tokens_by_end ON tokens (expires);

  CREATE TABLE sessions (
    hash BLOB PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_of_account ON sessions (account);

  CREATE TABLE setup_token (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    hash BLOB NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE attempts (
    name TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Entries outlive what they name.
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    account TEXT,
    map TEXT,
    action TEXT NOT NULL,
    detail TEXT NOT NULL,
    address TEXT
  ) STRICT;
  CREATE INDEX audit_of_account ON audit (account);
  CREATE INDEX audit_of_map ON audit (map);

  CREATE TABLE maps (
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number < 1 << 23),
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    private INTEGER NOT NULL,
    created INTEGER NOT NULL,
    features INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    next INTEGER NOT NULL DEFAULT 1 CHECK (next <= 1 << 40)
  ) STRICT;
  CREATE INDEX maps_of_owner ON maps (owner);

  -- Maps that are gone, and whose features are still to be removed.
  CREATE TABLE removed_maps (
    number INTEGER PRIMARY KEY
  ) STRICT;

  CREATE TABLE features (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    geometry TEXT NOT NULL,
    properties TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX feature_ids ON features (place >> 40, id);

  CREATE TABLE bucket_counts (
    map INTEGER NOT NULL,
    bits INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (map, bits, bucket)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE key_fields (
    number INTEGER PRIMARY KEY,
    map INTEGER NOT NULL,
    name TEXT NOT NULL,
    used INTEGER NOT NULL,
    UNIQUE (map, name)
  ) STRICT;

  CREATE TABLE feature_keys (
    field INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (field, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX feature_keys_by_digest ON feature_keys (field, digest);

  CREATE TABLE outcomes (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    outcome TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX outcomes_by_time ON outcomes (at);
  `,
  // The first bytes of a digest suffice for the lookup, in an index of half the size.
  `
  ALTER TABLE key_fields ADD COLUMN read INTEGER;
  DROP INDEX feature_keys_by_digest;
  CREATE INDEX feature_keys_by_head ON feature_keys (field, substr(digest, 1, 8));
  `,
  // In blocks of two million features, so that consecutive features share a part of the index.
  `
  DROP INDEX feature_keys_by_head;
  CREATE INDEX feature_keys_by_block ON feature_keys (field, seq >> 21, substr(digest, 1, 8));
  `,
  "CREATE INDEX maps_by_name ON maps (name, id)",
  `
  ALTER TABLE maps ADD COLUMN version TEXT NOT NULL DEFAULT '';
  UPDATE maps SET version = revision || '-' || lower(hex(randomblob(8)));
  `,
  // Filled temporarily after a write failed on a full disk, to check whether there is space again.
  "CREATE TABLE room (filler BLOB NOT NULL) STRICT",
  "ALTER TABLE accounts ADD COLUMN name TEXT NOT NULL DEFAULT ''",
];

/** The application id in the file header: "gFry". */
const applicationId = 0x67467279;

/**
 * Migrates a database to the current schema, in one transaction that other processes wait for.
 * @throws store-foreign if the database belongs to another program; store-newer if a later version has migrated it
 */
export function migrate(database: Database, path: string): void {
  database
    .transaction(() => {
      const version = database.pragma("user_version", { simple: true }) as number;
      const owner = database.pragma("application_id", { simple: true }) as number;
      const tables = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() as number;
      if (owner !== applicationId && (owner !== 0 || tables > 0)) throw createError("store-foreign", { store: path });
      if (version > migrations.length) {
        throw createError("store-newer", { store: path, version, known: migrations.length });
      }
      for (const migration of migrations.slice(version)) database.exec(migration);
      database.pragma(`application_id = ${applicationId}`);
      database.pragma(`user_version = ${migrations.length}`);
    })
    .immediate();
}
