/** Losses of a job run: on the terminal, in the report, on the page, in the metrics and in the exit status. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { StepReport } from "../../src/jobs/report/run-report.js";
import { geoferry } from "../support/command.js";
import { pointsCsv } from "../support/jobs/job-fixture.js";
import { ServedJobFixture } from "../support/jobs/served-job-fixture.js";
import { WorkerFleet } from "../support/jobs/worker-fleet.js";
import { hasRedis } from "../support/servers/redis.js";

const desk = await ServedJobFixture.open();
const { at, put, world, environment } = desk;
const run = (flags: readonly string[] = []) => desk.runServed("job.yaml", flags);

const collection = (features: readonly object[]): string => JSON.stringify({ type: "FeatureCollection", features });

const feature = (properties: object, geometry: object | null): object => ({ type: "Feature", properties, geometry });

const point = (n: number) => ({ type: "Point", coordinates: [n, 50] });

/** A name of more than ten letters, a text of more than 254 bytes, and a list, none of which a Shapefile can hold. */
const unholdable = (n: number) => feature({ population_of_2020: n, remark: "r".repeat(300), tags: [n] }, point(n));

const places = (count: number, of: (n: number) => object) => collection(Array.from({ length: count }, (_, n) => of(n)));

const kinds = ({ losses }: StepReport) => Object.fromEntries(losses.map(({ code, count }) => [code, count]));

describe("of a step", () => {
  test("losses and features without geometry of a step appear in all reports", async () => {
    put("roads.geojson", places(3, unholdable));
    put(
      "empty.geojson",
      places(3, (n) => feature({ n }, null)),
    );
    put(
      "job.yaml",
      "name: night\nsteps:\n  - {name: roads, source: roads.geojson, target: roads.shp}\n  - {name: empty, source: empty.geojson, target: empty.gpkg}\n",
    );
    const { status, stderr, report } = await run(["--page", at("page.html"), "--metrics", at("night.prom")]);
    expect(status).toBe(0);
    const [roads, empty] = report.steps;
    expect(kinds(roads!)).toEqual({ "field-renamed": 1, "text-cut": 3, "type-changed": 3 });
    expect(roads!.items[0]!.losses).toHaveLength(3);
    expect(empty!.notices.map(({ code, count }) => [code, count])).toEqual([["no-geometry", 3]]);
    expect(empty!.counts).toMatchObject({ written: 3, withoutGeometry: 3 });
    expect(stderr).toMatch(/^roads: done with losses, /m);
    expect(stderr).toMatch(/lost text-cut of remark \(3 times\)/);
    expect(stderr).toMatch(/note no-geometry \(3 times\): none of the 3 features of empty has a geometry/);
    expect(stderr).toMatch(/^night: 1 done, 1 done with losses /m);
    const page = readFileSync(at("page.html"), "utf8");
    for (const text of ["done with losses", "text-cut of remark", "no-geometry"]) expect(page).toContain(text);
    const metrics = readFileSync(at("night.prom"), "utf8");
    expect(metrics).toContain('geoferry_step_losses{job="night",step="roads",code="text-cut"} 3');
    expect(metrics).toContain('geoferry_step_notices{job="night",step="empty",code="no-geometry"} 3');
    expect(metrics).toContain('geoferry_step_features{job="night",step="empty",outcome="without_geometry"} 3');
  });

  test("losses are reported while the source is unchanged", async () => {
    put("roads.geojson", places(3, unholdable));
    put("job.yaml", "name: night\nsteps:\n  - {name: roads, source: roads.geojson, target: roads.shp}\n");
    await run();
    const { report, stderr } = await run();
    expect(report.steps[0]!.result).toBe("unchanged");
    expect(kinds(report.steps[0]!)).toEqual({ "field-renamed": 1, "text-cut": 3, "type-changed": 3 });
    expect(report.steps[0]!.regressions).toEqual([]);
    expect(stderr).toMatch(/lost text-cut of remark/);
  });
});

