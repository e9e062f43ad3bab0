import { kml as togeojson } from "@tmcw/togeojson";
import { DOMParser } from "@xmldom/xmldom";
import { afterAll, describe, expect, test } from "vitest";
import { kmlDocument, placemarkXml, read, scratch } from "./read-kml.js";

afterAll(() => scratch.remove());

/** Converts a document with togeojson. */
function oracle(text: string): { geometry: unknown; properties: Record<string, unknown> }[] {
  const dom = new DOMParser().parseFromString(text, "text/xml") as unknown as Parameters<typeof togeojson>[0];
  const { features } = togeojson(dom) as { features: { geometry: unknown; properties: Record<string, unknown> }[] };
  return features.map(({ geometry, properties }) => ({ geometry, properties: { ...properties } }));
}

const point = "<Point><coordinates>1,2,0</coordinates></Point>";
const line = "<LineString><coordinates>1,2 3,4</coordinates></LineString>";
const polygon =
  "<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 9,0 9,9 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon>";

const documents: Readonly<Record<string, string>> = {
  "elements of text": placemarkXml(
    `<name>A</name><address>B</address><phoneNumber>C</phoneNumber><description>D</description>${point}`,
  ),
  visibility: placemarkXml(`<visibility>0</visibility>${line}`),
  times: placemarkXml(`<TimeStamp><when>2020-01-01T00:00:00Z</when></TimeStamp>${point}`),
  spans: placemarkXml(`<TimeSpan><begin>2020</begin><end>2021</end></TimeSpan>${polygon}`),
  data: placemarkXml(
    `<ExtendedData><Data name="a"><value>1</value></Data><Data name="b"><value>x y</value></Data></ExtendedData>${point}`,
  ),
  "typed data": `<Schema id="s"><SimpleField name="n" type="int"/><SimpleField name="d" type="double"/><SimpleField name="t" type="string"/></Schema>${placemarkXml(
    `<ExtendedData><SchemaData schemaUrl="#s"><SimpleData name="n">3</SimpleData><SimpleData name="d">1.5</SimpleData><SimpleData name="t">x</SimpleData></SchemaData></ExtendedData>${point}`,
  )}`,
  "styles of its own": placemarkXml(
    `<Style><IconStyle><color>80ff0000</color><scale>1.1</scale><heading>30</heading><Icon><href>i.png</href></Icon><hotSpot x="1" y="2" xunits="pixels" yunits="pixels"/></IconStyle><LabelStyle><color>ff00ff00</color><scale>2</scale></LabelStyle><LineStyle><color>7f0000ff</color><width>3</width></LineStyle><PolyStyle><color>ff112233</color></PolyStyle></Style>${polygon}`,
  ),
  "styles without fill and outline": placemarkXml(
    `<Style><PolyStyle><color>ff112233</color><fill>0</fill><outline>0</outline></PolyStyle></Style>${polygon}`,
  ),
  "colors of six and three digits": placemarkXml(
    `<Style><LineStyle><color>#ff0000</color></LineStyle><PolyStyle><color>f00</color></PolyStyle></Style>${polygon}`,
  ),
  "shared styles": `<Style id="a"><LineStyle><color>ff0000ff</color><width>2</width></LineStyle></Style>${placemarkXml(`<styleUrl>#a</styleUrl>${line}`)}`,
  "a style map": `<Style id="a"><LineStyle><width>2</width></LineStyle></Style><StyleMap id="m"><Pair><key>normal</key><styleUrl>#a</styleUrl></Pair></StyleMap>${placemarkXml(`<styleUrl>#m</styleUrl>${line}`)}`,
  "a style of its own over a shared one": `<Style id="a"><LineStyle><color>ff0000ff</color><width>2</width></LineStyle></Style>${placemarkXml(`<styleUrl>#a</styleUrl><Style><LineStyle><width>5</width></LineStyle></Style>${line}`)}`,
  "a collection": placemarkXml(`<MultiGeometry>${point}${line}${polygon}</MultiGeometry>`),
  "a track": placemarkXml(
    "<gx:Track><altitudeMode>absolute</altitudeMode><when>2020-01-01T00:00:00Z</when><when>2020-01-01T00:01:00Z</when><gx:coord>1 2 3</gx:coord><gx:coord>4 5 6</gx:coord></gx:Track>",
  ),
  "an overlay":
    "<GroundOverlay><name>O</name><Icon><href>a.png</href></Icon><LatLonBox><north>2</north><south>1</south><east>4</east><west>3</west><rotation>20</rotation></LatLonBox></GroundOverlay>",
};

describe("reads what togeojson reads", () => {
  test.each(Object.entries(documents))("reads the features that togeojson reads: %s", async (_, inner) => {
    const text = kmlDocument(inner);
    const { features } = await read(text);
    const expected = oracle(text);
    expect(features.map(({ properties }) => properties)).toEqual(expected.map(({ properties }) => properties));
    for (const [n, { geometry }] of expected.entries()) {
      const numbers = (value: unknown) =>
        JSON.stringify(value)
          .match(/-?\d+(\.\d+)?(e-?\d+)?/g)!
          .map(Number);
      expect(features[n]!.geometry!.type).toBe((geometry as { type: string }).type);
      numbers(geometry).forEach((number, at) => {
        expect(numbers(features[n]!.geometry)[at]).toBeCloseTo(number, 12);
      });
    }
  });
});
