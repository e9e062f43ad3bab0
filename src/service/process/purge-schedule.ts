import type { FastifyBaseLogger } from "fastify";
import type { Store } from "../store/contract.js";

/** Milliseconds between purges of expired data. */
const purgeIntervalMs = 600_000;
const dayMs = 24 * 3600 * 1000;

/**
 * Removes expired data now and at regular intervals; `stop` waits for a purge in progress.
 * @param auditDays days to keep entries of the audit log; 0 keeps them forever
 */
export function schedulePurge(
  store: Pick<Store, "purge" | "purgeAudit">,
  auditDays: number,
  log: FastifyBaseLogger,
): { stop(): Promise<void> } {
  let stopping = false;
  let running = Promise.resolve();
  const purge = async () => {
    const now = Date.now();
    await store.purge(now);
    // In small batches, so that other writes can run in between.
    while (auditDays > 0 && !stopping && (await store.purgeAudit(Math.max(0, now - auditDays * dayMs))));
  };
  const begin = () => {
    running = running
      .then(purge)
      // Data that remains is no longer returned, and is removed by the next purge.
      .catch((error: unknown) => log.error({ err: error }, "failed to remove expired data; retrying later"));
  };
  begin();
  const timer = setInterval(begin, purgeIntervalMs);
  timer.unref();
  return {
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