describe("compared with the last successful run", () => {
  const changes = (step: StepReport) =>
    step.regressions.map(({ what, code, field, before, now }) => [
      [what, code, field].filter((part) => part !== undefined).join(" "),
      before,
      now,
    ]);

  test("a step reports new kinds of loss, more of a known one, and a smaller source", async () => {
    put(
      "roads.geojson",
      places(4, (n) => (n === 0 ? unholdable(n) : feature({ population_of_2020: n }, point(n)))),
    );
    put("job.yaml", "name: night\nsteps:\n  - {name: roads, source: roads.geojson, target: roads.shp}\n");
    const first = await run();
    expect(first.report.steps[0]!.regressions).toEqual([]);

    put(
      "roads.geojson",
      places(3, (n) =>
        feature({ population_of_2020: n, remark: "r".repeat(300), height: "h".repeat(300) }, n === 0 ? null : point(n)),
      ),
    );
    const { status, report, stderr } = await run(["--page", at("page.html"), "--metrics", at("night.prom")]);
    expect(status).toBe(0);
    expect(changes(report.steps[0]!)).toEqual([
      ["read", 4, 3],
      ["written", 4, 3],
      ["withoutGeometry", 0, 1],
      ["field missing tags", 1, 0],
      ["loss text-cut height", null, 3],
      ["loss text-cut remark", 1, 3],
    ]);
    expect(stderr).toMatch(/new since the last run: lost text-cut of height \(3 times\)/);
    expect(stderr).toMatch(/more than in the last run: lost text-cut of remark 3 times, before 1/);
    expect(stderr).toMatch(/fewer than in the last run: read 3, before 4/);
    expect(readFileSync(at("page.html"), "utf8")).toContain("fewer than in the last run: read 3, before 4");
    const metrics = readFileSync(at("night.prom"), "utf8");
    expect(metrics).toContain('geoferry_step_regressions{job="night",step="roads",what="loss"} 5');
    expect(metrics).toContain('geoferry_step_regressions{job="night",step="roads",what="read"} 1');
  });

  test("the step of a map reports them, too", async () => {
    const map = await world.newMap();
    put("places.csv", pointsCsv("a", "b", "c"));
    put(
      "job.yaml",
      `name: night\nsteps:\n  - {name: places, source: places.csv, target: {map: ${map}, remoteField: name}}\n`,
    );
    expect((await run()).report.steps[0]!.regressions).toEqual([]);
    put("places.csv", pointsCsv("a", "d"));
    const { report } = await run();
    expect(changes(report.steps[0]!)).toContainEqual(["read", 3, 2]);
  });

  const typed = (step: StepReport) => step.regressions.filter(({ what }) => what === "field");
  const before = "name,lon,lat,zip,height\na,1,50,48149,1.5\nb,2,50,48151,2\n";
  const now = "name,lon,lat,zip\na,1,50,D-48149\nb,2,50,48151\n";

  test("a step reports fields that are missing or have another type", async () => {
    const map = await world.newMap();
    put("places.csv", before);
    put(
      "job.yaml",
      `name: night\nsteps:\n  - {name: file, source: places.csv, target: places.gpkg}\n  - {name: map, source: places.csv, target: {map: ${map}, remoteField: name}}\n`,
    );
    const first = await run();
    expect(first.report.steps.flatMap(typed)).toEqual([]);
    put("places.csv", now);
    const { report, stderr, status } = await run(["--metrics", at("night.prom")]);
    expect(status).toBe(0);
    const expected = [
      { what: "field", code: "type", field: "zip", before: null, now: 1, example: "was int32, is text" },
      { what: "field", code: "missing", field: "height", before: 1, now: 0 },
    ];
    expect(report.steps.map(typed)).toEqual([expected, expected]);
    expect(report.steps[1]!.items[0]).not.toHaveProperty("sourceFields");
    expect(stderr).toMatch(/^ {2}changed since the last run: field zip was int32, is text$/m);
    expect(stderr).toMatch(/^ {2}missing since the last run: field height$/m);
    expect(readFileSync(at("night.prom"), "utf8")).toContain('step="file",what="field"} 2');
    expect((await run()).report.steps.flatMap(typed)).toEqual([]);
  });

  test("where the source declares no types, the kinds of its values are compared", async () => {
    const map = await world.newMap();
    const put3 = (of: (n: number) => object) =>
      put(
        "places.geojson",
        places(3, (n) => feature({ key: n, ...of(n) }, point(n))),
      );
    put3((n) => ({ zip: n, gone: "x" }));
    put(
      "job.yaml",
      `name: night\nsteps:\n  - {name: map, source: places.geojson, target: {map: ${map}, remoteField: key}}\n`,
    );
    await run();
    put3((n) => ({ zip: n > 1 ? "D" : n }));
    const { report } = await run();
    expect(typed(report.steps[0]!)).toEqual([
      {
        what: "field",
        code: "type",
        field: "zip",
        before: null,
        now: 1,
        example: "was no text, is text and other values",
      },
      { what: "field", code: "missing", field: "gone", before: 1, now: 0 },
    ]);
  });

  const corners = (of: (lon: number, lat: number) => readonly [number, number]) =>
    `name,lon,lat\n${[
      ["a", 6, 47],
      ["b", 15, 55],
    ]
      .map(([name, lon, lat]) => [name, ...of(Number(lon), Number(lat))].join(","))
      .join("\n")}\n`;
  const extents = (step: StepReport) =>
    step.regressions.filter(({ what }) => what === "extent").map(({ code, example }) => [code, example]);

  test("steps for files and for maps report features that are elsewhere", async () => {
    const map = await world.newMap();
    put(
      "job.yaml",
      `name: night\nsteps:\n  - {name: file, source: places.csv, target: places.gpkg}\n  - {name: map, source: places.csv, target: {map: ${map}, remoteField: name}}\n`,
    );
    put(
      "places.csv",
      corners((lon, lat) => [lon, lat]),
    );
    await run();
    put(
      "places.csv",
      corners((lon, lat) => [lat, lon]),
    );
    const { report, stderr } = await run();
    const swapped = [["moved", "from 6, 47, 15, 55 to 47, 6, 55, 15 (EPSG:4326)"]];
    expect(report.steps.map(extents)).toEqual([swapped, swapped]);
    expect(stderr).toMatch(
      /^ {2}moved since the last run: extent of the features, from 6, 47, 15, 55 to 47, 6, 55, 15 \(EPSG:4326\)$/m,
    );
    for (const step of report.steps) {
      expect(step.items[0]).not.toHaveProperty("extent");
      expect(step.items[0]).not.toHaveProperty("sourceExtent");
    }
    // The features of the last run are the ones to compare with.
    expect((await run()).report.steps.flatMap(extents)).toEqual([]);
  });

  test("a step reports one feature far from the others, and no ordinary growth", async () => {
    put("job.yaml", "name: night\nsteps:\n  - {name: file, source: places.csv, target: places.gpkg}\n");
    const rows = "name,lon,lat\na,6,47\nb,15,55\n";
    put("places.csv", rows);
    await run();
    put("places.csv", `${rows}c,20,60\n`);
    expect((await run()).report.steps.flatMap(extents)).toEqual([]);
    put("places.csv", `${rows}c,20,60\nd,0,-60\n`);
    const { report } = await run();
    expect(report.steps.flatMap(extents)).toEqual([["grown", "from 6, 47, 20, 60 to 0, -60, 20, 60 (EPSG:4326)"]]);
  });

  test("the file that a step appends to is not a source of another format", async () => {
    put(
      "job.yaml",
      "name: night\nsteps:\n  - {name: file, source: places.geojson, target: places.csv, append: true}\n",
    );
    for (const [count, read] of [
      [1, 1],
      [2, 2],
    ] as const) {
      put(
        "places.geojson",
        places(count, (n) => feature({ name: `a${n}` }, point(n))),
      );
      const { report } = await run();
      expect(report.steps[0]!.counts.read).toBe(read);
      expect(report.steps[0]!.regressions.filter(({ what }) => what === "format" || what === "field")).toEqual([]);
    }
  });

  test("a step reports a source that has another format under the same name", async () => {
    put("job.yaml", "name: night\nsteps:\n  - {name: file, source: places.json, target: places.gpkg}\n");
    const geojson = places(1, () => feature({ name: "a" }, point(1)));
    put("places.json", geojson);
    await run();
    const esri = {
      geometryType: "esriGeometryPoint",
      spatialReference: { wkid: 4326 },
      fields: [{ name: "name", type: "esriFieldTypeString" }],
      features: [{ attributes: { name: "a" }, geometry: { x: 1, y: 50 } }],
    };
    put("places.json", JSON.stringify(esri));
    const { report, stderr } = await run();
    expect(report.steps[0]!.regressions.filter(({ what }) => what === "format")).toEqual([
      { what: "format", before: null, now: 1, example: "from geojson to esrijson" },
    ]);
    expect(stderr).toMatch(/^ {2}changed since the last run: format of the source from geojson to esrijson$/m);
  });
});

