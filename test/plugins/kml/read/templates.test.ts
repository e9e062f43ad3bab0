import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import kml from "../../../../plugins/kml/index.js";
import { openKml } from "../../../../plugins/kml/reader.js";
import { FileSource } from "../../../../src/io/input/source.js";
import { parseOptions } from "../../../../src/plugin/options.js";
import { chunkSizes, corrupted, readOutcome, textArbitrary, weighted } from "../../shared/read-outcome.js";
import { scratch } from "../read-kml.js";

afterAll(() => scratch.remove());

const text = textArbitrary;
const element = (name: string, attributes = ""): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: text.map((value) => `<${name}${attributes}>${value}</${name}>`) },
    { weight: 1, arbitrary: fc.constantFrom("", `<${name}${attributes}/>`, `<${name}${attributes}></${name}>`) },
  );
const joined = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((each) => each.join(separator));
/** Replaced by the white space between the elements of one kind of features. */
const separator = "\v";
const spaces = fc.constantFrom("\n\t", "", " ", "\r\n");
const oddSpace = weighted(separator, "", "\n\n", "<!-- c -->", "stray", "<?p i?>", "<![CDATA[x]]>");
const inside = (name: string, content: fc.Arbitrary<string>, attributes = ""): fc.Arbitrary<string> =>
  content.map((each) => `<${name}${attributes}>${each}</${name}>`);

const decimal = fc.oneof(
  fc.integer({ min: -90_000_000, max: 90_000_000 }).map((n) => String(n / 1e6)),
  fc.constantFrom("0", "-0.0", "12", "1e1", "89.99999999999999999"),
);
const position = fc.tuple(decimal, decimal, weighted("", ",5", ",0")).map(([x, y, z]) => `${x},${y}${z}`);
const coordinates = (least: number, most: number) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.array(position, { minLength: least, maxLength: most }).map((all) => all.join(" ")) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        " 1,2 ",
        "1, 2",
        "1 2",
        "1,2 3,4",
        "x,y",
        "1,2,3,4",
        "&#49;,2",
        "1,2\r\n3,4",
        "1",
        "\n1,2,\n",
      ),
    },
  );
const holding = (least: number, most: number): fc.Arbitrary<string> =>
  joined(
    weighted(
      "",
      "<extrude>1</extrude>",
      "<altitudeMode>absolute</altitudeMode>",
      "<altitudeMode>clampToGround</altitudeMode>",
    ),
    inside("coordinates", coordinates(least, most)),
  );
const ring = inside("LinearRing", holding(3, 6));
const point = inside("Point", holding(1, 1));
const line = inside("LineString", holding(1, 20));
const polygon = inside(
  "Polygon",
  joined(inside("outerBoundaryIs", ring), fc.oneof(fc.constant(""), inside("innerBoundaryIs", ring))),
);
const track = fc.constant("<gx:Track><when>2024-05-06T07:08:09Z</when><gx:coord>1 2 3</gx:coord></gx:Track>");
const multi = inside(
  "MultiGeometry",
  fc.array(fc.oneof(point, line, polygon, ring), { maxLength: 3 }).map((all) => all.join("")),
);
const geometry = fc.oneof(
  { weight: 8, arbitrary: point },
  { weight: 3, arbitrary: line },
  { weight: 3, arbitrary: polygon },
  { weight: 2, arbitrary: multi },
  { weight: 1, arbitrary: fc.oneof(track, ring, fc.constant("")) },
);
const simple = (name: string) => element("SimpleData", ` name="${name}"`);
const schemaData = inside("SchemaData", joined(simple("kind"), simple("count"), simple("day")), ' schemaUrl="#s"');
const data = (name: string) => inside("Data", element("value"), ` name="${name}"`);
const extended = inside(
  "ExtendedData",
  fc.oneof(
    { weight: 5, arbitrary: schemaData },
    { weight: 3, arbitrary: joined(data("kind"), data("other")) },
    { weight: 1, arbitrary: joined(schemaData, element("foo:x"), data("y"), element("foo:z")) },
    {
      weight: 1,
      arbitrary: fc.constant('<Data name="a &amp; & b"><displayName>d</displayName><value>v</value></Data>'),
    },
    { weight: 1, arbitrary: fc.constant("<Data><displayName>d</displayName><value>v</value></Data>") },
  ),
);
const inlineStyle =
  "<Style><LineStyle><color>ff0000ff</color></LineStyle><PolyStyle><fill>0</fill></PolyStyle></Style>";
