/** Values of routes, segments and points are the same from GPX to GPX (GPX 1.1, rteType, trksegType, wptType). */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { canValidate, validateDocument } from "../../support/schemas.js";
import { featuresIn, gpxDocument } from "./read-gpx.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const isTestable = canValidate("gpx-1.1.xsd");
let count = 0;

/** Converts a document to a format. @returns the output and the codes of losses */
async function rewritten(document: string, extension = "gpx"): Promise<{ text: string; losses: string[] }> {
  const folder = scratch.path(`s${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/in.gpx`, document);
  const { losses } = await convertFile(`${folder}/in.gpx`, `${folder}/out.${extension}`);
  const text = readFileSync(`${folder}/out.${extension}`, "utf8");
  if (extension === "gpx" && isTestable) expect(validateDocument(text, "gpx-1.1.xsd")).toBe("");
  return { text, losses: losses.map(({ code }) => code) };
}

const v1 = "http://www.garmin.com/xmlschemas/TrackPointExtension/v1";
const gpxx = "http://www.garmin.com/xmlschemas/GpxExtensions/v3";
const attributes = `xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="${v1}" xmlns:gpxx="${gpxx}" xmlns:opencpn="http://www.opencpn.org"`;
/** Returns the elements with a prefix, in order, with their contents. */
const elementsOf = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`<(${name})[ >].*?</\\1>`, "gs"))].map(([element]) =>
    element.replace(/ xmlns:\w+="[^"]*"/g, ""),
  );

test("a route without points stays a route", async () => {
  const { text, losses } = await rewritten(gpxDocument("<rte><name>r</name></rte><trk><name>t</name></trk>"));
  expect(text.match(/<(rte|trk)>/g)).toEqual(["<rte>", "<trk>"]);
  expect(losses).toEqual([]);
  expect((await featuresIn(text)).map(({ properties }) => properties)).toMatchObject([
    { _gpxType: "rte", name: "r" },
    { _gpxType: "trk", name: "t" },
  ]);
});

test.each([
  ["name", /<name>(.*?)<\/name>/g],
  ["time", /<geoferry:time>(.*?)<\/geoferry:time>/g],
])("infinite numbers of a field named %s stay numbers", async (name, element) => {
  const folder = scratch.path(`s${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/in.csv`, `lon,lat,${name}\n1,2,1.5\n2,3,inf\n3,4,-inf\n4,5,nan\n`);
  const { losses } = await convertFile(`${folder}/in.csv`, `${folder}/a.gpx`, { verify: true });
  expect(losses).toEqual([]);
  const { text } = await rewritten(readFileSync(`${folder}/a.gpx`, "utf8"));
  const waypoints = text.slice(text.indexOf("<wpt"));
  // XML Schema 1.0 part 2, 3.2.5.1
  expect([...waypoints.matchAll(element)].map(([, value]) => value)).toEqual(["1.5", "INF", "-INF", "NaN"]);
  expect(text).toContain(`<gf:field name="${name}" type="double"/>`);
});

