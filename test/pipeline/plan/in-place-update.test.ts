import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { convert } from "../../../src/pipeline/convert.js";
import type { ConvertReport } from "../../../src/pipeline/report.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { injectedFailure, type LedgerLayer, ledger, recordedCalls } from "../../support/formats/ledger-format.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
let output: string;
const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });
const feature = (properties: Record<string, unknown>, geometry: unknown = point(1, 0)) => ({
  type: "Feature",
  properties,
  geometry,
});

const towns: LedgerLayer = {
  name: "Towns",
  crs: "EPSG:3857",
  fields: [
    { name: "name", type: "text" },
    { name: "people", type: "int32" },
  ],
  rows: [{ type: "Feature", properties: { name: "old", people: 1 }, geometry: { type: "Point", coordinates: [5, 6] } }],
};
const roads: LedgerLayer = { name: "roads", crs: "EPSG:4326", fields: [{ name: "ref", type: "text" }], rows: [] };

beforeEach(() => {
  scratch = new TemporaryFolder();
  output = scratch.path("map.ledger");
  writeFileSync(output, JSON.stringify([towns, roads]));
  recordedCalls.length = 0;
  injectedFailure.ofCommit = null;
});
afterEach(() => scratch.remove());

function run(features: unknown[], request: Partial<ConvertRequest>, signal?: AbortSignal): Promise<ConvertReport> {
  const input = scratch.path("towns.geojson");
  writeFileSync(input, JSON.stringify({ type: "FeatureCollection", features }));
  const host = createTestHost(signal);
  host.registry.add(ledger, "test");
  return convert({ inputs: [input], output, workers: 1, ...request }, host);
}

const held = (): LedgerLayer[] => JSON.parse(readFileSync(output, "utf8"));
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof GeoferryError ? error.code : String(error)),
  );

describe("append to a file that is changed in place", () => {
  test("--append in place adds to the layer of that name, in its CRS, and keeps the others", async () => {
    const report = await run([feature({ name: "new", people: 2 })], { append: true });
    expect(recordedCalls).toEqual(["append", "finish", "commit"]);
    expect(held()[1]).toEqual(roads);
    expect(held()[0]).toMatchObject({ name: "Towns", crs: "EPSG:3857", fields: towns.fields });
    const [old, added] = held()[0]!.rows;
    expect(old).toEqual(towns.rows[0]);
    // A degree of the sphere of 6,378,137 m.
    const [x, y] = (added!.geometry as unknown as { coordinates: number[] }).coordinates;
    expect(x).toBeCloseTo((6378137 * Math.PI) / 180, 6);
    expect(y).toBeCloseTo(0, 6);
    expect(report.outputs).toMatchObject([{ path: output, layer: "Towns", features: 1, crs: "EPSG:3857" }]);
  });

  test("--append in place keeps the types of existing fields, reports losses, and adds new fields", async () => {
    const { losses } = await run([feature({ PEOPLE: "12", mayor: "A" }), feature({ PEOPLE: "many", mayor: null })], {
      append: true,
    });
    expect(held()[0]!.fields).toEqual([...towns.fields, { name: "mayor", type: "text" }]);
    const people = held()[0]!.rows.map((row) => row.properties?.people);
    expect(people).toEqual([1, 12, null]);
    expect(losses).toContainEqual(expect.objectContaining({ code: "cast-failed", field: "PEOPLE", count: 1 }));
  });

  test("--append in place creates a missing layer", async () => {
    await run([feature({ a: 1 })], { append: true, layerName: "lakes" });
    expect(held().map((layer) => [layer.name, layer.crs, layer.rows.length])).toEqual([
      ["Towns", "EPSG:3857", 1],
      ["roads", "EPSG:4326", 0],
      ["lakes", "EPSG:4326", 1],
    ]);
  });

  test("--append in place creates a missing file", async () => {
    output = scratch.path("fresh.ledger");
    await run([feature({ a: 1 })], { append: true });
    expect(recordedCalls).toEqual(["make", "finish"]);
    expect(held()).toHaveLength(1);
  });

  test("--append in place rejects another CRS than the layer's, with and without reprojection", async () => {
    const before = readFileSync(output);
    expect(await codeOf(run([feature({})], { append: true, targetCrs: "EPSG:25832" }))).toBe("usage");
    expect(await codeOf(run([feature({})], { append: true, reproject: false }))).toBe("usage");
    expect(await codeOf(run([feature({})], { append: true, targetCrs: "EPSG:3857" }))).toBe("done");
    expect(readFileSync(output).equals(before)).toBe(false);
  });

  test("--append in place rejects a layer without CRS unless coordinates are copied unchanged", async () => {
    writeFileSync(output, JSON.stringify([{ ...towns, crs: null }]));
    expect(await codeOf(run([feature({})], { append: true }))).toBe("usage");
    await run([feature({}, point(7, 8))], { append: true, reproject: false });
    expect(held()[0]!.rows[1]!.geometry).toEqual(point(7, 8));
  });
});

