import pg from "pg";
import { fault, GeoferryError } from "../../src/plugin/index.js";

/** The state that the server told (PostgreSQL, appendix A); empty where it told none. */
export const stateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? "") : "");

/** Names of what Node.js finds wrong with a server's certificate (`X509_V_ERR_*` of OpenSSL, and its own). */
const certificate = /CERT|^UNABLE_TO_/;

const reasonOf = (cause: unknown): string =>
  cause instanceof AggregateError
    ? cause.errors.map(reasonOf).join(", ")
    : cause instanceof Error
      ? cause.message || ((cause as NodeJS.ErrnoException).code ?? cause.name)
      : String(cause);

export const lacksTls = (error: unknown): boolean =>
  error instanceof Error && error.message === "The server does not support SSL connections";

/** Why there is no connection. */
export function connectionFault(database: string, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  const reason = reasonOf(cause);
  const state = stateOf(cause);
  if (state === "3D000") return fault("database-absent", { database, reason }, cause);
  if (state.startsWith("28") || state === "42501") return fault("database-forbidden", { database, reason }, cause);
  const { code = "", message = "" } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  // The driver lacks a password that the server asks for.
  if (state === "" && message.startsWith("SASL:"))
    return fault("database-forbidden", { database, reason: "the server asks for a password" }, cause);
  if (certificate.test(code) || lacksTls(cause) || /SSL|TLS/.test(code))
    return fault("database-tls", { database, reason }, cause);
  return fault("database-unavailable", { database, reason }, cause);
}

/** What the server says beyond its message. */
function told(error: pg.DatabaseError): string {
  const more = [error.detail, error.hint].filter((text) => text);
  return [error.message, ...more].join("; ");
}

/** Connections, resources, an operator's intervention, the system: not for the statement to mend, but for 08P01. */
const elsewhere = /^(08(?!P01)|53|57|58)/;

/** Why a statement that reads failed. */
export function readingFault(database: string, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  if (!(cause instanceof pg.DatabaseError)) return connectionFault(database, cause);
  const state = stateOf(cause);
  const reason = told(cause);
  if (state === "42501") return fault("database-forbidden", { database, reason }, cause);
  if (elsewhere.test(state)) return fault("database-unavailable", { database, reason }, cause);
  return fault("database-refused", { database, reason }, cause);
}

/** Why a statement that writes failed. `table` is for people. */
export function writingFault(database: string, table: string | null, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  if (!(cause instanceof pg.DatabaseError)) return connectionFault(database, cause);
  const output = table === null ? database : `${database}: the table "${table}"`;
  const state = stateOf(cause);
  const reason = told(cause);
  if (state === "42501") return fault("database-forbidden", { database, reason }, cause);
  if (state === "55P03") return fault("output-locked", { output }, cause);
  if (state === "42P07") return fault("output-exists", { output }, cause);
  if (elsewhere.test(state) && state !== "53100") return fault("database-unavailable", { database, reason }, cause);
  return fault("output-failed", { output, reason }, cause);
}
