/** Buckets of a real object store as inputs and outputs, behind a proxy that records and changes requests. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { newMark } from "../../src/io/output/abandoned-files.js";
import { convertMany } from "../../src/pipeline/convert-many.js";
import { expandInputs } from "../../src/pipeline/input/expand-inputs.js";
import { main, samples } from "../support/command.js";
import { convertFile, createTestHost } from "../support/host.js";
import { JobFixture, pointsCsv } from "../support/jobs/job-fixture.js";
import { type Bucket, startObjectStore } from "../support/servers/object-store.js";
import {
  type ObjectResponse,
  ObjectStoreProxy,
  slowDownResponse,
  truncateResponse,
} from "../support/servers/object-store-proxy.js";
import { findFixtureKinds } from "../support/sync/sync-fixture.js";

const store = await startObjectStore();
const gate = store && (await new ObjectStoreProxy(store.endpoint).listen());
const folder = mkdtempSync(join(tmpdir(), "geoferry-s3-"));
const environment = store ? { ...store.environment, AWS_ENDPOINT_URL_S3: gate!.endpoint } : {};
Object.assign(process.env, environment);
afterAll(() => {
  gate?.close();
  rmSync(folder, { recursive: true, force: true });
});

const sample = (name: string): string => join(samples, name);
const at = (name: string): string => join(folder, name);
let files = 0;
const fresh = (extension: string): string => at(`${files++}.${extension}`);

/** The path of a table that takes three parts of an upload; few rows with long texts, which convert quickly. */
let tableOfParts = "";
beforeAll(() => {
  tableOfParts = at("parts.csv");
  const lines = Array.from({ length: 6000 }, (_, n) => `${n},${"row ".repeat(750)}${n},${(n % 360) - 180},${n % 90}`);
  writeFileSync(tableOfParts, `id,name,lon,lat\n${lines.join("\n")}\n`);
});

/** A table with this many points, about 60 bytes each. */
function largeTable(rows: number): string {
  const path = fresh("csv");
  const lines = Array.from({ length: rows }, (_, n) => `${n},${"row ".repeat(10)}${n},${(n % 360) - 180},${n % 90}`);
  writeFileSync(path, `id,name,lon,lat\n${lines.join("\n")}\n`);
  return path;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: { code?: unknown }) => error.code ?? error,
  );

