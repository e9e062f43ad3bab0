/** Prometheus metrics of a worker. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { WorkerEvent } from "./queue-worker.js";

/** Upper bounds of the histogram buckets, in seconds. */
const seconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

export class WorkerMetrics {
  readonly registry = new Registry();
  private readonly jobs = new Histogram({
    name: "geoferry_worker_job_duration_seconds",
    help: "Duration of queue jobs, by outcome",
    labelNames: ["outcome"],
    buckets: seconds,
    registers: [this.registry],
  });
  private readonly active = new Gauge({
    name: "geoferry_worker_jobs_active",
    help: "Queue jobs in progress",
    registers: [this.registry],
  });
  private readonly stalledJobs = new Counter({
    name: "geoferry_worker_jobs_stalled_total",
    help: "Queue jobs whose worker stopped responding",
    registers: [this.registry],
  });
  private readonly redisUp = new Gauge({
    name: "geoferry_worker_queue_up",
    help: "1 while Redis answers",
    registers: [this.registry],
  });

  constructor() {
    this.redisUp.set(1);
  }

  record(event: WorkerEvent): void {
    switch (event.type) {
      case "started":
        this.active.inc();
        break;
      case "done":
      case "requeued":
      case "split":
      case "failed":
      case "refused":
        this.active.dec();
        this.jobs.observe({ outcome: event.type }, event.seconds);
        break;
      case "stalled":
        this.stalledJobs.inc();
        break;
      case "disconnected":
      case "reconnected":
        this.redisUp.set(event.type === "reconnected" ? 1 : 0);
    }
  }
}
