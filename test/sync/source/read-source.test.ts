import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Kind } from "../../../src/model/geometry.js";
import { chooseRejectsFile } from "../../../src/sync/source/rejects-path.js";
import { samples } from "../../support/command.js";
import { convertFile } from "../../support/host.js";
import { createRequest, refusal, SourceFixture } from "../source-fixture.js";

const side = new SourceFixture();
afterAll(() => side[Symbol.asyncDispose]());

const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const capitals = join(samples, "capitals.geojson");

describe("a source", () => {
  test("reads a source completely, with one row per feature", async () => {
    const { source, workspace, features } = await side.read(capitals);
    const { features: expected } = JSON.parse(readFileSync(capitals, "utf8"));
    expect(source).toMatchObject({
      readCount: 195,
      features: 195,
      complete: true,
      outOfScope: 0,
      losses: [],
      gaps: [],
    });
    expect(workspace.source.count).toBe(195);
    expect(features.map(({ properties }) => properties)).toEqual(
      expected.map((feature: { properties: unknown }) => feature.properties),
    );
    const rows = [...workspace.source.rows()];
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set([Kind.Point]));
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(195);
    expect(source.files).toEqual([{ path: capitals, size: readFileSync(capitals).length, sha256: sha256(capitals) }]);
  });

  test("the digests of files are those of the content that was read, even if it changes before the map is read", async () => {
    const path = side.geojson("replaced.geojson", [{ ref: "a" }]);
    const before = sha256(path);
    const key = {
      property: "ref",
      // Called when the features have been read.
      read: () => {
        side.geojson("replaced.geojson", [{ ref: "b" }]);
        return "a";
      },
    };
    const { source } = await side.read(path, {}, key);
    expect(source.files).toMatchObject([{ path, sha256: before }]);
  });

  test("features are equal across formats and property orders", async () => {
    const packed = side.path("capitals.gpkg");
    await convertFile(capitals, packed);
    const digests = async (path: string) => {
      const { workspace } = await side.read(path);
      return [...workspace.source.rows()].map(({ digest }) => digest);
    };
    const reordered = JSON.parse(readFileSync(capitals, "utf8"));
    for (const feature of reordered.features) {
      feature.properties = Object.fromEntries(Object.entries(feature.properties).reverse());
    }
    const path = side.file("reordered.geojson", JSON.stringify(reordered));
    const expected = await digests(capitals);
    expect(await digests(packed)).toEqual(expected);
    expect(await digests(path)).toEqual(expected);
  });

  test("the fingerprint depends on values, ids, order and rejects", async () => {
    const of = async (name: string, features: readonly object[]) => {
      const path = side.file(name, JSON.stringify({ type: "FeatureCollection", features }));
      return (await side.read(path)).source.fingerprint;
    };
    const feature = (id: number, ref: string, ...coordinates: number[]) => ({
      type: "Feature",
      id,
      properties: { ref },
      geometry: { type: "Point", coordinates },
    });
    const [a, b] = [feature(1, "A", 1, 1), feature(2, "B", 2, 2)];
    const all = await Promise.all([
      of("f0.geojson", [a, b]),
      of("f1.geojson", [a, feature(2, "C", 2, 2)]),
      of("f2.geojson", [a, feature(3, "B", 2, 2)]),
      of("f3.geojson", [b, a]),
      of("f4.geojson", [a, b, feature(4, "D", 200, 2)]),
      of("f5.geojson", [a, feature(2, "B", 2, 2.0000001)]),
    ]);
    expect(new Set(all).size).toBe(all.length);
    expect(await of("f0.geojson", [a, feature(2, "B", 2, 2.00000001)])).toBe(all[0]);
  });

  test("coordinates have the requested decimals", async () => {
    const path = side.geojson("decimals.geojson", [{ ref: "A" }]);
    writeFileSync(path, readFileSync(path, "utf8").replace("[10,50]", "[10.123456789,50.987654321,1.23456]"));
    const coordinates = async (precision: number) =>
      (await side.read(path, { precision })).features.map(({ geometry }) => geometry);
    expect(await coordinates(7)).toEqual([{ type: "Point", coordinates: [10.1234568, 50.9876543, 1.235] }]);
    expect(await coordinates(2)).toEqual([{ type: "Point", coordinates: [10.12, 50.99, 1.235] }]);
  });

  test("several inputs and layers form one source", async () => {
    const one = side.csv("one.csv", "ref", ["A", "B"]);
    const two = side.geojson("two.geojson", [{ ref: "C", more: 1 }]);
    const both = await side.read([one, two]);
    expect(both.features.map(({ properties }) => properties.ref)).toEqual(["A", "B", "C"]);
    expect(both.source.files.map(({ path }) => path)).toEqual([one, two]);
    const layers = side.path("layers.gpkg");
    await convertFile(one, layers, { layerName: "first" });
    await convertFile(two, layers, { layerName: "second", append: true });
    const united = await side.read(layers);
    expect(united.source.spooledFiles.map(({ layer }) => layer)).toEqual(["first", "second"]);
    expect(united.features.map(({ properties }) => properties.ref)).toEqual(["A", "B", "C"]);
    expect((await side.read(layers, { source: { layers: ["second"] } })).features).toHaveLength(1);
  });

  test("a source supports the options of a conversion: filters, names, reference systems", async () => {
    const reading = await side.read(capitals, {
      source: { where: "iso2 = 'FR'", select: ["iso2"], rename: { iso2: "ref" } },
    });
    expect(reading.features.map(({ properties }) => properties)).toEqual([{ ref: "FR" }]);
    expect(reading.source).toMatchObject({ readCount: 195, features: 1, complete: true });
    expect((await side.read(capitals, { source: { limit: 2 } })).source).toMatchObject({
      features: 2,
      complete: false,
    });
  });

  test("the files of a Shapefile include its companions", async () => {
    const folder = side.path("shapes");
    mkdirSync(folder);
    const path = join(folder, "huts.shp");
    await convertFile(join(samples, "huts.geojson"), path);
    const { source } = await side.read(path);
    const names = source.files.map((file) => basename(file.path)).sort();
    expect(names).toEqual(expect.arrayContaining(["huts.dbf", "huts.prj", "huts.shp", "huts.shx"]));
    for (const { path, sha256: hash } of source.files) expect(hash).toBe(sha256(path));
    const copy = join(folder, "copy.shp");
    for (const extension of ["shp", "shx", "dbf", "prj", "cpg"]) {
      const from = path.replace(/shp$/, extension);
      if (existsSync(from)) cpSync(from, copy.replace(/shp$/, extension));
    }
    expect((await side.read(copy)).source.fingerprint).toBe(source.fingerprint);
  });

  test("a source without features is allowed", async () => {
    const path = side.file("empty.geojson", '{"type":"FeatureCollection","features":[]}');
    expect((await side.read(path)).source).toMatchObject({ readCount: 0, features: 0, complete: true, extent: null });
  });

  test("a source fails like a conversion", async () => {
    expect((await refusal(() => side.read(side.path("none.csv")))).code).toBe("input-missing");
  });
});

