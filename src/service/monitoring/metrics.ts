/**
 * Prometheus metrics of requests, store calls, and the process, including event loop lag. Labels have few values:
 * routes instead of paths, and no ids of maps or accounts.
 */
import type { FastifyInstance } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Budgets, ByteBudget } from "../limits/byte-budget.js";
import type { Store } from "../store/contract.js";
import type { KeyIndexEvent } from "../store/key-index-builder.js";
import { type StoreCall, wrapStoreCalls } from "../store/store-wrapper.js";

/** Upper bounds of a histogram's buckets, in seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: "geoferry_http_request_duration_seconds",
    help: "Time from the headers of a request to the end of its response",
    labelNames: ["method", "route", "status"],
    buckets: durationBuckets,
    registers: [this.registry],
  });
  private readonly inFlight = new Gauge({
    name: "geoferry_http_requests_in_flight",
    help: "Requests in progress",
    registers: [this.registry],
  });
  private readonly calls = new Histogram({
    name: "geoferry_store_call_duration_seconds",
    help: "Duration of store calls",
    labelNames: ["call", "outcome"],
    buckets: durationBuckets,
    registers: [this.registry],
  });
  private readonly closedConnections = new Counter({
    name: "geoferry_connections_closed_total",
    help: "Connections closed because more arrived than the limits allow",
    registers: [this.registry],
  });
  private readonly heldBytes: Gauge & { collect?: () => void } = new Gauge({
    name: "geoferry_budget_bytes",
    help: "Bytes held by requests: in memory (memoryBytes), and in spooled pages on disk (spoolBytes)",
    labelNames: ["budget"],
    registers: [this.registry],
  });
  private readonly refusals = new Counter({
    name: "geoferry_budget_refusals_total",
    help: "Requests rejected with 503 because the memory or spool budget was exhausted",
    labelNames: ["budget"],
    registers: [this.registry],
  });

  private readonly keyIndexBuilds = new Gauge({
    name: "geoferry_key_readings_in_progress",
    help: "Maps whose keys of a new remoteField are being indexed",
    registers: [this.registry],
  });
  private readonly keysRead = new Counter({
    name: "geoferry_key_features_read_total",
    help: "Features indexed for a new remoteField",
    registers: [this.registry],
  });
  private readonly mapsRead = new Set<string>();

  constructor(version: string) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: "geoferry_build_info",
      help: "1, with the version of geoferry",
      labelNames: ["version"],
      registers: [this.registry],
    }).set({ version }, 1);
  }

  countKeys({ map, features, isFinished }: KeyIndexEvent): void {
    this.keysRead.inc(features);
    if (isFinished) this.mapsRead.delete(map);
    else this.mapsRead.add(map);
    this.keyIndexBuilds.set(this.mapsRead.size);
  }

  /** Exports the bytes in use and the rejected requests of each budget. */
  watchBudgets(budgets: Budgets): void {
    for (const [budget, of] of Object.entries(budgets) as [keyof Budgets, ByteBudget][]) {
      of.onRefused = () => this.refusals.inc({ budget });
      this.refusals.inc({ budget }, 0);
    }
    const { heldBytes } = this;
    heldBytes.collect = () => {
      for (const [budget, { used }] of Object.entries(budgets)) heldBytes.set({ budget }, used);
    };
  }

  countClosedConnection(): void {
    this.closedConnections.inc();
  }

  /** Counts the requests of an app; call it before routes are added. */
  watch(app: FastifyInstance): void {
    app.addHook("onRequest", async (_request, { raw }) => {
      this.inFlight.inc();
      // Also runs if the client disconnects early.
      raw.once("close", () => this.inFlight.dec());
    });
    app.addHook("onResponse", async (request, reply) => {
      const labels = {
        method: request.method,
        route: request.routeOptions.url ?? "none",
        status: String(reply.statusCode),
      };
      this.requests.observe(labels, reply.elapsedTime / 1000);
    });
  }

  /** Wraps a store so that its calls are timed. */
  timed(store: Store): Store {
    return wrapStoreCalls(store, (name, call) => this.timedCall(name, call));
  }

  private timedCall(name: string, call: StoreCall): StoreCall {
    return async (...values) => {
      const stop = this.calls.startTimer({ call: name });
      try {
        const answer = await call(...values);
        stop({ outcome: "answered" });
        return answer;
      } catch (error) {
        stop({ outcome: "failed" });
        throw error;
      }
    };
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** In the Prometheus text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
