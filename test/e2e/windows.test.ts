/** geoferry with Node's build for Windows, under Wine. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { hasProgram, samples } from "../support/command.js";
import { nodeVersion } from "../support/node-versions.js";
import { checkFirstSync } from "../support/sync/first-sync.js";
import { WineMachine, windowsPath } from "../support/wine.js";

const canRun = hasProgram("wine");
if (!canRun) console.warn("NOT TESTED: Windows, which needs Wine");

describe.skipIf(!canRun)("geoferry on Windows (Wine)", { timeout: 300_000 }, () => {
  const scratch = new TemporaryFolder();
  let machine: WineMachine;
  const work = (name: string) => join(machine.work, name);
  const run = (...args: string[]) => machine.run(args);

  beforeAll(async () => {
    mkdirSync(scratch.path("machine"));
    machine = new WineMachine(scratch.path("machine"), (await nodeVersion(22, "win-x64"))!);
    cpSync(samples, work("samples"), { recursive: true });
  }, 300_000);

  afterAll(() => {
    machine?.stop();
    scratch.remove();
  });

  test("on Windows, convert accepts paths with a drive letter and backslashes, for each built-in format", () => {
    const formats = ["gpkg", "shp", "csv", "kml", "gpx", "geojson", "shp.zip", "kmz", "parquet", "fgb", "xlsx", "ods"];
    for (const format of formats) {
      const target = `${windowsPath(machine.work)}\\${format}\\${format}.${format}`;
      const to = run("convert", "samples\\capitals.geojson", target, "--quiet");
      expect(to, format).toMatchObject({ status: 0, stderr: "" });
    }
    const written = formats.map((format) => `${format}\\${format}.${format}`);
    const back = run("convert", ...written, "back\\", "--to", "geojson", "--workers", "1", "--quiet");
    expect(back).toMatchObject({ status: 0, stderr: "" });
    for (const format of formats) {
      const { features } = JSON.parse(readFileSync(work(`back/${format}.geojson`), "utf8"));
      expect(features.length, format).toBe(195);
    }
  });

  test("on Windows, convert expands patterns, and writes a batch into a new folder", () => {
    const { status, stderr } = run("convert", "samples\\shapefile\\*.shp", "out\\tables\\", "--to", "csv");
    expect(stderr).toMatch(/^out\\tables\\capitals\.csv: 195 features/m);
    expect(status).toBe(0);
    const expected = readdirSync(join(samples, "shapefile")).filter((name) => name.endsWith(".shp"));
    expect(readdirSync(work("out/tables")).sort()).toEqual(expected.map((name) => name.replace(".shp", ".csv")).sort());
  });

  test("on Windows, convert replaces an output and adds a layer to a GeoPackage", () => {
    expect(run("convert", "samples/parks.geojson", "atlas.gpkg")).toMatchObject({ status: 0 });
    expect(run("convert", "samples/parks.geojson", "ATLAS.gpkg")).toMatchObject({ status: 2 });
    expect(run("convert", "samples/capitals.geojson", "atlas.gpkg", "--overwrite")).toMatchObject({ status: 0 });
    expect(run("convert", "samples/rivers.geojson", "atlas.gpkg", "--append")).toMatchObject({ status: 0 });
    const { stdout } = run("info", "atlas.gpkg", "--json");
    expect(stdout).toContain('"capitals"');
    expect(stdout).toContain('"rivers"');
    // Nothing of a temporary file stays.
    expect(readdirSync(machine.work).filter((name) => /^\.|-journal$|-wal$/.test(name))).toEqual([]);
  });

  test("on Windows, names of devices and of streams of files are rejected", () => {
    const device = run("convert", "samples/parks.geojson", "aux.csv");
    expect(device.status).toBe(2);
    expect(device.stderr).toContain(
      "aux.csv: aux is the name of a device on Windows; choose another name for the output",
    );
    const stream = run("convert", "samples/parks.geojson", "parks:2024.csv");
    expect(stream.status).toBe(2);
    expect(stream.stderr).toContain('a name on Windows cannot contain ":"');
    expect(existsSync(work("parks"))).toBe(false);
  });

  test("on Windows, CRLF, and names with blanks and letters of other languages, are read and written", () => {
    const rows = ["name;note;latitude;longitude", '"Köln";"two\r\nlines";50,94;6,96', "Łódź;one;51,77;19,46", ""];
    mkdirSync(work("Größen und Maße"));
    writeFileSync(work("Größen und Maße/Städte.csv"), rows.join("\r\n"));
    const paths = ["    source: Größen und Maße\\Städte.csv", "    target: Ausgabe\\Städte 2.geojson"];
    const job = ["name: städte", "steps:", "  - name: eins", ...paths, ""];
    writeFileSync(work("städte.yaml"), job.join("\r\n"));
    expect(run("run", "städte.yaml")).toMatchObject({ status: 0 });
    const { features } = JSON.parse(readFileSync(work("Ausgabe/Städte 2.geojson"), "utf8"));
    expect(features).toMatchObject([
      { properties: { name: "Köln", note: "two\r\nlines" }, geometry: { coordinates: [6.96, 50.94] } },
      { properties: { name: "Łódź", note: "one" }, geometry: { coordinates: [19.46, 51.77] } },
    ]);
  });

  test("on Windows, check, diff, info and rejects accept paths with backslashes, and a failed run leaves nothing", () => {
    expect(run("check", "samples\\parks.geojson")).toMatchObject({ status: 0 });
    const diff = run("diff", "samples\\parks.geojson", "samples\\shapefile\\parks.shp", "--html", "diff\\page.html");
    // samples/README.md: the same 27 features in each format.
    expect(diff).toMatchObject({ status: 0, stderr: expect.stringMatching(/equal +27/) });
    expect(readFileSync(work("diff/page.html"), "utf8")).toContain("<html");
    expect(run("info", "samples\\shapefile\\survey.shp").stdout).toContain("EPSG:25832");
    const left = `${windowsPath(machine.work)}\\left\\over.geojsonl`;
    expect(run("convert", "samples\\mixed.geojson", "mixed.shp", "--rejects", left)).toMatchObject({ status: 5 });
    expect(readFileSync(work("left/over.geojsonl"), "utf8").trim().split("\n")).toHaveLength(1);
    const failed = run("convert", "samples\\mixed.geojson", "failed\\mixed.shp", "--strict");
    expect(failed.status).not.toBe(0);
    expect(existsSync(work("failed"))).toBe(false);
  });

  test("on Windows, a job runs, and a second run has nothing to do", () => {
    expect(run("run", "samples\\jobs\\nightly.yaml")).toMatchObject({ status: 0 });
    expect(existsSync(work("samples/jobs/out/tall.csv"))).toBe(true);
    const { status, stderr } = run("run", "samples\\jobs\\nightly.yaml");
    expect(status).toBe(0);
    expect(stderr).toContain("nightly: 3 unchanged");
  });

  test("on Windows, serve and push keep a map in sync", async () => {
    const out = work("serve.out");
    const service = machine.start(["serve", "--data", "data", "--port", "0", "--json"], out);
    try {
      const url = await expect
        .poll(() => /"url":"(http:[^"]+)"/.exec(readFileSync(out, "utf8"))?.[1], { timeout: 120_000, interval: 200 })
        .toBeTruthy()
        .then(() => /"url":"(http:[^"]+)"/.exec(readFileSync(out, "utf8"))![1]!);
      checkFirstSync((args, options) => machine.run(args, options), url, ["--data", "data"], {
        capitals: "samples\\capitals.geojson",
        backup: `${windowsPath(machine.work)}\\before.geojson`,
        pulled: "pulled.gpkg",
        state: windowsPath(work("state")),
      });
    } finally {
      machine.stop();
      service.kill();
    }
  });
});
