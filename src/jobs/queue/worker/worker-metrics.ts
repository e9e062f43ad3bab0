/** What a worker does, in the words of Prometheus. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { WorkerEvent } from "./queue-worker.js";

/** Upper bounds of the buckets of a job's time, in seconds. */
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
    name: "geoferry_worker_jobs_taken_over_total",
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

  record(news: WorkerEvent): void {
    switch (news.type) {
      case "took":
        this.active.inc();
        break;
      case "done":
      case "returned":
      case "spread":
      case "failed":
      case "refused":
        this.active.dec();
        this.jobs.observe({ outcome: news.type }, news.seconds);
        break;
      case "stalled":
        this.stalledJobs.inc();
        break;
      case "away":
      case "back":
        this.redisUp.set(news.type === "back" ? 1 : 0);
    }
  }
}
