import type { FastifyBaseLogger } from "fastify";
import type { Store } from "../store/contract.js";

/** Milliseconds between two looks for what has expired. */
const purgeIntervalMs = 600_000;
const dayMs = 24 * 3600 * 1000;

/**
 * Removes what has expired, now and from time to time; `stop` waits for what is under way.
 * @param auditDays days that entries of the audit log are kept; 0 for ever
 */
export function schedulePurge(
  store: Pick<Store, "purge" | "purgeAudit">,
  auditDays: number,
  log: FastifyBaseLogger,
): { stop(): Promise<void> } {
  let stopping = false;
  let underWay = Promise.resolve();
  const purge = async () => {
    const now = Date.now();
    await store.purge(now);
    // In small steps, between which others write.
    while (auditDays > 0 && !stopping && (await store.purgeAudit(Math.max(0, now - auditDays * dayMs))));
  };
  const begin = () => {
    underWay = underWay
      .then(purge)
      // What is left is not given out any more, and goes the next time.
      .catch((error: unknown) => log.error({ err: error }, "what has expired could not be removed"));
  };
  begin();
  const timer = setInterval(begin, purgeIntervalMs);
  timer.unref();
  return {
    async stop() {
      stopping = true;
      clearInterval(timer);
      await underWay;
    },
  };
}
