/** Esri JSON files: their fields, members and parts; ogr2ogr reads the same. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { esrijson } from "../../../plugins/arcgis/index.js";
import { hasProgram } from "../../support/command.js";
import { convertFile, createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { featuresOf, readSet, writeFeatureSet } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const field = (name: string, type: string, more: object = {}) => ({ name, type: `esriFieldType${type}`, ...more });

/** A feature set with one point for each set of attributes. */
const pointSet = (fields: readonly object[], attributes: readonly object[], members: object = {}) => ({
  geometryType: "esriGeometryPoint",
  spatialReference: { wkid: 4326, latestWkid: 4326 },
  fields,
  ...members,
  features: attributes.map((each, n) => ({ attributes: each, geometry: { x: n, y: 50 } })),
});

const read = (content: object | string, options: Record<string, string> = {}, skipErrors = false) =>
  readSet(writeFeatureSet(scratch, content), { options, skipErrors });

describe("fields", () => {
  it("with times hold milliseconds, as text, too; a year as text is no time", async () => {
    const values = [{ when: "951782400123" }, { when: "2020" }, { when: "20200501" }, { when: "2020-05-01T10:00:00Z" }];
    const layer = await read(pointSet([field("when", "Date")], values));
    expect(featuresOf(layer).map(({ properties }) => properties!.when)).toEqual([
      "2000-02-29T00:00:00.123Z",
      null,
      null,
      "2020-05-01T10:00:00Z",
    ]);
  });

  it("have types and values by Esri's field types", async () => {
    const all = [
      field("OBJECTID", "OID"),
      field("small", "SmallInteger"),
      field("int", "Integer"),
      field("big", "BigInteger"),
      field("single", "Single"),
      field("double", "Double"),
      field("text", "String"),
      field("when", "Date"),
      field("day", "DateOnly"),
      field("time", "TimeOnly"),
      field("stamp", "TimestampOffset"),
      field("guid", "GUID"),
      field("global", "GlobalID"),
      field("blob", "Blob"),
      field("xml", "XML"),
      field("shape", "Geometry"),
    ];
    const values =
      '{"OBJECTID":7,"small":-3,"int":2147483647,"big":9007199254740993,"single":1.5,"double":1e300,"text":"Ä\\"x",' +
      '"when":951782400123,"day":"2024-02-29","time":"23:59:58","stamp":"2024-02-29 12:30:00+0545",' +
      '"guid":"{A}","global":"B","blob":"AAEC/w==","xml":"<a/>"}';
    const text = JSON.stringify(pointSet(all, [{}])).replace('"attributes":{}', `"attributes":${values}`);
    const layer = await read(text);
    expect(layer.info.fields!.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "OBJECTID int64",
      "small int32",
      "int int32",
      "big int64",
      "single double",
      "double double",
      "text text",
      "when datetime",
      "day date",
      "time time",
      "stamp datetime",
      "guid text",
      "global text",
      "blob binary",
      "xml text",
    ]);
    const [feature] = featuresOf(layer);
    expect(feature!.properties).toMatchObject({
      OBJECTID: 7,
      small: -3,
      int: 2147483647,
      single: 1.5,
      double: 1e300,
      text: 'Ä"x',
      // 2000-02-29T00:00:00.123 UTC
      when: "2000-02-29T00:00:00.123Z",
      day: "2024-02-29",
      time: "23:59:58",
      stamp: "2024-02-29T12:30:00+05:45",
      guid: "{A}",
      global: "B",
      xml: "<a/>",
    });
    const [, , , big] = layer.batches[0]!.columns;
    expect((big!.type === "int64" && big!.values[0]) || null).toBe(9007199254740993n);
    const blob = layer.batches[0]!.columns[13]!;
    expect(blob.type === "binary" && [...blob.bytes]).toEqual([0, 1, 2, 255]);
    expect(layer.losses).toEqual([]);
  });

  it("have null and absent values, and names in another case than declared", async () => {
    const layer = await read(
      pointSet([field("A", "String"), field("b", "Integer")], [{ a: "x", b: null }, { A: null }]),
    );
    expect(featuresOf(layer).map(({ properties }) => properties)).toEqual([{ A: "x", b: null }, { A: null }]);
  });

  it("lose values that do not fit their type, with a report", async () => {
    const fields = [field("i", "Integer"), field("big", "BigInteger"), field("d", "Date"), field("day", "DateOnly")];
    const layer = await read(
      pointSet(fields, [
        { i: 1.5, big: 1.5, d: 1e18, day: "29.2.2024", other: 1 },
        { i: 3e9, big: "x", d: "yesterday", day: 5 },
        { i: "12", big: "12", d: "951782400123", day: "2024-02-29" },
      ]),
    );
    expect(featuresOf(layer).map(({ properties }) => properties)).toEqual([
      { i: 2, big: 2, d: null, day: null },
      { i: null, big: null, d: null, day: null },
      { i: 12, big: 12, d: "2000-02-29T00:00:00.123Z", day: "2024-02-29" },
    ]);
    expect(layer.losses.map(({ code, field, count }) => `${code} ${field} ${count}`).sort()).toEqual([
      "attribute-undeclared other 1",
      "date-out-of-range d 1",
      "number-rounded big 1",
      "number-rounded i 1",
      "number-too-large i 1",
      "value-type-mismatch big 1",
      "value-type-mismatch d 1",
      "value-type-mismatch day 2",
    ]);
  });

  it("have dates and times as text in ISO 8601, and lose those that do not exist", async () => {
    const fields = [field("day", "DateOnly"), field("time", "TimeOnly"), field("stamp", "TimestampOffset")];
    const layer = await read(
      pointSet(fields, [
        { day: "2024-02-29", time: "23:59", stamp: "2024-02-29 12:30+01:00" },
        { day: "0001-01-01", time: "00:00:00.5", stamp: "2024-02-29T12:30:00.25-0330" },
        { day: "2023-02-29", time: "24:00:00", stamp: "2024-02-30T12:00:00Z" },
      ]),
    );
    expect(featuresOf(layer).map(({ properties }) => properties)).toEqual([
      { day: "2024-02-29", time: "23:59:00", stamp: "2024-02-29T12:30:00+01:00" },
      { day: "0001-01-01", time: "00:00:00.5", stamp: "2024-02-29T12:30:00.25-03:30" },
      { day: null, time: null, stamp: null },
    ]);
    expect(layer.losses.map(({ code }) => code)).toEqual(Array(3).fill("value-type-mismatch"));
  });

  it("have times from the year 0 to 9999, with milliseconds where there are any", async () => {
    const layer = await read(
      pointSet(
        [field("d", "Date")],
        [-62167219200000, -1, 0, 86_399_999, 86_400_000, 253402300799999].map((d) => ({ d })),
      ),
    );
    expect(featuresOf(layer).map(({ properties }) => properties.d)).toEqual([
      "0000-01-01T00:00:00Z",
      "1969-12-31T23:59:59.999Z",
      "1970-01-01T00:00:00Z",
      "1970-01-01T23:59:59.999Z",
      "1970-01-02T00:00:00Z",
      "9999-12-31T23:59:59.999Z",
    ]);
  });

  it("have times without a zone where the service does not know it", async () => {
    const layer = await read(pointSet([field("d", "Date")], [{ d: 0 }], { datesInUnknownTimezone: true }));
    expect(featuresOf(layer)[0]!.properties).toEqual({ d: "1970-01-01T00:00:00" });
  });

  it("are called by their aliases on request", async () => {
    const fields = [field("POP", "Integer", { alias: "Population" }), field("X", "Integer", { alias: "Population" })];
    const layer = await read(pointSet(fields, [{ POP: 1, X: 2 }]), { fieldNames: "aliases" });
    expect(featuresOf(layer)[0]!.properties).toEqual({ Population: 1, Population_1: 2 });
  });

  it("that no list declares are those of the features", async () => {
    const { fields: _, ...set } = pointSet([], [{ a: 1 }, { a: 2.5, b: "x" }]) as { fields: unknown };
    const layer = await read(set);
    expect(layer.info.fields).toBeNull();
    expect(featuresOf(layer).map(({ properties }) => properties)).toEqual([{ a: 1 }, { a: 2.5, b: "x" }]);
  });
});

