/** Several inputs in one command: which input failed, how the others continue, and where outputs are written. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { geoferry, hasProgram } from "../support/command.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "geoferry-batch-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
const run = (...args: string[]) => geoferry(args, { cwd: folder });
const names = (below = "."): string[] => readdirSync(at(below), { recursive: true }).map(String).sort();
const records = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const point = (n: number) =>
  `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[${n},50]},"properties":{"n":${n}}}]}`;

/** Projected coordinates without a reference system, which fail deep inside the pipeline. */
const projected = "name,x,y\na,3500000,5600000\n";

/** @param bad names and contents of files that cannot be converted */
function inputs(count: number, bad: Readonly<Record<string, string>> = {}): void {
  mkdirSync(at("in"));
  for (let n = 0; n < count; n++) writeFileSync(at(`in/p${String(n).padStart(2, "0")}.geojson`), point(n));
  for (const [name, text] of Object.entries(bad)) writeFileSync(at(`in/${name}`), text);
}

describe("a batch into a folder", () => {
  const bad = { "z.geojson": '{"type":"FeatureCollection","features":[', "a.geojson": "[1,2", "m.csv": projected };

  test("a batch names the file of each failure, and prints a summary", () => {
    inputs(47, bad);
    const { status, stderr } = run("convert", "in", "out", "--to", "gpkg");
    expect(status).toBe(3);
    const lines = stderr.trim().split("\n");
    expect(lines.at(-1)).toBe("47 of 50 converted, 3 failed: in/a.geojson, in/m.csv, in/z.geojson");
    const failures = lines.slice(-4, -1);
    for (const [n, name] of ["in/a.geojson", "in/m.csv", "in/z.geojson"].entries())
      expect(failures[n]).toMatch(new RegExp(`^geoferry: .*${name}`));
    expect(names("out")).toHaveLength(47);
  });

  test("a batch reports the same in JSON records", () => {
    inputs(2, bad);
    const all = records(run("convert", "in", "out", "--to", "gpkg", "--json").stdout);
    expect(all.at(-1)).toMatchObject({ type: "batch", inputs: 5, converted: 2, upToDate: 0, failed: 3 });
    const failures = all.at(-1)!.failures as readonly { input: string; exit: number }[];
    expect(failures.map(({ input }) => input)).toEqual(["in/a.geojson", "in/m.csv", "in/z.geojson"]);
    expect(failures.every(({ exit }) => exit === 3)).toBe(true);
    expect(all.filter(({ type }) => type === "error").map(({ input }) => input)).toEqual(
      failures.map(({ input }) => input),
    );
  });

  test("a batch is rejected if two inputs have the same output name, or numbers the outputs on request", () => {
    mkdirSync(at("in"));
    writeFileSync(at("in/a.csv"), "n,lon,lat\n1,1,50\n");
    writeFileSync(at("in/a.geojson"), point(2));
    writeFileSync(at("in/a_1.geojson"), point(3));
    const refused = run("convert", "in", "out", "--to", "gpkg");
    expect([refused.status, existsSync(at("out"))]).toEqual([2, false]);
    expect(refused.stderr).toMatch(/in\/a\.csv and in\/a\.geojson .*--on-name-clash number/);
    const numbered = run("convert", "in", "out", "--to", "geojson", "--on-name-clash", "number");
    expect(numbered.status).toBe(0);
    const n = (name: string) => JSON.parse(readFileSync(at(`out/${name}`), "utf8")).features[0].properties.n;
    // a_1 is the name of another input.
    expect(names("out").map((name) => [name, n(name)])).toEqual([
      ["a.geojson", 1],
      ["a_1.geojson", 3],
      ["a_2.geojson", 2],
    ]);
    expect(run("convert", "in", "out", "--to", "gpkg", "--on-name-clash", "maybe").status).toBe(2);
  });
});

