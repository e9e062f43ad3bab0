import { mkdirSync, writeFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { ZipFile } from "yazl";
import { TemporaryFolder } from "../../src/testing/index.js";
import { convertFile } from "../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

let count = 0;

/** Converts a file of this name and content to CSV. */
async function convertedFrom(name: string, content: string | Buffer) {
  const folder = scratch.path(`f${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/${name}`, content);
  return convertFile(`${folder}/${name}`, `${folder}/out.csv`, {});
}

/** A zip with this text in a file of no known format. */
async function zipOfText(): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from("hello"), "readme.txt");
  zip.end();
  return buffer(zip.outputStream);
}

const placemark = "<Placemark><name>A</name><Point><coordinates>1,2</coordinates></Point></Placemark>";
const kml = (namespace: string, inner = placemark) => `<kml xmlns="${namespace}"><Document>${inner}</Document></kml>`;
const waypoint = '<wpt lat="2" lon="1"><name>A</name></wpt>';
const gpx = (namespace: string, inner = waypoint) =>
  `<gpx version="1.1" creator="x" xmlns="${namespace}">${inner}</gpx>`;

describe("a document in a mistyped namespace is read as what its root says, with a note", () => {
  test.each([
    ["a.kml", kml("https://www.opengis.net/kml/2.2")],
    ["a.kml", kml("http://opengis.net/kml/2.2")],
    ["a.kml", kml("https://earth.google.com/kml/2.1")],
    ["a.kml", kml("http://www.google.com/earth/kml/2")],
    ["a.kml", kml("urn:another")],
    ["a.gpx", gpx("https://www.topografix.com/GPX/1/1")],
    ["a.gpx", gpx("urn:another")],
  ])("%s, %s", async (name, content) => {
    const { written, notices } = await convertedFrom(name, content);
    expect(written).toBe(1);
    expect(notices.map(({ code }) => code)).toContain("namespace-mistyped");
  });

  test.each([
    ["a.kml", kml("http://www.opengis.net/kml/2.2")],
    ["a.kml", kml("http://earth.google.com/kml/2.0")],
    ["a.kml", `<kml><Document>${placemark}</Document></kml>`],
    ["a.gpx", gpx("http://www.topografix.com/GPX/1/0")],
    ["a.gpx", gpx("http://www.topografix.com/GPX/1/1")],
    ["a.gpx", `<gpx version="1.1" creator="x">${waypoint}</gpx>`],
  ])("and without one where there is nothing to say: %s, %s", async (name, content) => {
    const { written, notices } = await convertedFrom(name, content);
    expect(written).toBe(1);
    expect(notices).toEqual([]);
  });

  test.each([
    ["the root has a prefix", `<x:gpx xmlns:x="urn:x" version="1.1" creator="x">${waypoint}</x:gpx>`],
    [
      "the root is of GPX 1.1, its children of 1.0",
      `<g:gpx xmlns:g="http://www.topografix.com/GPX/1/1" xmlns="http://www.topografix.com/GPX/1/0">${waypoint}</g:gpx>`,
    ],
  ])("elements of GPX are found where %s", async (_, content) => {
    expect((await convertedFrom("a.gpx", content)).written).toBe(1);
  });

  test("a KML is read in a mistyped namespace behind damage, too", async () => {
    const scratchFile = kml("urn:another", `${placemark}<Placemark><name>B</nam></Placemark>${placemark}`);
    const folder = scratch.path("damaged");
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/a.kml`, scratchFile);
    const { written } = await convertFile(`${folder}/a.kml`, `${folder}/out.csv`, { skipErrors: true });
    expect(written).toBe(2);
  });
});

describe("an input with content of which nothing is understood is an error", () => {
  const kml22 = "http://www.opengis.net/kml/2.2";
  const bare = "<MultiGeometry><Point><coordinates>7,51</coordinates></Point></MultiGeometry>";
  test.each([
    ["placemarks of another namespace", "a.kml", kml(kml22, '<x:Placemark xmlns:x="urn:x"/>'), "input-not-understood"],
    ["a document of another namespace", "a.kml", `<kml xmlns="${kml22}"><Folders/></kml>`, "input-not-understood"],
    [
      "a geometry outside Placemarks",
      "a.kml",
      `<kml xmlns="${kml22}"><Document>${bare}</Document></kml>`,
      "input-not-understood",
    ],
    ["a geometry as the content of the file", "a.kml", `<kml xmlns="${kml22}">${bare}</kml>`, "input-not-understood"],
    ["an update, no document", "a.kml", `<kml xmlns="${kml22}"><NetworkLinkControl/></kml>`, "input-not-understood"],
    [
      "waypoints of another namespace",
      "a.gpx",
      gpx("http://www.topografix.com/GPX/1/1", '<x:wpt xmlns:x="urn:x" lat="1" lon="1"/>'),
      "input-not-understood",
    ],
    [
      "elements that GPX does not have",
      "a.gpx",
      gpx("http://www.topografix.com/GPX/1/1", "<waypoints/>"),
      "input-not-understood",
    ],
    ["a collection without features", "a.geojson", '{"type":"FeatureCollection"}', "input-corrupt"],
    ["features that are no array", "a.geojson", '{"type":"FeatureCollection","features":{"a":1}}', "input-corrupt"],
    ["JSON of another schema", "a.geojson", '{"features":[{"a":1}]}', "input-unrecognized"],
    ["JSON that is an array of anything", "a.geojson", '[{"a":1}]', "input-unrecognized"],
    ["lines of JSON of another schema", "a.geojsonl", '{"a":1}\n{"a":2}\n', "input-unrecognized"],
    ["a zip with nothing known in it", "a.zip", zipOfText, "input-unrecognized"],
    ["a KMZ without a KML", "a.kmz", zipOfText, "input-corrupt"],
  ])("an input that is not understood is an error: %s", async (_, name, content, code) => {
    const bytes = typeof content === "string" ? content : await content();
    await expect(convertedFrom(name, bytes)).rejects.toMatchObject({ code });
  });

  test.each([
    ["a FeatureCollection of objects that are no features", '{"type":"FeatureCollection","features":[{"a":1},2]}', 2],
    ["features of a type in other letters", '{"type":"FeatureCollection","features":[{"type":"feature"}]}', 1],
    ["a geometry without coordinates", '{"type":"Point"}', 1],
  ])("%s are rejects", async (_, content, rejected) => {
    const report = await convertedFrom("a.geojson", content);
    expect([report.written, report.rejected]).toEqual([0, rejected]);
  });

  test.each([
    ["an empty document", "a.kml", kml(kml22, "")],
    ["a document of a view", "a.kml", kml(kml22, "<name>x</name><LookAt/>")],
    ["an empty GPX", "a.gpx", gpx("http://www.topografix.com/GPX/1/1", "<metadata><name>x</name></metadata>")],
    ["no features", "a.geojson", '{"type":"FeatureCollection","features":[]}'],
  ])("but %s is a layer without features", async (_, name, content) => {
    expect((await convertedFrom(name, content)).written).toBe(0);
  });

  test("content that its extension does not promise is shown in the error", async () => {
    const error = await convertedFrom("a.geojson", "\u0001garbage, and more of it than a message shows").catch(
      (each) => each as Error,
    );
    expect((error as Error).message).toContain(
      'has the extension .geojson of GeoJSON, but its content is in no format that geoferry knows: it begins with "\\u0001garbage, and',
    );
  });

  test("a GeometryCollection is a feature", async () => {
    const geometry = '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}';
    expect((await convertedFrom("a.geojson", geometry)).written).toBe(1);
  });

  test("elements that are none of the format's beside features are a loss, once for all", async () => {
    const { written, losses } = await convertedFrom(
      "a.kml",
      kml(kml22, `${placemark}<x:Placemark xmlns:x="urn:x"/><x:Mark xmlns:x="urn:x"/>`),
    );
    expect(written).toBe(1);
    expect(losses).toMatchObject([{ code: "element-left-out", count: 2 }]);
  });
});
