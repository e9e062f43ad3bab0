import pg from "pg";
import { createError, GeoferryError } from "../../../src/plugin/index.js";

/** SQLSTATE of a server error (PostgreSQL, appendix A); empty for other errors. */
export const sqlStateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? "") : "");

/** Error codes of Node.js for invalid certificates (`X509_V_ERR_*` of OpenSSL, and its own). */
const certificateError = /CERT|^UNABLE_TO_/;

const describeCause = (cause: unknown): string =>
  cause instanceof AggregateError
    ? cause.errors.map(describeCause).join(", ")
    : cause instanceof Error
      ? cause.message || ((cause as NodeJS.ErrnoException).code ?? cause.name)
      : String(cause);

export const lacksTls = (error: unknown): boolean =>
  error instanceof Error && error.message === "The server does not support SSL connections";

/** Converts a connection failure. */
export function connectionError(database: string, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  const reason = describeCause(cause);
  const state = sqlStateOf(cause);
  if (state === "3D000") return createError("database-missing", { database, reason }, cause);
  if (state.startsWith("28") || state === "42501")
    return createError("database-forbidden", { database, reason }, cause);
  const { code = "", message = "" } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  // The driver has no password.
  if (state === "" && message.startsWith("SASL:"))
    return createError(
      "database-forbidden",
      { database, reason: "the server requires a password; set PGPASSWORD or use a password file" },
      cause,
    );
  if (certificateError.test(code) || lacksTls(cause) || /SSL|TLS/.test(code))
    return createError("database-tls", { database, reason }, cause);
  return createError("database-unavailable", { database, reason }, cause);
}

/** Detail and hint of the server's message. */
function serverDetail(error: pg.DatabaseError): string {
  const more = [error.detail, error.hint].filter((text) => text);
  return [error.message, ...more].join("; ");
}

/** Failures not caused by the statement: connection (except 08P01), resources, operator intervention, system. */
const externalStates = /^(08(?!P01)|53|57|58)/;

/** Whether the connection broke, so that the server may have carried out the statement. */
export const isUnanswered = (cause: unknown): boolean =>
  !(cause instanceof GeoferryError) && (!(cause instanceof pg.DatabaseError) || /^(08|57P)/.test(sqlStateOf(cause)));

/** Converts a failure of a reading statement. */
export function readError(database: string, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  if (!(cause instanceof pg.DatabaseError)) return connectionError(database, cause);
  const state = sqlStateOf(cause);
  const reason = serverDetail(cause);
  if (state === "42501") return createError("database-forbidden", { database, reason }, cause);
  if (externalStates.test(state)) return createError("database-unavailable", { database, reason }, cause);
  return createError("database-refused", { database, reason }, cause);
}

/** Converts a failure of a writing statement. `table` is for the message. */
export function writeError(database: string, table: string | null, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  if (!(cause instanceof pg.DatabaseError)) return connectionError(database, cause);
  const output = table === null ? database : `${database}: the table "${table}"`;
  const state = sqlStateOf(cause);
  const reason = serverDetail(cause);
  if (state === "42501") return createError("database-forbidden", { database, reason }, cause);
  if (state === "55P03") return createError("output-locked", { output }, cause);
  if (state === "42P07") return createError("output-exists", { output }, cause);
  if (externalStates.test(state) && state !== "53100")
    return createError("database-unavailable", { database, reason }, cause);
  return createError("output-failed", { output, reason }, cause);
}
