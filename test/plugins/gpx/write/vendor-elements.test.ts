import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../../src/testing/index.js";
import { convertFile } from "../../../support/host.js";
import { canValidate, validateDocument } from "../../../support/schemas.js";
import { featuresIn, gpxDocument } from "../read-gpx.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const isTestable = canValidate("gpx-1.1.xsd");
let count = 0;

/** Converts a document to GPX. */
async function rewritten(document: string, name = "in.gpx"): Promise<string> {
  const folder = scratch.path(`v${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/${name}`, document);
  const { losses } = await convertFile(`${folder}/${name}`, `${folder}/out.gpx`);
  expect(losses).toEqual([]);
  return readFileSync(`${folder}/out.gpx`, "utf8");
}

const attributes =
  'xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxx="urn:garmin" xmlns:opencpn="http://www.opencpn.org" xmlns:gpxtpx="urn:tpx"';
const wpt = (extensions: string) => `<wpt lat="1" lon="2"><extensions>${extensions}</extensions></wpt>`;

describe("elements of other namespaces keep their place, prefix and namespace from GPX to GPX", () => {
  test.each([
    [
      "one",
      "<opencpn:guid>a-1</opencpn:guid>",
      '<opencpn:guid xmlns:opencpn="http://www.opencpn.org">a-1</opencpn:guid>',
    ],
    [
      "nested, of the same parent",
      "<gpxx:WaypointExtension><gpxx:Depth>5</gpxx:Depth><gpxx:Address><gpxx:City>Köln &amp; x</gpxx:City></gpxx:Address></gpxx:WaypointExtension>",
      '<gpxx:WaypointExtension xmlns:gpxx="urn:garmin"><gpxx:Depth>5</gpxx:Depth><gpxx:Address><gpxx:City>Köln &amp; x</gpxx:City></gpxx:Address></gpxx:WaypointExtension>',
    ],
    [
      "the heart rate of a waypoint",
      "<gpxtpx:TrackPointExtension><gpxtpx:hr>120</gpxtpx:hr></gpxtpx:TrackPointExtension>",
      '<gpxtpx:TrackPointExtension xmlns:gpxtpx="urn:tpx"><gpxtpx:hr>120</gpxtpx:hr></gpxtpx:TrackPointExtension>',
    ],
    [
      "attributes",
      '<opencpn:scale use="true" min="1.5">x</opencpn:scale>',
      '<opencpn:scale xmlns:opencpn="http://www.opencpn.org" use="true" min="1.5">x</opencpn:scale>',
    ],
    [
      "several times",
      "<gpxx:c>1</gpxx:c><gpxx:c>2</gpxx:c>",
      '<gpxx:c xmlns:gpxx="urn:garmin">1</gpxx:c><gpxx:c xmlns:gpxx="urn:garmin">2</gpxx:c>',
    ],
    ["of the default namespace", '<speed xmlns="urn:speed">3</speed>', '<speed xmlns="urn:speed">3</speed>'],
  ])("elements of other namespaces keep their place from GPX to GPX: %s", async (_, extensions, expected) => {
    const document = gpxDocument(wpt(extensions) + wpt(""), attributes);
    const text = await rewritten(document);
    expect(text).toContain(`<extensions>${expected}</extensions>`);
    expect(text.match(/<geoferry:/g)).toBeNull();
    if (isTestable) expect(validateDocument(text, "gpx-1.1.xsd")).toBe("");
    expect(await featuresIn(text)).toEqual(await featuresIn(document));
  });

  test("elements of other namespaces keep their place in the arrays of routes and tracks, beside geoferry's fields", async () => {
    const document = gpxDocument(
      '<rte><name>r</name><extensions><opencpn:viz>1</opencpn:viz></extensions><rtept lat="1" lon="2"/><rtept lat="2" lon="2"/></rte>',
      attributes,
    );
    const text = await rewritten(document);
    expect(text).toContain('<opencpn:viz xmlns:opencpn="http://www.opencpn.org">1</opencpn:viz>');
    expect(await featuresIn(await rewritten(text))).toEqual(await featuresIn(document));
  });
});

describe("fields with names like NAME or description are written as name and desc", () => {
  const point = "<Point><coordinates>1,2</coordinates></Point>";
  const kml = (inner: string) =>
    `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark>${inner}${point}</Placemark></Document></kml>`;

  test("fields of a KML with names like NAME or description are written as name and desc, and read with their own names", async () => {
    const text = await rewritten(kml("<name>A</name><description>b &lt;i&gt;</description>"), "in.kml");
    expect(text).toContain("<name>A</name><desc>b &lt;i&gt;</desc>");
    expect(text).not.toContain("geoferry:description");
    const [feature] = await featuresIn(text);
    expect(feature!.properties).toMatchObject({ name: "A", description: "b <i>" });
  });

  test("fields named like elements are written as them in any case, except where a field has the element's name", async () => {
    const geojson = (properties: object) =>
      JSON.stringify({ type: "Feature", properties, geometry: { type: "Point", coordinates: [1, 2] } });
    const upper = await rewritten(geojson({ NAME: "A", Description: "B" }), "in.geojson");
    expect(upper).toContain("<name>A</name><desc>B</desc>");
    expect((await featuresIn(upper))[0]!.properties).toMatchObject({ NAME: "A", Description: "B" });
    const both = await rewritten(geojson({ desc: "A", description: "B" }), "in.geojson");
    expect(both).toContain("<desc>A</desc><extensions><geoferry:description>B</geoferry:description></extensions>");
    const number = await rewritten(geojson({ NAME: 5 }), "in.geojson");
    expect(number).toContain("<geoferry:NAME>5</geoferry:NAME>");
  });
});
