import pg from "pg";
import { type Problem, problem } from "../../problems.js";

/**
 * What PostgreSQL refuses for reasons outside of the program, by SQLSTATE (PostgreSQL, appendix A) or its class: the
 * connection, who may connect, a database that is not there, resources, an operator, the system.
 */
const outside = /^(08|28|3D|53|57|58)|^(25006|25P03|25P04|40001|40P01|42501|55P03|F0000|XX001|XX002)$/;

/** PostgreSQL, appendix A. */
const diskFull = "53100";

/** Transactions that met: each can be carried out, one after the other. */
const met = /^(40001|40P01)$/;

export const stateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? "") : "");

export const canBeRepeated = (error: unknown): boolean => met.test(stateOf(error));

/** What the driver threw, as the service tells it. All that is no word of the server is of the connection. */
export function toldBy(error: unknown): unknown {
  if (stateOf(error) === diskFull) return problem("disk-full", {}, { cause: error });
  if (error instanceof pg.DatabaseError && !outside.test(stateOf(error))) return error;
  return unavailable(error);
}

export const unavailable = (cause: unknown): Problem => problem("store-unavailable", {}, { cause });