describe("coded values", () => {
  const domain = (...pairs: readonly (readonly [string | number, string])[]) => ({
    domain: { type: "codedValue", name: "d", codedValues: pairs.map(([code, name]) => ({ code, name })) },
  });
  const fields = [
    field("kind", "SmallInteger"),
    field("surface", "String", domain(["A", "asphalt"], ["G", "gravel"])),
    field("lanes", "Integer", { domain: { type: "range", range: [1, 9] } }),
  ];
  const types = [
    { id: 1, name: "road", domains: { surface: { type: "inherited" } } },
    { id: 2, name: "path", domains: { surface: domain(["A", "soft"]).domain } },
  ];
  const set = pointSet(
    fields,
    [
      { kind: 1, surface: "A", lanes: 2 },
      { kind: 2, surface: "A", lanes: 1 },
      { kind: 3, surface: "Q", lanes: null },
    ],
    { typeIdField: "kind", types },
  );

  it("are codes by default", async () => {
    expect(featuresOf(await read(set))[0]!.properties).toEqual({ kind: 1, surface: "A", lanes: 2 });
  });

  it("are names on request, by subtype where subtypes have domains of their own; unknown codes stay", async () => {
    const layer = await read(set, { domains: "names" });
    expect(featuresOf(layer).map(({ properties }) => properties)).toEqual([
      { kind: "road", surface: "asphalt", lanes: 2 },
      { kind: "path", surface: "soft", lanes: 1 },
      { kind: "3", surface: "Q", lanes: null },
    ]);
    expect(layer.notices.map(({ code, field }) => `${code} ${field}`)).toEqual([
      "code-unknown kind",
      "code-unknown surface",
    ]);
  });
});

