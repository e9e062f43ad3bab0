import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { convert } from "../../../src/pipeline/convert.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { samples } from "../../support/command.js";
import { convertFile, createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
beforeEach(() => {
  scratch = new TemporaryFolder();
});
afterEach(() => scratch.remove());

const path = (name: string) => scratch.path(name);
const files = () => readdirSync(scratch.folder).sort();
const shapes = () => files().filter((name) => name.endsWith(".shp"));
const content = (name: string) => readFileSync(path(name), "utf8");

const geometries = {
  point: { type: "Point", coordinates: [1, 2] },
  line: {
    type: "LineString",
    coordinates: [
      [0, 0],
      [1, 1],
    ],
  },
  polygon: {
    type: "Polygon",
    coordinates: [
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
    ],
  },
};

function input(name: string, ...kinds: (keyof typeof geometries)[]): string {
  const features = kinds.map((kind) => ({ type: "Feature", properties: { kind }, geometry: geometries[kind] }));
  writeFileSync(path(name), JSON.stringify({ type: "FeatureCollection", features }));
  return path(name);
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof GeoferryError ? error.code : String(error)),
  );
const overwrite = { overwrite: true };

describe("an output is refused and nothing changes", () => {
  test("an output whose symbolic links form a loop is rejected", async () => {
    symlinkSync("b.csv", path("a.csv"));
    symlinkSync("a.csv", path("b.csv"));
    for (const request of [{}, overwrite, { append: true }, { ifNewer: true }]) {
      await expect(convertFile(input("in.geojson", "point"), path("a.csv"), request)).rejects.toThrow(
        "a.csv: cannot be written: its symbolic links form a loop",
      );
    }
    expect(readlinkSync(path("a.csv"))).toBe("b.csv");
  });

  test.each([
    ["a link", symlinkSync],
    ["a second name", linkSync],
  ])("an output that is an input behind %s is rejected", async (_, join) => {
    const from = input("in.geojson", "point");
    join(from, path("same.geojson"));
    for (const request of [{}, overwrite, { append: true }, { ifNewer: true }]) {
      expect(await codeOf(convertFile(from, path("same.geojson"), request))).toBe("output-is-input");
    }
    expect(JSON.parse(content("in.geojson")).features).toHaveLength(1);
  });

  test("an output that is a companion of an input is rejected", async () => {
    await convertFile(input("in.geojson", "point"), path("roads.shp"));
    const before = content("roads.dbf");
    expect(await codeOf(convertFile(path("roads.shp"), path("roads.dbf"), { to: "csv", ...overwrite }))).toBe(
      "output-is-input",
    );
    expect(content("roads.dbf")).toBe(before);
  });

  test.each(["dbf", "shx"])("an output whose .%s is an input is rejected", async (extension) => {
    await convertFile(input("in.geojson", "point"), path("roads.shp"));
    const before = files().map((name) => [name, content(name)]);
    const given = path(`roads.${extension}`);
    expect(await codeOf(convertFile(given, path("roads.shp"), overwrite))).toBe("output-is-input");
    expect(await codeOf(convertFile(given, path("roads.shp"), { ifNewer: true }))).toBe("output-is-input");
    expect(files().map((name) => [name, content(name)])).toEqual(before);
    // Another dataset of the name is not read.
    expect(await codeOf(convertFile(given, path("roads.csv")))).toBe("done");
    expect(await codeOf(convertFile(given, path("roads.csv"), overwrite))).toBe("done");
    expect(await codeOf(convertFile(given, path("roads.shp.zip")))).toBe("done");
    expect(await codeOf(convertFile(given, path("roads.shp.zip"), overwrite))).toBe("done");
  });

  test("a rejects file that is an input is rejected", async () => {
    const rejects = input("out.csv.rejects.geojsonl", "point");
    await expect(convertFile(rejects, path("out.csv"))).rejects.toThrow("--rejects");
    expect(files()).toEqual(["out.csv.rejects.geojsonl"]);
    expect(await codeOf(convertFile(rejects, path("out.csv"), { rejects: path("other") }))).toBe("done");
    expect(existsSync(rejects)).toBe(true);
  });

  test("only rejects of an earlier run are replaced or removed, also with --overwrite", async () => {
    const mine = `${JSON.stringify({ type: "Feature", geometry: null, properties: { mine: 1 } })}\n`;
    const byDefault = "out.csv.rejects.geojsonl";
    writeFileSync(path(byDefault), mine);
    expect(await codeOf(convertFile(input("in.geojson", "point"), path("out.csv")))).toBe("output-exists");
    writeFileSync(path("mine.geojson"), mine);
    const request = { rejects: path("mine.geojson"), overwrite: true };
    expect(await codeOf(convertFile(path("in.geojson"), path("out.csv"), request))).toBe("output-exists");
    expect([content(byDefault), content("mine.geojson"), existsSync(path("out.csv"))]).toEqual([mine, mine, false]);

    const earlier = `${JSON.stringify({ type: "Feature", geometry: null, properties: {}, reject: { code: "out-of-range" } })}\n`;
    writeFileSync(path(byDefault), earlier);
    expect(await codeOf(convertFile(path("in.geojson"), path("out.csv")))).toBe("done");
    expect(existsSync(path(byDefault))).toBe(false);
  });

  test("an output with a part of the name of the rejects file is rejected", async () => {
    const rejects = path("out_point.shp");
    const mixed = input("in.geojson", "point", "line");
    expect(await codeOf(convertFile(mixed, path("out.shp"), { rejects }))).toBe("output-collision");
    expect(files()).toEqual(["in.geojson"]);
  });

  test("an output with an existing part is rejected", async () => {
    writeFileSync(path("out_line.shp"), "precious");
    expect(await codeOf(convertFile(input("in.geojson", "point", "line"), path("out.shp")))).toBe("output-exists");
    expect(files()).toEqual(["in.geojson", "out_line.shp"]);
  });

  test("an output that another conversion of the run writes, in another case or through a link, is rejected", async () => {
    const claims = new Set<string>();
    const from = input("in.geojson", "point");
    mkdirSync(path("real"));
    symlinkSync("real", path("link"));
    const run = (output: string, request: Partial<ConvertRequest> = {}) =>
      codeOf(
        convert({ inputs: [from], output: path(output), workers: 1, ...request }, createTestHost(), undefined, claims),
      );
    expect(await run("a.csv")).toBe("done");
    expect(await run("A.csv")).toBe("output-collision");
    expect(await run("a.csv", overwrite)).toBe("output-collision");
    expect(await run("b.csv", { rejects: path("a.csv") })).toBe("output-collision");
    expect(await run("real/c.csv")).toBe("done");
    expect(await run("link/c.csv")).toBe("output-collision");
  });

  test("a table whose .prj would replace that of a Shapefile is rejected; formats without a .prj are allowed", async () => {
    const from = input("in.geojson", "point");
    await convertFile(from, path("out.shp"), { targetCrs: "EPSG:3857" });
    const before = content("out.prj");
    const mercator = { targetCrs: "EPSG:3857", ...overwrite };
    await expect(convertFile(from, path("out.csv"), mercator)).rejects.toThrow("out.prj: belongs to out.shp");
    expect(existsSync(path("out.csv"))).toBe(false);
    expect(content("out.prj")).toBe(before);
    expect(await codeOf(convertFile(from, path("no/out.csv"), mercator))).toBe("done");
    expect(await codeOf(convertFile(from, path("out.csv"), overwrite))).toBe("done");
    expect(await codeOf(convertFile(from, path("out.gpkg"), mercator))).toBe("done");
    expect(await codeOf(convertFile(from, path("out.geojson"), { ...mercator, writerOptions: { crs: "yes" } }))).toBe(
      "done",
    );
  });
});

