import { idempotencyLifetimeMs } from "../contract.js";
import type { Connection } from "./connection.js";
import type { SyncStoreMethods } from "./store-methods.js";

/** Audit log entries deleted per transaction, which delays writes by milliseconds. */
const auditPurgeBatch = 2000;

export function maintenanceMethods(db: Connection): SyncStoreMethods<"purge" | "purgeAudit"> {
  return {
    purge: (now) => {
      db.run("DELETE FROM tokens WHERE expires <= ?", now);
      db.run("DELETE FROM sessions WHERE expires <= ?", now);
      db.run("DELETE FROM setup_token WHERE expires <= ?", now);
      db.run("DELETE FROM attempts WHERE until <= ?", now);
      db.run("DELETE FROM outcomes WHERE at <= ?", now - idempotencyLifetimeMs);
    },
    purgeAudit: (before) =>
      db.run(
        `DELETE FROM audit WHERE number IN (
          SELECT number FROM (SELECT number, at FROM audit ORDER BY number LIMIT ?) WHERE at < ?
        )`,
        auditPurgeBatch,
        before,
      ) === auditPurgeBatch,
  };
}
