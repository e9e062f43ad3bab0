/** Elements in extensions as programs write them: without a namespace of their own, repeated, nested. */
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

async function rewritten(document: string, extension = "gpx", readerOptions: Record<string, string> = {}) {
  const folder = scratch.path(`e${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/in.gpx`, document);
  const report = await convertFile(`${folder}/in.gpx`, `${folder}/out.${extension}`, { readerOptions });
  const text = readFileSync(`${folder}/out.${extension}`, "utf8");
  return { text, losses: report.losses.map(({ code, count: n }) => `${code} ${n}`), notices: report.notices };
}

const gpx = "http://www.topografix.com/GPX/1/1";
const gpxtpx = "http://www.garmin.com/xmlschemas/TrackPointExtension/v1";
const gpxx = "http://www.garmin.com/xmlschemas/GpxExtensions/v3";
const attributes = `xmlns="${gpx}" xmlns:gpxtpx="${gpxtpx}" xmlns:gpxx="${gpxx}" xmlns:x="urn:x" xmlns:xlink="http://www.w3.org/1999/xlink"`;
/** Returns the contents of all extensions except those of the file. */
const extensionsIn = (text: string): string[] =>
  [...text.matchAll(/<extensions>(?!<gf:)(.*?)<\/extensions>/gs)].map(([, inner]) =>
    inner!.replace(/ xmlns(:\w+)?="(?!")[^"]*"/g, "").replace(/>\s+</g, "><"),
  );
const trkpt = (extensions: string, n = 1) => `<trkpt lat="${n}" lon="2"><extensions>${extensions}</extensions></trkpt>`;
const track = (...points: string[]) => `<trk><trkseg>${points.map(trkpt).join("")}</trkseg></trk>`;
const wpt = (extensions: string) => `<wpt lat="1" lon="2"><extensions>${extensions}</extensions></wpt>`;

describe("elements of GPX's own namespace, or of none", () => {
  // As Strava and watches write them; GPX 1.1, extensionsType, requires another namespace.
  const power = ["<power>75</power>", "<power>80</power><hAcc>3.5</hAcc>"];

  test.each([
    ["of points", track(...power), power],
    ["of waypoints", wpt(power[1]!), [power[1]!]],
    ["of features", `<trk><extensions>${power[1]}</extensions></trk>`, [power[1]!]],
    [
      "of segments",
      `<trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="2" lon="2"/><extensions>${power[1]}</extensions></trkseg></trk>`,
      [power[1]!],
    ],
    ["nested", track("<a><b>1</b></a>"), ["<a><b>1</b></a>"]],
    ["in none, as they say", track('<power xmlns="">75</power>'), ['<power xmlns="">75</power>']],
    [
      "in Garmin's",
      track("<gpxtpx:TrackPointExtension><hr>100</hr></gpxtpx:TrackPointExtension>"),
      ["<gpxtpx:TrackPointExtension><hr>100</hr></gpxtpx:TrackPointExtension>"],
    ],
  ])(
    "elements of GPX's own or no namespace in extensions, %s, keep their names and namespaces, with a notice",
    async (_, inner, expected) => {
      const document = gpxDocument(inner, attributes);
      const { text, losses, notices } = await rewritten(document);
      expect(extensionsIn(text)).toEqual(expected);
      expect(text).not.toContain("geoferry:power");
      expect(losses).toEqual([]);
      expect(notices.map(({ code }) => code)).toContain("extension-unqualified");
      const options = { shortLines: "yes" };
      expect(await featuresIn(text, options)).toEqual(await featuresIn(document, options));
      if (isTestable) {
        // The source has the same violation of GPX 1.1.
        const errors = validateDocument(text, "gpx-1.1.xsd").match(/: element \S+: /g) ?? [];
        for (const error of errors) expect(error).toMatch(/^: element (power|hAcc|a|hr): $/);
      }
    },
  );

  test("elements without a namespace are kept in a document without a namespace", async () => {
    const { text } = await rewritten(gpxDocument(track(...power), ""));
    expect(extensionsIn(text)).toEqual(power);
  });

  test("elements beside those of a point, allowed in GPX 1.0 only, are not moved into extensions by that name", async () => {
    const document = gpxDocument(
      '<trk><trkseg><trkpt lat="1" lon="2"><mood>good</mood></trkpt></trkseg></trk>',
      attributes,
    );
    const { text } = await rewritten(document);
    expect(text).toContain("<geoferry:mood");
  });
});

describe("elements that a point has several times", () => {
  // Strava writes two temperatures into one extension.
  const twice =
    "<gpxtpx:TrackPointExtension><gpxtpx:atemp>11</gpxtpx:atemp><gpxtpx:atemp>20</gpxtpx:atemp></gpxtpx:TrackPointExtension>";
  const once = "<gpxtpx:TrackPointExtension><gpxtpx:atemp>9.5</gpxtpx:atemp></gpxtpx:TrackPointExtension>";
  const thrice = twice.replace("<gpxtpx:atemp>20</gpxtpx:atemp>", "$&<gpxtpx:atemp>a,b</gpxtpx:atemp>");
  const document = gpxDocument(track(once, twice, once, thrice), attributes);

  test("repeated elements of a point become an array for that point", async () => {
    const { text, losses } = await rewritten(document, "geojson");
    expect(losses).toEqual([]);
    const { coordinateProperties } = JSON.parse(text).features[0].properties;
    expect(coordinateProperties).toEqual({ atemps: [9.5, [11, 20], 9.5, [11, 20, "a,b"]] });
  });

  test("repeated elements of a point are written as often as they were read", async () => {
    const { text, losses } = await rewritten(document);
    expect(losses).toEqual([]);
    expect(extensionsIn(text)).toEqual([once, twice, once, thrice]);
  });
});

