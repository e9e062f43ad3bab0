/**
 * Memory that is given back is used again for something else. Here it is overwritten at once, and memory of any size is
 * lent: a later read sees values that no file has.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { FileSource } from "../../src/io/input/source.js";
import type { Batch } from "../../src/model/index.js";
import { convert } from "../../src/pipeline/convert.js";
import { convertMany } from "../../src/pipeline/convert-many.js";
import type { ConvertRequest } from "../../src/pipeline/request.js";
import { createTestHost } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const memory = vi.hoisted(() => ({ overwritten: false, givenBack: 0 }));

vi.mock("../../src/model/buffer-pool.js", () => {
  const lent = new Set<ArrayBufferLike>();
  const giveBack = (buffer: ArrayBufferLike) => {
    const known = lent.delete(buffer);
    if (known) {
      memory.givenBack++;
      new Uint8Array(buffer).fill(0xd7);
    }
    return known;
  };
  const borrow = (bytes: number) => {
    if (!memory.overwritten) return new Uint8Array(bytes);
    // Longer than asked for and of any content, as what was used before is.
    const buffer = new Uint8Array(bytes + 24).fill(0xd7).buffer;
    lent.add(buffer);
    return new Uint8Array(buffer, 0, bytes);
  };
  const isAcquired = (buffer: ArrayBufferLike) => lent.has(buffer);
  return { acquireBuffer: borrow, releaseBuffer: giveBack, donateBuffer: () => {}, isAcquired };
});

const rows = 2500;
const square = (x: number, y: number, side: number) => [
  [x, y],
  [x, y + side],
  [x + side, y + side],
  [x + side, y],
  [x, y],
];

/** What a reader and a writer treat each in its own way: several dimensions, holes, parts, null and broken geometries. */
const geometries: Readonly<Record<string, (i: number) => unknown>> = {
  points: (i) => ({ type: "Point", coordinates: [i / 100, i / 200, i] }),
  multipoints: (i) => ({
    type: "MultiPoint",
    coordinates: Array.from({ length: 1 + (i % 20) }, (_, k) => [k, i / 90]),
  }),
  lines: (i) => ({
    type: "MultiLineString",
    coordinates: Array.from({ length: 1 + (i % 3) }, (_, p) =>
      Array.from({ length: 2 + ((i + p) % 40) }, (_, k) => [k / 10 + p, i / 100, k]),
    ),
  }),
  polygons: (i) =>
    i % 7 === 0
      ? null
      : {
          type: "MultiPolygon",
          coordinates: [
            [square(0, i / 100, 1), square(0.2, i / 100 + 0.2, 0.5).toReversed()],
            i % 5 === 0 ? [[[3, 3]]] : [square(2, i / 100, 0.25)],
          ],
        },
};

/** What else is read, by the geometries: a GPX has no polygons. */
const others: Readonly<Record<string, readonly string[]>> = {
  lines: ["gpkg", "kml", "csv", "gpx"],
  polygons: ["gpkg", "kml", "csv"],
};

let scratch: TemporaryFolder;
const inputs = new TemporaryFolder();
const host = createTestHost();

const request = (input: string, output: string): ConvertRequest => ({
  inputs: [input],
  output,
  workers: 1,
  overwrite: true,
});

beforeAll(async () => {
  memory.overwritten = false;
  for (const [name, geometryOf] of Object.entries(geometries)) {
    const features = Array.from({ length: rows }, (_, i) => ({
      type: "Feature",
      properties: {
        name: `row ${i} ${"é".repeat(i % 9)}`,
        number: i,
        share: i / 7,
        day: "2024-02-29",
        yes: i % 2 === 0,
      },
      geometry: geometryOf(i),
    }));
    writeFileSync(inputs.path(`${name}.geojson`), JSON.stringify({ type: "FeatureCollection", features }));
    for (const format of ["shp", ...(others[name] ?? [])]) {
      await convert(request(inputs.path(`${name}.geojson`), inputs.path(`${name}.${format}`)), host);
    }
  }
});
afterAll(() => inputs.remove());
beforeEach(() => {
  scratch = new TemporaryFolder();
});
afterEach(() => scratch.remove());

/** By their sums: megabytes are slow to compare otherwise. */
const contents = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(`${folder}/${name}`))
        .digest("hex"),
    ]);

/** What comes out with memory that is used again, and with memory that never is. */
async function both(act: () => Promise<unknown>) {
  const found = [];
  for (const overwritten of [true, false]) {
    memory.overwritten = overwritten;
    memory.givenBack = 0;
    await act();
    if (overwritten) expect(memory.givenBack).toBeGreaterThan(0);
    found.push(contents(scratch.folder));
  }
  return found;
}

const targets = ["shp", "geojson", "geojsonl", "csv", "kml"];
// From GeoJSON to GeoPackage nothing is lent.
const cases = Object.keys(geometries).flatMap((name) => [
  ...targets.flatMap((to) => ["shp", "geojson"].map((from) => [name, from, to] as const)),
  [name, "shp", "gpkg"] as const,
  ...(others[name] ?? []).flatMap((from) => ["shp", "gpkg"].map((to) => [name, from, to] as const)),
]);

describe("output does not depend on buffer reuse", () => {
  test.each(cases)("buffer reuse does not change the output: %s from %s to %s", async (name, from, to) => {
    const [used, fresh] = await both(() =>
      convert(request(inputs.path(`${name}.${from}`), scratch.path(`out.${to}`)), host),
    );
    expect(used).toEqual(fresh);
  });

  test("buffer reuse does not change the outputs of concurrent conversions", async () => {
    const asked = { ...request("", `${scratch.folder}/`), inputs: [inputs.path("*.shp")], to: "geojson" };
    const [used, fresh] = await both(() => convertMany(asked, host));
    expect(used).toHaveLength(4);
    expect(used).toEqual(fresh);
  });

  test("buffer reuse does not change the output with a filter, a limit and a repair", async () => {
    const asked = {
      ...request(inputs.path("polygons.shp"), scratch.path("out.shp")),
      where: "number > 10",
      limit: 1800,
      targetCrs: "EPSG:3857",
      makeValid: true,
    };
    const [used, fresh] = await both(() => convert(asked, host));
    expect(used).toEqual(fresh);
  });
});

test.each(Object.keys(geometries))("batches of %s stay valid after reading has ended", async (name) => {
  const reader = await host.registry.get("shapefile").reader!.load();
  const { HostContext } = await import("../../src/pipeline/execute/host-context.js");
  const read = async (keep: boolean) => {
    memory.overwritten = keep;
    const context = new HostContext(name, host.signal, false, undefined, host.now);
    await using dataset = await reader.open(FileSource.at(inputs.path(`${name}.shp`)), {} as never, context);
    const kept: Batch[] = [];
    for await (const batch of dataset.layers[0]!.batches()) kept.push(batch as Batch);
    return kept.flatMap((batch) => [...batch.features()]);
  };
  expect(JSON.stringify(await read(true))).toBe(JSON.stringify(await read(false)));
});
