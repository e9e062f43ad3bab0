/** The library as programs call it: features of inputs, bytes in and out, features to be written. */
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import {
  convert,
  type Feature,
  type GeoferryError,
  inspect,
  type OpenOptions,
  open,
  type RejectedFeature,
  write,
} from "../../src/index.js";
import { samples } from "../support/command.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-library-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const survey = join(samples, "survey.geojson");
const shapefile = join(samples, "shapefile", "survey.shp");
interface Collection {
  readonly features: readonly Feature[];
}
const expected = (JSON.parse(readFileSync(survey, "utf8")) as Collection).features;

const csv = "id,name,lon,lat\n1,Bern,7.447,46.948\n2,Basel,7.589,47.56\n";

async function featuresOf(input: Parameters<typeof open>[0], options: OpenOptions = {}): Promise<Feature[]> {
  await using dataset = await open(input, options);
  const features: Feature[] = [];
  for (const layer of dataset.layers) for await (const feature of layer) features.push(feature);
  return features;
}

describe("open", () => {
  test("open returns the layers of a file, and their features in WGS 84, repeatedly", async () => {
    await using dataset = await open(shapefile);
    const layer = dataset.layer("survey");
    expect(dataset.layers.map(({ name }) => name)).toEqual(["survey"]);
    expect(layer.fields!.map(({ name }) => name)).toContain("height_m");
    expect(layer.report).toBeNull();
    for (let n = 0; n < 2; n++) {
      const features = [];
      for await (const feature of layer) features.push(feature);
      expect(features).toHaveLength(20);
      expect(features.map(({ properties }) => properties.height_m)).toEqual(
        expected.map(({ properties }) => properties.height_m),
      );
      const [longitude, latitude] = (features[0]!.geometry as { coordinates: number[] }).coordinates;
      const [x, y] = (expected[0]!.geometry as { coordinates: number[] }).coordinates;
      expect(longitude).toBeCloseTo(x!, 6);
      expect(latitude).toBeCloseTo(y!, 6);
    }
    expect(layer.report).toMatchObject({ read: 20, written: 20, rejected: 0 });
  });

  test("open accepts the options of a conversion", async () => {
    const tall = expected.filter(({ properties }) => (properties.height_m as number) > 150);
    expect(await featuresOf(shapefile, { where: "height_m > 150" })).toHaveLength(tall.length);
    expect(await featuresOf(shapefile, { limit: 3 })).toHaveLength(3);
    const [selected] = await featuresOf(shapefile, { select: ["height_m"], rename: { height_m: "h" }, limit: 1 });
    expect(Object.keys(selected!.properties)).toEqual(["h"]);
    // EPSG:32633: the central meridian of zone 33 (15° E) is x = 500,000.
    const [projected] = await featuresOf(
      { name: "a.csv", bytes: Buffer.from("lon,lat\n15,0\n") },
      { targetCrs: "EPSG:32633" },
    );
    expect(projected!.geometry).toMatchObject({
      type: "Point",
      coordinates: [expect.closeTo(500_000, 4), expect.closeTo(0, 4)],
    });
  });

  const bytes = Buffer.from(csv);
  const inputs = {
    "a Buffer": () => bytes,
    "a Uint8Array": () => new Uint8Array(bytes),
    "an ArrayBuffer": () => new Uint8Array(bytes).buffer,
    "a Blob": () => new Blob([csv]),
    "a ReadableStream": () => new Blob([csv]).stream(),
    "a stream of Node.js": () => Readable.from([bytes.subarray(0, 20), bytes.subarray(20)]),
    "bytes with a name": () => ({ name: "towns.csv", bytes }),
    "a path": () => fileWith("towns.csv", csv),
    "a file URL": () => pathToFileURL(fileWith("towns url.csv", csv)),
  };
  test.each(Object.entries(inputs))("open reads %s", async (_what, input) => {
    const features = await featuresOf(input());
    expect(features.map(({ properties }) => properties.name)).toEqual(["Bern", "Basel"]);
    expect(features[0]!.geometry).toEqual({ type: "Point", coordinates: [7.447, 46.948] });
  });

  test("open keeps ids and the types of properties", async () => {
    const text = JSON.stringify({
      type: "FeatureCollection",
      features: [
        {
          type: "Feature",
          id: "a-1",
          geometry: null,
          properties: { n: 1.5, yes: true, none: null, day: "2026-01-02", list: [1, { a: 2 }] },
        },
      ],
    });
    expect(await featuresOf(Buffer.from(text))).toEqual((JSON.parse(text) as Collection).features);
  });

  test("open stops reading when the loop ends or is aborted", async () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, n) => `{"type":"Feature","geometry":null,"properties":{"n":${n}}}\n`,
    );
    const path = fileWith("many.geojsonl", lines.join(""));
    await using dataset = await open(path);
    let met = 0;
    for await (const _ of dataset.layers[0]!) if (++met === 10) break;
    expect(met).toBe(10);
    expect(dataset.layers[0]!.report).toBeNull();

    const stop = new AbortController();
    await using aborted = await open(path, { signal: stop.signal });
    const reading = (async () => {
      for await (const { properties } of aborted.layers[0]!) if (properties.n === 5) stop.abort();
    })();
    await expect(reading).rejects.toMatchObject({ code: "interrupted" });
  });

  test("an error thrown in the loop is rethrown", async () => {
    await using dataset = await open(survey);
    const reading = (async () => {
      for await (const _ of dataset.layers[0]!) throw new RangeError("mine");
    })();
    await expect(reading).rejects.toThrow(new RangeError("mine"));
  });

  const broken =
    '{"type":"Feature","geometry":null,"properties":{"n":1}}\n{"type":"Feature","geometry":{"type":"Point","coordinates":["x",2]},"properties":{"n":2}}\n{"type":"Feature","geometry":{"type":"Point","coordinates":[1,95]},"properties":{"n":3}}\n';

  test("a rejected feature without a callback is an error", async () => {
    const input = { name: "broken.geojsonl", bytes: Buffer.from(broken) };
    await expect(featuresOf(input)).rejects.toMatchObject({ code: "features-rejected" });
    const rejected: RejectedFeature[] = [];
    const features = await featuresOf(
      { name: "broken.geojsonl", bytes: Buffer.from(broken) },
      { onReject: (one) => rejected.push(one) },
    );
    expect(features.length + rejected.length).toBeGreaterThanOrEqual(3);
    expect(rejected.at(-1)).toMatchObject({ feature: { properties: { n: 3 } }, place: { record: 3 } });
  });

  test("reject reasons name options instead of flags", async () => {
    const input = () => ({ name: "a.csv", bytes: Buffer.from("name,latitude,longitude\na,53°12'N,9°30'O\n") });
    const advice = 'readerOptions: { "letter-o": "east" } or readerOptions: { "letter-o": "west" } says which';
    const rejected: RejectedFeature[] = [];
    await featuresOf(input(), { onReject: (one) => rejected.push(one) });
    expect(rejected[0]!.reason).toContain(advice);
    const rejects = join(folder, "reasons.geojsonl");
    await convert({ inputs: input(), output: join(folder, "reasons.geojson"), rejects });
    expect(JSON.parse(readFileSync(rejects, "utf8")).reject.reason).toContain(advice);
  });

  test("open distinguishes layers of one name", async () => {
    const { bytes: zip } = await zipOf({ "a/towns.csv": csv, "b/towns.csv": "id,name,lon,lat\n3,Chur,9.53,46.85\n" });
    const features = await featuresOf({ name: "towns.zip", bytes: zip });
    expect(features.map(({ properties }) => properties.name)).toEqual(["Bern", "Basel", "Chur"]);
  });
});

