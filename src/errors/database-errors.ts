/** Errors of databases as sources and targets: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

type DatabaseDetails = { readonly database: string; readonly reason: string };

export const databaseErrors = {
  "database-unavailable": defineError<DatabaseDetails>(
    "unavailable",
    (e) => `${e.database}: the database does not answer: ${e.reason}; try again later`,
  ),
  "database-forbidden": defineError<DatabaseDetails>(
    "authentication",
    (e) =>
      `${e.database}: access denied: ${e.reason}; check the user in the address, the password in PGPASSWORD or a password file, and the permissions of the user`,
  ),
  "database-missing": defineError<DatabaseDetails>(
    "input",
    (e) => `${e.database}: the server has no such database: ${e.reason}; check the name in the address`,
  ),
  "database-tls": defineError<DatabaseDetails>(
    "usage",
    (e) =>
      `${e.database}: cannot be reached by TLS as the address asks: ${e.reason}; set sslmode in it (disable, require, verify-full), and sslrootcert to the certificate of the authority that signed the server's`,
  ),
  "database-changed": defineError<{ readonly database: string; readonly table: string }>(
    "unavailable",
    (e) => `${e.database}: the table ${e.table} was emptied, rewritten or replaced while it was read; run again`,
  ),
  "commit-outcome-unknown": defineError<DatabaseDetails>(
    "unknown-outcome",
    (e) =>
      `${e.database}: the connection broke while the transaction was committed, and the database does not tell whether it was: ${e.reason}; look whether the tables have the new rows before running again, which with --append would add them twice`,
  ),
  /** The server refused SQL of the user, or a constraint was violated. */
  "database-refused": defineError<DatabaseDetails>("input", (e) => `${e.database}: ${e.reason}`),
} as const satisfies Record<string, ErrorDefinition<never>>;