test("a set may replace itself beside an input of the same stem", async () => {
  const from = input("places.geojson", "point");
  await convertFile(from, path("places.shp"));
  expect(await codeOf(convertFile(from, path("places.shp"), overwrite))).toBe("done");
});

describe("outputs of an earlier run", () => {
  const named = (code: string, { notices }: Awaited<ReturnType<typeof convertFile>>) =>
    notices.find((notice) => notice.code === code);

  test("a single file is removed if the output is split now", async () => {
    await convertFile(input("one.geojson", "point"), path("out.shp"));
    const report = await convertFile(input("two.geojson", "point", "line"), path("out.shp"), overwrite);
    expect(shapes()).toEqual(["out_line.shp", "out_point.shp"]);
    expect(files().filter((name) => name.startsWith("out."))).toEqual([]);
    expect(named("leftover-parts", report)).toBeUndefined();
  });

  test("parts that this run does not write are kept and reported", async () => {
    await convertFile(input("all.geojson", "point", "line", "polygon"), path("out.shp"));
    const split = await convertFile(input("two.geojson", "point", "line"), path("out.shp"), overwrite);
    expect(named("leftover-parts", split)).toMatchObject({ count: 1 });
    expect(named("leftover-parts", split)?.example).toContain("out_polygon.shp");
    const single = await convertFile(input("one.geojson", "point"), path("out.shp"), overwrite);
    expect(named("leftover-parts", single)).toMatchObject({ count: 3 });
    expect(shapes()).toEqual(["out.shp", "out_line.shp", "out_point.shp", "out_polygon.shp"]);
    // The run before this one wrote one file: what is beside it is none of its parts.
    const again = await convertFile(path("one.geojson"), path("out.shp"), overwrite);
    expect(named("leftover-parts", again)).toBeUndefined();
  });

  test("nothing is removed if the run fails or the result is empty", async () => {
    await convertFile(input("one.geojson", "point"), path("out.shp"));
    const before = content("out.shp");
    const mixed = input("two.geojson", "point", "line");
    expect(await codeOf(convertFile(mixed, path("out.shp"), { ...overwrite, where: "nope = 1" }))).not.toBe("done");
    expect(content("out.shp")).toBe(before);
    expect(await codeOf(convertFile(mixed, path("out.shp"), { ...overwrite, where: "kind = 'x'" }))).toBe(
      "guard-empty",
    );
    expect(content("out.shp")).toBe(before);
  });

  test("an old rejects file is removed, unless it is a link", async () => {
    const from = input("one.geojson", "point");
    const reject = JSON.stringify({ type: "Feature", geometry: null, reject: { code: "out-of-range" } });
    writeFileSync(path("out.csv.rejects.geojsonl"), reject);
    await convertFile(from, path("out.csv"));
    expect(files()).toEqual(["one.geojson", "out.csv"]);
    writeFileSync(path("kept"), reject);
    symlinkSync("kept", path("out.csv.rejects.geojsonl"));
    await convertFile(from, path("out.csv"), overwrite);
    expect(lstatSync(path("out.csv.rejects.geojsonl")).isSymbolicLink()).toBe(true);
    expect(content("kept")).toBe(reject);
  });
});

