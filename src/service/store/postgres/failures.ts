import pg from "pg";
import { type Problem, problem } from "../../http/problems.js";

/**
 * SQLSTATEs and classes of errors with external causes (PostgreSQL, appendix A): connection, authorization, missing
 * database, resources, operator intervention, system.
 */
const externalStates = /^(08|28|3D|53|57|58)|^(25P03|25P04|40001|40P01|42501|55P03|F0000|XX001|XX002)$/;

/** PostgreSQL, appendix A. */
const diskFullState = "53100";

/** A standby, or a database that was set to read-only (the same appendix). */
const readOnlyState = "25006";

/** Serialization failure and deadlock: the transaction can be repeated. */
const serializationFailures = /^(40001|40P01)$/;

export const sqlStateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? "") : "");

export const isRetryable = (error: unknown): boolean => serializationFailures.test(sqlStateOf(error));

/** Converts an error of the driver to a problem. Errors that do not come from the server are connection errors. */
export function toStoreProblem(error: unknown): unknown {
  if (sqlStateOf(error) === diskFullState) return problem("disk-full", {}, { cause: error });
  if (sqlStateOf(error) === readOnlyState) return problem("store-read-only", {}, { cause: error });
  if (error instanceof pg.DatabaseError && !externalStates.test(sqlStateOf(error))) return error;
  return storeUnavailable(error);
}

export const storeUnavailable = (cause: unknown): Problem => problem("store-unavailable", {}, { cause });
