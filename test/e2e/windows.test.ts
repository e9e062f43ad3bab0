/** geoferry with Node's build for Windows, under Wine. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { hasProgram, samples } from "../support/command.js";
import { nodeVersion } from "../support/node-versions.js";
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

  test("on Windows, convert accepts paths with a drive letter and backslashes, for all six formats", () => {
    for (const format of ["gpkg", "shp", "csv", "kml", "gpx", "geojson"]) {
      const target = `${windowsPath(machine.work)}\\${format}\\capitals.${format}`;
      const to = run("convert", "samples\\capitals.geojson", target, "--quiet");
      expect(to, format).toMatchObject({ status: 0, stderr: "" });
      const back = run("convert", `${format}\\capitals.${format}`, `${format}.geojson`, "--quiet");
      expect(back, format).toMatchObject({ status: 0, stderr: "" });
      const { features } = JSON.parse(readFileSync(work(`${format}.geojson`), "utf8"));
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
      const admin = (args: string[], input = ""): Record<string, string> => {
        const { status, stdout, stderr } = machine.run(["admin", ...args, "--data", "data", "--json"], { input });
        expect(stderr).toBe("");
        expect(status).toBe(0);
        return JSON.parse(stdout);
      };
      admin(["user", "add", "ada@example.org"], "a quiet harbour\n");
      const { id: map } = admin(["map", "add", "Capitals", "--owner", "ada@example.org"]);
      const credential = admin(["credential", "add", "--owner", "ada@example.org"]);
      const env = {
        GEOFERRY_URL: url,
        GEOFERRY_CLIENT_ID: credential.client_id,
        GEOFERRY_CLIENT_SECRET: credential.client_secret,
        GEOFERRY_STATE: windowsPath(work("state")),
      };
      const push = ["push", "samples\\capitals.geojson", "--map", map!, "--mode", "full"];
      const first = machine.run(push, { env });
      expect(first.stdout + first.stderr).toContain("created 195, updated 0, deleted 0");
      const second = machine.run(push, { env });
      expect(second.stdout + second.stderr).toContain("nothing to do");
      expect(machine.run(["pull", "pulled.gpkg", "--map", map!], { env })).toMatchObject({ status: 0 });
    } finally {
      machine.stop();
      service.kill();
    }
  });
});
