/** What goes wrong with a database that features come from or go to: part of the registry in src/errors.ts. */
import { type Entry, entry } from "./entry.js";

type AtDatabase = { readonly database: string; readonly reason: string };

export const databaseErrors = {
  "database-unavailable": entry<AtDatabase>(
    "unavailable",
    (e) => `${e.database}: the database does not answer: ${e.reason}; try again later`,
  ),
  "database-forbidden": entry<AtDatabase>(
    "authentication",
    (e) =>
      `${e.database}: does not let this user in, or do this: ${e.reason}; check the user in the address, the password in PGPASSWORD or a password file, and what the user may do there`,
  ),
  "database-absent": entry<AtDatabase>(
    "input",
    (e) => `${e.database}: the server has no such database: ${e.reason}; check the name in the address`,
  ),
  "database-tls": entry<AtDatabase>(
    "usage",
    (e) =>
      `${e.database}: cannot be reached by TLS as the address asks: ${e.reason}; set sslmode in it (disable, require, verify-full), and sslrootcert to the certificate of the authority that signed the server's`,
  ),
  "database-changed": entry<{ readonly database: string; readonly table: string }>(
    "unavailable",
    (e) => `${e.database}: the table ${e.table} was emptied, rewritten or replaced while it was read; run again`,
  ),
  /** A statement of the person's own, or what a table asks of its rows. */
  "database-refused": entry<AtDatabase>("input", (e) => `${e.database}: ${e.reason}`),
} as const satisfies Record<string, Entry<never>>;
