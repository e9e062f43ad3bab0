import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GeoferryError } from "../../src/errors.js";
import { FileSource } from "../../src/io/input/source.js";
import type { Confidence, Format } from "../../src/plugin/format.js";
import { Registry } from "../../src/plugin/registry.js";
import { TemporaryFolder } from "../support/read-layers.js";

let scratch: TemporaryFolder;
beforeEach(() => {
  scratch = new TemporaryFolder();
});
afterEach(() => scratch.remove());

type Opinion = (head: Buffer) => Confidence;

function format(id: string, extensions: string[], identify: Opinion, rest: Partial<Format> = {}): Format {
  const reader = { options: {}, load: () => Promise.reject(new Error("not loaded by looking")) };
  return { apiVersion: 1, id, label: id, extensions, identify, reader, ...rest };
}

const starts =
  (text: string, sure: Confidence = "yes"): Opinion =>
  (head) =>
    head.toString("latin1").startsWith(text) ? sure : "no";

function registryOf(...formats: Format[]): Registry {
  const registry = new Registry();
  for (const each of formats) registry.add(each, `./${each.id}.js`);
  return registry;
}

function source(name: string, content: string | Buffer): FileSource {
  writeFileSync(scratch.path(name), content);
  return FileSource.at(scratch.path(name));
}

const errorOf = async (work: Promise<unknown>): Promise<GeoferryError> => {
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GeoferryError);
  return error as GeoferryError;
};

describe("the format of a file", () => {
  const json = format("json", ["json"], starts("{"));
  const lines = format("lines", ["ndjson", "jsonl"], starts("{"));
  const table = format("table", ["csv"], () => "maybe");
  const words = format("words", ["txt"], () => "maybe");
  const output = format("output", ["csv"], () => "yes", { reader: undefined });

  test.each([
    ["a.csv", "{}", [json, table], "json"],
    ["a.ndjson", "{}", [json, lines], "lines"],
    ["a.JSON", "{}", [json, lines], "json"],
    ["a.csv", "x,y", [json, table, words], "table"],
    ["a.dat", "x,y", [json, table], "table"],
    ["a.csv", "x,y", [output, table], "table"],
  ])("%s with %j", async (name, content, formats, expected) => {
    expect((await registryOf(...formats).identify(source(name, content))).id).toBe(expected);
  });

  test("the user is asked for the format if content and extension are ambiguous", async () => {
    const tied = await errorOf(registryOf(json, lines, table).identify(source("a.csv", "{}")));
    expect(tied.code).toBe("input-ambiguous");
    expect(tied.message).toContain("could be json or lines; say which with --from json or --from lines");
    expect((await errorOf(registryOf(table, words).identify(source("a.dat", "x")))).code).toBe("input-ambiguous");
    const twins = registryOf(json, lines, format("geo", ["json"], starts("{")));
    expect((await errorOf(twins.identify(source("a.json", "{}")))).details.formats).toEqual(["json", "geo"]);
  });

  test("an empty or unknown file has no format", async () => {
    expect((await errorOf(registryOf(json, table).identify(source("a.csv", "")))).code).toBe("input-empty");
    const unknown = await errorOf(registryOf(json, output).identify(source("a.csv", "x")));
    expect(unknown.code).toBe("input-unrecognized");
    expect(unknown.details.known).toEqual(["json"]);
  });

  test("the format is detected from the first 64 KiB", async () => {
    const lengths: number[] = [];
    const curious = format("curious", [], (head) => {
      lengths.push(head.length);
      return "yes";
    });
    await registryOf(curious).identify(source("big", Buffer.alloc(100_000)));
    await registryOf(curious).identify(source("small", Buffer.alloc(10)));
    expect(lengths).toEqual([65_536, 10]);
  });

  test("a plugin that throws does not determine the format", async () => {
    const broken = format("broken", [], () => {
      throw new Error("oh");
    });
    const error = await errorOf(registryOf(broken).identify(source("a", "x")));
    expect(error.code).toBe("plugin-invalid");
    expect(error.message).toContain("plugin broken: its identify failed: oh");
  });
});

describe("the registry", () => {
  const shapes = format("shapes", ["shp", "shp.zip", "dbf"], starts("S"), {
    companionExtensions: ["dbf", "shx", "shp.xml"],
  });
  const parcels = format("parcels", ["zip", "kmz"], starts("PK"));
  const registry = registryOf(shapes, parcels);

  test("the registry finds formats by the longest extension", () => {
    const ids = (path: string) => registry.findByExtension(path).map((each) => each.id);
    expect(ids("a.shp.zip")).toEqual(["shapes"]);
    expect(ids("out.d/A.ZIP")).toEqual(["parcels"]);
    expect(ids("shp")).toEqual([]);
    expect(ids("a.shp.xml")).toEqual([]);
  });

  test("the registry recognizes inputs and companions by their names", () => {
    expect(registry.canBeInput("x/a.SHP")).toBe(true);
    expect(registry.canBeInput("a.shx")).toBe(false);
    expect(registry.isCompanion("a.shp.xml")).toBe(true);
    expect(registry.isCompanion("a.shp")).toBe(false);
    expect(registry.isZippedFormat(source("a.kmz", "PK"), Buffer.from("PK"))).toBe(true);
  });

  test("the registry recognizes the zips of formats by their names", () => {
    const archive = { extensions: ["kmz"], findMain: () => "doc.kml" };
    const own = registryOf(format("kml", ["kml", "kmz"], starts("<"), { archive }));
    expect(own.findArchive("a.zip/Places.KMZ")).toBe(archive);
    expect(own.findArchive("places.kml")).toBeUndefined();
    expect(own.findArchive("places.kmz.zip")).toBeUndefined();
  });

  test("the registry returns a format and its origin by id", () => {
    expect(registry.get("shapes")).toBe(shapes);
    expect(registry.getModule("parcels")).toBe("./parcels.js");
    expect(registry.all()).toEqual([shapes, parcels]);
    expect(() => registry.get("csv")).toThrow('no format "csv"; known are shapes, parcels');
    expect(() => registry.add(shapes, "other")).toThrow(
      /two formats with the id "shapes", from \.\/shapes\.js and from other/,
    );
  });
});
