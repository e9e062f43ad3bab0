/** Errors of geoferry's own service and of its administration: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";
import { suggestName } from "./suggest-name.js";

export const serviceErrors = {
  "store-unavailable": defineError<{ store: string; reason: string }>(
    "unavailable",
    (e) => `${e.store}: the store does not answer: ${e.reason}; try again later`,
  ),
  "store-replaced": defineError<{ store: string }>(
    "unavailable",
    (e) =>
      `${e.store}: the database file was replaced or deleted while the service was running, and nothing was written; stop the service, delete ${e.store}-wal and ${e.store}-shm, which belong to the old file, and start it again; to restore a backup without stopping, use sqlite3 ${e.store} ".restore BACKUP"`,
  ),
  "store-full": defineError<{ store: string }>(
    "unavailable",
    (e) => `${e.store}: its disk is full, and nothing was written; free disk space, then try again`,
  ),
  "store-forbidden": defineError<{ store: string; reason: string }>(
    "authentication",
    (e) =>
      `${e.store}: the user cannot log in or create tables: ${e.reason}; check the user in the address, the password in PGPASSWORD or a password file, and the permissions of the user`,
  ),
  "store-database-missing": defineError<{ store: string; database: string }>(
    "input",
    (e) =>
      `${e.store}: the server has no such database; name another with --database, or make it: CREATE DATABASE "${e.database}" ENCODING 'UTF8' TEMPLATE template0`,
  ),
  "store-tls": defineError<{ store: string; reason: string }>(
    "usage",
    (e) =>
      `${e.store}: cannot be reached by TLS as its address asks: ${e.reason}; set sslmode in the address (disable, require, verify-full), and sslrootcert to the certificate of the authority that signed the server's`,
  ),
  "store-newer": defineError<{ store: string; version: number; known: number }>(
    "unsupported",
    (e) =>
      `${e.store}: a later version of geoferry created or changed it (its schema has version ${e.version}, this geoferry supports ${e.known}); use that version`,
  ),
  "store-encoding": defineError<{ store: string; encoding: string }>(
    "unsupported",
    (e) =>
      `${e.store}: its encoding ${e.encoding} cannot store all texts; create a database with ENCODING 'UTF8' TEMPLATE template0`,
  ),
  "store-foreign": defineError<{ store: string }>(
    "input",
    (e) => `${e.store}: contains data of another program; choose another location with --data or --database`,
  ),

  "address-in-use": defineError<{ host: string; port: number; option: string }>(
    "locked",
    (e) =>
      `port ${e.port} of ${e.host} is in use by another program; stop that one, or choose another port with ${e.option} (0 for any that is free)`,
  ),
  "address-unavailable": defineError<{ host: string; port: number; reason: string }>(
    "usage",
    (e) => `cannot listen on port ${e.port} of ${e.host}: ${e.reason}; choose others with --host and --port`,
  ),
  "http-insecure": defineError<{ host: string }>(
    "usage",
    (e) =>
      `${e.host} can be reached from other machines, and without https, passwords and tokens would be sent unencrypted; set --tls-cert and --tls-key, or --insecure-http if a proxy provides https`,
  ),
  "certificate-invalid": defineError<{ file: string; reason: string }>(
    "input",
    (e) =>
      `${e.file}: cannot be used for https: ${e.reason}; --tls-cert and --tls-key must be a matching pair of PEM files`,
  ),
  "folder-not-writable": defineError<{ folder: string; reason: string }>(
    "output",
    (e) => `${e.folder}: cannot store the service's data: ${e.reason}; choose another folder with --data`,
  ),
  "store-folder-missing": defineError<{ store: string }>(
    "input",
    (e) =>
      `${e.store}: contains no data of a service; set --data to its folder, or create one with geoferry serve or geoferry admin user add`,
  ),
  "account-unknown": defineError<{ store: string; email: string; known: readonly string[] }>(
    "input",
    (e) =>
      `${e.store}: has no account ${e.email}${suggestName(e.email, e.known, "geoferry admin user list lists all")}`,
  ),
  "account-exists": defineError<{ store: string; email: string }>(
    "conflict",
    (e) => `${e.store}: the account ${e.email} already exists; geoferry admin user set-password changes its password`,
  ),
  "map-unknown": defineError<{ store: string; map: string }>(
    "input",
    (e) => `${e.store}: has no map ${e.map}; geoferry admin map list lists all`,
  ),
  "credential-unknown": defineError<{ store: string; client: string }>(
    "input",
    (e) => `${e.store}: has no credential ${e.client}; geoferry admin credential list lists all`,
  ),
  "password-invalid": defineError<{ reason: string }>("usage", (e) => `${e.reason}; nothing was changed`),

  "guard-map": defineError<{ map: string; features: number }>(
    "guard",
    (e) =>
      `map ${e.map} has ${e.features} ${e.features === 1 ? "feature" : "features"}, which would be lost; to remove it anyway, use --with-features`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
