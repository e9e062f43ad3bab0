import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it, test } from "vitest";
import { treeBytes, treeLevels } from "../../../plugins/flatgeobuf/index/levels.js";
import { FeatureSpool } from "../../../plugins/flatgeobuf/write/feature-spool.js";
import { ScratchFile } from "../../../plugins/shared/scratch-file.js";
import type { Feature } from "../../../src/model/index.js";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { featuresOf, hasOgr2ogr, ogr2ogr, readByPackage, readLayer } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;
const fresh = (extension = "fgb") => scratch.path(`${files++}.${extension}`);
const samples = new URL("../../../samples/", import.meta.url).pathname;

function writeGeoJson(features: readonly object[]): string {
  const path = fresh("geojson");
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features }));
  return path;
}

const random = createRandom(3);
const towns = Array.from({ length: 3000 }, (_, n) => ({
  type: "Feature",
  properties: { n, name: `town ${n}`, share: n / 7, day: "2024-02-29", at: "2024-02-29T12:00:00Z", big: n % 2 === 0 },
  geometry: { type: "Point", coordinates: [random() * 360 - 180, random() * 180 - 90] },
}));

const byNumber = (features: readonly Feature[]) =>
  [...features].sort((a, b) => Number(a.properties.n) - Number(b.properties.n));

/** Position of the index, and of the features behind it. */
function placesOf(bytes: Buffer, count: number): readonly [index: number, features: number] {
  const index = 12 + bytes.readUInt32LE(8);
  return [index, index + treeBytes(treeLevels(count, 16))];
}

describe("a file with an index", () => {
  it("has all features, in the order of the curve", async () => {
    const path = fresh();
    await convertFile(writeGeoJson(towns), path);
    const found = featuresOf(await readLayer(path));
    expect(found.map(({ properties }) => properties.n)).not.toEqual(towns.map(({ properties }) => properties.n));
    expect(byNumber(found).map(({ properties, geometry }) => ({ properties, geometry }))).toEqual(
      towns.map(({ properties, geometry }) => ({ properties, geometry })),
    );
  });

  it.skipIf(!hasOgr2ogr)("has the boxes and the order that GDAL writes", async () => {
    const source = writeGeoJson(towns);
    const [own, theirs] = [fresh(), fresh()];
    await convertFile(source, own);
    ogr2ogr("-f", "FlatGeobuf", theirs, source);
    const boxes = [own, theirs].map((path) => {
      const bytes = readFileSync(path);
      const [from, to] = placesOf(bytes, towns.length);
      const entries: number[][] = [];
      for (let at = from; at < to; at += 40) entries.push([0, 8, 16, 24].map((side) => bytes.readDoubleLE(at + side)));
      return entries;
    });
    expect(boxes[0]).toEqual(boxes[1]);
  });

  it.skipIf(!hasOgr2ogr)("is read by ogr2ogr, all of it and by a box", async () => {
    const path = fresh();
    await convertFile(writeGeoJson(towns), path);
    const within = ([x, y]: number[]) => x! >= 10 && x! <= 40 && y! >= -5 && y! <= 30;
    for (const [args, expected] of [
      [[], towns],
      [["-spat", "10", "-5", "40", "30"], towns.filter(({ geometry }) => within(geometry.coordinates))],
    ] as const) {
      const back = fresh("geojson");
      ogr2ogr("-f", "GeoJSON", back, path, ...args);
      const read: Feature[] = JSON.parse(readFileSync(back, "utf8")).features;
      expect(byNumber(read).map(({ properties }) => [properties.n, properties.name, properties.share])).toEqual(
        expected.map(({ properties }) => [properties.n, properties.name, properties.share]),
      );
    }
  });

  it("is read by the npm package", async () => {
    const path = fresh();
    await convertFile(writeGeoJson(towns), path);
    const found = byNumber(await readByPackage(path));
    expect(found.map(({ geometry }) => geometry)).toEqual(towns.map(({ geometry }) => geometry));
    expect(found.map(({ properties }) => properties)).toEqual(towns.map(({ properties }) => properties));
  });

  it("has a place for features without a geometry, which no box finds", async () => {
    const path = fresh();
    const features = towns.slice(0, 40).map((town, n) => (n % 3 === 0 ? { ...town, geometry: null } : town));
    await convertFile(writeGeoJson(features), path);
    const found = byNumber(featuresOf(await readLayer(path)));
    expect(found.map(({ geometry }) => geometry)).toEqual(features.map(({ geometry }) => geometry));
    const part = fresh("geojson");
    await convertFile(path, part, { bbox: [-180, -90, 180, 90] });
    expect(JSON.parse(readFileSync(part, "utf8")).features.length).toBe(26);
  });

  test.each([0, 1, 15, 16, 17, 256, 257])("of %i features is read back", async (count) => {
    const path = fresh();
    await convertFile(writeGeoJson(towns.slice(0, count)), path, { allowEmpty: true });
    expect(byNumber(featuresOf(await readLayer(path))).map(({ properties }) => properties.n)).toEqual(
      towns.slice(0, count).map(({ properties }) => properties.n),
    );
  });

  it("keeps the order of features at the same place", async () => {
    const path = fresh();
    await convertFile(
      writeGeoJson(towns.slice(0, 50).map((town) => ({ ...town, geometry: { type: "Point", coordinates: [1, 2] } }))),
      path,
    );
    expect(featuresOf(await readLayer(path)).map(({ properties }) => properties.n)).toEqual(
      Array.from({ length: 50 }, (_, n) => n),
    );
  });
});

