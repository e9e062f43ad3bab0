/** What workers do, in the trace of the run that handed it out, and in the words of Prometheus. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JobFixture, pointsCsv } from "../support/jobs/job-fixture.js";
import { WorkerFleet } from "../support/jobs/worker-fleet.js";
import { hasRedis } from "../support/servers/redis.js";
import { Collector } from "./collector.js";

const desk = new JobFixture();
const { at, put } = desk;
let collector: Collector;
beforeEach(async () => {
  collector = await Collector.start();
});
afterEach(() => collector[Symbol.asyncDispose]());

describe.runIf(hasRedis)("with workers", { timeout: 120_000 }, () => {
  const environment = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, XDG_STATE_HOME: at("state") });
  const fleet = new WorkerFleet(environment);

  test("the span of a worker's job is a child of its step, and the worker counts the job", async () => {
    put("a.csv", pointsCsv("a", "b"));
    put("job.yaml", "name: far\nsteps:\n  - {name: copy, source: a.csv, target: a.geojson}\n");
    const worker = await fleet.worker("w1", ["--metrics-port", "0"]);
    const { status } = await desk.run("job.yaml", fleet.flags, { env: environment() });
    expect(status).toBe(0);
    const [work] = collector.named("work");
    expect(collector.pathTo(work!)).toEqual(["geoferry run", "step", "work"]);
    expect(work!.attributes).toMatchObject({ "geoferry.worker": "w1", "geoferry.work": "conversion" });
    expect(collector.pathTo(collector.named("convert")[0]!)).toEqual(["geoferry run", "step", "work", "convert"]);

    const [{ url }] = worker.of("metrics") as unknown as [{ url: string }];
    const metrics = await (await fetch(url)).text();
    expect(metrics).toContain('geoferry_worker_job_duration_seconds_count{outcome="done"} 1');
    expect(metrics).toContain("geoferry_worker_jobs_active 0");
    expect(metrics).toContain("geoferry_worker_queue_up 1");
  });
});