test("a step names the files of a pattern that no format has by name", async () => {
  mkdirSync(at("delivery"));
  put("delivery/a.csv", pointsCsv("a"));
  put("delivery/b.data", "no format has this name");
  const map = await world.newMap();
  put(
    "job.yaml",
    `name: night\nsteps:\n  - {name: files, source: delivery/*, target: out/, to: geojson}\n  - {name: map, source: delivery, target: {map: ${map}, remoteField: name}}\n`,
  );
  const { status, report, stderr } = await run();
  expect(status).toBe(0);
  for (const step of report.steps)
    expect(step.notices.filter(({ code }) => code === "files-left-out")).toEqual([
      expect.objectContaining({ count: 1, example: expect.stringContaining("left out: delivery/b.data;") }),
    ]);
  expect(stderr.match(/note files-left-out: /g)).toHaveLength(2);
});

test("an output whose source was removed is reported until it is deleted", async () => {
  mkdirSync(at("in"));
  put("in/a.csv", pointsCsv("a"));
  put("in/b.csv", pointsCsv("b"));
  put("job.yaml", "name: night\nsteps:\n  - {name: all, source: in/*.csv, target: out/, to: geojson}\n");
  await run();
  const content = readFileSync(at("in/b.csv"));
  rmSync(at("in/b.csv"));
  const left = async () => {
    const { status, report, stderr } = await run(["--quiet"]);
    expect([status, existsSync(at("out/a.geojson"))]).toEqual([0, true]);
    const [step] = report.steps;
    return [
      step!.notices.filter(({ code }) => code === "stale-output").length,
      step!.regressions.length,
      stderr !== "",
    ];
  };
  expect(await left()).toEqual([1, 1, true]);
  expect(await left()).toEqual([1, 0, false]);
  writeFileSync(at("in/b.csv"), content);
  expect(await left()).toEqual([0, 0, false]);
  rmSync(at("in/b.csv"));
  expect(await left()).toEqual([1, 1, true]);
  rmSync(at("out/b.geojson"));
  expect(await left()).toEqual([0, 0, false]);
});