describe("the spatial reference", () => {
  const crsOf = async (spatialReference: unknown) =>
    (await read(pointSet([field("n", "Integer")], [{ n: 1 }], { spatialReference }))).info.crs;
  const wkt =
    'GEOGCS["GCS_ETRS_1989",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';

  it("is known by Esri's codes, of which the latest counts", async () => {
    expect((await crsOf({ wkid: 102100, latestWkid: 3857 }))?.id).toBe("EPSG:3857");
    expect((await crsOf({ wkid: 102100 }))?.id).toBe("EPSG:3857");
    expect((await crsOf({ wkid: 25832 }))?.id).toBe("EPSG:25832");
    expect((await crsOf({ wkid: 102025 }))?.id).toBe("ESRI:102025");
    expect((await crsOf({ wkid: 999999, latestWkid: 4258 }))?.id).toBe("EPSG:4258");
  });

  it("is known by WKT", async () => {
    expect((await crsOf({ wkt }))?.id).toBe("EPSG:4258");
    expect((await crsOf({ wkt2: "no", wkt }))?.id).toBe("EPSG:4258");
  });

  it("may be that of the geometries, or unknown", async () => {
    expect(await crsOf({ wkid: 999999 })).toBeNull();
    const geometry = { x: 1, y: 2, spatialReference: { wkid: 4258 } };
    const layer = await read({ features: [{ attributes: { a: 1 }, geometry }] });
    expect(layer.info.crs?.id).toBe("EPSG:4258");
  });
});

describe("a file", () => {
  const features = Array.from({ length: 30_000 }, (_, n) => ({ n, text: `feature ${n} {[" \\ ]}` }));
  const big = pointSet([field("n", "Integer"), field("text", "String")], features);

  it("is read in parts that give the same as the whole, in any order of its members", async () => {
    const { features: list, ...members } = big;
    const path = writeFeatureSet(scratch, { features: list, ...members }, "big.json");
    const whole = await readSet(path);
    const parts = await readSet(path, { bySplits: true });
    expect(whole.info).toMatchObject({ name: "big", featureCount: 30_000, geometryTypes: ["Point"] });
    expect(parts.splits!.length).toBeGreaterThan(1);
    expect(featuresOf(parts)).toEqual(featuresOf(whole));
    expect(featuresOf(whole).map(({ properties }) => properties)).toEqual(features);
    expect(parts.records).toEqual(features.map((_, n) => n + 1));
  });

  it("is converted to the same bytes by one thread and by several", async () => {
    const path = writeFeatureSet(scratch, big, "threads.json");
    const [one, two] = [scratch.path("one.gpkg"), scratch.path("two.gpkg")];
    await convertFile(path, one, { workers: 1 });
    await convertFile(path, two, { workers: 2 });
    expect(readFileSync(two).equals(readFileSync(one))).toBe(true);
  });

  it("with a list of no features has none", async () => {
    const layer = await read(pointSet([field("n", "Integer")], []));
    expect(layer.info.featureCount).toBe(0);
    expect(featuresOf(layer)).toEqual([]);
  });

  it("may begin with a byte order mark", async () => {
    expect(
      featuresOf(await read(`\uFEFF${JSON.stringify(pointSet([field("n", "Integer")], [{ n: 1 }]))}`)),
    ).toHaveLength(1);
  });

  it("from which the service left features out is refused", async () => {
    const set = pointSet([field("n", "Integer")], [{ n: 1 }], { exceededTransferLimit: true });
    await expect(read(set)).rejects.toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("FeatureServer"),
    });
    expect(featuresOf(await read(set, {}, true))).toHaveLength(1);
  });

  it("that is an error of a service is refused with its message", async () => {
    const error = { error: { code: 499, message: "Token Required", details: [] } };
    await expect(convertFile(writeFeatureSet(scratch, error), scratch.path("no.geojson"))).rejects.toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("Token Required"),
    });
  });

  it("with damage names the place, and --skip-errors reads the rest", async () => {
    const text = JSON.stringify(pointSet([field("n", "Integer")], [{ n: 1 }, { n: 2 }, { n: 3 }]));
    const damaged = text.replace('"n":2', '"n":2x');
    await expect(read(damaged)).rejects.toMatchObject({
      code: "input-corrupt",
      details: { place: { record: 2, byte: damaged.indexOf('{"attributes":{"n":2x') } },
    });
    const layer = await read(damaged, {}, true);
    expect(featuresOf(layer).map(({ properties }) => properties.n)).toEqual([1, 3]);
    expect(layer.rejects.map(({ code, place }) => [code, place.record])).toEqual([["input-corrupt", 2]]);
    await expect(read(text.slice(0, -30))).rejects.toMatchObject({ code: "input-truncated" });
    await expect(read(text.replace("},{", "}{"))).rejects.toMatchObject({ code: "input-corrupt" });
  });

  it("rejects elements that are not features", async () => {
    const set = {
      ...pointSet([field("n", "Integer")], []),
      features: [{ attributes: 5 }, {}, { attributes: { n: 1 } }],
    };
    const layer = await read(set);
    expect(layer.rejects.map(({ code }) => code)).toEqual(["feature-invalid", "feature-invalid"]);
    expect(featuresOf(layer)).toHaveLength(1);
  });
});

