import { createError, type GeoferryError } from "../../../errors.js";
import { sqlStateOf } from "./failures.js";

/** Location of a database, for messages. */
interface DatabaseLocation {
  /** Without user and password. */
  readonly store: string;
  readonly database: string;
}

/** Error codes of invalid server certificates (`X509_V_ERR_*` of OpenSSL, and those of Node.js). */
const certificateErrorCode = /CERT|^UNABLE_TO_/;

/** Converts an open error to one with a remedy. Errors that the URL cannot cause are reported as temporary. */
export function toOpenError({ store, database }: DatabaseLocation, cause: unknown): GeoferryError {
  const reason = describeCause(cause);
  const state = sqlStateOf(cause);
  if (state === "3D000") return createError("store-database-missing", { store, database }, cause);
  // Invalid authorization and insufficient privilege (PostgreSQL, appendix A).
  if (state.startsWith("28") || state === "42501") return createError("store-forbidden", { store, reason }, cause);
  const { code = "", message = "" } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  // The server requires a password, and the URL has none.
  if (state === "" && message.startsWith("SASL:"))
    return createError("store-forbidden", { store, reason: "the server asks for a password" }, cause);
  if (certificateErrorCode.test(code) || message === "The server does not support SSL connections")
    return createError("store-tls", { store, reason }, cause);
  return createError("store-unavailable", { store, reason }, cause);
}

const describeCause = (cause: unknown): string =>
  cause instanceof AggregateError
    ? cause.errors.map(describeCause).join(", ")
    : cause instanceof Error
      ? cause.message
      : String(cause);
