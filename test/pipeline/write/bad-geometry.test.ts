import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import type { Feature } from "../../../src/model/index.js";
import { samples } from "../../support/command.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const put = (name: string, content: string | Buffer): string => {
  const path = scratch.path(name);
  writeFileSync(path, content);
  return path;
};
const linesOf = <T>(path: string): T[] =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);

interface RejectLine extends Feature {
  readonly reject: { readonly code: string; readonly kept?: boolean; readonly record?: number; readonly text?: string };
}

/** A layer of which the second feature has a geometry that is none. */
const point = (name: string, coordinates: unknown) =>
  `{"type":"Feature","properties":{"name":"${name}"},"geometry":{"type":"Point","coordinates":${JSON.stringify(coordinates)}}}`;

/** A Shapefile whose second record says more points than it has. */
function shapefile(): string {
  for (const extension of ["shx", "dbf", "prj", "cpg"])
    copyFileSync(`${samples}/shapefile/rivers.${extension}`, scratch.path(`bad.${extension}`));
  const shp = readFileSync(`${samples}/shapefile/rivers.shp`);
  const second = 100 + 8 + 2 * shp.readInt32BE(104);
  shp.writeInt32LE(1_000_000, second + 8 + 40);
  return put("bad.shp", shp);
}

/** A GeoPackage whose second geometry ends early. */
function geopackage(): string {
  const path = scratch.path("bad.gpkg");
  copyFileSync(`${samples}/geopackage/world.gpkg`, path);
  const database = new Database(path);
  database.exec("PRAGMA recursive_triggers = off; DROP TRIGGER IF EXISTS rtree_rivers_geom_update6");
  const triggers = database.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").pluck().all() as string[];
  for (const name of triggers) database.exec(`DROP TRIGGER "${name}"`);
  const column = database
    .prepare("SELECT column_name FROM gpkg_geometry_columns WHERE table_name = 'rivers'")
    .pluck()
    .get() as string;
  const second = database.prepare("SELECT rowid FROM rivers ORDER BY rowid LIMIT 1 OFFSET 1").pluck().get();
  database.prepare(`UPDATE rivers SET "${column}" = substr("${column}", 1, 60) WHERE rowid = ?`).run(second);
  database.close();
  return path;
}

const sources: Readonly<Record<string, () => string>> = {
  "GeoJSON, a position of text": () =>
    put("text.geojsonl", [point("a", [1, 2]), point("b", ["x", 2]), point("c", [3, 4])].join("\n")),
  "GeoJSON, a latitude beyond the pole": () =>
    put("far.geojsonl", [point("a", [1, 2]), point("b", [1, 95]), point("c", [3, 4])].join("\n")),
  "GeoJSON, a ring of one position": () => {
    const ring = point("b", [[[1, 2]]]).replace('"Point"', '"Polygon"');
    return put("ring.geojsonl", [point("a", [1, 2]), ring, point("c", [3, 4])].join("\n"));
  },
  "CSV, words for a coordinate": () => put("words.csv", "name,lon,lat\na,1,2\nb,1,north\nc,3,4\n"),
  "CSV, a geometry that ends early": () => put("wkt.csv", 'name,wkt\na,POINT (1 2)\nb,"POINT (1"\nc,POINT (3 4)\n'),
  "KML, coordinates of words": () => {
    const placemark = (name: string, coordinates: string) =>
      `<Placemark><name>${name}</name><Point><coordinates>${coordinates}</coordinates></Point></Placemark>`;
    const all = placemark("a", "1,2") + placemark("b", "no,where") + placemark("c", "3,4");
    return put("words.kml", `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${all}</Document></kml>`);
  },
  "GPX, a waypoint without a latitude": () => {
    const all =
      '<wpt lat="2" lon="1"><name>a</name></wpt><wpt lon="1"><name>b</name></wpt><wpt lat="4" lon="3"><name>c</name></wpt>';
    return put("nowhere.gpx", `<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="t">${all}</gpx>`);
  },
  "Shapefile, a record that contradicts itself": shapefile,
  "GeoPackage, a geometry that ends early": geopackage,
};
const layerOf = (name: string) => (name.startsWith("GeoPackage") ? { layers: ["rivers"] } : {});