describe.skipIf(!store)("a bucket", () => {
  let bucket: Bucket;
  beforeEach(async () => {
    gate!.open();
    bucket = await store!.bucket();
  });
  const watch = () => gate!;

  test.each([
    ["capitals.geojson", "geojson", {}],
    ["capitals.geojson", "geojsonl", {}],
    ["capitals.geojson", "csv", {}],
    ["parks.geojson", "shp.zip", {}],
    ["parks.geojson", "gpkg", {}],
    ["huts.geojson", "gpx", {}],
    ["parks.geojson", "kml", {}],
    ["parks.geojson", "kmz", {}],
    ["parks.geojson", "fgb", {}],
  ])("a bucket stores %s as .%s with the same bytes as a disk, and returns it", async (name, extension) => {
    const [local, address] = [at(`same.${extension}`), bucket.at(`folder/same.${extension}`)];
    const ours = await convertFile(sample(name), local, { overwrite: true });
    const theirs = await convertFile(sample(name), address);
    expect(theirs).toEqual({
      ...ours,
      outputs: ours.outputs.map((one) => ({ ...one, path: address })),
      rejects: theirs.rejects,
    });
    expect((await bucket.get(`folder/same.${extension}`)).equals(readFileSync(local))).toBe(true);
    const [again, back] = [fresh("geojson"), fresh("geojson")];
    await convertFile(local, again);
    await convertFile(address, back);
    expect(readFileSync(back, "utf8")).toBe(readFileSync(again, "utf8"));
    expect(await bucket.keys()).toEqual([`folder/same.${extension}`]);
  });

  test("a bucket stores a Shapefile with its companions, found in any letter case", async () => {
    await convertFile(sample("capitals.geojson"), bucket.at("CAPITALS.shp"));
    for (const extension of ["dbf", "shx", "prj", "cpg"]) {
      await bucket.put(`CAPITALS.${extension.toUpperCase()}`, await bucket.get(`CAPITALS.${extension}`));
      await bucket.remove(`CAPITALS.${extension}`);
    }
    const back = fresh("geojson");
    await convertFile(bucket.at("CAPITALS.shp"), back);
    const features = JSON.parse(readFileSync(back, "utf8")).features;
    expect(features).toHaveLength(195);
    expect(features[0].properties.name).toBeTypeOf("string");
  });

  test("a prefix can be a single dataset", async () => {
    await convertFile(sample("parks.geojson"), bucket.at("parks.gdb"));
    expect((await bucket.keys("parks.gdb/")).length).toBeGreaterThan(10);
    const back = fresh("geojson");
    await convertFile(bucket.at("parks.gdb"), back);
    expect(JSON.parse(readFileSync(back, "utf8")).features).toHaveLength(27);

    watch().open();
    await convertFile(sample("huts.geojson"), bucket.at("parks.gdb"), { overwrite: true });
    const changes = watch().changes.filter((change) => !/\.old$/.test(change));
    expect(changes[0]).toBe("DeleteObject parks.gdb/a00000001.gdbtable");
    expect(changes.at(-1)).toBe("PutObject parks.gdb/a00000001.gdbtable");
    await convertFile(bucket.at("parks.gdb"), back, { overwrite: true });
    expect(JSON.parse(readFileSync(back, "utf8")).features).toHaveLength(3);
    expect((await bucket.keys("parks.gdb/")).filter((key) => key.endsWith(".old"))).toEqual([]);
  });

  test("large files are uploaded in parts, and reads resume after broken connections", async () => {
    const table = tableOfParts;
    const local = fresh("geojsonl");
    await convertFile(table, local);
    await convertFile(table, bucket.at("large.geojsonl"));
    const expected = readFileSync(local);
    expect(watch().keysOf("UploadPart").length).toBe(Math.ceil(expected.length / 2 ** 23));
    expect(watch().keysOf("UploadPart").length).toBeGreaterThan(2);
    expect((await bucket.labels("large.geojsonl")).ContentType).toBe("application/x-ndjson");
    expect((await bucket.get("large.geojsonl")).equals(expected)).toBe(true);
    expect(await bucket.unfinished()).toEqual([]);

    let breaks = 0;
    watch().open(async ({ operation }, pass) =>
      operation === "GetObject" && breaks++ < 2 ? truncateResponse(await pass()) : null,
    );
    const back = fresh("geojsonl");
    await convertFile(bucket.at("large.geojsonl"), back);
    expect(readFileSync(back).equals(expected)).toBe(true);
    expect(watch().passed.filter(({ headers }) => headers["if-match"] && headers.range)).toHaveLength(2);
  });

  test("a box of a FlatGeobuf needs only its ranges, all of one version", async () => {
    const file = fresh("fgb");
    await convertFile(largeTable(50_000), file, { sourceCrs: "EPSG:4326" });
    await bucket.put("in/large.fgb", readFileSync(file));
    const bbox = [10, 10, 20, 20] as const;
    const [expected, found] = [fresh("geojson"), fresh("geojson")];
    await convertFile(file, expected, { bbox });
    watch().open();
    await convertFile(`s3://${bucket.name}/in/large.fgb`, found, { bbox });
    expect(readFileSync(found, "utf8")).toBe(readFileSync(expected, "utf8"));
    const gets = watch().passed.filter(({ operation }) => operation === "GetObject");
    const bytes = gets.map(({ headers }) => {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "")!;
      return Number(last) - Number(first) + 1;
    });
    expect(gets.every(({ headers }) => headers["if-match"] !== undefined)).toBe(true);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(readFileSync(file).length / 5);

    let reads = 0;
    watch().open(async ({ operation }) => {
      if (operation === "GetObject" && ++reads === 2) await bucket.put("in/large.fgb", "another");
      return null;
    });
    const late = convertFile(`s3://${bucket.name}/in/large.fgb`, fresh("geojson"), { bbox });
    expect(await codeOf(late)).toBe("input-changed");
  });

  test("an existing object is only overwritten on request, and never emptied", async () => {
    const address = bucket.at("points.csv");
    await convertFile(sample("huts.geojson"), address);
    const before = await bucket.get("points.csv");
    expect(await codeOf(convertFile(sample("capitals.geojson"), address))).toBe("output-exists");
    expect(
      await codeOf(convertFile(sample("capitals.geojson"), address, { overwrite: true, where: "name = 'none'" })),
    ).toBe("guard-empty");
    expect(await bucket.get("points.csv")).toEqual(before);
    await convertFile(sample("capitals.geojson"), address, { overwrite: true });
    expect(await codeOf(convertFile(address, address, { overwrite: true }))).toBe("output-is-input");
    const [put] = watch().passed.filter(({ operation }) => operation === "PutObject");
    expect(put!.headers["if-none-match"]).toBe("*");
  });

  // Media types of the IANA registry.
  test.each([
    ["geojson", "application/geo+json"],
    ["csv", "text/csv; charset=utf-8"],
    ["gpx", "application/gpx+xml"],
    ["kml", "application/vnd.google-earth.kml+xml"],
    ["kmz", "application/vnd.google-earth.kmz"],
    ["gpkg", "application/geopackage+sqlite3"],
    ["shp.zip", "application/zip"],
  ])("a .%s object has the type %s", async (extension, type) => {
    await convertFile(sample("huts.geojson"), bucket.at(`huts.${extension}`));
    expect((await bucket.labels(`huts.${extension}`)).ContentType).toBe(type);
  });

  test("companions and rejects of a Shapefile have media types", async () => {
    const path = fresh("csv");
    writeFileSync(path, "name,lon,lat\na,7,46\nb,7,south\n");
    await convertFile(path, bucket.at("set.shp"));
    const keys = await bucket.keys();
    const types = await Promise.all(keys.map(async (key) => [key, (await bucket.labels(key)).ContentType]));
    expect(Object.fromEntries(types)).toMatchObject({
      "set.shp": "application/vnd.shp",
      "set.dbf": "application/vnd.dbf",
      "set.prj": "application/octet-stream",
      "set.shp.rejects.geojsonl": "application/x-ndjson",
    });
  });

  test("a replaced set is never visible mixed: the old main object is deleted first, and the new one uploaded last", async () => {
    await convertFile(sample("capitals.geojson"), bucket.at("in/set.shp"));
    await bucket.put("in/set.qix", "an index of the old one");
    await bucket.put("in/set2.shp", "another");
    watch().open();
    await convertFile(sample("huts.geojson"), bucket.at("in/set.shp"), { overwrite: true });
    const changes = watch().changes.filter((change) => !/\.old$/.test(change));
    expect(changes[0]).toBe("DeleteObject in/set.shp");
    expect(changes.at(-1)).toMatch(/^PutObject in\/set\.shp$/);
    expect(await bucket.keys("in/")).toEqual(
      ["cpg", "dbf", "prj", "shp", "shx"].map((extension) => `in/set.${extension}`).concat("in/set2.shp"),
    );
  });

  test("a set is restored if one of its objects cannot be written", async () => {
    await convertFile(sample("capitals.geojson"), bucket.at("set.shp"));
    const labels = { ContentType: "application/x-own", CacheControl: "max-age=60" };
    await bucket.put("set.shp", await bucket.get("set.shp"), false, labels);
    const before = await Promise.all((await bucket.keys()).map(async (key) => [key, await bucket.get(key)]));
    watch().open(async ({ operation, key }) =>
      operation === "PutObject" && key === "set.shp"
        ? { status: 400, body: "<Error><Code>EntityTooLarge</Code></Error>" }
        : null,
    );
    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("set.shp"), { overwrite: true }))).toBe(
      "output-failed",
    );
    expect(await Promise.all((await bucket.keys()).map(async (key) => [key, await bucket.get(key)]))).toEqual(before);
    expect(await bucket.labels("set.shp")).toEqual(labels);

    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("new.shp")))).toBe("done");
    watch().open(async ({ operation, key }) =>
      operation === "PutObject" && key === "none.shp"
        ? { status: 400, body: "<Error><Code>EntityTooLarge</Code></Error>" }
        : null,
    );
    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("none.shp")))).toBe("output-failed");
    expect(await bucket.keys("none")).toEqual([]);
  });

  test("an object that another program writes at the same time is kept", async () => {
    const rival =
      (key: string) =>
      async ({ operation, key: asked }: { operation: string; key: string }) => {
        if (operation === "PutObject" && asked === key) await bucket.put(key, "somebody else's");
        return null;
      };
    watch().open(rival("new.csv"));
    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("new.csv")))).toBe("output-exists");
    expect(String(await bucket.get("new.csv"))).toBe("somebody else's");

    await convertFile(sample("huts.geojson"), bucket.at("old.csv"));
    watch().open(rival("old.csv"));
    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("old.csv"), { overwrite: true }))).toBe(
      "output-failed",
    );
    expect(String(await bucket.get("old.csv"))).toBe("somebody else's");
  });

  test.each([{ append: true }, { append: true, layerName: "more" }, { overwrite: true }])(
    "with %j, losing the race for a new object is reported as such",
    async (request) => {
      watch().open(async ({ operation }) => {
        if (operation === "PutObject") await bucket.put("new.gpkg", "somebody else's");
        return null;
      });
      const failure = await convertFile(sample("huts.geojson"), bucket.at("new.gpkg"), request).catch((error) => error);
      expect(failure).toMatchObject({ code: "output-failed", message: expect.stringContaining("run again") });
      expect(failure.message).not.toContain("--append");
      expect(String(await bucket.get("new.gpkg"))).toBe("somebody else's");
    },
  );

  test("a store without conditional writes is checked just before the upload", async () => {
    const conditions = ["if-match", "if-none-match"];
    watch().open(async ({ operation, headers }) =>
      operation === "PutObject" && conditions.some((name) => headers[name] !== undefined)
        ? { status: 501, body: "<Error><Code>NotImplemented</Code></Error>" }
        : null,
    );
    const { notices } = await convertFile(sample("huts.geojson"), bucket.at("a.csv"));
    expect(notices).toContainEqual(expect.objectContaining({ code: "unconditional-write", layer: bucket.at("a.csv") }));
    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("a.csv")))).toBe("output-exists");
    expect(await codeOf(convertFile(sample("capitals.geojson"), bucket.at("a.csv"), { overwrite: true }))).toBe("done");
  });

  test("layers are added and replaced on condition that the object is unchanged", async () => {
    const address = bucket.at("layers.gpkg");
    await convertFile(sample("huts.geojson"), address);
    await convertFile(sample("capitals.geojson"), address, { append: true });
    await convertFile(sample("parks.geojson"), address, { replaceLayer: true, layerName: "huts" });
    await convertFile(sample("huts.geojson"), bucket.at("rows.csv"));
    await convertFile(sample("huts.geojson"), bucket.at("rows.csv"), { append: true });
    const back = fresh("geojson");
    await convertFile(address, back, { layers: ["huts"] });
    expect(JSON.parse(readFileSync(back, "utf8")).features).toHaveLength(27);
    expect(
      String(await bucket.get("rows.csv"))
        .trim()
        .split("\n"),
    ).toHaveLength(7);
    const put = watch().passed.filter(({ operation, key }) => operation === "PutObject" && key === "layers.gpkg");
    expect(put[1]!.headers["if-match"]).toBeTypeOf("string");
  });

  test("rejects are written beside the output, and those of an earlier run are removed", async () => {
    const report = await convertFile(sample("mixed.geojson"), bucket.at("mixed.gpx"));
    expect(report.rejects).toBe(bucket.at("mixed.gpx.rejects.geojsonl"));
    expect(String(await bucket.get("mixed.gpx.rejects.geojsonl"))).toContain('"reject":{');
    await convertFile(sample("huts.geojson"), bucket.at("mixed.gpx"), { overwrite: true });
    expect(await bucket.keys()).toEqual(["mixed.gpx"]);
  });

  test("objects beside the output are kept", async () => {
    const others = ["points-journal", "points-wal", "points.csv-shm", "points_2.csv", "pointsource"];
    for (const key of others) await bucket.put(key, "another's");
    await convertFile(sample("huts.geojson"), bucket.at("points.csv"));
    await convertFile(sample("huts.geojson"), bucket.at("points.csv"), { overwrite: true });
    expect(await bucket.keys()).toEqual([...others, "points.csv"].sort());
  });

  test("named rejects beside the output can be written repeatedly", async () => {
    const request = { rejects: bucket.at("mixed-bad.geojsonl"), overwrite: true };
    await convertFile(sample("mixed.geojson"), bucket.at("mixed.gpx"), request);
    const again = await convertFile(sample("mixed.geojson"), bucket.at("mixed.gpx"), request);
    expect(again.rejects).toBe(bucket.at("mixed-bad.geojsonl"));
    expect(await bucket.keys()).toEqual(["mixed-bad.geojsonl", "mixed.gpx"]);
  });

  test("companions of an input with the name of the output are kept", async () => {
    await bucket.put("in/survey.csv", pointsCsv("a"));
    await bucket.put("in/survey.prj", readFileSync(sample("flawed/capitals.prj")));
    const before = await bucket.get("in/survey.prj");
    for (const overwrite of [true, false])
      expect(await codeOf(convertFile(bucket.at("in/survey.csv"), bucket.at("in/survey.shp"), { overwrite }))).toBe(
        "output-is-input",
      );
    expect(await bucket.get("in/survey.prj")).toEqual(before);
    expect(await bucket.keys("in/")).toEqual(["in/survey.csv", "in/survey.prj"]);
    const rejects = bucket.at("in/survey.csv");
    expect(await codeOf(convertFile(rejects, fresh("csv"), { rejects, overwrite: true }))).toBe("usage");
    expect(String(await bucket.get("in/survey.csv"))).toBe(pointsCsv("a"));
  });

  test("copies that a killed run made of another output are kept until that output exists again", async () => {
    // Of ended processes of this machine, and of another machine.
    const [ours, others] = ["1", "2"].map((last) => newMark().replace(/-\d+-.*$/, `-4194305-89abcdef-0000000${last}`));
    const kept = ["roads2.shp", "roads.2024.shp", "roads.csv"].map((name) => `.${name}.${others}.old`);
    kept.push(".roads.shp.0123abcd-1-89abcdef-4567cdef.old");
    const swept = ["roads.shp", "roads.qix"].map((name) => `.${name}.${ours}.old`);
    for (const key of [...kept, ...swept]) await bucket.put(key, "all that is left");
    await convertFile(sample("huts.geojson"), bucket.at("roads.shp"));
    await convertFile(sample("huts.geojson"), bucket.at("roads.shp"), { overwrite: true });
    expect(await bucket.keys(".")).toEqual(kept.sort());
  });

  test("a set is kept whose main object another program writes during the copy", async () => {
    await convertFile(sample("capitals.geojson"), bucket.at("set.shp"));
    let times = 0;
    watch().open(async ({ operation, key }) => {
      if (operation === "CopyObject" && key.includes("set.shp.") && times++ === 0)
        await bucket.put("set.shp", "somebody else's");
      return null;
    });
    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("set.shp"), { overwrite: true }))).toBe(
      "output-failed",
    );
    expect(times).toBeGreaterThan(0);
    expect(String(await bucket.get("set.shp"))).toBe("somebody else's");
    expect(await bucket.keys(".")).toEqual([]);
  });

  test("all datasets of a zip are read", async () => {
    const sources = ["huts.geojson", "capitals.geojson"];
    const zip = fresh("zip");
    execFileSync("zip", ["-q", zip, ...sources], { cwd: samples });
    await bucket.put("in/all.zip", readFileSync(zip));
    const [ours, theirs] = [fresh("gpkg"), fresh("gpkg")];
    const local = await convertFile(zip, ours);
    const report = await convertFile(bucket.at("in/all.zip"), theirs);
    expect(report.outputs.map(({ layer, features }) => [layer, features])).toEqual([
      ["huts", 3],
      ["capitals", 195],
    ]);
    expect(report.losses).toEqual(local.losses);
    expect(readFileSync(theirs).equals(readFileSync(ours))).toBe(true);
  });

  test("objects are listed page by page, and read as a folder or by a pattern", async () => {
    const keys = Array.from({ length: 1005 }, (_, n) => `many/${n % 2 ? "odd" : "even"}/${n}.csv`);
    while (keys.length > 0) await Promise.all(keys.splice(0, 67).map((key) => bucket.put(key, pointsCsv("a"))));
    await bucket.put("many/.hidden.csv", "");
    await bucket.put("many/read.me", "");
    const { registry, signal } = createTestHost();
    const found = async (key: string) =>
      (await expandInputs([bucket.at(key)], registry, signal)).map((one) => one.relativePath);
    expect(await found("many/")).toHaveLength(1005);
    expect(watch().keysOf("ListObjects")).toHaveLength(2);
    expect(await found("many")).toHaveLength(1005);
    expect(await found("many/**/*.csv")).toHaveLength(1005);
    expect(await found("many/odd/10[0-9].csv")).toEqual(["101.csv", "103.csv", "105.csv", "107.csv", "109.csv"]);
    expect(await codeOf(found("few/"))).toBe("input-missing");
  });

  // Encoded with gzip(1) and with node:zlib; names of RFC 9110, 8.4.1, in any letter case.
  test.each([
    ["GZIP, aws-chunked", (content: Buffer) => execFileSync("gzip", ["-c"], { input: content })],
    ["br", brotliCompressSync],
    ["aws-chunked", (content: Buffer) => content],
  ])("an object with the Content-Encoding %s is decoded", async (encoding, encode) => {
    const labels = { ContentEncoding: encoding };
    await convertFile(sample("capitals.geojson"), at("encoded.fgb"), { overwrite: true });
    await convertFile(sample("capitals.geojson"), at("encoded.shp"), { overwrite: true });
    const files = ["encoded.fgb", ...["shp", "shx", "dbf", "prj", "cpg"].map((extension) => `encoded.${extension}`)];
    for (const name of files) await bucket.put(`in/${name}`, encode(readFileSync(at(name))), false, labels);
    await bucket.put("in/capitals.geojson", encode(readFileSync(sample("capitals.geojson"))), false, labels);
    let breaks = 0;
    watch().open(async ({ operation }, pass) =>
      operation === "GetObject" && breaks++ < 1 ? truncateResponse(await pass()) : null,
    );
    const bbox = [0, 40, 20, 60] as const;
    for (const [key, local, request] of [
      ["in/capitals.geojson", sample("capitals.geojson"), {}],
      ["in/encoded.shp", at("encoded.shp"), {}],
      ["in/encoded.fgb", at("encoded.fgb"), { bbox }],
    ] as const) {
      const [expected, found] = [fresh("geojson"), fresh("geojson")];
      await convertFile(local, expected, request);
      await convertFile(bucket.at(key), found, request);
      expect(readFileSync(found, "utf8")).toBe(readFileSync(expected, "utf8"));
    }
    expect(breaks).toBeGreaterThan(1);
  });

  test("an encoding that cannot be decoded is named, and the size limit is that of the decoded object", async () => {
    const plain = readFileSync(largeTable(50_000));
    const packed = gzipSync(plain);
    const put = (key: string, content: Buffer, encoding: string) =>
      bucket.put(key, content, false, { ContentEncoding: encoding });
    await put("zstd.csv", packed, "zstd");
    await put("plain.csv", plain, "gzip");
    await put("cut.csv", packed.subarray(0, packed.length / 2), "gzip");
    await put("large.csv", packed, "gzip");
    const failure = (key: string) =>
      convertFile(bucket.at(key), fresh("geojson"), { maxInputBytes: 1 << 20 }).catch((error) => error);
    expect(await failure("zstd.csv")).toMatchObject({
      code: "input-download",
      message: expect.stringContaining("Content-Encoding zstd"),
    });
    for (const key of ["plain.csv", "cut.csv"])
      expect(await codeOf(convertFile(bucket.at(key), fresh("geojson")))).toBe("input-download");
    expect(packed.length).toBeLessThan(1 << 20);
    expect(await failure("large.csv")).toMatchObject({ code: "input-too-large" });
  });

  test.each(["new\nline", "carriage\rreturn", "line\u2028separator"])(
    "the key %j leaves no temporary object",
    async (name) => {
      await convertFile(sample("huts.geojson"), bucket.at(`out/${name}.csv`));
      await convertFile(sample("huts.geojson"), bucket.at(`out/${name}.csv`), { append: true });
      await convertFile(sample("huts.geojson"), bucket.at(`out/${name}.shp`));
      await convertFile(sample("huts.geojson"), bucket.at(`out/${name}.shp`), { overwrite: true });
      const listed: string[] = [];
      for (const extension of ["cpg", "csv", "dbf", "prj", "shp", "shx"]) listed.push(`out/${name}.${extension}`);
      expect(await bucket.keys()).toEqual(listed);
    },
  );

  /** Changes the XML of listings. */
  const changeListings = (change: (xml: string) => string) =>
    watch().open(async ({ operation }, pass) => {
      if (operation !== "ListObjects") return null;
      const { status, headers, body } = await pass();
      const { "content-length": _, ...kept } = headers ?? {};
      return { status, headers: kept, body: change(String(body)) };
    });

  // IsTruncated and NextContinuationToken: Amazon S3 API Reference, ListObjectsV2.
  test.each([
    ["without a continuation token", "<IsTruncated>true</IsTruncated>"],
    ["with an empty continuation token", "<IsTruncated>true</IsTruncated><NextContinuationToken/>"],
    ["with the same page and token", "<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>"],
  ])("a truncated list of objects %s is an error, and nothing is read or written", async (_, ending) => {
    for (const name of ["a", "b"]) await bucket.put(`in/${name}.csv`, pointsCsv(name));
    const { registry, signal } = createTestHost();
    const read = (key: string) => codeOf(expandInputs([bucket.at(key)], registry, signal));
    changeListings((xml) => xml.replace("<IsTruncated>false</IsTruncated>", ending));
    for (const key of ["in/", "in", "in/*.csv"]) expect([key, await read(key)]).toEqual([key, "input-download"]);
    expect(watch().keysOf("GetObject")).toEqual([]);
    expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("out/huts.shp")))).toBe("output-failed");
    expect(watch().changes).toEqual([]);
  });

  test("pages of a list that repeat its keys under new tokens are an error, and empty pages are not", async () => {
    for (const name of ["a", "b"]) await bucket.put(`in/${name}.csv`, pointsCsv(name));
    const { registry, signal } = createTestHost();
    let pages = 0;
    const more = () => `<IsTruncated>true</IsTruncated><NextContinuationToken>t${pages++}</NextContinuationToken>`;
    let isRepeating = true;
    watch().open(async ({ operation }) => {
      if (operation !== "ListObjects") return null;
      const content = "<Contents><Key>in/a.csv</Key><ETag>&quot;a&quot;</ETag><Size>1</Size></Contents>";
      const isLast = !isRepeating && pages === 3;
      const parts = [isRepeating || isLast ? content : "", isLast ? "" : more()];
      const body = ["<ListBucketResult>", ...parts, "</ListBucketResult>"].join("");
      return { status: 200, headers: { "content-type": "application/xml" }, body };
    });
    expect(await codeOf(expandInputs([bucket.at("in/")], registry, signal))).toBe("input-download");
    [isRepeating, pages] = [false, 0];
    expect(await expandInputs([bucket.at("in/")], registry, signal)).toHaveLength(1);
    isRepeating = false;
    pages = 4;
    expect(await codeOf(expandInputs([bucket.at("in/")], registry, signal))).toBe("input-download");
  });

  test("several outputs are written below a prefix", async () => {
    await bucket.put("in/a/one.csv", pointsCsv("a", "b"));
    await bucket.put("in/two.csv", pointsCsv("c"));
    await bucket.put("in/out/old.csv", pointsCsv("d"));
    const request = { inputs: [bucket.at("in/")], output: bucket.at("in/out/"), to: "geojson", workers: 1 };
    const outcomes = await convertMany(request, createTestHost());
    expect(outcomes.map(({ output, error }) => [output, error?.code])).toEqual([
      [bucket.at("in/out/a/one.geojson"), undefined],
      [bucket.at("in/out/two.geojson"), undefined],
    ]);
    expect(await bucket.keys("in/out/")).toEqual(["in/out/a/one.geojson", "in/out/old.csv", "in/out/two.geojson"]);
  });

  test("two inputs cannot write the same object", async () => {
    await convertFile(sample("huts.geojson"), bucket.at("in/a.gpkg"));
    await convertFile(sample("parks.geojson"), bucket.at("in/a.gpkg"), { append: true });
    await convertFile(sample("capitals.geojson"), bucket.at("in/a-huts.geojson"));
    const request = { inputs: [bucket.at("in/")], output: bucket.at("out/"), to: "csv", workers: 1, overwrite: true };
    const outcomes = await convertMany(request, createTestHost());
    expect(outcomes.map(({ error }) => error?.code).sort()).toEqual(["output-collision", undefined]);
  });

  test("a read never mixes two versions of an object", async () => {
    await bucket.put("change.csv", pointsCsv(..."abcdefghij"));
    watch().open(async ({ operation }, pass) => {
      if (operation !== "GetObject" || watch().keysOf("GetObject").length > 1) return null;
      const answer = truncateResponse(await pass());
      await bucket.put("change.csv", pointsCsv(..."klmnopqrst"));
      return answer;
    });
    expect(await codeOf(convertFile(bucket.at("change.csv"), fresh("geojson")))).toBe("input-changed");

    await convertFile(sample("capitals.geojson"), bucket.at("change.shp"));
    watch().open(async ({ operation, key }, pass) => {
      if (operation !== "GetObject" || key !== "change.dbf") return null;
      const answer = await pass();
      await bucket.put("change.dbf", "another");
      return answer;
    });
    expect(await codeOf(convertFile(bucket.at("change.shp"), fresh("geojson")))).toBe("input-changed");
  });

  test("a store that ignores version conditions or ranges is not read", async () => {
    await bucket.put("odd.csv", pointsCsv(..."abcdefghij"));
    const whole = await bucket.get("odd.csv");
    const headers = { "content-length": whole.length };
    watch().open(async ({ operation, headers: asked }, pass) => {
      if (operation !== "GetObject") return null;
      return asked.range === undefined ? truncateResponse(await pass()) : { status: 200, headers, body: whole };
    });
    expect(await codeOf(convertFile(bucket.at("odd.csv"), fresh("geojson")))).toBe("input-download");
    watch().open(async ({ operation }) =>
      operation === "GetObject" ? { status: 200, headers: { ...headers, etag: '"another"' }, body: whole } : null,
    );
    expect(await codeOf(convertFile(bucket.at("odd.csv"), fresh("geojson")))).toBe("input-changed");
  });

  test("companions are found without permission to list", async () => {
    await convertFile(sample("capitals.geojson"), bucket.at("set.shp"));
    watch().open(async ({ operation }) =>
      operation === "ListObjects" ? { status: 403, body: "<Error><Code>AccessDenied</Code></Error>" } : null,
    );
    const back = fresh("csv");
    await convertFile(bucket.at("set.shp"), back);
    expect(readFileSync(back, "utf8")).toContain("Berlin");
  });

  test("throttled requests are retried a limited number of times", async () => {
    await bucket.put("slow.csv", pointsCsv("a"));
    let times = 0;
    watch().open(async ({ operation }) =>
      /^(Get|Put)Object$/.test(operation) && times++ % 3 !== 2 ? slowDownResponse : null,
    );
    expect(await codeOf(convertFile(bucket.at("slow.csv"), bucket.at("slow.geojson")))).toBe("done");
    expect(times).toBe(6);
    watch().open(async () => slowDownResponse);
    expect(await codeOf(convertFile(bucket.at("slow.csv"), fresh("geojson")))).toBe("bucket-unavailable");
  });

  describe("when the response to an upload is lost", () => {
    const serverError: ObjectResponse = { status: 500, body: "<Error><Code>InternalError</Code></Error>" };
    // CompleteMultipartUpload may report an error in a response with status 200 (Amazon S3 API Reference).
    const lateError: ObjectResponse = { ...serverError, status: 200 };
    beforeEach(() => {
      vi.stubEnv("AWS_MAX_ATTEMPTS", "2");
    });
    afterEach(() => {
      vi.unstubAllEnvs();
    });

    test.each([
      ["a server error", "PutObject", serverError],
      ["a closed connection", "PutObject", "cut"],
      ["a server error", "CompleteMultipartUpload", serverError],
      ["an error with status 200", "CompleteMultipartUpload", lateError],
      ["a closed connection", "CompleteMultipartUpload", "cut"],
    ] as const)("%s for a %s: the object is found, and the run succeeds", async (_, operation, answer) => {
      const input = operation === "PutObject" ? sample("huts.geojson") : tableOfParts;
      let times = 0;
      watch().open(async ({ operation: asked }, pass) => {
        if (asked !== operation) return null;
        times++;
        await pass();
        return answer;
      });
      const { outputs, notices } = await convertFile(input, bucket.at("out.geojsonl"));
      expect(times).toBe(2);
      expect(outputs).toMatchObject([{ path: bucket.at("out.geojsonl") }]);
      expect(notices.map(({ code }) => code)).not.toContain("unconditional-write");
      expect(watch().changes).not.toContain("AbortMultipartUpload out.geojsonl");
      expect(await bucket.unfinished()).toEqual([]);
      expect(await bucket.keys()).toEqual(["out.geojsonl"]);
    });

    test("a set is complete", async () => {
      watch().open(async ({ operation }, pass) => {
        if (operation !== "PutObject") return null;
        await pass();
        return serverError;
      });
      expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("huts.shp")))).toBe("done");
      expect(await bucket.keys()).toContain("huts.shp");
    });

    test("an object that was not written, or by another program, is a failure", async () => {
      watch().open(async ({ operation }) => (operation === "PutObject" ? serverError : null));
      expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("out.csv")))).toBe("bucket-unavailable");
      watch().open(async ({ operation }) => {
        if (operation !== "PutObject") return null;
        await bucket.put("out.csv", "somebody else's");
        return serverError;
      });
      expect(await codeOf(convertFile(sample("huts.geojson"), bucket.at("out.csv")))).toBe("bucket-unavailable");
      expect(String(await bucket.get("out.csv"))).toBe("somebody else's");
    });

    test("a store that does not answer afterwards leaves the outcome unknown", async () => {
      let isAway = false;
      watch().open(async ({ operation }, pass) => {
        if (operation === "PutObject" && !isAway) await pass();
        isAway ||= operation === "PutObject";
        return isAway ? "cut" : null;
      });
      const failure = await convertFile(sample("huts.geojson"), bucket.at("out.csv")).catch((error) => error);
      expect(failure).toMatchObject({
        code: "upload-outcome-unknown",
        message: expect.stringContaining(bucket.at("out.csv")),
      });
    });
  });

  describe("on the command line", () => {
    /** Not `geoferry`, which would block the proxy. */
    const run = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
      const child = spawn(process.execPath, [main, ...args], { cwd: folder, env: { ...process.env, ...env } });
      child.stdout.resume();
      const output = text(child.stderr);
      const [status] = (await once(child, "close")) as [number | null];
      return { status, stderr: await output };
    };

    test.each([
      ["wrong credentials", { AWS_SECRET_ACCESS_KEY: "hidden-and-wrong" }, 9, 9],
      ["no credentials", { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", HOME: "/nowhere" }, 9, 9],
      ["an unreachable endpoint", { AWS_ENDPOINT_URL_S3: "http://127.0.0.1:9", AWS_MAX_ATTEMPTS: "2" }, 8, 8],
    ])("%s: the exit status is documented, and no secret is printed", async (_, env, reading, writing) => {
      await bucket.put("a.csv", pointsCsv("a"));
      const read = await run(["info", bucket.at("a.csv")], env);
      const written = await run(["convert", sample("huts.geojson"), bucket.at("b.csv")], env);
      expect([read.status, written.status]).toEqual([reading, writing]);
      expect(read.stderr + written.stderr).not.toMatch(/hidden|Warning/);
      expect(read.stderr).toContain(bucket.at("a.csv"));
    });

    test("invalid settings are reported, without secrets of a URL", async () => {
      const scheme = await run(["info", bucket.at("a.csv")], { AWS_ENDPOINT_URL_S3: "localhost:9000" });
      expect([scheme.status, scheme.stderr]).toEqual([2, expect.stringContaining("AWS_ENDPOINT_URL_S3")]);
      const region = await run(["info", bucket.at("a.csv")], { AWS_ENDPOINT_URL_S3: "" });
      expect([region.status, region.stderr]).toEqual([2, expect.stringContaining("AWS_REGION")]);
      const secret = await run(["info", `s3://AKIA:hid/den@${bucket.name}/a.csv`]);
      expect([secret.status, secret.stderr]).toEqual([2, expect.stringContaining(`s3://${bucket.name}/a.csv: is no`)]);
      expect(secret.stderr).not.toContain("den@");
    });

    test("public objects can be read anonymously", async () => {
      await bucket.put("public.csv", pointsCsv("a"), true);
      await bucket.put("private.csv", pointsCsv("a"));
      const anonymous = {
        AWS_ACCESS_KEY_ID: "",
        AWS_SECRET_ACCESS_KEY: "",
        HOME: "/nowhere",
        AWS_NO_SIGN_REQUEST: "YES",
      };
      expect(await run(["convert", bucket.at("public.csv"), "-", "--to", "csv"], anonymous)).toMatchObject({
        status: 0,
      });
      expect((await run(["info", bucket.at("private.csv")], anonymous)).status).toBe(9);
    });

    test.each(["odd/../up.csv", "odd/./dot.csv", "../up.csv", "odd/.."])(
      "the key %s is refused with the reason",
      async (key) => {
        await bucket.put("up.csv", pointsCsv("a"));
        const { status, stderr } = await run(["convert", bucket.at(key), "-", "--to", "csv"]);
        expect([status, stderr]).toEqual([2, expect.stringContaining(`${bucket.at(key)}: geoferry cannot address`)]);
        expect(stderr).not.toContain("credentials");
      },
    );

    test("a missing bucket or object has a specific exit status", async () => {
      expect((await run(["info", "s3://no-such-bucket/in/"])).status).toBe(3);
      expect((await run(["info", bucket.at("none.csv")])).status).toBe(3);
      const written = await run(["convert", sample("huts.geojson"), "s3://no-such-bucket/a.csv"]);
      expect(written.status).toBe(6);
      expect(written.stderr).toContain(
        's3://no-such-bucket/a.csv: cannot be written: there is no bucket "no-such-bucket"',
      );
      expect((await run(["convert", sample("parks.geojson"), "s3://no-such-bucket/a.gdb"])).status).toBe(6);
      expect((await run(["info", "s3:///key"])).status).toBe(2);
    });

    test.each(["SIGKILL", "SIGINT"] as const)(
      "%s during an upload leaves no object",
      async (signal) => {
        const args = ["convert", tableOfParts, bucket.at("killed.geojsonl"), "--workers", "1"];
        const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, TMPDIR: folder } });
        let parts = 0;
        watch().open(async ({ operation }, pass) => {
          if (operation !== "UploadPart" || ++parts !== 2) return null;
          await pass();
          child.kill(signal);
          await once(child, "close");
          return "cut";
        });
        child.stderr.resume();
        const [status] = (await once(child, "close")) as [number | null];
        expect(status).toBe(signal === "SIGINT" ? 130 : null);
        expect(await bucket.keys()).toEqual([]);
        expect(await bucket.unfinished()).toEqual(signal === "SIGINT" ? [] : ["killed.geojsonl"]);
        watch().open();
        expect((await run(args, { TMPDIR: folder })).status).toBe(0);
        expect(await bucket.keys()).toEqual(["killed.geojsonl"]);
        expect(await bucket.unfinished()).toEqual([]);
      },
      180_000,
    );
  });
});