describe("replace a layer of a file that is changed in place", () => {
  test("--replace-layer in place replaces the layer and keeps the others", async () => {
    await run([feature({ x: 1.5 })], { replaceLayer: true });
    expect(recordedCalls).toEqual(["replace", "finish", "commit"]);
    expect(held()).toHaveLength(2);
    expect(held()[0]).toMatchObject({ name: "Towns", crs: "EPSG:4326", fields: [{ name: "x", type: "double" }] });
    expect(held()[0]!.rows).toHaveLength(1);
    expect(held()[1]).toEqual(roads);
  });

  test("--replace-layer in place adds a missing layer", async () => {
    const { notices } = await run([feature({ x: 1.5 })], { replaceLayer: true, layerName: "lakes" });
    const example = '--replace-layer found no layer "lakes" to replace and added it; there are "Towns", "roads"';
    expect(notices).toContainEqual({ code: "layer-added", layer: "lakes", count: 1, example });
    expect(held().map((layer) => layer.name)).toEqual(["Towns", "roads", "lakes"]);
  });

  test("--replace-layer in place refuses to replace features by an empty layer", async () => {
    const before = readFileSync(output);
    expect(await codeOf(run([], { replaceLayer: true }))).toBe("guard-empty");
    expect(readFileSync(output).equals(before)).toBe(true);
    expect(recordedCalls.at(-1)).toBe("abort");
    expect(await codeOf(run([], { replaceLayer: true, layerName: "roads" }))).toBe("done");
    expect(await codeOf(run([], { replaceLayer: true, allowEmpty: true }))).toBe("done");
  });
});

describe("a failed in-place change is rolled back completely", () => {
  const many = Array.from({ length: 5000 }, (_, i) => feature({ name: `n${i}` }));

  test("a change in place is rolled back after too many rejects", async () => {
    const before = readFileSync(output);
    const features = [...many, feature({ name: "far" }, point(200, 95)), feature({ name: "far" }, point(200, 95))];
    expect(await codeOf(run(features, { append: true, maxRejects: "1" }))).toBe("guard-rejects");
    expect(readFileSync(output).equals(before)).toBe(true);
    expect(recordedCalls).toEqual(["append", "abort"]);
    expect(existsSync(`${output}.rejects.geojsonl`)).toBe(false);
  });

  test("a change in place is rolled back after a loss with --strict", async () => {
    const before = readFileSync(output);
    expect(await codeOf(run([feature({ people: "many" })], { append: true, strict: true }))).toBe("lossy");
    expect(readFileSync(output).equals(before)).toBe(true);
    expect(recordedCalls).toEqual(["append", "finish", "abort"]);
  });

  test("a change in place is rolled back after a signal", async () => {
    const before = readFileSync(output);
    const stop = new AbortController();
    const host = createTestHost(stop.signal);
    host.registry.add(ledger, "test");
    const input = scratch.path("towns.geojson");
    writeFileSync(input, JSON.stringify({ type: "FeatureCollection", features: many }));
    const onProgress = ({ phase }: { phase: string }) => {
      if (phase === "convert") stop.abort();
    };
    const work = convert({ inputs: [input], output, append: true, workers: 1 }, { ...host, onProgress });
    expect(await codeOf(work)).toBe("interrupted");
    expect(readFileSync(output).equals(before)).toBe(true);
    expect(recordedCalls.at(-1)).toBe("abort");
    expect(recordedCalls).not.toContain("commit");
  });

  test("a change in place is rolled back after a failed commit, and the old rejects file is restored", async () => {
    const before = readFileSync(output);
    const rejects = `${output}.rejects.geojsonl`;
    const earlier = '{"type":"Feature","geometry":null,"properties":{},"reject":{"code":"out-of-range"}}\n';
    writeFileSync(rejects, earlier);
    injectedFailure.ofCommit = new Error("database is locked");
    const features = [feature({ name: "near" }), feature({ name: "far" }, point(200, 95))];
    await expect(run(features, { append: true })).rejects.toThrow("database is locked");
    expect(readFileSync(output).equals(before)).toBe(true);
    expect(readFileSync(rejects, "utf8")).toBe(earlier);
    expect(recordedCalls).toEqual(["append", "finish", "commit", "abort"]);
    injectedFailure.ofCommit = null;
    await run(features, { append: true });
    expect(readFileSync(rejects, "utf8")).toContain("far");
  });
});
