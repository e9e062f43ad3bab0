import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Feature, Geometry } from "../../../src/model/index.js";
import { edgeValues, sampleBatch } from "../../../src/testing/index.js";
import { hasProgram } from "../../support/command.js";
import { canValidate, validateDocument } from "../../support/schemas.js";
import { gpxDocument, readGpx } from "./read-gpx.js";
import { bodyOf, writeGpx } from "./write-gpx.js";

const schema = "gpx-1.1.xsd";
const feature = (geometry: Geometry | null, properties: Record<string, unknown> = {}): Feature => ({
  type: "Feature",
  geometry,
  properties,
});
const point = (...coordinates: number[]): Geometry => ({ type: "Point", coordinates });
const line = (...coordinates: number[][]): Geometry => ({ type: "LineString", coordinates });

describe("features", () => {
  test("features are written in the order of the schema, as the element for their geometry", async () => {
    const { text } = await writeGpx([
      feature({ type: "MultiLineString", coordinates: [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] }), // biome-ignore format: pairs
      feature(line([1, 2, 3], [4, 5])),
      feature(line([1, 2], [3, 4]), { _gpxType: "rte" }),
      feature(point(10.5, -20.25, 30)),
    ]);
    expect(bodyOf(text)).toBe(
      `<wpt lat="-20.25" lon="10.5"><ele>30</ele></wpt>
<rte>
<rtept lat="2" lon="1"/>
<rtept lat="4" lon="3"/>
</rte>
<trk>
<trkseg>
<trkpt lat="2" lon="1"/>
<trkpt lat="4" lon="3"/>
</trkseg>
<trkseg>
<trkpt lat="6" lon="5"/>
<trkpt lat="8" lon="7"/>
</trkseg>
</trk>
<trk>
<trkseg>
<trkpt lat="2" lon="1"><ele>3</ele></trkpt>
<trkpt lat="5" lon="4"/>
</trkseg>
</trk>
`,
    );
  });

  test("features with lines become routes by option, unless _gpxType is trk", async () => {
    const lines = [feature(line([1, 2], [3, 4])), feature(line([1, 2], [3, 4]), { _gpxType: "trk" })];
    const { text } = await writeGpx(lines, { lines: "route" });
    expect(text.match(/<(rte|trk)>/g)).toEqual(["<rte>", "<trk>"]);
  });

  test("features with a point that was a track become a track of one point", async () => {
    const document = gpxDocument(
      `<trk><name>t</name><trkseg><trkpt lat="1" lon="2"><cmt>c</cmt></trkpt></trkseg></trk>`,
    );
    const { text } = await writeGpx((await readGpx(document)).layers[0]!.features);
    expect(bodyOf(text)).toBe(
      `<trk><name>t</name>\n<trkseg>\n<trkpt lat="1" lon="2"><cmt>c</cmt></trkpt>\n</trkseg>\n</trk>\n`,
    );
  });

  test("features with several points become a waypoint for each, with a notice", async () => {
    const points = feature({ type: "MultiPoint", coordinates: [[1, 2], [3, 4]] }, { name: "both" }); // biome-ignore format: pairs
    const { text, losses } = await writeGpx([points]);
    expect(bodyOf(text)).toBe(
      `<wpt lat="2" lon="1"><name>both</name></wpt>\n<wpt lat="4" lon="3"><name>both</name></wpt>\n`,
    );
    expect(losses).toMatchObject([{ code: "multipoint-split", count: 1 }]);
  });

  test("features with polygons become tracks of their rings by option", async () => {
    const shell = [[0, 0], [4, 0], [4, 4], [0, 0]]; // biome-ignore format: pairs
    const { text, losses } = await writeGpx([feature({ type: "Polygon", coordinates: [shell] })], {
      polygons: "tracks",
    });
    expect(text.match(/<trkpt/g)).toHaveLength(4);
    expect(losses).toMatchObject([{ code: "polygon-as-track", count: 1 }]);
  });

  test("features at a longitude of 180 degrees are written at -180, because the schema excludes 180", async () => {
    const { text, losses } = await writeGpx([feature(point(180, 1)), feature(point(179.9999999999, 1))]);
    expect(text.match(/lon="[^"]*"/g)).toEqual(['lon="-180"', 'lon="-180"']);
    expect(losses).toMatchObject([{ code: "longitude-wrapped", count: 2 }]);
  });
});

describe("fields", () => {
  test("fields with an element of GPX are written as that, in the order of the schema", async () => {
    const properties = {
      dgpsid: 5,
      hdop: 0.5,
      type: "t",
      links: [{ href: "http://a/?b=1&c=2", text: "A < B", type: "text/html" }],
      name: "N & M",
      magvar: 359.5,
      time: "2024-05-06T09:08:09.5+02:00",
    };
    const { text } = await writeGpx([feature(point(1, 2), properties)]);
    expect(bodyOf(text)).toBe(
      '<wpt lat="2" lon="1"><time>2024-05-06T07:08:09.5Z</time><magvar>359.5</magvar><name>N &amp; M</name>' +
        '<link href="http://a/?b=1&amp;c=2"><text>A &lt; B</text><type>text/html</type></link><type>t</type>' +
        "<hdop>0.5</hdop><dgpsid>5</dgpsid></wpt>\n",
    );
  });

  test("fields with times are written in UTC, and lost offsets are reported", async () => {
    const line: Geometry = {
      type: "LineString",
      coordinates: [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    };
    const times = ["2024-05-06T09:08:09+02:00", "2024-05-06T09:08:10+00:00", "2024-05-06T09:08:11Z"];
    const { text, losses } = await writeGpx([
      feature(point(1, 2), { time: "2024-01-01T00:30:00+01:00" }),
      feature(line, { coordinateProperties: { times } }),
    ]);
    expect([...text.matchAll(/<time>([^<]*)/g)].map(([, time]) => time)).toEqual([
      "2023-12-31T23:30:00Z",
      "2024-05-06T07:08:09Z",
      "2024-05-06T09:08:10Z",
      "2024-05-06T09:08:11Z",
    ]);
    expect(losses.map(({ code, field, count }) => [code, field, count])).toEqual([
      ["zone-dropped", "time", 1],
      ["zone-dropped", "coordinateProperties", 1],
    ]);
  });

  test.each([
    ["time", "yesterday"],
    ["time", "2024-05-06"],
    ["magvar", 360],
    ["magvar", -1],
    ["fix", "4d"],
    ["sat", -1],
    ["dgpsid", 1024],
    ["hdop", 1e-7],
    ["links", ["no link"]],
    ["links", [{ href: "a", rel: "b" }]],
    ["number", 3],
    ["coordinateProperties", { times: ["2024-01-01T00:00:00Z"] }],
  ])("fields with a value that the schema does not allow go into extensions: %s %j", async (name, value) => {
    const { text } = await writeGpx([feature(point(1, 2), { [name]: value })]);
    expect(bodyOf(text)).toContain(`<extensions><geoferry:${name}>`);
    const { layers } = await readGpx(text);
    expect(layers[0]!.features[0]!.properties).toEqual({ _gpxType: "wpt", [name]: value });
  });

  test("fields without an element of GPX are left out by option, with a loss", async () => {
    const { text, losses } = await writeGpx([feature(point(1, 2), { name: "n", other: 1 })], { extensions: "no" });
    expect(text).not.toContain("extensions");
    expect(losses).toMatchObject([{ code: "field-left-out", field: "other", count: 1 }]);
  });

  test("fields lose characters that XML does not allow, with a loss", async () => {
    const { text, losses } = await writeGpx([feature(point(1, 2), { name: "a\u0000b\ufffec", note: "\u0007" })]);
    expect(text).toContain("<name>abc</name>");
    expect(losses.map(({ code, field, count }) => [code, field, count])).toEqual([
      ["control-character", "name", 1],
      ["control-character", "note", 1],
    ]);
  });

  test("fields of points are written in them, as standard, Garmin's and geoferry's elements", async () => {
    const coordinateProperties = {
      times: ["2024-01-01T00:00:00Z", null, "soon"],
      heart: [120, null, 130],
      names: ["a", "b", null],
      hdops: [1.5, null, "x"],
      links: [[{ href: "l" }], null, null],
      powers: [250, "007", null],
      "o:guids": ["12", "true", { a: 1 }],
      "any name": ["  ", "", null],
    };
    const { text } = await writeGpx([feature(line([1, 2], [3, 4], [5, 6]), { coordinateProperties })]);
    expect(text).toContain("<gpxtpx:TrackPointExtension><gpxtpx:hr>120</gpxtpx:hr></gpxtpx:TrackPointExtension>");
    const { layers } = await readGpx(text);
    expect(layers[0]!.features[0]!.properties.coordinateProperties).toEqual(coordinateProperties);
  });
});

test.each(["name", "cmt", "desc", "src", "sym", "type"])(
  "infinite numbers in an element of text are those of XML Schema: %s",
  async (name) => {
    // XML Schema 1.0 part 2, 3.2.5.1
    const texts = ["1.5", "INF", "-INF", "NaN"];
    const values = [1.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
    const { text, losses } = await writeGpx(values.map((value) => feature(point(1, 2), { [name]: value })));
    expect(bodyOf(text).match(/<wpt.*<\/wpt>/g)).toEqual(
      texts.map((each) => `<wpt lat="2" lon="1"><${name}>${each}</${name}></wpt>`),
    );
    expect(losses).toEqual([]);
    expect((await readGpx(text)).layers[0]!.fields).toMatchObject({ [name]: "double" });
  },
);

describe("an output file", () => {
  const fields = [
    { name: "name", type: "text", values: ["a", "", null] },
    { name: "time", type: "datetime", values: edgeValues.datetime },
    { name: "sat", type: "int32", values: [0, 5, -1] },
    { name: "magvar", type: "double", values: [1.5, 400, 1e-9, Number.NaN] },
    { name: "fix", type: "text", values: ["3d", "x", null] },
    { name: "two words", type: "text", values: edgeValues.text },
    { name: "number", type: "int64", values: [1n, 12345678901n] },
  ] as const;
  const sample = (types: Parameters<typeof sampleBatch>[0]["types"]) =>
    sampleBatch({ features: 80, types, dimensions: "some-z", empty: true, fields, fieldTypes: ["json", "binary"] });

  test.runIf(canValidate(schema))("an output file is valid against the published schema", async () => {
    const { text } = await writeGpx(sample(["Point", "LineString", "MultiLineString", "MultiPoint"]));
    expect(validateDocument(text, schema)).toBe("");
  });

  test.runIf(canValidate(schema))(
    "an output file with values of points is valid against the published schema",
    async () => {
      const value = fc.oneof(
        fc.constant(null),
        fc.string(),
        fc.double(),
        fc.constantFrom("2024-01-01T00:00:00Z", true, {}),
      );
      const keys = ["times", "names", "hdops", "fixs", "sats", "links", "heart", "cads", "powers", "a b", "numbers"];
      const lists = fc.dictionary(fc.constantFrom(...keys), fc.array(value, { minLength: 2, maxLength: 2 }));
      await fc.assert(
        fc.asyncProperty(lists, fc.constantFrom("rte", "trk"), async (coordinateProperties, _gpxType) => {
          const { text } = await writeGpx([feature(line([1, 2], [3, 4]), { coordinateProperties, _gpxType })]);
          expect(validateDocument(text, schema)).toBe("");
        }),
        { numRuns: 20 },
      );
    },
  );

  test.runIf(hasProgram("ogrinfo"))("an output file is opened by ogrinfo without a warning", async () => {
    const { text } = await writeGpx(sample(["Point", "LineString", "MultiLineString"]));
    const folder = mkdtempSync(join(tmpdir(), "gpx-ogrinfo-"));
    try {
      writeFileSync(join(folder, "a.gpx"), text);
      const done = spawnSync("ogrinfo", ["-al", "-so", "-ro", join(folder, "a.gpx")], { encoding: "utf8" });
      expect([done.status, done.stderr]).toEqual([0, ""]);
      expect(done.stdout).toContain("geoferry_two_x0020_words: String");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("features of a GPX are the same after writing and reading", async () => {
  const text = (tag: string) => fc.constantFrom("", `<${tag}>a &amp; b</${tag}>`, `<${tag}> c </${tag}>`, `<${tag}/>`);
  const details = fc
    .tuple(text("name"), text("cmt"), fc.constantFrom("", '<link href="x"><text>y</text></link>'))
    .map((list) => list.join(""));
  const extensions = fc.constantFrom(
    "",
    "<extensions><o:a>1</o:a><o:b c='true'>x<o:d>2.50</o:d></o:b></extensions>",
    "<extensions><o:a>7</o:a><o:e>1</o:e><o:e>2</o:e></extensions>",
  );
  const at = (tag: string) =>
    fc
      .tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: -180, max: 179 }), details, extensions, fc.boolean())
      .map(([lat, lon, inner, more, high]) => {
        return `<${tag} lat="${lat}" lon="${lon}">${high ? "<ele>1.5</ele>" : ""}${inner}${more}</${tag}>`;
      });
  const points = (tag: string) => fc.array(at(tag), { minLength: 1, maxLength: 4 }).map((list) => list.join(""));
  const rte = fc.tuple(details, extensions, points("rtept")).map((parts) => `<rte>${parts.join("")}</rte>`);
  const segments = fc.array(
    points("trkpt").map((list) => `<trkseg>${list}</trkseg>`),
    { maxLength: 3 },
  );
  const trk = fc
    .tuple(details, extensions, segments)
    .map(([inner, more, list]) => `<trk>${inner}${more}${list.join("")}</trk>`);
  const document = fc
    .tuple(fc.array(at("wpt"), { maxLength: 3 }), fc.array(rte, { maxLength: 3 }), fc.array(trk, { maxLength: 3 }))
    .map((parts) => gpxDocument(parts.flat().join(""), 'xmlns="http://www.topografix.com/GPX/1/1" xmlns:o="urn:o"'));
  await fc.assert(
    fc.asyncProperty(document, async (given) => {
      const first = (await readGpx(given, { shortLines: "yes" })).layers[0]!;
      const { text: written, losses } = await writeGpx(first.features);
      expect(losses).toEqual([]);
      const second = (await readGpx(written, { shortLines: "yes" })).layers[0]!;
      // The output declares the fields, so that a feature without a value has null.
      const found = second.features.map(({ properties, ...rest }) => {
        const values = Object.entries(properties).filter(([, value]) => value !== null);
        return { ...rest, properties: Object.fromEntries(values) };
      });
      expect(found).toEqual(first.features);
    }),
    { numRuns: 100 },
  );
});

test("a field _gpxType that the geometry does not allow is a loss", async () => {
  const [place, way] = [point(1, 2), line([1, 2], [3, 4])];
  const { losses } = await writeGpx([
    feature(place, { _gpxType: "wpt" }),
    feature(way, { _gpxType: "trk" }),
    feature(way, { _gpxType: "rte" }),
    feature(place, { _gpxType: "restaurant" }),
    feature(way, { _gpxType: "road" }),
    feature(way, { _gpxType: "wpt" }),
    feature(way),
  ]);
  expect(losses).toMatchObject([{ code: "element-changed", field: "_gpxType", count: 3 }]);
});