describe("convert", () => {
  test("convert returns bytes if no output is given", async () => {
    const report = await convert({ inputs: Buffer.from(csv), to: "geojson" });
    const { features } = JSON.parse(Buffer.from(report.bytes).toString()) as Collection;
    expect(features.map(({ properties }) => properties.name)).toEqual(["Bern", "Basel"]);
    expect(report).toMatchObject({ read: 2, written: 2, inputs: ["input"], rejects: null });
  });

  test("convert returns a zip if a format has several files, and a database if it is one file", async () => {
    const { bytes: zip } = await convert({ inputs: [Buffer.from(csv)], to: "shapefile" });
    expect(Buffer.from(zip.subarray(0, 2)).toString()).toBe("PK");
    expect(await featuresOf({ name: "towns.zip", bytes: zip })).toHaveLength(2);
    const { bytes: database } = await convert({ inputs: Buffer.from(csv), to: "gpkg" });
    expect(Buffer.from(database.subarray(0, 15)).toString()).toBe("SQLite format 3");
    expect(await featuresOf(database)).toHaveLength(2);
  });

  test("convert writes into web streams and Node.js streams", async () => {
    const chunks: Uint8Array[] = [];
    const web = new WritableStream<Uint8Array>({ write: (chunk) => void chunks.push(chunk) });
    await convert({ inputs: createReadStream(survey), output: web, to: "csv" });
    expect(Buffer.concat(chunks).toString().split("\n")).toHaveLength(22);

    const sent: Buffer[] = [];
    const node = new Writable({
      write(chunk: Buffer, _encoding, done) {
        sent.push(chunk);
        done();
      },
    });
    await convert({ inputs: survey, output: node, to: "csv" });
    expect(Buffer.concat(sent)).toEqual(Buffer.concat(chunks));
    expect(node.writableFinished).toBe(true);
  });

  test("a stream gets nothing from a failed conversion", async () => {
    const chunks: Uint8Array[] = [];
    let aborted: unknown;
    const stream = new WritableStream<Uint8Array>({
      write: (chunk) => void chunks.push(chunk),
      abort(reason) {
        aborted = reason;
      },
    });
    await expect(convert({ inputs: survey, output: stream, to: "csv", select: ["nothing"] })).rejects.toMatchObject({
      code: "field-missing",
    });
    expect(chunks).toEqual([]);
    expect(aborted).toMatchObject({ code: "field-missing" });
  });

  test("convert writes to a path", async () => {
    const output = join(folder, "survey.gpkg");
    expect(await convert({ inputs: [survey], output })).toMatchObject({ written: 20 });
    expect((await inspect({ inputs: [output] })).layers[0]).toMatchObject({ featureCount: 20 });
  });

  test("convert names the layers to choose from if the bytes would be several files", async () => {
    const { bytes } = await zipOf({ "a.csv": csv, "b.csv": csv });
    await expect(convert({ inputs: { name: "two.zip", bytes }, to: "csv" })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("choose a layer with layers"),
    });
  });
});

