import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { AppendLock, awaitAppends } from "../../../src/io/output/append-lock.js";
import { convert } from "../../../src/pipeline/convert.js";
import type { ConvertRequest, Host } from "../../../src/pipeline/request.js";
import { createTestHost } from "../../support/host.js";
import { deadMark, ownMark, reusedPidMark } from "../../support/marks.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
afterEach(() => vi.restoreAllMocks());
const host = createTestHost();
let folders = 0;

function newFolder(): string {
  const folder = scratch.path(`appends-${++folders}`);
  mkdirSync(folder);
  return folder;
}

function points(count: number, name: string): string {
  const path = scratch.path(`${name}.csv`);
  writeFileSync(path, `name,lon,lat\n${Array.from({ length: count }, (_, i) => `${name},${i % 90},1\n`).join("")}`);
  return path;
}

const run = (input: string, output: string, request: Partial<ConvertRequest> = {}, changes: Partial<Host> = {}) =>
  convert({ inputs: [input], output, workers: 1, ...request }, { ...host, ...changes });

/** The number of features of each name. */
async function countByName(path: string): Promise<Record<string, number>> {
  const csv = scratch.path(`counted-${++folders}.csv`);
  await run(path, csv);
  const counts: Record<string, number> = {};
  const [header, ...rows] = readFileSync(csv, "utf8").trim().split("\n");
  const column = header!.split(",").indexOf("name");
  for (const row of rows) counts[row.split(",")[column]!] = (counts[row.split(",")[column]!] ?? 0) + 1;
  return counts;
}

const hidden = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("."));

const inTurn = async (names: readonly string[], output: string, order: string[]) => {
  for (const name of names) {
    using lock = await AppendLock.acquire(output, host.signal);
    lock!.checkHeld();
    order.push(name);
  }
};

const lockOf = (path: string) => `${dirname(path)}/.${basename(path)}.append-lock`;

describe("runs that append to one file at once", () => {
  test.each(["csv", "geojson", "geojsonl", "shp", "gpx", "fgb", "parquet"])(
    "all features of a .%s are kept",
    async (extension) => {
      const output = `${newFolder()}/out.${extension}`;
      await run(points(10, "old"), output);
      const others = ["a", "b", "c"].map((name) => points(3000, name));
      await Promise.all(others.map((input) => run(input, output, { append: true })));
      expect(await countByName(output)).toEqual({ old: 10, a: 3000, b: 3000, c: 3000 });
      expect(hidden(dirname(output))).toEqual([]);
    },
  );

  test("a run that replaces the file waits, so that its features are the last ones", async () => {
    const output = `${newFolder()}/out.csv`;
    await run(points(10, "old"), output);
    let replaced: Promise<unknown> = Promise.resolve();
    const onLayers = () => {
      replaced = run(points(5, "new"), output, { overwrite: true });
    };
    await run(points(20_000, "a"), output, { append: true }, { onLayers });
    await replaced;
    expect(await countByName(output)).toEqual({ new: 5 });
  });
});

test("a line that another program adds to the file meanwhile is kept, and the run ends with input-changed", async () => {
  const output = `${newFolder()}/out.csv`;
  await run(points(10, "old"), output);
  const onLayers = () => appendFileSync(output, "1,1,other\n");
  const appended = run(points(5, "new"), output, { append: true }, { onLayers });
  await expect(appended).rejects.toMatchObject({ code: "input-changed" });
  expect(await countByName(output)).toEqual({ old: 10, other: 1 });
  expect(hidden(dirname(output))).toEqual([]);
});

test("an output below a file is an error of the output", async () => {
  const file = points(1, "below");
  await expect(run(file, `${file}/out.csv`, { append: true })).rejects.toMatchObject({ code: "output-failed" });
});