const [sqlite] = await findFixtureKinds();

describe.skipIf(!store)("a map and a bucket", () => {
  test("a map can be planned, pushed, verified and pulled with a bucket", async () => {
    const world = await sqlite!.start();
    gate!.open();
    const bucket = await store!.bucket();
    const map = await world.newMap();
    const run = async (...args: readonly string[]) => {
      const { status, stderr } = await world.geoferry(args, { env: environment });
      return { status, stderr };
    };
    const source = bucket.at("in/places.csv");
    await bucket.put("in/places.csv", pointsCsv("a", "b", "c"));
    const keyed = ["--map", map, "--remote-field", "name"];
    const plan = join(world.folder, "places.plan");
    expect(await run("plan", source, ...keyed, "-o", plan, "--exit-code")).toMatchObject({ status: 20 });
    expect(await run("apply", plan, "--yes")).toMatchObject({ status: 0 });
    expect((await world.features(map)).map(({ properties }) => properties!.name)).toEqual(["a", "b", "c"]);
    expect(await run("verify", source, ...keyed, "--exit-code")).toMatchObject({ status: 0 });

    expect(await run("plan", source, ...keyed, "-o", plan, "--overwrite")).toMatchObject({ status: 0 });
    await bucket.put("in/places.csv", pointsCsv("a", "b"));
    expect(await run("push", source, ...keyed, "--mode", "full", "--yes", "--max-delete", "50%")).toMatchObject({
      status: 0,
    });
    expect(await world.features(map)).toHaveLength(2);
    expect(await run("pull", bucket.at("out/places.geojson"), "--map", map)).toMatchObject({ status: 0 });
    expect(JSON.parse(String(await bucket.get("out/places.geojson"))).features).toHaveLength(2);

    const none = await run("push", bucket.at("in/none.csv"), ...keyed, "--mode", "full", "--yes");
    expect(none.status).toBe(3);
    const away = { ...environment, AWS_ENDPOINT_URL_S3: "http://127.0.0.1:9", AWS_MAX_ATTEMPTS: "1" };
    const { status } = await world.geoferry(["push", source, ...keyed, "--mode", "full", "--yes"], {
      env: away,
      // A process keeps its connection to the store.
      fresh: true,
    });
    expect(status).toBe(8);
    expect(await world.features(map)).toHaveLength(2);
  }, 120_000);
});

