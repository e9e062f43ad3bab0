import pg from "pg";
import { createError, GeoferryError } from "../../../src/plugin/index.js";

/** The state that the server told (PostgreSQL, appendix A); empty where it told none. */
export const sqlStateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? "") : "");

/** Names of what Node.js finds wrong with a server's certificate (`X509_V_ERR_*` of OpenSSL, and its own). */
const certificateError = /CERT|^UNABLE_TO_/;

const describeCause = (cause: unknown): string =>
  cause instanceof AggregateError
    ? cause.errors.map(describeCause).join(", ")
    : cause instanceof Error
      ? cause.message || ((cause as NodeJS.ErrnoException).code ?? cause.name)
      : String(cause);

export const lacksTls = (error: unknown): boolean =>
  error instanceof Error && error.message === "The server does not support SSL connections";

/** Why there is no connection. */
export function connectionError(database: string, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  const reason = describeCause(cause);
  const state = sqlStateOf(cause);
  if (state === "3D000") return createError("database-missing", { database, reason }, cause);
  if (state.startsWith("28") || state === "42501")
    return createError("database-forbidden", { database, reason }, cause);
  const { code = "", message = "" } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  // The driver lacks a password that the server asks for.
  if (state === "" && message.startsWith("SASL:"))
    return createError("database-forbidden", { database, reason: "the server asks for a password" }, cause);
  if (certificateError.test(code) || lacksTls(cause) || /SSL|TLS/.test(code))
    return createError("database-tls", { database, reason }, cause);
  return createError("database-unavailable", { database, reason }, cause);
}

/** What the server says beyond its message. */
function serverDetail(error: pg.DatabaseError): string {
  const more = [error.detail, error.hint].filter((text) => text);
  return [error.message, ...more].join("; ");
}

/** Connections, resources, an operator's intervention, the system: not for the statement to mend, but for 08P01. */
const externalStates = /^(08(?!P01)|53|57|58)/;

/** Why a statement that reads failed. */
export function readError(database: string, cause: unknown): GeoferryError {
  if (cause instanceof GeoferryError) return cause;
  if (!(cause instanceof pg.DatabaseError)) return connectionError(database, cause);
  const state = sqlStateOf(cause);
  const reason = serverDetail(cause);
  if (state === "42501") return createError("database-forbidden", { database, reason }, cause);
  if (externalStates.test(state)) return createError("database-unavailable", { database, reason }, cause);
  return createError("database-refused", { database, reason }, cause);
}

/** Why a statement that writes failed. `table` is for people. */
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
