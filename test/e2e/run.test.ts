/** Job files, run with real files and the real service. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { RunReport, StepReport } from "../../src/jobs/report/run-report.js";
import { pointsCsv } from "../support/jobs/job-fixture.js";
import { ServedJobFixture } from "../support/jobs/served-job-fixture.js";
import { createPlace } from "../support/sync/sync-fixture.js";

const desk = await ServedJobFixture.open();
const { at, put, world, runServed: run } = desk;
const serve = async (answer: Parameters<typeof desk.serve>[0]) => `http://${await desk.serve(answer)}`;
const silence = async () => `http://${await desk.silence()}`;

const results = ({ steps }: RunReport) => Object.fromEntries(steps.map(({ name, result }) => [name, result]));
const errors = ({ steps }: RunReport) =>
  Object.fromEntries(steps.flatMap(({ name, error }) => (error ? [[name, error.code]] : [])));
const stepOf = ({ steps }: RunReport, name: string): StepReport => steps.find((step) => step.name === name)!;

test("a URL with a password stops the run before it is printed or stored", async () => {
  put("points.csv", pointsCsv("a"));
  put("job.yaml", "name: leaky\nsteps:\n  - {name: a, source: points.csv, target: 'pg://me:geheim@127.0.0.1:9/d'}\n");
  const { status, stderr, report } = await run("job.yaml");
  expect([status, report.status, report.steps]).toEqual([2, 2, []]);
  expect(JSON.stringify(report)).not.toContain("geheim");
  expect(stderr).toContain("PGPASSWORD");
  expect(stderr).not.toContain("geheim");
  expect(existsSync(at("state"))).toBe(false);
});

test("of twenty sources with one corrupt, one unreachable, one unchanged and one that would empty half a map, the others are processed", async () => {
  const map = await world.newMap();
  await world.fill(
    map,
    Array.from({ length: 20 }, (_, n) => createPlace(n + 1)),
  );
  const before = await world.features(map);
  put(
    "half.geojson",
    JSON.stringify({
      type: "FeatureCollection",
      features: before.slice(0, 10).map(({ geometry, properties }) => ({ type: "Feature", geometry, properties })),
    }),
  );
  put("corrupt.geojson", '{"type":"FeatureCollection","features":[{"type":"Feature",');
  put("calm.csv", pointsCsv("a", "b"));
  const steps = [
    "  - {name: corrupt, source: corrupt.geojson, target: corrupt.gpkg}",
    `  - {name: silent, source: ${await silence()}/a.geojson, target: silent.gpkg, retries: 1, retryDelay: 10ms}`,
    "  - {name: calm, source: calm.csv, target: calm.gpkg}",
    `  - {name: half, source: half.geojson, target: {map: ${map}, mode: full, remoteField: ref}}`,
  ];
  for (let n = 0; n < 16; n++) {
    put(`s${n}.csv`, pointsCsv(`p${n}`, `q${n}`));
    steps.splice(n % 4, 0, `  - {name: s${n}, source: s${n}.csv, target: s${n}.geojson}`);
  }
  put("job.yaml", `name: twenty\nsteps:\n${steps.join("\n")}\n`);
  await run("job.yaml", ["--only", "calm"]);

  const { status, report, stderr } = await run("job.yaml");
  expect(report.steps).toHaveLength(20);
  for (let n = 0; n < 16; n++) {
    expect(stepOf(report, `s${n}`)).toMatchObject({ result: "done", counts: { read: 2, written: 2 } });
    expect(JSON.parse(readFileSync(at(`s${n}.geojson`), "utf8")).features).toHaveLength(2);
  }
  expect(results(report)).toMatchObject({ corrupt: "failed", silent: "failed", calm: "unchanged", half: "failed" });
  expect(errors(report)).toEqual({ corrupt: "input-truncated", silent: "input-unavailable", half: "guard-sync" });
  expect(stepOf(report, "silent").attempts).toBe(2);
  // 8 (unreachable) is worse than 3 (corrupt) and 7 (a guard).
  expect({ status, reported: report.status }).toEqual({ status: 8, reported: 8 });
  expect(await world.features(map)).toEqual(before);
  expect(["corrupt.gpkg", "silent.gpkg"].filter((name) => existsSync(at(name)))).toEqual([]);
  expect(stderr).toContain("twenty: 16 done, 1 unchanged, 3 failed");
  // The reasons of a guard are a list; here they are in the line of the map.
  expect(stderr).toMatch(/^ {2}half\.geojson → map:.*nothing was sent: \S/m);
  expect(stderr).not.toContain("\\u000a");
});

describe("a file is converted", () => {
  const job = "name: n\nsteps:\n  - {name: a, source: in, target: out/, to: geojson}\n";
  const one = async () => stepOf((await run("job.yaml")).report, "a");
  const became = async () => Object.fromEntries((await one()).items.map(({ source, result }) => [source, result]));

  beforeEach(async () => {
    mkdirSync(at("in"));
    put("in/a.csv", pointsCsv("a"));
    put("in/b.csv", pointsCsv("b"));
    put("job.yaml", job);
    expect(await became()).toEqual({ "in/a.csv": "done", "in/b.csv": "done" });
    expect(await became()).toEqual({ "in/a.csv": "unchanged", "in/b.csv": "unchanged" });
  });

  test("a file is converted if its content has changed, not if only its time has", async () => {
    const later = new Date(Date.now() + 60_000);
    utimesSync(at("in/a.csv"), later, later);
    put("in/b.csv", pointsCsv("b", "c"));
    expect(await became()).toEqual({ "in/a.csv": "unchanged", "in/b.csv": "done" });
    expect(JSON.parse(readFileSync(at("out/b.geojson"), "utf8")).features).toHaveLength(2);
  });

  test("a file is converted if a companion file was added", async () => {
    put(
      "in/a.prj",
      'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]',
    );
    expect(await became()).toEqual({ "in/a.csv": "done", "in/b.csv": "unchanged" });
  });

  test("a file is converted if its output is missing, or the step has changed", async () => {
    rmSync(at("out/a.geojson"));
    expect(await became()).toEqual({ "in/a.csv": "done", "in/b.csv": "unchanged" });
    put("job.yaml", job.replace("to: geojson", "to: geojson, limit: 1"));
    expect(await became()).toEqual({ "in/a.csv": "done", "in/b.csv": "done" });
  });

  test("a file is not converted over an output that someone else has written", async () => {
    put("out/a.geojson", "mine");
    put("in/b.csv", pointsCsv("x"));
    const step = await one();
    expect(step.items.map(({ source, result, error }) => [source, result, error?.code])).toEqual([
      ["in/a.csv", "failed", "output-exists"],
      ["in/b.csv", "done", undefined],
    ]);
    expect(readFileSync(at("out/a.geojson"), "utf8")).toBe("mine");
  });
});

test("a source URL is downloaded again if the server reports another version", async () => {
  let [version, downloads] = ['"1"', 0];
  const address = await serve((request, response) => {
    if (!request.url!.endsWith("/a.geojson")) return void response.writeHead(404).end();
    if (request.method === "GET") downloads++;
    response.setHeader("etag", version);
    response.end('{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"a":1}}]}');
  });
  put("job.yaml", `name: n\nsteps:\n  - {name: a, source: ${address}/a.geojson, target: a.gpkg}\n`);
  const once = async () => results((await run("job.yaml")).report).a;
  expect([await once(), await once(), downloads]).toEqual(["done", "unchanged", 1]);
  version = '"2"';
  expect([await once(), downloads]).toEqual(["done", 2]);
});

test("a step is retried after network errors, and dependent steps wait for it", async () => {
  let asked = 0;
  const address = await serve((request, response) => {
    if (!request.url!.endsWith("/a.csv")) return void response.writeHead(404).end();
    if (request.method === "GET" && ++asked < 3) response.writeHead(503).end();
    else response.end(pointsCsv("a"));
  });
  put(
    "job.yaml",
    `name: n\nparallel: 2\nretryDelay: 10ms\nsteps:\n  - {name: first, source: ${address}/a.csv, target: a.geojson}\n  - {name: second, source: a.geojson, target: b.csv, needs: first}\n`,
  );
  const { status, report } = await run("job.yaml");
  expect({ status, results: results(report), attempts: stepOf(report, "first").attempts }).toEqual({
    status: 0,
    results: { first: "done", second: "done" },
    attempts: 3,
  });
});

test("steps that depend on a failed one are skipped and have its exit status", async () => {
  put("a.csv", pointsCsv("a"));
  put(
    "job.yaml",
    "name: n\nsteps:\n  - {name: a, source: none.csv, target: a.gpkg}\n  - {name: b, needs: a, source: a.csv, target: b.gpkg}\n  - {name: c, needs: b, source: a.csv, target: c.gpkg}\n",
  );
  const { status, report } = await run("job.yaml");
  expect({ status, results: results(report) }).toEqual({
    status: 3,
    results: { a: "failed", b: "skipped", c: "skipped" },
  });
  expect(readdirSync(desk.folder).filter((name) => name.endsWith(".gpkg"))).toEqual([]);
});

test("a dry run reports what would be done, and writes nothing", async () => {
  const map = await world.newMap();
  put("a.csv", pointsCsv("a", "b"));
  put(
    "job.yaml",
    `name: n\nsteps:\n  - {name: file, source: a.csv, target: a.gpkg}\n  - {name: map, source: a.csv, target: {map: ${map}, remoteField: name}}\n`,
  );
  const dry = await run("job.yaml", ["--dry-run"]);
  expect(dry.stderr).toContain("file: to do");
  expect(dry.stderr).toMatch(/→ .*: to do$/m);
  expect(dry.stderr).toContain("dry run, 2 to do");
  expect(dry.stderr).toContain("map: to do, read 2, created 2");
  expect({ status: dry.status, file: existsSync(at("a.gpkg")), map: await world.features(map) }).toEqual({
    status: 0,
    file: false,
    map: [],
  });
  expect(results((await run("job.yaml")).report)).toEqual({ file: "done", map: "done" });
  expect(await world.features(map)).toHaveLength(2);
  expect(results((await run("job.yaml")).report)).toEqual({ file: "unchanged", map: "unchanged" });
});

test("a map is compared even if its source has not changed", async () => {
  const map = await world.newMap();
  put("a.csv", pointsCsv("a", "b"));
  put(
    "job.yaml",
    `name: n\nsteps:\n  - {name: map, source: a.csv, target: {map: ${map}, mode: full, remoteField: name}}\n`,
  );
  await run("job.yaml");
  await world.fill(map, [createPlace(9, { name: "drifted" })]);
  const { report } = await run("job.yaml", [], {});
  // One of three exceeds a tenth, but the map has no more than ten features.
  expect(stepOf(report, "map").counts).toMatchObject({ deleted: 1 });
  expect((await world.features(map)).map(({ properties }) => properties.name).sort()).toEqual(["a", "b"]);
});

test.each(["in/", "in/*.csv"])("a map gets the features of all files of %s", async (source) => {
  const map = await world.newMap();
  mkdirSync(at("in"));
  put("in/a.csv", pointsCsv("a", "b"));
  put("in/b.csv", pointsCsv("c"));
  put(
    "job.yaml",
    `name: n\nsteps:\n  - {name: map, source: ${source}, target: {map: ${map}, mode: full, remoteField: name}}\n`,
  );
  expect((await run("job.yaml")).status).toBe(0);
  expect((await world.features(map)).map(({ properties }) => properties.name).sort()).toEqual(["a", "b", "c"]);
  expect(results((await run("job.yaml")).report)).toEqual({ map: "unchanged" });
});

describe("two concurrent runs of one job", () => {
  /** A job that waits for its source until `release` is called. */
  async function held(): Promise<{ begun: Promise<unknown>; release: () => void }> {
    let [begin, release] = [() => {}, () => {}];
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    const address = await serve(async (request, response) => {
      if (!request.url!.endsWith("/a.csv")) return void response.writeHead(404).end();
      begin();
      await open;
      response.end(pointsCsv("a"));
    });
    put("job.yaml", `name: held\nsteps:\n  - {name: a, source: ${address}/a.csv, target: a.geojson}\n`);
    return { begun, release };
  }

  test("the second concurrent run ends with 11", async () => {
    const { begun, release } = await held();
    const first = run("job.yaml");
    await begun;
    const second = await run("job.yaml");
    release();
    expect(second.status).toBe(11);
    expect(second.stderr).toMatch(/job held: another run is in progress \(process \d+ on /);
    expect((await first).status).toBe(0);
  });

  test("the second concurrent run waits on request", async () => {
    const { begun, release } = await held();
    const first = run("job.yaml");
    await begun;
    const second = run("job.yaml", ["--wait", "60"]);
    await pause(1500);
    release();
    expect([(await first).status, (await second).status]).toEqual([0, 0]);
  });

  test("an interrupted run ends with 130, leaves no partial output, and the next run completes it", async () => {
    const { begun, release } = await held();
    const first = run("job.yaml", [], { watch: (child) => void begun.then(() => child.kill("SIGINT")) });
    const { status, report } = await first;
    expect({ status, errors: errors(report), left: existsSync(at("a.geojson")) }).toEqual({
      status: 130,
      errors: { a: "interrupted" },
      left: false,
    });
    release();
    expect((await run("job.yaml")).status).toBe(0);
  });
});