describe("write", () => {
  const feature = (n: number) => ({
    type: "Feature" as const,
    id: n,
    geometry: { type: "Point", coordinates: [n, n] },
    properties: { n, at: new Date(Date.UTC(2026, 0, n)) },
  });

  test("write accepts features of a generator", async () => {
    async function* some() {
      for (let n = 1; n <= 3; n++) yield feature(n);
    }
    const output = join(folder, "written.gpkg");
    expect(await write(some(), output, { layerName: "points" })).toMatchObject({ written: 3, rejected: 0 });
    await using dataset = await open(output);
    expect(dataset.layers.map(({ name }) => name)).toEqual(["points"]);
    expect(dataset.layers[0]!.fields).toContainEqual(expect.objectContaining({ name: "at", type: "datetime" }));
  });

  test("write returns bytes", async () => {
    const { bytes } = await write([feature(1)], undefined, { to: "geojson" });
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ features: [{ id: 1, properties: { n: 1 } }] });
  });

  test("write keeps bigints, and reports numbers that JSON does not support", async () => {
    const properties = {
      small: 7n,
      large: 9007199254740993n,
      none: Number.NaN,
      deep: { far: Number.POSITIVE_INFINITY },
    };
    const { bytes, losses } = await write([{ ...feature(1), properties }], undefined, { to: "geojson" });
    const text = Buffer.from(bytes).toString();
    expect(text).toContain('"small":7,');
    // 2^53 + 1, which no double holds: the GeoJSON writer keeps it as text.
    expect(text).toMatch(/"large":"?9007199254740993"?,/);
    expect(JSON.parse(text).features[0].properties).toMatchObject({ none: null });
    expect(losses.map(({ code }) => code)).toContain("non-finite-value");
  });

  test("write throws the error of the generator, and writes nothing", async () => {
    const output = join(folder, "none.geojson");
    const own = new RangeError("mine");
    function* some() {
      yield feature(1);
      throw own;
    }
    await expect(write(some(), output)).rejects.toBe(own);
    expect(() => readFileSync(output)).toThrow("ENOENT");
  });
});