describe("identification", () => {
  const { registry } = createTestHost();
  const identify = async (content: object | string, name = "x.json") => {
    const { FileSource } = await import("../../../src/io/input/source.js");
    return (await registry.identify(FileSource.at(writeFeatureSet(scratch, content, name)))).id;
  };

  it("distinguishes feature sets from GeoJSON by their content", async () => {
    expect(await identify(pointSet([field("n", "Integer")], [{ n: 1 }]))).toBe("esrijson");
    expect(await identify({ features: [{ attributes: { a: 1 }, geometry: { x: 1, y: 2 } }] })).toBe("esrijson");
    expect(await identify({ displayFieldName: "a", features: [] })).toBe("esrijson");
    expect(await identify({ features: [{ geometry: { x: 1, y: 2 }, attributes: { type: "Point" } }] })).toBe(
      "esrijson",
    );
    const feature = { type: "Feature", geometry: null, properties: { attributes: { a: 1 }, s: "esriFieldTypeOID" } };
    expect(await identify({ type: "FeatureCollection", features: [feature] })).toBe("geojson");
    expect(await identify({ features: [feature], type: "FeatureCollection" })).toBe("geojson");
    expect(esrijson.identify(Buffer.from('{"a":1}'), { name: "a.json", size: 7, findSibling: () => null })).toBe("no");
  });
});

describe.runIf(hasProgram("ogr2ogr"))("ogr2ogr", () => {
  it("reads the same geometries and attributes", async () => {
    const square = (x: number, size: number) => [
      [x, 0],
      [x, size],
      [x + size, size],
      [x + size, 0],
      [x, 0],
    ];
    const fields = [field("OBJECTID", "OID"), field("i", "Integer"), field("d", "Double"), field("s", "String")];
    const geometries = [
      { rings: [square(0, 9), square(2, 3).reverse(), square(20, 5)] },
      { rings: [square(0, 9)] },
      { rings: [square(0, 9), square(1, 2).reverse(), square(4, 2).reverse()] },
    ];
    const set = {
      objectIdFieldName: "OBJECTID",
      geometryType: "esriGeometryPolygon",
      spatialReference: { wkid: 4326 },
      fields,
      features: geometries.map((geometry, n) => ({
        attributes: { OBJECTID: n + 1, i: n * 7, d: n / 3, s: `ä${n}` },
        geometry,
      })),
    };
    const path = writeFeatureSet(scratch, set, "judge.json");
    const theirs = JSON.parse(
      execFileSync("ogr2ogr", ["-f", "GeoJSON", "/vsistdout/", path, "-lco", "COORDINATE_PRECISION=15"], {
        encoding: "utf8",
      }),
    ) as { features: { properties: object; geometry: unknown }[] };
    const ours = featuresOf(await readSet(path));
    expect(ours.map(({ properties }) => properties)).toEqual(theirs.features.map(({ properties }) => properties));
    expect(ours.map(({ geometry }) => geometry)).toEqual(theirs.features.map(({ geometry }) => geometry));
  });
});