test.each([
  ["of features", wpt("<x:a><x:b>1</x:b></x:a><x:a><x:b>2</x:b></x:a>"), 1],
  ["of points", track("<x:a><x:b>1</x:b></x:a><x:a><x:b>2</x:b></x:a>", "<x:a><x:b>1</x:b></x:a>"), 1],
  ["whose later ones have children only", wpt("<x:a>1</x:a><x:a><x:b>2</x:b></x:a>"), 1],
  ["with other attributes each", wpt('<x:a m="1"/><x:a m="2" n="3"/>'), 1],
  ["that are plain", wpt("<x:a>1</x:a><x:a>2</x:a>"), 0],
  ["with the same attributes", wpt('<x:a m="1">1</x:a><x:a m="2">2</x:a>'), 0],
  ["of several points", track("<x:a><x:b>1</x:b></x:a>", "<x:a><x:b>1</x:b></x:a>"), 0],
])(
  "repeated elements with child elements are a loss, because their grouping is lost: %s",
  async (_, inner, expected) => {
    const { losses } = await rewritten(gpxDocument(inner, attributes));
    expect(losses).toEqual(expected === 0 ? [] : [`extension-regrouped ${expected}`]);
  },
);

test.each([
  ["of features", wpt('<x:a xlink:href="#b" xml:lang="de" k="1">c</x:a>')],
  ["of points", track('<x:a xlink:href="#b" xml:lang="de" k="1">c</x:a>')],
])("attributes with a prefix keep it: %s", async (_, inner) => {
  const document = gpxDocument(inner, attributes);
  const { text, losses } = await rewritten(document);
  expect(losses).toEqual([]);
  expect(extensionsIn(text)).toEqual(['<x:a xlink:href="#b" xml:lang="de" k="1">c</x:a>']);
  expect(text).toContain('xmlns:xlink="http://www.w3.org/1999/xlink"');
  if (isTestable) expect(validateDocument(text, "gpx-1.1.xsd")).toBe("");
});

describe("positions of Garmin between route points (GpxExtensions v3, RoutePointExtension_t)", () => {
  const subclass = (digits: string) => `<gpxx:Subclass>${digits}</gpxx:Subclass>`;
  const first = `<gpxx:RoutePointExtension>${subclass("0A")}<gpxx:rpt lat="1.1" lon="2.1"></gpxx:rpt><gpxx:rpt lat="1.2" lon="2.2">${subclass("0B")}</gpxx:rpt></gpxx:RoutePointExtension>`;
  const second = '<gpxx:RoutePointExtension><gpxx:rpt lat="3.1" lon="4.1"></gpxx:rpt></gpxx:RoutePointExtension>';
  const rtept = (n: number, extensions = "") =>
    `<rtept lat="${n}" lon="${n + 1}"><ele>9</ele><name>p${n}</name>${extensions && `<extensions>${extensions}</extensions>`}</rtept>`;
  const document = gpxDocument(`<rte>${rtept(1, first)}${rtept(3, second)}${rtept(5)}</rte>`, attributes);

  test("positions of Garmin between route points are values of their points, with a notice that the line lacks them", async () => {
    const { text, losses, notices } = await rewritten(document, "geojson");
    expect(losses).toEqual([]);
    expect(notices).toMatchObject([{ code: "route-shape", count: 3 }]);
    expect(notices[0]!.example).toContain("routeShape");
    const [feature] = JSON.parse(text).features;
    expect(feature.geometry.coordinates).toHaveLength(3);
    expect(feature.properties.coordinateProperties["gpxx:RoutePointExtension_rpts"]).toEqual([
      [
        { lat: 1.1, lon: 2.1 },
        { lat: 1.2, lon: 2.2, Subclass: "0B" },
      ],
      [{ lat: 3.1, lon: 4.1 }],
      null,
    ]);
  });

  test("positions of Garmin between route points keep their place from GPX to GPX", async () => {
    const { text, losses } = await rewritten(document);
    expect(losses).toEqual([]);
    expect(extensionsIn(text)).toEqual([first, second]);
    if (isTestable) expect(validateDocument(text, "gpx-1.1.xsd")).toBe("");
  });

  test("positions of Garmin between route points are positions of the line with routeShape=yes", async () => {
    const { text, losses, notices } = await rewritten(document, "geojson", { routeShape: "yes" });
    expect(losses).toEqual([]);
    expect(notices).toEqual([]);
    const [feature] = JSON.parse(text).features;
    expect(feature.geometry.coordinates).toEqual([
      [2, 1, 9],
      [2.1, 1.1],
      [2.2, 1.2],
      [4, 3, 9],
      [4.1, 3.1],
      [6, 5, 9],
    ]);
    expect(feature.properties.coordinateProperties.names).toEqual(["p1", null, null, "p3", null, "p5"]);
    expect(text).not.toContain("rpt");
  });

  test("positions of Garmin between route points without lat or lon are a loss", async () => {
    const broken = document.replace('lat="1.1"', 'lat="x"');
    expect((await rewritten(broken, "geojson", { routeShape: "yes" })).losses).toEqual(["point-without-place 1"]);
  });
});
