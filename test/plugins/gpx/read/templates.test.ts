import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import gpx from "../../../../plugins/gpx/index.js";
import { openGpx } from "../../../../plugins/gpx/reader.js";
import { FileSource } from "../../../../src/io/input/source.js";
import { parseOptions } from "../../../../src/plugin/options.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { chunkSizes, corrupted, readOutcome, textArbitrary, weighted } from "../../shared/read-outcome.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const element = (name: string, text = textArbitrary, attributes = ""): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 25, arbitrary: text.map((value) => `<${name}${attributes}>${value}</${name}>`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", `<${name}/>`, `<${name}></${name}>`, `<${name} xmlns="urn:x">1</${name}>`),
    },
  );
/** Replaced by the white space between the elements of one kind of points. */
const separator = "\v";
const joined = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((each) => each.join(separator));
const oddSpace = weighted(separator, "", "\n\n", "<!-- c -->", "stray", "<?p i?>", "<![CDATA[x]]>");
const inside = (name: string, content: fc.Arbitrary<string>, attributes = ""): fc.Arbitrary<string> =>
  content.map((each) => `<${name}${attributes}>${each}</${name}>`);

const degrees = fc.oneof(
  { weight: 30, arbitrary: fc.integer({ min: -90_000_000, max: 90_000_000 }).map((n) => String(n / 1e6)) },
  { weight: 1, arbitrary: fc.constantFrom("", "x", " 12 ", "1e999", "12&#48;", "-0", "1e1") },
);
const tag = (name: string, isReversed: boolean) =>
  fc
    .tuple(degrees, degrees, weighted("", ' a="b"', ' lat="1"', ' a="&amp;"'))
    .map(([lat, lon, more]) =>
      isReversed ? `<${name} lon='${lon}' lat='${lat}'${more}>` : `<${name} lat="${lat}" lon="${lon}"${more}>`,
    );
const extensions = inside(
  "extensions",
  fc.oneof(
    { weight: 8, arbitrary: joined(element("ogr:kind"), element("ogr:count")) },
    { weight: 2, arbitrary: inside("ogr:nest", joined(element("ogr:a"), element("ogr:b"))) },
    { weight: 1, arbitrary: inside("ogr:nest", joined(fc.constant("text"), element("ogr:b"))) },
    { weight: 1, arbitrary: element("ogr:kind", textArbitrary, ' unit="m"') },
    { weight: 4, arbitrary: inside("gpxtpx:TrackPointExtension", element("gpxtpx:hr")) },
  ),
);
const time = weighted("2024-05-06T07:08:09Z", "", "yesterday", "2024-05-06T07:08:09+02:00");
const html = textArbitrary.map((value) => `<cmt><![CDATA[${value}]]></cmt>`);
const rare = fc.oneof(
  fc.constantFrom(
    '<link href="http://x/"><text>t</text></link>',
    "<url>http://y/</url>",
    "<ele>high</ele>",
    "<name>again</name>",
  ),
  element("desc"),
  element("sym"),
  element("unknown"),
  element("hdop"),
);

/** Points of one kind, as a program writes them, with occasional deviations. */
const points = (name: string) =>
  fc
    .record({
      isReversed: fc.boolean(),
      head: fc.constantFrom(
        fc.constant(""),
        element("ele", degrees),
        joined(element("ele", degrees), element("time", time)),
      ),
      data: fc.constantFrom(
        fc.constant(""),
        extensions,
        inside("extensions", joined(element("ogr:kind"), element("ogr:count"))),
      ),
      named: fc.constantFrom(element("name"), joined(element("name"), html)),
      space: fc.constantFrom("\n  ", "", "\r\n"),
    })
    .chain(({ isReversed, head, data, named, space }) => {
      const parts = [head, named, data];
      const content = fc.oneof(
        { weight: 12, arbitrary: joined(...parts) },
        { weight: 1, arbitrary: joined(...parts, rare) },
        { weight: 1, arbitrary: fc.constant("") },
      );
      const point = fc
        .tuple(tag(name, isReversed), oddSpace, content, oddSpace)
        .map(([opening, before, inner, after]) =>
          `${opening}${before}${inner}${after}</${name}>\n`.replaceAll("\v", space),
        );
      return fc.array(point, { minLength: 1, maxLength: 40 }).map((all) => all.join(""));
    });
/** Points with a position only, like most of a track, with occasional deviations. */
const places = (name: string) =>
  fc
    .record({
      isReversed: fc.boolean(),
      inner: fc.constantFrom(">\n</", "></", "/>", ' a="b"></'),
      space: fc.constantFrom("\n  ", "", "\r\n\t"),
      quote: fc.constantFrom('"', "'"),
    })
    .chain(({ isReversed, inner, space, quote }) => {
      const place = fc
        .tuple(
          degrees,
          degrees,
          weighted(inner, "><ele>1</ele></", "></x", ">&amp;</"),
          weighted(space, "", " ", "<!-- c -->"),
        )
        .map(([first, second, end, between]) => {
          const [one, other] = isReversed ? ["lon", "lat"] : ["lat", "lon"];
          const value = (text: string) => `${quote}${text}${quote}`;
          const whole = end === "/>" ? end : `${end}${name}>`;
          return `<${name} ${one}=${value(first)} ${other}=${value(second)}${whole}${between}`;
        });
      return fc.array(place, { minLength: 1, maxLength: 60 }).map((all) => all.join(""));
    });
/** Points of lines, sometimes with the tags of the other kind. */
const linePoints = fc.oneof(
  { weight: 4, arbitrary: fc.constant(["rtept", "trkpt"]) },
  { weight: 1, arbitrary: fc.constant(["trkpt", "rtept"]) },
);
const route = linePoints.chain(([own]) =>
  fc
    .tuple(weighted("", "<url>u</url>"), fc.oneof(points(own!), places(own!)))
    .map((parts) => `<rte>${parts.join("")}</rte>`),
);
const track = linePoints.chain(([, own]) =>
  fc
    .array(inside("trkseg", fc.oneof(points(own!), places(own!))), { minLength: 1, maxLength: 3 })
    .map((segments) => `<trk><name>t</name>${segments.join("")}</trk>`),
);
const documents = corrupted(
  fc
    .array(fc.oneof({ weight: 3, arbitrary: points("wpt") }, route, track), { minLength: 1, maxLength: 5 })
    .map((parts) => {
      const spaces = 'xmlns="http://www.topografix.com/GPX/1/1" xmlns:ogr="http://osgeo.org/gdal" xmlns:gpxtpx="urn:g"';
      return `<?xml version="1.0"?>\n<gpx version="1.1" creator="x" ${spaces}>${parts.join("")}</gpx>\n`;
    }),
);

describe("points that match a template", () => {
  test("points that match a template give the same result as without templates, wherever the bytes are cut", async () => {
    const path = scratch.path("templates.gpx");
    await fc.assert(
      fc.asyncProperty(
        documents,
        chunkSizes,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom("one", "kinds"),
        fc.constantFrom(500, 5000, 1 << 22),
        async (bytes, blockSize, skipErrors, isFetched, layers, splitSize) => {
          writeFileSync(path, bytes);
          const options = parseOptions("gpx", gpx.reader!.options, { layers }) as Parameters<typeof openGpx>[1];
          const outcome = (templates: boolean, ahead: boolean) =>
            readOutcome(
              (context) => openGpx(FileSource.at(path, "a.gpx"), options, context, splitSize, { templates, blockSize }),
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
