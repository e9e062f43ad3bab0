/** What Prometheus hears of a run while it goes on. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { JobFixture, pointsCsv } from "../../support/jobs/job-fixture.js";
import { waitUntil } from "../../support/jobs/worker-fleet.js";

const fixture = new JobFixture();
const { put } = fixture;

test("a run serves metrics of its finished steps", async () => {
  let answer: (() => unknown) | undefined;
  const host = await fixture.serve((request, response) => {
    if (request.method === "GET" && request.url === "/late.csv") answer = () => response.end(pointsCsv("c"));
    else response.writeHead(404).end();
  });
  put("a.csv", pointsCsv("a", "b"));
  put(
    "job.yaml",
    `name: watched\nsteps:\n  - {name: first, source: a.csv, target: a.geojson}
  - {name: second, source: "http://${host}/late.csv", target: late.geojson}\n`,
  );
  let said = "";
  const ran = fixture.run("job.yaml", ["--metrics-port", "0"], {
    watch: (child) =>
      child.stderr!.on("data", (text) => {
        said += text;
      }),
  });
  await waitUntil(() => answer !== undefined);
  const url = /metrics at (http:\S+)/.exec(said)![1]!;
  const meanwhile = await (await fetch(url)).text();
  expect(meanwhile).toContain('geoferry_job_running{job="watched"} 1');
  expect(meanwhile).toContain('geoferry_step_result{job="watched",step="first",result="done"} 1');
  expect(meanwhile).toContain('geoferry_step_features{job="watched",step="first",outcome="written"} 2');
  expect(meanwhile).not.toContain('step="second"');
  expect(meanwhile).toContain("process_resident_memory_bytes");
  expect((await fetch(url.replace("/metrics", "/other"))).status).toBe(404);
  answer!();
  expect((await ran).status).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
});

test("an occupied port stops the run before its first step", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  put("a.csv", pointsCsv("a"));
  put("job.yaml", "name: watched\nsteps:\n  - {name: first, source: a.csv, target: a.geojson}\n");
  const { status, report, stderr } = await fixture.run("job.yaml", ["--metrics-port", String(port)], {});
  other.close();
  expect([status, report?.error?.code, report?.steps]).toEqual([11, "address-in-use", []]);
  expect(stderr).toContain(String(port));
});
