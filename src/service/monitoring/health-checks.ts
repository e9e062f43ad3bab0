/** Endpoints for monitoring: liveness, readiness and metrics. */
import type { FastifyInstance } from "fastify";
import { Problem, problem } from "../http/problems.js";
import type { Store } from "../store/contract.js";
import type { Metrics } from "./metrics.js";

export interface HealthCheckOptions {
  readonly store: Pick<Store, "ping">;
  readonly metrics: Metrics;
  /** Whether the service is shutting down. */
  readonly isEnding: () => boolean;
}

/** How long the store may take to answer a probe, in milliseconds. */
const storeTimeoutMs = 3000;

export function registerHealthChecks(app: FastifyInstance, { store, metrics, isEnding }: HealthCheckOptions): void {
  // Probes every few seconds would flood the log.
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