describe("several inputs into one file of many layers", () => {
  const layers = (name: string): string[] =>
    execFileSync("ogrinfo", ["-ro", "-q", at(name)], { encoding: "utf8" })
      .split("\n")
      .flatMap((line) => /^\d+: (\S+)/.exec(line)?.slice(1) ?? [])
      .sort();

  test.runIf(hasProgram("ogrinfo"))(
    "several inputs into one file have the layers of the valid ones, and name the others",
    () => {
      inputs(3, { "cut.geojson": `${point(9).slice(0, -2)},{"type":`, "plane.csv": projected });
      const good = [0, 1, 2].map((n) => `in/p0${n}.geojson`);
      const { status, stderr } = run(
        "convert",
        good[0]!,
        "in/cut.geojson",
        good[1]!,
        "in/none.shp",
        "in/plane.csv",
        good[2]!,
        "all.gpkg",
      );
      expect(status).toBe(3);
      expect(layers("all.gpkg")).toEqual(["p00", "p01", "p02"]);
      expect(stderr.trim().split("\n").at(-1)).toBe(
        "3 of 6 converted, 3 failed: in/cut.geojson, in/none.shp, in/plane.csv",
      );
      expect(names()).not.toContain("all.gpkg.rejects.geojsonl");
    },
  );

  test("several inputs into one file count those that had rejects", () => {
    inputs(4, { "bad.csv": "name,lon,lat\na,1,50\nb,2,here\nc,3,there\n", "cut.geojson": '{"type":' });
    const { status, stdout, stderr } = run("convert", "in", "all.gpkg", "--json");
    expect(status).toBe(3);
    expect(records(stdout).at(-1)).toMatchObject({ type: "batch", inputs: 6, converted: 5, withRejects: 1, failed: 1 });
    expect(stderr.trim().split("\n").at(-1)).toBe("5 of 6 converted, 1 with rejects, 1 failed: in/cut.geojson");
  });

  test("several inputs into one file are rejected if none is valid, or if an existing file would lose a layer", () => {
    inputs(2, { "cut.geojson": '{"type":' });
    expect(run("convert", "in/cut.geojson", "in/none.shp", "all.gpkg").status).toBe(3);
    expect(existsSync(at("all.gpkg"))).toBe(false);
    const all = ["in/p00.geojson", "in/p01.geojson"];
    expect(run("convert", ...all, "all.gpkg").status).toBe(0);
    const before = readFileSync(at("all.gpkg"));
    writeFileSync(at("in/p01.geojson"), '{"type":');
    const { status, stderr } = run("convert", ...all, "all.gpkg", "--overwrite");
    expect(status).toBe(3);
    expect(stderr).toContain("in/p01.geojson");
    expect(stderr).toContain("nothing was written to all.gpkg");
    expect(readFileSync(at("all.gpkg")).equals(before)).toBe(true);
  });

  test("several inputs into one layer are merged completely or not at all", () => {
    inputs(2, { "plane.csv": projected });
    const { status, stderr } = run("convert", "in/p00.geojson", "in/plane.csv", "all.geojson");
    expect([status, existsSync(at("all.geojson"))]).toEqual([3, false]);
    expect(stderr).toMatch(/^geoferry: .*in\/plane\.csv/);
  });
});

describe("a folder that is missing", () => {
  test("a missing folder is created for an output, its rejects, a page, a plan and the reports of a job", () => {
    writeFileSync(at("a.geojson"), point(1));
    writeFileSync(at("bad.csv"), "name,lon,lat\na,1,50\nb,999,50\n");
    expect(run("convert", "a.geojson", "new/gpkg/out.gpkg").status).toBe(0);
    expect(run("convert", "a.geojson", "new/shp/out.shp").status).toBe(0);
    expect(run("convert", "a.geojson", "new/zip/out.shp.zip").status).toBe(0);
    expect(
      run("convert", "bad.csv", "new/out.csv", "--rejects", "new/odd/rejects.geojsonl", "--source-crs", "EPSG:4326")
        .status,
    ).toBe(5);
    writeFileSync(
      at("job.yaml"),
      "name: n\nreport: reports/json/run.json\npage: reports/page/run.html\nmetrics: reports/prom/run.prom\nsteps:\n  - {name: a, source: a.geojson, target: made/here/a.gpkg}\n",
    );
    expect(run("run", "job.yaml", "--state", "states").status).toBe(0);
    for (const name of [
      "new/gpkg/out.gpkg",
      "new/shp/out.shp",
      "new/zip/out.shp.zip",
      "new/odd/rejects.geojsonl",
      "reports/json/run.json",
      "reports/page/run.html",
      "reports/prom/run.prom",
      "made/here/a.gpkg",
    ])
      expect(existsSync(at(name)), name).toBe(true);
  });

  test("a created folder is removed if nothing was written into it", () => {
    writeFileSync(at("cut.geojson"), `${point(1).slice(0, -2)},{"type":`);
    writeFileSync(at("long.geojson"), point(1).replace('"n":1', '"a_long_name_of_a_field":1'));
    expect(run("convert", "cut.geojson", "new/folder/out.gpkg").status).toBe(3);
    expect(run("convert", "long.geojson", "new/folder/out.shp", "--strict").status).toBe(4);
    mkdirSync(at("in"));
    writeFileSync(at("in/cut.geojson"), '{"type":');
    expect(run("convert", "in", "out", "--to", "gpkg").status).toBe(3);
    expect(names()).toEqual(["cut.geojson", "in", "in/cut.geojson", "long.geojson"]);
  });
});