describe("a step fails, and writes nothing,", () => {
  const members = {
    "strict: true": ["lossy", 4],
    "maxLosses: 6": ["guard-losses", 7],
    'maxLosses: "100%"': ["guard-losses", 7],
    "maxLosses: 7": [undefined, 0],
    "maxWithoutGeometry: 0": ["guard-without-geometry", 7],
    'maxWithoutGeometry: "33%"': ["guard-without-geometry", 7],
    'maxWithoutGeometry: "34%"': [undefined, 0],
  } as const;

  test.for(Object.entries(members))(
    "a step fails, or does not, depending on %s",
    async ([member, [code, expected]]) => {
      // Three features lose seven values, and one has no geometry.
      put("roads.geojson", collection([unholdable(1), unholdable(2), { ...unholdable(3), geometry: null }]));
      put("job.yaml", `name: night\nsteps:\n  - {name: roads, source: roads.geojson, target: roads.shp, ${member}}\n`);
      const { status, report } = await run();
      expect([report.steps[0]!.error?.code, status]).toEqual([code, expected]);
      expect(existsSync(at("roads.shp"))).toBe(expected === 0);
    },
  );

  test("a step fails if its source has become smaller than maxDecrease allows", async () => {
    const job = (member: string) =>
      put("job.yaml", `name: night\nsteps:\n  - {name: points, source: points.csv, target: points.gpkg${member}}\n`);
    put("points.csv", pointsCsv("a", "b", "c", "d"));
    job("");
    await run();
    const content = readFileSync(at("points.gpkg"));
    put("points.csv", pointsCsv("a", "b"));
    for (const limit of ["1", '"49%"']) {
      job(`, maxDecrease: ${limit}`);
      const { status, report, stderr } = await run();
      expect([status, report.steps[0]!.error?.code]).toEqual([7, "guard-decrease"]);
      expect(stderr).toContain("2 features were read, but 4 in the last run, a greater decrease than maxDecrease");
      expect(readFileSync(at("points.gpkg")).equals(content)).toBe(true);
    }
    for (const [names, limit] of [
      [["a", "b"], '"50%"'],
      [["a"], "1"],
      [["a", "b", "c"], "0"],
    ] as const) {
      put("points.csv", pointsCsv(...names));
      job(`, maxDecrease: ${limit}`);
      expect((await run()).status).toBe(0);
    }
  });

  test("a row that lost its invalid geometry counts as rejected and as without geometry", async () => {
    put("points.csv", "name,lon,lat\na,1,50\nb,broken,50\nc,3,50\n");
    const job = (member: string) =>
      put("job.yaml", `name: night\nsteps:\n  - {name: points, source: points.csv, target: points.gpkg${member}}\n`);
    job("");
    const kept = await run(["--metrics", at("night.prom")]);
    expect(kept.status).toBe(5);
    expect(kept.report.steps[0]!.counts).toEqual({ read: 3, written: 3, rejected: 1, withoutGeometry: 1 });
    expect(kept.stderr).toMatch(/^ {2}points\.csv → .*rejected 1.*, rejects in points\.gpkg\.rejects\.geojsonl$/m);
    expect(readFileSync(at("night.prom"), "utf8")).toContain('outcome="without_geometry"} 1');
    for (const [member, code] of [
      [", maxWithoutGeometry: 0", "guard-without-geometry"],
      [", maxRejects: 0", "guard-rejects"],
    ] as const) {
      job(member);
      const { status, report } = await run();
      expect([status, report.steps[0]!.error?.code]).toEqual([7, code]);
    }
  });

  test("a step fails like a conversion with the corresponding flags", () => {
    put("roads.geojson", collection([unholdable(1), { ...unholdable(2), geometry: null }]));
    const convert = (...flags: string[]) =>
      geoferry(["convert", at("roads.geojson"), at("roads.shp"), ...flags], { cwd: desk.folder });
    const lossy = convert("--max-losses", "4");
    expect(lossy.status).toBe(7);
    expect(lossy.stderr).toContain("--max-losses 4 allows: type-changed of tags (2), text-cut of remark (2)");
    expect(convert("--max-without-geometry", "49%").status).toBe(7);
    expect(existsSync(at("roads.shp"))).toBe(false);
    expect(convert("--max-losses", "5", "--max-without-geometry", "50%").status).toBe(0);
  });
});