const style = fc.constantFrom(inlineStyle, '<Style id="own"><IconStyle><scale>2</scale></IconStyle></Style>');
const html = textArbitrary.map((value) => `<description><![CDATA[${value}]]></description>`);
const rare = fc.oneof(
  element("styleUrl"),
  fc.constantFrom(
    "<styleUrl>#a</styleUrl>",
    "<styleUrl>#none</styleUrl>",
    "<visibility>0</visibility>",
    "<open>1</open>",
  ),
  fc.constantFrom(
    '<Region xmlns="urn:x"><Lod/></Region>',
    "<Region/>",
    '<atom:link href="http://x/"/>',
    '<name a="1" a="2">n</name>',
  ),
  inside("TimeStamp", element("when")),
  inside("TimeSpan", joined(element("begin"), element("end"))),
  inside("atom:author", element("atom:name")),
  fc.constant("<StyleMap><Pair><key>normal</key><styleUrl>#a</styleUrl></Pair></StyleMap>"),
  style,
  element("description"),
);
const placemarkTag = weighted(
  "<Placemark>",
  '<Placemark id="a">',
  '<Placemark id="b&amp;">',
  "<Placemark xmlns:y='y'>",
  "<Placemark  >",
);
const id = fc.integer({ min: 0, max: 99 }).map((n) => `<Placemark id="p.${n}">`);

/** Features of one kind, as a program writes them, with occasional deviations. */
const kindOfFeatures = fc
  .record({
    tag: fc.constantFrom(id, fc.constant("<Placemark>"), placemarkTag),
    style: fc.constantFrom(fc.constant(""), fc.constant(inlineStyle), style),
    shape: fc.constantFrom(point, point, line, polygon, multi, geometry),
    data: fc.constantFrom(schemaData, joined(data("kind"), data("other")), fc.constant("")),
    space: spaces,
    named: fc.constantFrom(element("name"), joined(element("name"), html)),
    isReversed: fc.boolean(),
  })
  .chain(({ tag, style, shape, data, space, named, isReversed }) => {
    const parts = [named, inside("ExtendedData", data), style, shape];
    if (isReversed) parts.reverse();
    const others = [extended, rare, geometry];
    const content = fc.oneof(
      { weight: 12, arbitrary: joined(...parts) },
      { weight: 1, arbitrary: fc.oneof(...others.map((other) => joined(...parts, other))) },
    );
    const feature = fc
      .tuple(tag, oddSpace, content, oddSpace)
      .map(([opening, before, inner, after]) =>
        `${opening}${before}${inner}${after}</Placemark>\n`.replaceAll("\v", space),
      );
    return fc.array(feature, { minLength: 5, maxLength: 40 });
  });
const head = `<Schema name="s" id="s"><SimpleField name="kind" type="string"/><SimpleField name="count" type="int"/></Schema>
<Style id="a"><LineStyle><width>2</width></LineStyle></Style>`;
const between = weighted(
  "",
  "<Folder><name>f</name>",
  '<Folder xmlns="urn:other">',
  "<GroundOverlay><name>g</name></GroundOverlay>",
);
const documents = corrupted(
  fc.array(fc.tuple(between, kindOfFeatures), { minLength: 1, maxLength: 3 }).map((parts) => {
    const all = parts.map(([opening, features]) => {
      const inner = opening + features.join("");
      return opening.startsWith("<Folder") ? `${inner}</Folder>` : inner;
    });
    const spaces =
      'xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2" xmlns:foo="urn:foo"';
    return `<?xml version="1.0"?>\n<kml ${spaces}><Document>${head}${all.join("")}</Document></kml>`;
  }),
);

describe("features that match a template", () => {
  test("features that match a template give the same result as without templates, wherever the bytes are cut", async () => {
    const path = scratch.path("templates.kml");
    await fc.assert(
      fc.asyncProperty(
        documents,
        chunkSizes,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom("one", "folders"),
        fc.constantFrom(undefined, undefined, 500, 5000),
        async (bytes, blockSize, skipErrors, isFetched, layers, splitSize) => {
          writeFileSync(path, bytes);
          const options = parseOptions("kml", kml.reader!.options, { layers }) as Parameters<typeof openKml>[1];
          const outcome = (templates: boolean, ahead: boolean) =>
            readOutcome(
              (context) => openKml(FileSource.at(path, "a.kml"), options, context, splitSize, { templates, blockSize }),
              skipErrors,
              ahead,
            );
          expect(await outcome(true, isFetched)).toEqual(await outcome(false, false));
        },
      ),
      { numRuns: 200, endOnFailure: true },
    );
  }, 120_000);
});
