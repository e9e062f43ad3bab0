import { fault, type GeoferryError } from "../../../errors.js";
import { stateOf } from "./failures.js";

/** Where a database is, for people. */
interface Place {
  /** Without user and password. */
  readonly store: string;
  readonly database: string;
}

/** Names of what Node.js finds wrong with a server's certificate (`X509_V_ERR_*` of OpenSSL, and its own). */
const certificate = /CERT|^UNABLE_TO_/;

/** Why a database could not be opened, and what to do about it: all that is not for the address to mend may pass. */
export function openingFault({ store, database }: Place, cause: unknown): GeoferryError {
  const reason = reasonOf(cause);
  const state = stateOf(cause);
  if (state === "3D000") return fault("store-absent", { store, database }, cause);
  // Invalid authorization, insufficient privilege (PostgreSQL, appendix A).
  if (state.startsWith("28") || state === "42501") return fault("store-forbidden", { store, reason }, cause);
  const { code = "", message = "" } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  // The driver lacks a password that the server asks for.
  if (state === "" && message.startsWith("SASL:"))
    return fault("store-forbidden", { store, reason: "the server asks for a password" }, cause);
  if (certificate.test(code) || message === "The server does not support SSL connections")
    return fault("store-tls", { store, reason }, cause);
  return fault("store-unavailable", { store, reason }, cause);
}

const reasonOf = (cause: unknown): string =>
  cause instanceof AggregateError
    ? cause.errors.map(reasonOf).join(", ")
    : cause instanceof Error
      ? cause.message
      : String(cause);
