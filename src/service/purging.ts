import type { FastifyBaseLogger } from "fastify";
import type { Store } from "./store/contract.js";

/** Milliseconds between two looks for what has expired. */
const interval = 600_000;

/** Removes what has expired, now and from time to time; `stop` waits for what is under way. */
export function purgeRegularly(store: Pick<Store, "purge">, log: FastifyBaseLogger): { stop(): Promise<void> } {
  let underWay = Promise.resolve();
  const purge = () => {
    underWay = underWay
      .then(() => store.purge(Date.now()))
      // What is left is not given out any more, and goes the next time.
      .catch((error: unknown) => log.error({ err: error }, "what has expired could not be removed"));
  };
  purge();
  const timer = setInterval(purge, interval);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}
