/**
 * What Prometheus asks for: requests, questions to the store, and the process with the lag of its event loop. Labels are
 * of few values: routes, not addresses, and no id of a map or a person.
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
    help: "Time from a request's headers to the end of its answer",
    labelNames: ["method", "route", "status"],
    buckets: durationBuckets,
    registers: [this.registry],
  });
  private readonly inFlight = new Gauge({
    name: "geoferry_http_requests_in_flight",
    help: "Requests that are being answered",
    registers: [this.registry],
  });
  private readonly calls = new Histogram({
    name: "geoferry_store_call_duration_seconds",
    help: "Time that the store takes to answer",
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
    help: "Bytes that requests hold: of memory (memoryBytes), and of large pages on the disk (spoolBytes)",
    labelNames: ["budget"],
    registers: [this.registry],
  });
  private readonly refusals = new Counter({
    name: "geoferry_budget_refusals_total",
    help: "Requests that were answered 503 because there was no room in memory or on the disk for large pages",
    labelNames: ["budget"],
    registers: [this.registry],
  });

  private readonly keyIndexBuilds = new Gauge({
    name: "geoferry_key_readings_in_progress",
    help: "Maps of which the keys of a remoteField are being read, at its first use",
    registers: [this.registry],
  });
  private readonly keysRead = new Counter({
    name: "geoferry_key_features_read_total",
    help: "Features whose keys were read at the first use of a remoteField",
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

  /** Shows what requests hold of memory and of the spool folder, and how many found no room. */
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

  /** Counts the requests of an app; to be called before its routes are made. */
  watch(app: FastifyInstance): void {
    app.addHook("onRequest", async (_request, { raw }) => {
      this.inFlight.inc();
      // Also where the client goes away before the end.
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

  /** The same store, whose answers are timed. */
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

  /** In Prometheus' text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
