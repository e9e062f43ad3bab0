import type { Database, TransactionFunction } from "./database.js";

/** Implements `Database.transaction` for drivers without one, as better-sqlite3 does: savepoints inside a transaction. */
export function createTransaction<Arguments extends unknown[], Result>(
  database: Database,
  work: (...args: Arguments) => Result,
): TransactionFunction<Arguments, Result> {
  const run = (begin: string, args: Arguments): Result => {
    const isNested = database.inTransaction;
    const [first, last, undo] = isNested
      ? ["SAVEPOINT geoferry", "RELEASE geoferry", "ROLLBACK TO geoferry; RELEASE geoferry"]
      : [begin, "COMMIT", "ROLLBACK"];
    database.exec(first!);
    try {
      const result = work(...args);
      database.exec(last!);
      return result;
    } catch (error) {
      // Some errors, such as a full disk, roll back by themselves.
      if (database.inTransaction) database.exec(undo!);
      throw error;
    }
  };
  return Object.assign((...args: Arguments) => run("BEGIN", args), {
    immediate: (...args: Arguments) => run("BEGIN IMMEDIATE", args),
  });
}