describe.runIf(hasRedis)("over a queue with workers", { timeout: 120_000 }, () => {
  const fleet = new WorkerFleet(environment);

  test("the report of a run with workers equals that of a local run", async () => {
    put("roads.geojson", places(3, unholdable));
    put(
      "empty.geojson",
      places(2, (n) => feature({ n }, null)),
    );
    const steps = (folder: string) =>
      `name: night\nsteps:\n  - {name: roads, source: roads.geojson, target: ${folder}/, to: shapefile}\n  - {name: empty, source: empty.geojson, target: ${folder}/, to: gpkg}\n`;
    const summarize = ({ losses, notices, skippedRanges, counts, regressions }: StepReport) => ({
      losses,
      notices,
      skippedRanges,
      counts,
      regressions,
    });
    put("job.yaml", steps("here"));
    const here = await run();
    const worker = await fleet.worker("w1");
    put("there.yaml", steps("there"));
    const there = await desk.runServed("there.yaml", fleet.flags);
    expect([there.status, there.report.steps.map(summarize)]).toEqual([0, here.report.steps.map(summarize)]);
    put(
      "roads.geojson",
      places(2, (n) => feature({ population_of_2020: n, more_than_ten: n }, point(n))),
    );
    const again = await desk.runServed("there.yaml", fleet.flags);
    expect(again.report.steps[0]!.regressions.map(({ what, field }) => [what, field])).toEqual([
      ["read", undefined],
      ["written", undefined],
      ["field", "remark"],
      ["field", "tags"],
      ["loss", "more_than_ten"],
    ]);
    expect(await worker.end()).toBe(0);
  });
});