describe("runs of one process", () => {
  test("wait for each other in order, also for more than a minute", async () => {
    const output = `${newFolder()}/out.csv`;
    const first = await AppendLock.acquire(output, host.signal);
    const order: string[] = [];
    const others = ["a", "b", "c"].map((name) => inTurn([name], output, order));
    const { now } = Date;
    vi.spyOn(Date, "now").mockImplementation(() => now() + 61_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(order).toEqual([]);
    first![Symbol.dispose]();
    await Promise.all(others);
    expect(order).toEqual(["a", "b", "c"]);
    expect(hidden(dirname(output))).toEqual([]);
  });

  test("that are aborted while they wait end with interrupted, and the next one has its turn", async () => {
    const output = `${newFolder()}/out.csv`;
    const first = await AppendLock.acquire(output, host.signal);
    const control = new AbortController();
    const aborted = AppendLock.acquire(output, control.signal);
    const order: string[] = [];
    const last = inTurn(["last"], output, order);
    control.abort();
    await expect(aborted).rejects.toMatchObject({ code: "interrupted" });
    expect(order).toEqual([]);
    first![Symbol.dispose]();
    await last;
    expect(order).toEqual(["last"]);
  });

  test("change a GeoPackage one after the other", async () => {
    const output = `${newFolder()}/out.gpkg`;
    const all = { append: true, layerName: "all" };
    await run(points(10, "old"), output, all);
    await Promise.all(["a", "b", "c", "d"].map((name) => run(points(3000, name), output, all)));
    expect(await countByName(output)).toEqual({ old: 10, a: 3000, b: 3000, c: 3000, d: 3000 });
    expect(hidden(dirname(output))).toEqual([]);
  });

  test("that create a GeoPackage together plan for the layer that the first one creates", async () => {
    const output = `${newFolder()}/out.gpkg`;
    const all = { append: true, layerName: "all" };
    const first = run(points(90, "a"), output, all);
    const second = run(points(90, "b"), output, { ...all, sourceCrs: "EPSG:3857" });
    await Promise.all([first, second]);
    expect(await countByName(output)).toEqual({ a: 90, b: 90 });
    const lines = `${dirname(output)}/out.geojsonl`;
    await run(output, lines, { where: "name = 'b'" });
    const last = JSON.parse(readFileSync(lines, "utf8").trim().split("\n").at(-1)!);
    // 89 m east of the meridian of Greenwich on the sphere of Web Mercator (radius 6,378,137 m), in degrees.
    expect(last.geometry.coordinates[0]).toBeCloseTo((89 / 6_378_137) * (180 / Math.PI), 6);
  });
});

describe("the lock", () => {
  const abandoned = [deadMark, reusedPidMark, "", "no mark"];

  test.each(abandoned)("of a killed run is ignored: %o", async (content) => {
    const output = `${newFolder()}/out.csv`;
    await run(points(10, "old"), output);
    writeFileSync(lockOf(output), content);
    utimesSync(lockOf(output), 1, 1);
    await run(points(5, "new"), output, { append: true });
    expect(await countByName(output)).toEqual({ old: 10, new: 5 });
    expect(hidden(dirname(output))).toEqual([]);
  });

  test("of a killed run is removed by the next run in the folder", async () => {
    const output = `${newFolder()}/out.csv`;
    writeFileSync(lockOf(output), deadMark);
    await run(points(5, "new"), output);
    expect(hidden(dirname(output))).toEqual([]);
  });

  test("of a run that does not end is an error after a minute", async () => {
    const output = `${newFolder()}/out.csv`;
    await run(points(10, "old"), output);
    writeFileSync(lockOf(output), ownMark);
    const { now } = Date;
    let calls = 0;
    vi.spyOn(Date, "now").mockImplementation(() => now() + (calls++ === 0 ? 0 : 61_000));
    await expect(AppendLock.acquire(output, host.signal)).rejects.toMatchObject({ code: "output-locked" });
    calls = 0;
    await expect(awaitAppends(output, host.signal)).rejects.toMatchObject({ code: "output-locked" });
    expect(existsSync(lockOf(output))).toBe(true);
  });

  test("that another run has taken is noticed before anything is published", async () => {
    const output = `${newFolder()}/out.csv`;
    await run(points(10, "old"), output);
    const onLayers = () => writeFileSync(lockOf(output), ownMark);
    const appended = run(points(5, "new"), output, { append: true }, { onLayers });
    await expect(appended).rejects.toMatchObject({ code: "output-locked" });
    expect(await countByName(output)).toEqual({ old: 10 });
  });
});