describe.skipIf(!store)("a job with buckets", () => {
  const desk = new JobFixture();

  test("a job transfers changed objects, and does not overwrite those of other programs", async () => {
    const bucket = await store!.bucket();
    gate!.open();
    await bucket.put("in/one.csv", pointsCsv("a", "b"));
    await convertFile(sample("capitals.geojson"), bucket.at("in/two.shp"));
    const steps = `  - {name: all, source: "${bucket.at("in/")}", target: "${bucket.at("out/")}", to: gpkg}\n`;
    desk.put("job.yaml", `name: bucket\nsteps:\n${steps}`);
    const run = async () => {
      gate!.open();
      const { status, report, stderr } = await desk.run("job.yaml", [], { env: environment });
      return { status, stderr, items: report.steps[0]!.items.map(({ target, result }) => [target, result]) };
    };
    const both = (one: string, two: string) => [
      [bucket.at("out/one.gpkg"), one],
      [bucket.at("out/two.gpkg"), two],
    ];
    expect(await run()).toMatchObject({ status: 0, items: both("done", "done") });
    expect(await run()).toMatchObject({ status: 0, items: both("unchanged", "unchanged") });
    expect(gate!.keysOf("GetObject")).toEqual([]);
    expect(gate!.changes).toEqual([]);

    await bucket.put("in/one.csv", pointsCsv("a", "b", "c"));
    expect(await run()).toMatchObject({ status: 0, items: both("done", "unchanged") });
    expect(gate!.keysOf("GetObject")).toEqual(["in/one.csv"]);
    await bucket.put("in/two.prj", await bucket.get("in/two.prj"));
    expect(await run()).toMatchObject({ status: 0, items: both("unchanged", "unchanged") });

    await bucket.remove("out/two.gpkg");
    expect(await run()).toMatchObject({ status: 0, items: both("unchanged", "done") });
    await bucket.put("out/one.gpkg", "somebody else's");
    expect(await run()).toMatchObject({ status: 2, items: both("failed", "unchanged") });
    expect(String(await bucket.get("out/one.gpkg"))).toBe("somebody else's");
  }, 120_000);
});