describe("rejects of a source", () => {
  const flawed = (name: string) =>
    side.file(name, ["ref,lon,lat", "A,1,1", "B,nowhere,2", "C,3,3"].map((line) => `${line}\n`).join(""));

  test("rejects of a source are published at the path of --rejects", async () => {
    const rejects = side.path("said.geojsonl");
    const { source } = await side.read(flawed("said.csv"), { source: { rejects } });
    expect(source).toMatchObject({ readCount: 3, features: 3, complete: false });
    expect(existsSync(rejects)).toBe(false);
    expect(await source.rejects.publish()).toBe(rejects);
    expect(readFileSync(rejects, "utf8").trim().split("\n")).toHaveLength(1);
  });

  test("replace rejects of an earlier run, but no other file", async () => {
    const read = (rejects: string) => side.read(flawed("again.csv"), { source: { rejects } });
    const rejects = side.path("again.geojsonl");
    for (let night = 0; night < 2; night++) await (await read(rejects)).source.rejects.publish();
    expect(readFileSync(rejects, "utf8").trim().split("\n")).toHaveLength(1);
    const empty = side.file("empty.geojsonl", "");
    expect(await (await read(empty)).source.rejects.publish()).toBe(empty);
    for (const text of ['{"type":"Feature","geometry":null,"properties":{}}\n', "a,b\n1,2\n", "\n"]) {
      const mine = side.file("mine.geojsonl", text);
      const refused = await refusal(() => read(mine));
      expect([refused.code, refused.kind]).toEqual(["output-exists", "usage"]);
      expect(readFileSync(mine, "utf8")).toBe(text);
    }
  });

  const defaultFile = (inputs: readonly string[], map = "m") =>
    chooseRejectsFile(createRequest(inputs), "http://localhost", map);
  const defaultPath = (inputs: readonly string[], map?: string) => defaultFile(inputs, map).path;

  test("rejects of a source are written to the working directory by default, and never over the input", async () => {
    expect(defaultPath(["../in/places.csv", "more.csv"])).toBe("places.rejects.geojsonl");
    expect(defaultPath(["-"])).toBe("stdin.rejects.geojsonl");
    expect(defaultPath(["https://example.org/data/places.gpkg?v=1#x"])).toBe("places.rejects.geojsonl");
    expect(defaultPath(["map:7c0f"])).toBe("map-7c0f.rejects.geojsonl");
    const path = flawed("input.csv");
    expect((await refusal(() => side.read(path, { source: { rejects: path } }))).kind).toBe("usage");
  });

  test("a file that is named for rejects may have those of other inputs, but not of another map", async () => {
    const originOf = (input: string, map: string) =>
      chooseRejectsFile(createRequest([input], { source: { rejects: "r.geojsonl" } }), "http://localhost", map).origin;
    expect(originOf("monday.csv", "a")).toBe(originOf("tuesday.csv", "a"));
    expect(originOf("monday.csv", "a")).not.toBe(originOf("monday.csv", "b"));
    const other = '{"type":"Feature","geometry":null,"properties":{},"reject":{"code":"c","origin":"other"}}\n';
    const rejects = side.file("shared.rejects.geojsonl", other);
    expect((await refusal(() => side.read(flawed("roads.csv"), { source: { rejects } }))).code).toBe("output-exists");
    expect(readFileSync(rejects, "utf8")).toBe(other);
  });

  test("by default, rejects of inputs with the same name and of several maps get files of their own", () => {
    const [before, folder] = [process.cwd(), mkdtempSync(join(tmpdir(), "geoferry-rejects-"))];
    process.chdir(folder);
    try {
      const write = ({ path, origin }: { path: string; origin: string }) =>
        writeFileSync(
          path,
          `{"type":"Feature","geometry":null,"properties":{},"reject":{"code":"c","origin":"${origin}"}}\n`,
        );
      write(defaultFile(["x/roads.csv"], "a"));
      expect(defaultPath(["x/roads.csv"], "a")).toBe("roads.rejects.geojsonl");
      expect(defaultPath(["x/roads.csv"], "b")).toBe("roads-2.rejects.geojsonl");
      write(defaultFile(["y/roads.csv"], "a"));
      expect(defaultPath(["z/roads.csv"], "a")).toBe("roads-3.rejects.geojsonl");
      rmSync("roads.rejects.geojsonl");
      expect(defaultPath(["y/roads.csv"], "a")).toBe("roads-2.rejects.geojsonl");
      expect(defaultPath(["x/roads.csv"], "a")).toBe("roads.rejects.geojsonl");
    } finally {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    }
  });
});