test("several parts and their rejects appear together or not at all", async () => {
  const mixed = `${samples}/mixed.geojson`;
  await convertFile(mixed, path("out.shp"));
  const contents = () =>
    new Map(files().map((name) => [name, lstatSync(path(name)).isFile() ? content(name) : "folder"]));
  const before = contents();
  expect(before.has("out.shp.rejects.geojsonl")).toBe(true);
  rmSync(path("out_polygon.dbf"));
  const onProgress = ({ phase }: { phase: string }) => {
    // Too late to be seen before the files are written.
    if (phase === "convert" && !existsSync(path("out_polygon.dbf"))) mkdirSync(path("out_polygon.dbf"));
  };
  const request = { inputs: [mixed], output: path("out.shp"), select: ["name"], workers: 1, ...overwrite };
  await expect(convert(request, { ...createTestHost(), onProgress })).rejects.toThrow("it is a folder");
  expect(contents()).toEqual(new Map([...before, ["out_polygon.dbf", "folder"]]));
});

describe("a file name of maximum length", () => {
  const stem = `${"ß".repeat(123)}a`;
  const input = {
    type: "FeatureCollection",
    features: [
      { type: "Feature", properties: {}, geometry: geometries.point },
      { type: "Feature", properties: {}, geometry: { type: "Point", coordinates: [1, 200] } },
    ],
  };

  test("a file with a name of maximum length can be written repeatedly without leftovers", async () => {
    writeFileSync(path("in.geojson"), JSON.stringify({ ...input, features: input.features.slice(0, 1) }));
    for (const overwrite of [false, true]) {
      await convert({ inputs: [path("in.geojson")], output: path(`${stem}.geojson`), overwrite }, createTestHost());
      expect(files()).toEqual(["in.geojson", `${stem}.geojson`]);
    }
  });

  test("a name of maximum length is shortened deterministically for the rejects file", async () => {
    writeFileSync(path("in.geojson"), JSON.stringify(input));
    const request = { inputs: [path("in.geojson")], output: path(`${stem}.geojson`), overwrite: true };
    const { rejects } = await convert(request, createTestHost());
    expect(rejects).toMatch(/ß~[0-9a-f]{8}\.rejects\.geojsonl$/);
    expect(existsSync(rejects!)).toBe(true);
    expect((await convert(request, createTestHost())).rejects).toBe(rejects);
    writeFileSync(path("in.geojson"), JSON.stringify({ ...input, features: input.features.slice(0, 1) }));
    await convert(request, createTestHost());
    expect(files()).toEqual(["in.geojson", `${stem}.geojson`]);
  });
});