describe("what a file holds", () => {
  it.skipIf(!hasOgr2ogr)("of mixed geometries is what ogr2ogr reads", async () => {
    for (const name of ["mixed", "parks", "rivers", "trail"]) {
      const path = fresh();
      const back = fresh("geojson");
      await convertFile(`${samples}${name}.geojson`, path);
      ogr2ogr("-f", "GeoJSON", back, path);
      const rounded = (geometries: unknown) =>
        JSON.parse(JSON.stringify(geometries), (_, each) =>
          typeof each === "number" ? Number(each.toFixed(7)) : each,
        );
      const theirs: Feature[] = JSON.parse(readFileSync(back, "utf8")).features;
      const own = featuresOf(await readLayer(path));
      expect(rounded(own.map(({ geometry }) => geometry))).toEqual(rounded(theirs.map(({ geometry }) => geometry)));
    }
  });

  it("says 0 for missing heights, since all features of a layer have some or none", async () => {
    const source = writeGeoJson([
      { type: "Feature", properties: {}, geometry: { type: "Point", coordinates: [1, 2, 3] } },
      { type: "Feature", properties: {}, geometry: { type: "Point", coordinates: [4, 5] } },
    ]);
    const path = fresh();
    const { losses } = await convertFile(source, path, { writerOptions: { index: "no" } });
    expect(losses.map(({ code, count }) => [code, count])).toEqual([["z-missing", 1]]);
    expect(featuresOf(await readLayer(path)).map(({ geometry }) => geometry)).toEqual([
      { type: "Point", coordinates: [1, 2, 3] },
      { type: "Point", coordinates: [4, 5, 0] },
    ]);
  });

  it("keeps titles and descriptions of a GeoPackage", async () => {
    const path = fresh();
    const { losses } = await convertFile(`${samples}geopackage/world.gpkg`, path, { layers: ["rivers"] });
    expect(losses.filter(({ code }) => code !== "metadata-left-out").map(({ code }) => code)).toEqual([]);
    const gpkg = fresh("gpkg");
    await convertFile(path, gpkg);
    expect((await readLayer(path)).info.name).toBe("rivers");
  });

  it("cuts fractions of seconds that GDAL would refuse", async () => {
    const source = fresh("csv");
    writeFileSync(source, "n,t\n1,2024-02-29T12:34:56.123456789+01:00\n2,2024-02-29T12:34:56.123456789\n");
    const path = fresh();
    const { losses } = await convertFile(source, path, { writerOptions: { index: "no" } });
    expect(featuresOf(await readLayer(path)).map(({ properties }) => properties.t)).toEqual([
      "2024-02-29T12:34:56.123456+01:00",
      "2024-02-29T12:34:56.123456789",
    ]);
    expect(losses.map(({ code, count }) => [code, count])).toEqual([["time-rounded", 1]]);
    const { stderr, stdout } = spawnSync("ogrinfo", ["-al", path], { encoding: "utf8" });
    expect(stderr).not.toMatch(/ERROR/);
    expect(stdout).toMatch(/2024\/02\/29 12:34:56/);
  });

  it("without an index goes to a stream in the order of the input", async () => {
    const path = fresh();
    await convertFile(writeGeoJson(towns), path, { writerOptions: { index: "no" } });
    expect(featuresOf(await readLayer(path)).map(({ properties }) => properties.n)).toEqual(
      towns.map(({ properties }) => properties.n),
    );
  });
});

describe("features that do not fit into memory", () => {
  it("are sorted in parts with the same result", async () => {
    const count = 1000;
    const chunk = () => {
      const next = createRandom(5);
      const sizes = Uint32Array.from({ length: count }, () => 8 + 8 * Math.floor(next() * 40));
      const boxes = Float64Array.from({ length: 4 * count }, (_, k) => ((k >> 2) * 7919 + (k & 1) * 31) % 1000);
      const bytes = Buffer.alloc(sizes.reduce((sum, size) => sum + size + 32, 0));
      let at = 0;
      for (let n = 0; n < count; n++) {
        for (let side = 0; side < 4; side++) bytes.writeDoubleLE(boxes[4 * n + side]!, at + 8 * side);
        bytes.fill(n % 251, at + 32, at + 32 + sizes[n]!);
        at += 32 + sizes[n]!;
      }
      return { bytes, sizes, boxes, extent: Float64Array.of(0, 0, 1000, 1000) };
    };
    const sortedBy = async (bucketBytes: number | undefined) => {
      const opened: string[] = [];
      const open = async () => {
        opened.push(fresh("spool"));
        return new ScratchFile("output", opened.at(-1)!);
      };
      const spool = new FeatureSpool("output", open, bucketBytes);
      await spool.add(chunk());
      await spool.add(chunk());
      const parts = [];
      for await (const { first, features, boxes, offsets } of spool.sorted(chunk().extent))
        parts.push({ first, features: Buffer.from(features), boxes: [...boxes], offsets: [...offsets] });
      spool.close();
      for (const path of opened) rmSync(path);
      return {
        parts: parts.length,
        features: Buffer.concat(parts.map(({ features }) => features)),
        boxes: parts.flatMap(({ boxes }) => boxes),
        offsets: parts.flatMap(({ offsets }) => offsets),
      };
    };
    const { parts: one, ...whole } = await sortedBy(undefined);
    const { parts: many, ...divided } = await sortedBy(10_000);
    expect([one, many > 20]).toEqual([1, true]);
    expect(divided).toEqual(whole);
    // The first chunk is kept in memory, until there is no room for the second.
    const { parts: _, ...moved } = await sortedBy(Math.ceil(chunk().bytes.length / 4));
    expect(moved).toEqual(whole);
  });
});