describe("elements of other namespaces in points keep their place, prefix and namespace", () => {
  const point = (extensions: string, n: number) =>
    `<trkpt lat="${n}" lon="2"><ele>5</ele><extensions>${extensions}</extensions></trkpt>`;
  const track = (...extensions: string[]) =>
    gpxDocument(`<trk><trkseg>${extensions.map(point).join("")}</trkseg></trk>`, attributes);
  const tpx = (inner: string) => `<gpxtpx:TrackPointExtension>${inner}</gpxtpx:TrackPointExtension>`;

  test("heart rate, cadence and temperature in points keep their elements and namespaces", async () => {
    const points = [
      tpx("<gpxtpx:hr>120</gpxtpx:hr>"),
      tpx("<gpxtpx:atemp>21.5</gpxtpx:atemp><gpxtpx:hr>121</gpxtpx:hr><gpxtpx:cad>80</gpxtpx:cad>"),
    ];
    const document = track(...points);
    const { text, losses } = await rewritten(document);
    expect(losses).toEqual([]);
    expect(elementsOf(text, "gpxtpx:TrackPointExtension")).toEqual(points);
    expect(text).toMatch(new RegExp(`<trk[^>]* xmlns:gpxtpx="${v1}"`));
    expect(text).not.toContain("<geoferry:");
    expect(await featuresIn(text)).toEqual(await featuresIn(document));
    expect((await rewritten(text)).text).toBe(text);
  });

  test("nested elements with attributes and a default namespace keep their place in points", async () => {
    const points = [
      '<gpxx:RoutePointExtension><gpxx:Subclass>ab</gpxx:Subclass><gpxx:rpt lat="1.5" lon="2.5"></gpxx:rpt></gpxx:RoutePointExtension><opencpn:guid>a &amp; b</opencpn:guid>',
      '<opencpn:guid>c</opencpn:guid><speed xmlns="urn:s">3</speed>',
    ];
    const rtept = (extensions: string, n: number) => point(extensions, n).replaceAll("trkpt", "rtept");
    const document = gpxDocument(`<rte>${points.map(rtept).join("")}</rte>`, attributes);
    const { text, losses } = await rewritten(document);
    expect(losses).toEqual([]);
    for (const inner of points) {
      expect(text.replace(/ xmlns:\w+="[^"]*"/g, "")).toContain(`<extensions>${inner}</extensions>`);
    }
    expect(await featuresIn(text)).toEqual(await featuresIn(document));
  });

  test("values from other formats are written as elements of Garmin or geoferry", async () => {
    const folder = scratch.path("other");
    mkdirSync(folder, { recursive: true });
    const coordinateProperties = { heart: [100, 101], mood: ["good", "bad"] };
    const geometry = { type: "LineString", coordinates: [[1, 2], [3, 4]] }; // biome-ignore format: pairs
    writeFileSync(
      `${folder}/in.geojson`,
      JSON.stringify({ type: "Feature", properties: { coordinateProperties }, geometry }),
    );
    await convertFile(`${folder}/in.geojson`, `${folder}/out.gpx`);
    const text = readFileSync(`${folder}/out.gpx`, "utf8");
    expect(elementsOf(text, "gpxtpx:hr")).toEqual(["<gpxtpx:hr>100</gpxtpx:hr>", "<gpxtpx:hr>101</gpxtpx:hr>"]);
    expect(text).toContain("<geoferry:mood>good</geoferry:mood>");
  });
});

test.each([
  ["waypoints", '<wpt lat="1" lon="2" x:id="a"/><wpt lat="1" lon="3" x:id="b"/>', 2],
  ["route points", '<rte><rtept lat="1" lon="2"/><rtept lat="1" lon="3" id="b" z="1"/></rte>', 2],
  ["track points", `<trk><trkseg>${'<trkpt id="a" lat="1" lon="2"/>'.repeat(5)}</trkseg></trk>`, 5],
  ["tracks", '<trk id="a"><trkseg><trkpt lat="1" lon="2"/><trkpt lat="1" lon="3"/></trkseg></trk>', 1],
  ["none but declarations", '<wpt lat="1" lon="2" xmlns:y="urn:y" xsi:type="wptType"/>', 0],
])("attributes that GPX does not define are a loss: %s", async (_, inner, expected) => {
  const folder = scratch.path(`s${count++}`);
  mkdirSync(folder, { recursive: true });
  const namespaces = 'xmlns:x="urn:x" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  writeFileSync(`${folder}/in.gpx`, gpxDocument(inner, `xmlns="http://www.topografix.com/GPX/1/1" ${namespaces}`));
  const { losses } = await convertFile(`${folder}/in.gpx`, `${folder}/out.gpx`);
  expect(losses.map(({ code, count: n }) => [code, n])).toEqual(
    expected === 0 ? [] : [["extension-left-out", expected]],
  );
});

test("extensions of the file itself are a loss, by name", async () => {
  const file = gpxDocument(
    '<wpt lat="1" lon="2"/><extensions><opencpn:version>5</opencpn:version></extensions>',
    attributes,
  );
  expect((await rewritten(file)).losses).toEqual(["metadata-left-out"]);
});

describe("extensions of segments", () => {
  const trkpt = (n: number) => `<trkpt lat="${n}" lon="2"/>`;
  const segment = (n: number, extensions = "") =>
    `<trkseg>${trkpt(n)}${trkpt(n + 1)}${extensions && `<extensions>${extensions}</extensions>`}</trkseg>`;
  const first = '<opencpn:viz use="1">yes</opencpn:viz><gpxx:Ext><gpxx:Color>Red</gpxx:Color></gpxx:Ext>';
  const second = "<opencpn:viz>no</opencpn:viz>";
  const document = gpxDocument(`<trk>${segment(1, first)}${segment(3)}${segment(5, second)}</trk>`, attributes);

  test("extensions of segments keep their place", async () => {
    const { text, losses } = await rewritten(document);
    expect(losses).toEqual([]);
    const plain = text.replace(/ xmlns:\w+="[^"]*"/g, "");
    expect(
      plain.match(/<extensions>.*?<\/extensions>\n?<\/trkseg>|<\/trkseg>/gs)!.map((end) => end.replaceAll("\n", "")),
    ).toEqual([
      `<extensions>${first}</extensions></trkseg>`,
      "</trkseg>",
      `<extensions>${second}</extensions></trkseg>`,
    ]);
    expect(await featuresIn(text)).toEqual(await featuresIn(document));
  });

  test("extensions of segments are a field in other formats, with a value for each segment", async () => {
    const { text, losses } = await rewritten(document, "geojson");
    expect(losses).toEqual([]);
    expect(JSON.parse(text).features[0].properties.segmentProperties).toEqual({
      "opencpn:viz_use": ["1", null, null].map((each) => each && Number(each)),
      "opencpn:viz": ["yes", null, "no"],
      "gpxx:Ext_Color": ["Red", null, null],
    });
  });

  test("extensions of segments are found after points with values", async () => {
    const timed = document.replaceAll('lon="2"/>', 'lon="2"><time>2024-01-01T00:00:00Z</time></trkpt>');
    const [feature] = await featuresIn(timed);
    expect(feature!.properties.segmentProperties).toMatchObject({ "opencpn:viz": ["yes", null, "no"] });
  });

  test("extensions of omitted segments are a loss", async () => {
    const empty = "<trkseg><extensions><opencpn:viz>1</opencpn:viz></extensions></trkseg>";
    const { losses } = await rewritten(gpxDocument(`<trk>${empty}${segment(1)}</trk>`, attributes));
    expect(losses).toEqual(["extension-left-out"]);
  });
});
