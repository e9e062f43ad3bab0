import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, main, samples, startGeoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const point = (x: number, y: number, properties: object = {}) => ({
  type: "Feature",
  properties,
  geometry: { type: "Point", coordinates: [x, y] },
});
/** Runs a shell script with node as $0 and the command line as $1. */
const sh = (script: string) =>
  spawnSync("sh", ["-c", script, process.execPath, main], { encoding: "utf8", cwd: scratch.folder, timeout: 60_000 });
const collection = (...features: object[]) => JSON.stringify({ type: "FeatureCollection", features });

describe("exit statuses", () => {
  test("exit 0: success", () => {
    const done = geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("done.csv")]);
    expect(done).toMatchObject({ status: 0, stdout: "" });
    expect(done.stderr).toContain("195 features");
  });

  test.skipIf(process.platform === "win32")("exit 6: the system allows too few open files", () => {
    for (let n = 1; n <= 5; n++) writeFileSync(scratch.path(`few-${n}.geojson`), collection(point(n, 1)));
    const done = sh(`ulimit -n 30; "$0" "$1" convert few-*.geojson few/ --to csv`);
    expect([done.status, done.stderr]).toEqual([6, expect.stringContaining("too many open files")]);
    expect(done.stderr).toContain("ulimit -n");
    expect(done.stderr).not.toContain("bug in geoferry");
    expect(done.stderr).toMatch(
      /5 failed: few-1\.geojson, few-2\.geojson, few-3\.geojson, few-4\.geojson, few-5\.geojson/,
    );
  });

  test("exit 5: check finds projected coordinates that are exchanged, also without --strict", () => {
    const swapped = scratch.path("swapped.csv");
    writeFileSync(swapped, "id,easting,northing\n1,5400000,500000\n2,5400100,500010\n");
    for (const more of [[], ["--strict"]]) {
      const found = geoferry(["check", swapped, "--source-crs", "EPSG:25832", ...more]);
      expect(found.status).toBe(5);
      expect(found.stdout).toMatch(/swapped: x and y seem to be swapped\n(?:.*\n)*.*warning: 2 of 2 features: /);
      expect(found.stdout).not.toContain("no problem found");
    }
    const records = geoferry(["check", swapped, "--source-crs", "EPSG:25832", "--json"]).stdout.trim().split("\n");
    expect(records.map((record) => JSON.parse(record))).toMatchObject([
      { type: "problem", code: "axis-order-suspected" },
      { type: "layer", problems: 1 },
    ]);
    writeFileSync(swapped, "id,easting,northing\n1,500000,5400000\n2,500010,5400100\n");
    expect(geoferry(["check", swapped, "--source-crs", "EPSG:25832"]).status).toBe(0);
  });

  test("exit 1: a plugin with a bug is an internal error", () => {
    const plugin = scratch.path("broken.mjs");
    writeFileSync(
      plugin,
      `export default { apiVersion: 1, id: "broken", label: "Broken", extensions: ["broken"], identify: () => "no",
        reader: { options: {}, load: async () => ({ open() { return undefined.layers; } }) } };`,
    );
    writeFileSync(scratch.path("any.broken"), "x");
    const failed = geoferry([
      "convert",
      scratch.path("any.broken"),
      scratch.path("never.csv"),
      "--plugin",
      plugin,
      "--from",
      "broken",
    ]);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain("bug");
  });

  test.each([
    ["an unknown command", ["frobnicate"]],
    ["no command", []],
    ["an unknown flag", ["convert", "a.csv", "b.csv", "--frob"]],
    ["no output", ["convert", "a.csv"]],
    ["an output without a known format", ["convert", `${samples}/capitals.geojson`, "out.unknown"]],
    ["an unknown format", ["convert", `${samples}/capitals.geojson`, "out.csv", "--to", "nonsense"]],
    ["a box of three numbers", ["convert", `${samples}/capitals.geojson`, "out.csv", "--bbox", "1,2,3"]],
    [
      "a condition that cannot be read",
      ["convert", `${samples}/capitals.geojson`, "out.csv", "--where", "population >"],
    ],
    ["an unknown option of the reader", ["convert", `${samples}/capitals.geojson`, "out.csv", "--in", "nonsense=1"]],
    ["an option without its value", ["convert", `${samples}/capitals.geojson`, "out.csv", "--in", "nonsense"]],
    ["a number of workers below one", ["convert", `${samples}/capitals.geojson`, "out.csv", "--workers", "0"]],
    ["append and overwrite together", ["convert", `${samples}/capitals.geojson`, "out.csv", "--append", "--overwrite"]],
  ])("exit 2: %s", (_, args) => {
    const failed = geoferry(args, { cwd: scratch.folder });
    expect(failed.status).toBe(2);
    expect(failed.stderr).toMatch(/^geoferry: .+/);
  });

  test("exit 2: an existing output is not replaced", () => {
    writeFileSync(scratch.path("there.csv"), "untouched");
    const failed = geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("there.csv")]);
    expect(failed.status).toBe(2);
    expect(failed.stderr).toContain("--overwrite");
  });

  test.each([
    ["missing", "no-such-file.shp", undefined],
    ["empty", "empty.geojson", ""],
    ["unrecognised", "noise.bin", Buffer.from([0, 1, 2, 3, 0xff, 0xfe, 0, 0])],
    ["truncated", "cut.geojson", '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geom'],
    ["corrupt", "corrupt.geojson", '{"type":"FeatureCollection","features":[{]}'],
  ])("exit 3: an input that is %s", (_, name, content) => {
    if (content !== undefined) writeFileSync(scratch.path(name), content);
    const output = scratch.path(`from-${name}.csv`);
    const failed = geoferry(["convert", scratch.path(name), output]);
    expect(failed.status).toBe(3);
    expect(failed.stderr).toContain(name);
    expect(readdirSync(scratch.folder).filter((file) => file.includes(`from-${name}`))).toEqual([]);
  });

  test("exit 3: a missing layer, with the names of the existing ones", () => {
    const failed = geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("x.csv"), "--layer", "nope"]);
    expect(failed.status).toBe(3);
    expect(failed.stderr).toContain('"capitals"');
  });

  test("exit 3: coordinates that are not longitude and latitude, without a reference system", () => {
    writeFileSync(scratch.path("metres.csv"), "x,y,name\n3280000,5290000,a\n");
    const failed = geoferry(["convert", scratch.path("metres.csv"), scratch.path("metres.geojson")]);
    expect(failed.status).toBe(3);
    expect(failed.stderr).toContain("--source-crs");
  });

  test("exit 4: a format that cannot hold the target's coordinates", () => {
    const failed = geoferry([
      "convert",
      `${samples}/capitals.geojson`,
      scratch.path("y.geojson"),
      "--target-crs",
      "EPSG:3857",
    ]);
    expect(failed.status).toBe(4);
  });

  test("exit 4: a loss under --strict, with nothing written", () => {
    writeFileSync(scratch.path("long.geojson"), collection(point(1, 2, { note: "x".repeat(300) })));
    const failed = geoferry(["convert", scratch.path("long.geojson"), scratch.path("long.shp"), "--strict"]);
    expect(failed.status).toBe(4);
    expect(readdirSync(scratch.folder).filter((file) => /^long\.(shp|shx|dbf)/.test(file))).toEqual([]);
  });

  test("exit 5: the geometries of some features are rejected, all features are written, and a file has the reasons", () => {
    writeFileSync(scratch.path("flawed.geojson"), collection(point(1, 2), point(1, 200), point(3, 4)));
    const done = geoferry(["convert", scratch.path("flawed.geojson"), scratch.path("flawed.csv"), "--json"]);
    expect(done.status).toBe(5);
    const summary = done.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .at(-1);
    expect(summary).toMatchObject({
      type: "summary",
      read: 3,
      written: 3,
      rejected: 1,
      kept: 1,
      rejects: scratch.path("flawed.csv.rejects.geojsonl"),
    });
  });

  test("exit 2: a rejects file that is another file; a device is left alone", () => {
    writeFileSync(scratch.path("mine.txt"), "mine");
    const run = (rejects: string) =>
      geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("with-rejects.csv"), "--rejects", rejects]);
    expect(run(scratch.path("mine.txt")).status).toBe(2);
    expect(run(scratch.path("with-rejects.csv")).status).toBe(2);
    expect(readFileSync(scratch.path("mine.txt"), "utf8")).toBe("mine");
    expect(run("/dev/null").status).toBe(0);
    expect(statSync("/dev/null").isFile()).toBe(false);
  });

  test("exit 6: an output that cannot be written", () => {
    writeFileSync(scratch.path("no-folder"), "");
    const failed = geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("no-folder/out.csv")]);
    expect(failed.status).toBe(6);
  });

  test("exit 7: an empty input does not replace a non-empty file", () => {
    writeFileSync(scratch.path("nothing.geojson"), collection());
    writeFileSync(scratch.path("full.csv"), "a\n1\n");
    expect(geoferry(["convert", scratch.path("nothing.geojson"), scratch.path("full.csv"), "--overwrite"]).status).toBe(
      7,
    );
    expect(
      geoferry(["convert", scratch.path("nothing.geojson"), scratch.path("full.csv"), "--overwrite", "--allow-empty"])
        .status,
    ).toBe(0);
  });

  test("exit 7: more rejects than allowed", () => {
    writeFileSync(scratch.path("bad.geojson"), collection(point(1, 200), point(1, 200), point(3, 4)));
    const run = (limit: string, name: string) =>
      geoferry(["convert", scratch.path("bad.geojson"), scratch.path(name), "--max-rejects", limit]).status;
    expect(run("1", "one.csv")).toBe(7);
    writeFileSync(scratch.path("worse.geojson"), collection(point(1, 200)));
    const none = geoferry(["convert", scratch.path("worse.geojson"), scratch.path("none.csv"), "--max-rejects", "0"]);
    expect(none.stderr).toContain("stopped: 1 feature could not be carried");
    // Names the first one, since nothing is written that would.
    expect(none.stderr).toMatch(/worse\.geojson, record 1[^;]*: latitude 200/);
    expect(run("50%", "half.csv")).toBe(7);
    expect(run("2", "two.csv")).toBe(5);
    expect(run("67%", "most.csv")).toBe(5);
    expect(readdirSync(scratch.folder).filter((file) => /^(one|half)\.csv/.test(file))).toEqual([]);
  });

  test("exit 6: records that cannot be written", () => {
    const failed = sh('"$0" "$1" formats >/dev/full');
    expect(failed.status).toBe(6);
    expect(failed.stderr).toContain("stdout: the records cannot be written there: the disk is full");
  });

  test("exit 8: a server that cannot be reached", () => {
    const failed = geoferry(["convert", "http://127.0.0.1:59998/a.csv", scratch.path("unreached.csv")]);
    expect(failed.status).toBe(8);
    expect(failed.stderr).toContain("the server refuses the connection; try again later");
  });

  test.each([
    ["features", "convert big.geojsonl - --to csv"],
    ["records", "info big.geojsonl --json"],
    ["help", "--help"],
  ])("exit 141: the reader closed the pipe, without a message: %s", (_, line) => {
    const feature = `${JSON.stringify(point(1, 2, { text: "x".repeat(200) }))}\n`;
    writeFileSync(scratch.path("big.geojsonl"), feature.repeat(20_000));
    const run = sh(`{ "$0" "$1" ${line}; echo $? >&2; } | true`);
    expect(run.stderr).toBe("141\n");
  });

  test("exit 0: a closed stderr does not stop a conversion", () => {
    writeFileSync(scratch.path("small.csv"), "lon,lat\n1,2\n");
    const run = sh('"$0" "$1" convert small.csv unread.geojson 2>&1 | true; cat unread.geojson');
    expect(run.stdout).toContain("FeatureCollection");
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "exit 130: interrupted by %s, with nothing left",
    async (signal) => {
      const folder = scratch.path(signal);
      mkdirSync(folder);
      const line = `${JSON.stringify(point(1, 2, { text: "x".repeat(200) }))}\n`;
      writeFileSync(`${folder}/big.geojsonl`, line.repeat(200_000));
      const child = startGeoferry(["convert", "big.geojsonl", "out.shp", "--workers", "2"], folder);
      // Its temporary files show that it is running.
      await expect.poll(() => readdirSync(folder).length, { timeout: 20_000 }).toBeGreaterThan(1);
      child.kill(signal);
      const status = await new Promise((resolve) => child.on("exit", resolve));
      expect(status).toBe(130);
      expect(readdirSync(folder)).toEqual(["big.geojsonl"]);
    },
  );

  test.each([false, true])(
    "exit 130: an interrupted batch reports which inputs were done (--json %s)",
    async (json) => {
      const folder = scratch.path(`folder-${json}`);
      mkdirSync(`${folder}/in`, { recursive: true });
      const line = `${JSON.stringify(point(1, 2, { text: "x".repeat(200) }))}\n`;
      writeFileSync(`${folder}/in/a.geojsonl`, line);
      for (const name of ["b", "c", "d"]) writeFileSync(`${folder}/in/${name}.geojsonl`, line.repeat(200_000));
      const args = ["convert", "in", "out/", "--to", "shapefile", "--workers", "2", ...(json ? ["--json"] : [])];
      const child = startGeoferry(args, folder);
      let output = "";
      child[json ? "stdout" : "stderr"]!.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
      await expect.poll(() => existsSync(`${folder}/out/a.shp`), { timeout: 20_000 }).toBe(true);
      child.kill("SIGINT");
      const status = await new Promise((resolve) => child.on("close", resolve));
      expect(status).toBe(130);
      if (json) {
        const record = JSON.parse(output.trim().split("\n").at(-1)!) as Record<string, string[]>;
        expect(record).toMatchObject({ type: "interrupted", failed: [] });
        expect(record.done).toContain("in/a.geojsonl");
        expect([...record.done!, ...record.notDone!].sort()).toEqual(
          ["a", "b", "c", "d"].map((n) => `in/${n}.geojsonl`),
        );
        expect(record.notDone).toContain("in/d.geojsonl");
      } else {
        expect(output).toMatch(/interrupted: \d of 4 inputs done, 0 failed, \d not done/);
        expect(output).toContain("  done: in/a.geojsonl\n");
        expect(output).toContain("  not done: in/d.geojsonl\n");
      }
    },
  );
});

test("SIGUSR1 does not open a debugger, which every user of the machine could use", async () => {
  const folder = scratch.path("debugger");
  mkdirSync(folder);
  const child = startGeoferry(["convert", "-", "out.csv", "--from", "csv"], folder);
  const stderr = text(child.stderr!);
  child.stdin!.write("id,lon,lat\n1,2,3\n");
  await delay(1500);
  child.kill("SIGUSR1");
  await delay(500);
  child.stdin!.end("2,3,4\n");
  const [status] = (await once(child, "close")) as [number];
  expect(await stderr).not.toContain("Debugger");
  expect([status, readFileSync(`${folder}/out.csv`, "utf8")]).toEqual([0, "lon,lat,id\n2,3,1\n3,4,2\n"]);
});