describe("errors", () => {
  const failing = async (work: Promise<unknown>): Promise<GeoferryError> => {
    try {
      await work;
    } catch (error) {
      return error as GeoferryError;
    }
    throw new Error("it did not fail");
  };

  test("errors name options of the library, and list them", async () => {
    const collection = { name: "x.bin", bytes: Buffer.from([1, 2, 3, 4, 5]) };
    const unknown = await failing(open(collection));
    expect(unknown).toMatchObject({ code: "input-unrecognized", details: { options: ["from"] } });
    expect(unknown.message).toMatch(/^x\.bin: .*name it with from if/);
    const crs = await failing(convert({ inputs: survey, to: "geojson", sourceCrs: "EPSG:1" }));
    expect(crs).toMatchObject({ code: "crs-option-invalid", details: { option: "sourceCrs" } });
    expect(crs.message).not.toContain("--");
    const there = join(folder, "there.csv");
    writeFileSync(there, "x");
    const exists = await failing(convert({ inputs: survey, output: there }));
    expect(exists.message).toContain("use overwrite: true to replace it or append: true to add to it");
    const undecided = await failing(convert({ inputs: survey, output: join(folder, "noextension") }));
    expect(undecided).toMatchObject({ code: "format-undecided", details: { options: ["to"] } });
  });

  test("errors name the invalid argument of a call", async () => {
    const calls: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
      [() => open(undefined as never), /^an input is a path/],
      [() => open(null as never), /^an input is a path/],
      [() => open(survey, "name" as never), /^open takes an object of options/],
      [() => convert(undefined as never), /^convert takes an object of options/],
      [() => convert(survey as never), /^convert takes an object of options/],
      [() => convert({ inputs: [null as never], to: "csv" }), /^an input is a path/],
      [() => inspect(undefined as never), /^inspect takes an object of options/],
      [() => inspect(survey as never), /^inspect takes an object of options/],
      [() => inspect({ inputs: survey as never }), /inputs.*an array/],
      [() => write(null as never, undefined, { to: "csv" }), /^features are an array/],
      [
        () => write({ type: "FeatureCollection", features: [] } as never, undefined, { to: "csv" }),
        /^features are .*\.features/,
      ],
    ];
    for (const [call, message] of calls) {
      const error = await failing(call());
      expect([error.name, error.kind], String(message)).toEqual(["GeoferryError", "usage"]);
      expect(error.message).toMatch(message);
    }
  });

  test("errors of a closed dataset name it as closed", async () => {
    const dataset = await open(survey);
    await dataset.close();
    const error = await failing(dataset.layers[0]![Symbol.asyncIterator]().next());
    expect(error).toMatchObject({ kind: "usage", message: expect.stringContaining("closed") });
  });
});

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function zipOf(files: Readonly<Record<string, string>>): Promise<{ readonly bytes: Buffer }> {
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk as Uint8Array));
  return { bytes: Buffer.concat(chunks) };
}