describe.each(Object.entries(sources))("%s", (name, make) => {
  test("a feature with a bad geometry is kept without geometry, and counted with the rejects", async () => {
    const input = make();
    const output = scratch.path("kept.geojsonl");
    const report = await convertFile(input, output, { ...layerOf(name), overwrite: true });
    const features = linesOf<Feature>(output);
    expect(report).toMatchObject({ read: features.length, written: features.length, rejected: 1, kept: 1 });
    expect(features.map(({ geometry }) => geometry === null)).toEqual(features.map((_, i) => i === 1));
    const [reject, ...more] = linesOf<RejectLine>(report.rejects!);
    expect(more).toEqual([]);
    expect(reject!.reject).toMatchObject({ kept: true, record: 2 });
    // The feature is known by its attributes, whichever file it is looked up in.
    if (!name.startsWith("GPX")) expect(features[1]!.properties).toMatchObject(reject!.properties!);
    expect(Object.keys(features[1]!.properties!).length).toBeGreaterThan(0);
  });

  test("a feature with a bad geometry is left out on request, or if the target needs geometries", async () => {
    const input = make();
    const whole = await convertFile(input, scratch.path("whole.geojsonl"), { ...layerOf(name), overwrite: true });
    const output = scratch.path("without.geojsonl");
    const asked = { ...layerOf(name), overwrite: true, onBadGeometry: "reject" as const };
    const report = await convertFile(input, output, asked);
    expect(report).toMatchObject({ read: whole.read, written: whole.read - 1, rejected: 1, kept: 0 });
    expect(linesOf<Feature>(output)).toHaveLength(whole.read - 1);
    expect(linesOf<RejectLine>(report.rejects!)[0]!.reject).not.toHaveProperty("kept");
    const target = { ...layerOf(name), overwrite: true };
    const held = await convertFile(input, scratch.path("held.gpx"), target);
    expect(held).toMatchObject({ read: whole.read, rejected: 1, kept: 0 });
  });

  test("a feature with a bad geometry is kept in a target with a scan, on one and two threads", async () => {
    const input = make();
    const texts: Buffer[] = [];
    for (const workers of [1, 2]) {
      const output = scratch.path(`summed${workers}.gpkg`);
      const report = await convertFile(input, output, { ...layerOf(name), overwrite: true, workers });
      expect(report).toMatchObject({ rejected: 1, kept: 1, written: report.read });
      texts.push(readFileSync(output));
    }
    expect(texts[1]!.equals(texts[0]!)).toBe(true);
  });
});

describe("the guards", () => {
  const csv = () => put("guarded.csv", "name,lon,lat\na,1,2\nb,1,north\nc,3,4\n");

  test("guards count features that are kept without geometry", async () => {
    const output = scratch.path("guarded.geojson");
    await expect(convertFile(csv(), output, { maxRejects: "0" })).rejects.toMatchObject({ code: "guard-rejects" });
    await expect(convertFile(csv(), output, { maxRejects: "33%" })).rejects.toMatchObject({ code: "guard-rejects" });
    expect(existsSync(output)).toBe(false);
    expect(await convertFile(csv(), output, { maxRejects: "34%" })).toMatchObject({ written: 3 });
  });

  test("--strict counts features kept without geometry as losses, and names the option that leaves them out", async () => {
    const output = scratch.path("strict.geojson");
    const error = await convertFile(csv(), output, { strict: true }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "lossy", message: expect.stringContaining("--on-bad-geometry reject") });
    expect(existsSync(output)).toBe(false);
    const report = await convertFile(csv(), output, { strict: true, onBadGeometry: "reject" });
    expect(report).toMatchObject({ written: 2, rejected: 1, kept: 0 });
  });
});

test("a Shapefile has a null shape in place of a damaged shape", async () => {
  const input = sources["GeoJSON, a position of text"]!();
  const output = scratch.path("nulls.shp");
  expect(await convertFile(input, output)).toMatchObject({ written: 3, kept: 1 });
  const shp = readFileSync(output);
  // Records of a point take 8 + 20 bytes, those of a null shape 8 + 4 (Technical Description, table 2 and 3).
  expect(shp.length).toBe(100 + 28 + 12 + 28);
});

test("a multi geometry keeps its valid parts, and the others are a loss", async () => {
  // WKB of a MultiLineString of two lines, little-endian; the second begins at infinity.
  const line = (...numbers: number[]) =>
    Buffer.concat([head(2), count(2), Buffer.from(Float64Array.from(numbers).buffer)]);
  const count = (many: number) => Buffer.from(Uint32Array.of(many).buffer);
  const head = (kind: number) => Buffer.concat([Buffer.of(1), count(kind)]);
  const wkb = Buffer.concat([head(5), count(2), line(0, 0, 1, 1), line(Number.POSITIVE_INFINITY, 2, 3, 3)]);
  const input = put("parts.csv", `name,wkb\na,${wkb.toString("hex")}\n`);
  const output = scratch.path("parts.geojsonl");
  const report = await convertFile(input, output);
  expect(report).toMatchObject({ rejected: 0, losses: [{ code: "non-finite-part", count: 1 }] });
  const [feature] = linesOf<Feature>(output);
  expect(feature!.geometry).toEqual({ type: "MultiLineString", coordinates: [[[0, 0], [1, 1]]] }); // biome-ignore format: pairs
});

test("a polygon whose last position differs in height is closed in GeoJSON (RFC 7946, 3.1.6)", async () => {
  const input = put("above.csv", 'name,wkt\na,"POLYGON Z ((0 0 1,10 0 2,10 10 3,0 0 4))"\n');
  const output = scratch.path("above.geojsonl");
  const report = await convertFile(input, output);
  expect(report.notices.map(({ code }) => code)).toContain("ring-closed");
  const [feature] = linesOf<Feature>(output);
  const [ring] = (feature!.geometry as { coordinates: number[][][] }).coordinates;
  expect(ring!.at(-1)).toEqual(ring![0]);
  expect(ring).toContainEqual([0, 0, 4]);
});