test("a step that exceeds its time limit is stopped and reported", async () => {
  const address = await serve(() => {});
  put("job.yaml", `name: n\nsteps:\n  - {name: a, source: ${address}/a.csv, target: a.geojson, timeout: 1s}\n`);
  const { status, report } = await run("job.yaml");
  expect({ status, errors: errors(report) }).toEqual({ status: 8, errors: { a: "step-timeout" } });
});

describe("reports of a run", () => {
  test("a failed run calls a command and a URL, a successful one does not", async () => {
    const posted: string[] = [];
    const address = await serve((request, response) => {
      let body = "";
      request.on("data", (piece) => {
        body += piece;
      });
      request.on("end", () => {
        posted.push(body);
        response.end();
      });
    });
    put("a.csv", pointsCsv("a"));
    const job = (source: string) =>
      `name: telling\nonFailure:\n  webhook: ${address}\n  command: cp "$GEOFERRY_REPORT" ${at("copy.json")}; echo "$GEOFERRY_JOB $GEOFERRY_RESULT $GEOFERRY_STATUS" > ${at("called")}\nsteps:\n  - {name: a, source: ${source}, target: a.geojson}\n`;
    put("job.yaml", job("a.csv"));
    await run("job.yaml");
    expect({ posted, called: existsSync(at("called")) }).toEqual({ posted: [], called: false });
    put("job.yaml", job("none.csv"));
    const { report } = await run("job.yaml");
    expect(readFileSync(at("called"), "utf8")).toBe("telling failed 3\n");
    expect(JSON.parse(readFileSync(at("copy.json"), "utf8"))).toEqual(report);
    expect(posted.map((body) => JSON.parse(body))).toEqual([report]);
  });

  test("page and metrics are written, and names cannot inject markup or labels", async () => {
    put("a.csv", pointsCsv("a", "b", "c"));
    put(
      "job.yaml",
      `name: "<b>&\\"night"\npage: runs.html\nmetrics: m.prom\nsteps:\n  - {name: "</script>", source: a.csv, target: a.geojson}\n  - {name: none, source: none.csv, target: n.geojson}\n`,
    );
    for (let n = 0; n < 2; n++) {
      put("a.csv", pointsCsv("a", "b", `c${n}`));
      await run("job.yaml");
    }
    const page = readFileSync(at("runs.html"), "utf8");
    expect(page).toContain("<h1>&lt;b&gt;&amp;&quot;night</h1>");
    expect(page).toContain("Last 2 runs");
    expect(page).not.toContain("</script>");
    expect(page.match(/<rect class="a"/g)?.length).toBeGreaterThanOrEqual(4);
    const metrics = readFileSync(at("m.prom"), "utf8");
    expect(metrics).toContain('geoferry_step_features{job="<b>&\\"night",step="</script>",outcome="written"} 3');
    expect(metrics).toContain('geoferry_job_exit_status{job="<b>&\\"night"} 3');
    expect(metrics).not.toContain("last_success_timestamp_seconds{");
  });
});

test("service and credentials of the job file are used, with precedence for the environment", async () => {
  const map = await world.newMap();
  put("a.csv", pointsCsv("a"));
  put(
    "job.yaml",
    `name: n\nservice: {url: "${world.url}", clientId: "${world.ada.clientId}", clientSecret: "\${SECRET}"}\nsteps:\n  - {name: map, source: a.csv, target: {map: ${map}, remoteField: name}}\n`,
  );
  const own = { GEOFERRY_URL: "", GEOFERRY_CLIENT_ID: "", GEOFERRY_CLIENT_SECRET: "" };
  expect((await run("job.yaml", [], { env: { ...own, SECRET: world.ada.clientSecret } })).status).toBe(0);
  expect((await run("job.yaml", [], { env: { ...own, SECRET: "wrong" } })).status).toBe(9);
  expect((await run("job.yaml", [], { env: { SECRET: "wrong" } })).status).toBe(0);
});
