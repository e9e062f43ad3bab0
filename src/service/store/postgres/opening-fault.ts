import { createError, type GeoferryError } from "../../../errors.js";
import { sqlStateOf } from "./failures.js";

/** Where a database is, for people. */
interface DatabaseLocation {
  /** Without user and password. */
  readonly store: string;
  readonly database: string;
}

/** Names of what Node.js finds wrong with a server's certificate (`X509_V_ERR_*` of OpenSSL, and its own). */
const certificateErrorCode = /CERT|^UNABLE_TO_/;

/** Why a database could not be opened, and what to do about it: all that is not for the address to mend may pass. */
export function toOpenError({ store, database }: DatabaseLocation, cause: unknown): GeoferryError {
  const reason = describeCause(cause);
  const state = sqlStateOf(cause);
  if (state === "3D000") return createError("store-database-missing", { store, database }, cause);
  // Invalid authorization, insufficient privilege (PostgreSQL, appendix A).
  if (state.startsWith("28") || state === "42501") return createError("store-forbidden", { store, reason }, cause);
  const { code = "", message = "" } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  // The driver lacks a password that the server asks for.
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
