/** What those who look after the service ask: does the process live, can it answer, how is it. */
import type { FastifyInstance } from "fastify";
import { Problem, problem } from "../http/problems.js";
import type { Store } from "../store/contract.js";
import type { Metrics } from "./metrics.js";

export interface HealthCheckOptions {
  readonly store: Pick<Store, "ping">;
  readonly metrics: Metrics;
  /** Whether the service is about to end. */
  readonly isEnding: () => boolean;
}

/** Milliseconds that the store has to answer a probe. */
const storeTimeoutMs = 3000;

export function registerHealthChecks(app: FastifyInstance, { store, metrics, isEnding }: HealthCheckOptions): void {
  // A line every few seconds for each of them would bury the others.
  const route = { logLevel: "warn" } as const;

  app.get("/healthz", route, async (_request, reply) => {
    reply.header("cache-control", "no-store");
    return { status: "alive" };
  });
  app.get("/readyz", route, async (_request, reply) => {
    reply.header("cache-control", "no-store");
    if (isEnding()) throw problem("ending", {});
    await checkStore(store);
    return { status: "ready" };
  });
  app.get("/metrics", route, async (_request, reply) => {
    reply.header("cache-control", "no-store").type(metrics.contentType);
    return metrics.text();
  });
}

async function checkStore(store: Pick<Store, "ping">): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${storeTimeoutMs} ms`)), storeTimeoutMs);
  });
  try {
    await Promise.race([store.ping(), late]);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw problem("store-unavailable", {}, { cause });
  } finally {
    clearTimeout(timer);
  }
}
