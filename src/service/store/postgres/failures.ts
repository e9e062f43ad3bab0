import pg from "pg";
import { type Problem, problem } from "../../http/problems.js";

/**
 * What PostgreSQL refuses for reasons outside of the program, by SQLSTATE (PostgreSQL, appendix A) or its class: the
 * connection, who may connect, a database that is not there, resources, an operator, the system.
 */
const externalStates = /^(08|28|3D|53|57|58)|^(25006|25P03|25P04|40001|40P01|42501|55P03|F0000|XX001|XX002)$/;

/** PostgreSQL, appendix A. */
const diskFullState = "53100";

/** Transactions that met: each can be carried out, one after the other. */
const serializationFailures = /^(40001|40P01)$/;

export const sqlStateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? "") : "");

export const isRetryable = (error: unknown): boolean => serializationFailures.test(sqlStateOf(error));

/** What the driver threw, as the service tells it. All that is no word of the server is of the connection. */
export function toStoreProblem(error: unknown): unknown {
  if (sqlStateOf(error) === diskFullState) return problem("disk-full", {}, { cause: error });
  if (error instanceof pg.DatabaseError && !externalStates.test(sqlStateOf(error))) return error;
  return storeUnavailable(error);
}

export const storeUnavailable = (cause: unknown): Problem => problem("store-unavailable", {}, { cause });
