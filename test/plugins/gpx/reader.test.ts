import { gpx as togeojson } from "@tmcw/togeojson";
import { DOMParser } from "@xmldom/xmldom";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { featuresIn, gpxDocument, readGpx } from "./read-gpx.js";

const ns = 'xmlns="http://www.topografix.com/GPX/1/1"';

describe("waypoints", () => {
  test("waypoints have fields for all elements of GPX 1.1, with their types", async () => {
    const { layers } = await readGpx(
      gpxDocument(`<wpt lat="48.2" lon="16.4"><ele>171.5</ele><time>2024-05-06T07:08:09.5Z</time><magvar>3.5</magvar>
        <geoidheight>44</geoidheight><name>Wien</name><cmt>c</cmt><desc>d &amp; e</desc><src>s</src>
        <link href="http://a/"><text>A</text><type>text/html</type></link><link href="b"/>
        <sym>Flag</sym><type>city</type><fix>3d</fix><sat>7</sat><hdop>1.5</hdop><vdop>2</vdop><pdop>0.5</pdop>
        <ageofdgpsdata>3</ageofdgpsdata><dgpsid>1023</dgpsid></wpt>`),
    );
    expect(layers).toEqual([
      {
        name: "a",
        featureCount: 1,
        fields: {
          ...{ _gpxType: "text", time: "datetime", magvar: "double", geoidheight: "double", name: "text", cmt: "text" },
          ...{ desc: "text", src: "text", sym: "text", type: "text", fix: "text", sat: "int32", hdop: "double" },
          ...{ vdop: "double", pdop: "double", ageofdgpsdata: "double", dgpsid: "int32", links: "json" },
        },
        features: [
          {
            type: "Feature",
            geometry: { type: "Point", coordinates: [16.4, 48.2, 171.5] },
            properties: {
              ...{ _gpxType: "wpt", time: "2024-05-06T07:08:09.5Z", magvar: 3.5, geoidheight: 44, name: "Wien" },
              ...{ cmt: "c", desc: "d & e", src: "s", sym: "Flag", type: "city", fix: "3d", sat: 7, hdop: 1.5 },
              ...{ vdop: 2, pdop: 0.5, ageofdgpsdata: 3, dgpsid: 1023 },
              links: [{ href: "http://a/", text: "A", type: "text/html" }, { href: "b" }],
            },
          },
        ],
      },
    ]);
  });

  test("waypoints at 0, 0 are points; those without a position are rejected with their place in the file", async () => {
    const document = gpxDocument(
      `<wpt lat="0" lon="0"/><wpt lat="x" lon="1"/><wpt lat="1"/><wpt lat=" 1 " lon="&#50;"/>`,
    );
    const { layers, context } = await readGpx(document);
    expect(layers[0]!.features.map(({ geometry }) => geometry)).toEqual([
      { type: "Point", coordinates: [0, 0] },
      { type: "Point", coordinates: [2, 1] },
    ]);
    expect(context.rejects.map(({ code, place }) => [code, place])).toEqual([
      ["coordinate-invalid", { record: 2, byte: document.indexOf('<wpt lat="x"') }],
      ["coordinate-invalid", { record: 3, byte: document.indexOf('<wpt lat="1"') }],
    ]);
  });

  test("waypoints become text where a value does not fit the type of GPX", async () => {
    const { layers } = await readGpx(
      gpxDocument(`<wpt lat="1" lon="2"><time>2024-05-06T07:08:09Z</time><sat>4</sat></wpt>
        <wpt lat="1" lon="2"><time>yesterday</time><sat>4</sat></wpt>`),
    );
    expect(layers[0]!.fields).toMatchObject({ time: "text", sat: "int32" });
    expect(layers[0]!.features.map(({ properties }) => properties.time)).toEqual(["2024-05-06T07:08:09Z", "yesterday"]);
  });

  test("waypoints have no height where ele is empty or, with a loss, not a number", async () => {
    const { layers, context } = await readGpx(
      gpxDocument(`<wpt lat="1" lon="2"><ele/></wpt><wpt lat="1" lon="2"><ele>high</ele></wpt>`),
    );
    const points = layers[0]!.features.map(({ geometry }) => geometry);
    expect(points).toEqual(Array(2).fill({ type: "Point", coordinates: [2, 1] }));
    expect(context.losses).toMatchObject([{ code: "height-invalid", count: 1 }]);
  });
});

describe("routes and tracks", () => {
  test("routes and tracks have their own name, not that of a point", async () => {
    const features = await featuresIn(
      gpxDocument(`<rte><rtept lat="1" lon="2"><name>point</name></rtept><rtept lat="3" lon="4"/></rte>
        <trk><name>track</name><trkseg><trkpt lat="1" lon="2"><name>p</name></trkpt><trkpt lat="3" lon="4"/></trkseg></trk>`),
    );
    expect(features.map(({ properties }) => properties)).toEqual([
      { _gpxType: "rte", coordinateProperties: { names: ["point", null] } },
      { _gpxType: "trk", name: "track", coordinateProperties: { names: ["p", null] } },
    ]);
  });

  test("routes and tracks have arrays for times and extensions of points, with null for missing ones", async () => {
    const [feature] = await featuresIn(
      gpxDocument(
        `<trk><trkseg><trkpt lat="1" lon="2"><time>2024-05-06T07:08:09Z</time><extensions><g:TrackPointExtension>
          <g:hr>121</g:hr><g:cad>80</g:cad></g:TrackPointExtension></extensions></trkpt>
          <trkpt lat="1" lon="3"><extensions><power>250</power></extensions></trkpt>
          <trkpt lat="1" lon="4"><time>2024-05-06T07:08:11Z</time></trkpt></trkseg></trk>`,
        `${ns} xmlns:g="http://www.garmin.com/xmlschemas/TrackPointExtension/v1"`,
      ),
    );
    expect(feature!.properties.coordinateProperties).toEqual({
      times: ["2024-05-06T07:08:09Z", null, "2024-05-06T07:08:11Z"],
      heart: [121, null, null],
      cads: [80, null, null],
      powers: [null, 250, null],
    });
  });

  test("routes and tracks of several segments are MultiLineStrings, with an array for each segment with points", async () => {
    const point = (lon: number, inner = "") => `<trkpt lat="1" lon="${lon}">${inner}</trkpt>`;
    const { layers, context } = await readGpx(
      gpxDocument(`<trk><trkseg>${point(1)}${point(2)}</trkseg><trkseg/>
        <trkseg>${point(3, "<sym>x</sym>")}${point(4)}${point(5, "<sym>y</sym>")}</trkseg></trk>`),
    );
    expect(layers[0]!.features[0]).toMatchObject({
      geometry: { type: "MultiLineString", coordinates: [[[1, 1], [2, 1]], [[3, 1], [4, 1], [5, 1]]] }, // biome-ignore format: pairs
      properties: { coordinateProperties: { syms: [[null, null], ["x", null, "y"]] } }, // biome-ignore format: pairs
    });
    expect(context.notices).toMatchObject([{ code: "segment-empty", count: 1 }]);
  });

  test("routes and tracks of a single point become points, which every format can hold", async () => {
    const { layers, context } = await readGpx(
      gpxDocument(`<trk><name>one</name><trkseg><trkpt lat="1" lon="2"><time>2024-05-06T07:08:09Z</time></trkpt></trkseg></trk>
        <rte><rtept lat="3" lon="4"><ele>5</ele></rtept></rte>`),
    );
    expect(layers[0]!.features).toMatchObject([
      {
        geometry: { type: "Point", coordinates: [2, 1] },
        properties: { _gpxType: "trk", name: "one", coordinateProperties: { times: ["2024-05-06T07:08:09Z"] } },
      },
      { geometry: { type: "Point", coordinates: [4, 3, 5] }, properties: { _gpxType: "rte" } },
    ]);
    expect(context.notices).toMatchObject([{ code: "line-of-one-point", count: 2 }]);
  });

  const short = gpxDocument(`<trk><trkseg><trkpt lat="9" lon="9"><time>2024-01-01T00:00:00Z</time></trkpt></trkseg>
    <trkseg><trkpt lat="1" lon="2"><time>2024-01-02T00:00:00Z</time></trkpt><trkpt lat="1" lon="3"/></trkseg>
    <trkseg><trkpt lat="8" lon="8"><time>2024-01-03T00:00:00Z</time></trkpt></trkseg></trk>`);

  test("routes and tracks lose segments of one point beside others together with their values", async () => {
    const { layers, context } = await readGpx(short);
    expect(layers[0]!.features[0]).toMatchObject({
      geometry: { type: "LineString", coordinates: [[2, 1], [3, 1]] }, // biome-ignore format: pairs
      properties: { coordinateProperties: { times: ["2024-01-02T00:00:00Z", null] } },
    });
    expect(context.losses).toMatchObject([{ code: "degenerate-part", count: 2 }]);
  });

  test("routes and tracks keep segments of one point with shortLines=yes", async () => {
    const { layers, context } = await readGpx(short, { shortLines: "yes" });
    expect(layers[0]!.features[0]).toMatchObject({
      geometry: { type: "MultiLineString", coordinates: [[[9, 9]], [[2, 1], [3, 1]], [[8, 8]]] }, // biome-ignore format: pairs
      properties: { coordinateProperties: { times: [["2024-01-01T00:00:00Z"], ["2024-01-02T00:00:00Z", null], ["2024-01-03T00:00:00Z"]] } }, // biome-ignore format: pairs
    });
    expect(context.losses).toEqual([]);
  });

  test("routes and tracks without points are empty lines with their attributes", async () => {
    const features = await featuresIn(gpxDocument("<rte><name>r</name></rte><trk><name>t</name><trkseg/></trk>"));
    expect(features).toMatchObject([
      { geometry: { type: "LineString", coordinates: [] }, properties: { name: "r" } },
      { geometry: { type: "MultiLineString", coordinates: [] }, properties: { name: "t" } },
    ]);
  });

  test("routes and tracks lose points without a valid position, with their values", async () => {
    const { layers, context } = await readGpx(
      gpxDocument(`<rte><rtept lat="1" lon="2"><name>a</name></rtept><rtept lat="undefined" lon="3"><name>b</name></rtept>
        <rtept lat="1" lon="4"><name>c</name></rtept></rte>`),
    );
    expect(layers[0]!.features[0]!.properties.coordinateProperties).toEqual({ names: ["a", "c"] });
    expect(context.losses).toMatchObject([{ code: "point-without-place", count: 1 }]);
  });
});

test("markup within a text element does not create a field", async () => {
  const { layers } = await readGpx(gpxDocument('<wpt lat="1" lon="2"><name>n</name><desc>a <b>b</b> c</desc></wpt>'));
  expect(layers[0]!.fields).toEqual({ _gpxType: "text", name: "text", desc: "text" });
});

describe("extensions", () => {
  test("extension elements are fields with prefixed names or paths, and a type that fits all values", async () => {
    const { layers } = await readGpx(
      gpxDocument(
        `<wpt lat="1" lon="2"><extensions><o:viz>1</o:viz><o:speed>6.50</o:speed><o:code>007</o:code>
          <o:rings visible="false" number="0"/><g:Route><g:Auto>true</g:Auto><o:mark>x</o:mark></g:Route>
          <o:tag>a</o:tag><o:tag>b</o:tag></extensions></wpt>
        <wpt lat="1" lon="2"><extensions><o:viz>3000000000</o:viz><o:speed>7</o:speed><o:code>8</o:code>
          <o:tag>c</o:tag><o:when>2024-02-29</o:when></extensions></wpt>`,
        `${ns} xmlns:o="urn:o"`,
      ),
    );
    const [{ fields, features }] = layers as [(typeof layers)[number]];
    expect(fields).toEqual({
      ...{ _gpxType: "text", o_viz: "int64", o_speed: "double", o_code: "text", o_rings_visible: "boolean" },
      ...{ o_rings_number: "int32", g_Route_Auto: "boolean", g_Route_o_mark: "text", o_tag: "json", o_when: "date" },
    });
    expect(features.map(({ properties }) => properties)).toEqual([
      {
        ...{ _gpxType: "wpt", o_viz: 1, o_speed: 6.5, o_code: "007", o_rings_visible: false, o_rings_number: 0 },
        ...{ g_Route_Auto: true, g_Route_o_mark: "x", o_tag: ["a", "b"] },
      },
      { _gpxType: "wpt", o_viz: 3000000000, o_speed: 7, o_code: "8", o_tag: ["c"], o_when: "2024-02-29" },
    ]);
  });

  test("extensions of a thousand names in one point do not exhaust the memory", async () => {
    const many = Array.from({ length: 1000 }, (_, i) => `<x${i}>1</x${i}>`).join("");
    const points = `<rtept lat="1" lon="2"><extensions>${many}</extensions></rtept><rtept lat="1" lon="3"/>`;
    const { layers, context } = await readGpx(gpxDocument(`<rte>${points}</rte>`));
    const values = layers[0]!.features[0]!.properties.coordinateProperties as object;
    expect(Object.keys(values)).toHaveLength(256);
    expect(context.losses.filter(({ code }) => code === "point-values-left-out")).toHaveLength(744);
  });

  test("extension elements directly in a waypoint, as in GPX 1.0, are fields, too", async () => {
    const gpx10 = `<gpx version="1.0" xmlns="http://www.topografix.com/GPX/1/0" xmlns:t="urn:t"><name>file</name>
      <wpt lat="1" lon="2"><name>w</name><url>http://a</url><urlname>A</urlname><t:name>other</t:name></wpt></gpx>`;
    const { layers } = await readGpx(gpx10);
    expect(layers[0]!.name).toBe("file");
    expect(layers[0]!.features[0]!.properties).toEqual({
      ...{ _gpxType: "wpt", name: "w", links: [{ href: "http://a", text: "A" }], t_name: "other" },
    });
  });
});

describe("numbers in extension elements that may be names", () => {
  const read = (texts: readonly string[], options: Record<string, string> = {}) => {
    const points = texts.map(
      (text) => `<wpt lat="1" lon="2"><extensions><v:no xmlns:v="urn:v">${text}</v:no></extensions></wpt>`,
    );
    return readGpx(gpxDocument(points.join("")), options);
  };
  const values = (layers: Awaited<ReturnType<typeof read>>["layers"]) =>
    layers[0]!.features.map(({ properties }) => properties!.v_no);

  test.each([
    ["versions", ["1.10", "1.1"], "1.10 and 1.1 became the same number"],
    ["part numbers with an E", ["12E4", "7"], "12E4 became the number 120000"],
    [
      "decimals beyond a double",
      ["0.12345678901234567891", "1"],
      "0.12345678901234567891 became the number 0.12345678901234568",
    ],
  ])("a notice names %s that become equal, or another text; types=text keeps them", async (_, texts, reason) => {
    const { context } = await read(texts);
    expect(context.notices.map(({ code, example }) => [code, example])).toEqual([
      ["number-ambiguous", `"v_no": ${reason}; if these are no numbers, --in types=text reads them as text`],
    ]);
    const asText = await read(texts, { types: "text" });
    expect(asText.context.notices).toEqual([]);
    expect(values(asText.layers)).toEqual(texts);
  });

  test.each([
    ["prices", ["1.10", "2.50", "1.10"]],
    ["the exact value of a double", ["0.1000000000000000055511151231257827", "1"]],
    ["many digits behind a zero", ["0.00000000000000012345", "-0.5"]],
  ])("there is no notice for %s", async (_, texts) => {
    expect((await read(texts)).context.notices).toEqual([]);
  });
});

describe("a document", () => {
  const body = `<wpt lat="1" lon="2"><name>w</name></wpt>`;
  test.each([
    ["with a prefix", `<g:gpx xmlns:g="http://www.topografix.com/GPX/1/1">${body.replace(/<(\/?)/g, "<$1g:")}</g:gpx>`],
    ["without a namespace", `<gpx>${body}</gpx>`],
    ["with a prefix that nothing declares", `<g:gpx>${body.replace(/<(\/?)/g, "<$1g:")}</g:gpx>`],
    ["in another encoding", Buffer.from(`\ufeff<gpx>${body}</gpx>`, "utf16le")],
  ])("a document %s is read", async (_, document) => {
    const { layers } = await readGpx(document);
    expect(layers[0]!.features).toMatchObject([{ properties: { _gpxType: "wpt", name: "w" } }]);
  });

  test("a document is three layers with layers=kinds, each with its own fields", async () => {
    const document = gpxDocument(`<trk><number>1</number></trk>${body}<rte><desc>d</desc></rte>`);
    const { layers } = await readGpx(document, { layers: "kinds" });
    expect(layers.map(({ name, fields, featureCount }) => [name, Object.keys(fields), featureCount])).toEqual([
      ["waypoints", ["_gpxType", "name"], 1],
      ["routes", ["_gpxType", "desc"], 1],
      ["tracks", ["_gpxType", "number"], 1],
    ]);
    expect(layers.map(({ features }) => features.length)).toEqual([1, 1, 1]);
  });

  test("a document with another root element is refused, with its name", async () => {
    await expect(readGpx("<kml/>")).rejects.toMatchObject({ code: "input-corrupt", message: /<kml>/ });
  });

  test("a document that ends early is refused with the place; skipErrors reads it up to there", async () => {
    const document = gpxDocument(body + body).slice(0, -30);
    await expect(readGpx(document)).rejects.toMatchObject({ code: "input-truncated", details: { place: { line: 2 } } });
    const { layers, context } = await readGpx(document, {}, new RecordingContext(true));
    expect(layers[0]!.features).toHaveLength(1);
    expect(context.skippedRanges).toMatchObject([{ bytes: null, place: { byte: document.lastIndexOf("<wpt") } }]);
  });

  test("a document with damage is read from the next feature with skipErrors", async () => {
    const broken = [`<wpt lat="1" lon="2"><name>b</nam></wpt>`, "<wpt lat=1/>", `<trk><trkseg>`];
    const document = gpxDocument(broken.map((text) => body + text).join("") + body);
    await expect(readGpx(document)).rejects.toMatchObject({ code: "input-corrupt" });
    const { layers, context } = await readGpx(document, {}, new RecordingContext(true));
    expect(layers[0]!.features).toHaveLength(4);
    expect(layers[0]!.featureCount).toBe(4);
    expect(context.skippedRanges.map(({ place, bytes }) => document.slice(place.byte, place.byte! + bytes!))).toEqual(
      broken,
    );
  });

  test("a document is split between features, with the same result for every split size", async () => {
    const trk = `<trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="1" lon="3"/></trkseg></trk>`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(body, trk, "<!-- <wpt> -->", "\n", "<rte/>"), { maxLength: 30 }),
        fc.integer({ min: 1, max: 500 }),
        async (parts, splitSize) => {
          const document = gpxDocument(parts.join(""), `${ns} xmlns:x="urn:x"`);
          const whole = await readGpx(document);
          const split = await readGpx(document, {}, new RecordingContext(), splitSize);
          expect(split.layers).toEqual(whole.layers);
        },
      ),
      { numRuns: 50 },
    );
  });
});

test("agrees with @tmcw/togeojson where that is right", async () => {
  const point = (tag: string) =>
    fc
      .tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: -180, max: 180 }), fc.boolean())
      .map(([lat, lon, timed]) => `<${tag} lat="${lat}" lon="${lon}">${timed ? "<ele>1</ele>" : ""}</${tag}>`);
  const details = fc
    .record({ name: fc.constantFrom("a", "b &lt; c"), cmt: fc.constant("x"), type: fc.constant("y") }, { requiredKeys: [] })
    .map((values) => Object.entries(values).map(([key, value]) => `<${key}>${value}</${key}>`).join("")); // biome-ignore format: one chain
  const points = (tag: string) => fc.array(point(tag), { minLength: 2, maxLength: 5 }).map((list) => list.join(""));
  const feature = fc.oneof(
    fc.tuple(details, points("rtept")).map(([inner, list]) => `<rte>${inner}${list}</rte>`),
    fc
      .tuple(details, fc.array(points("trkpt"), { minLength: 1, maxLength: 3 }))
      .map(([inner, lists]) => `<trk>${inner}${lists.map((list) => `<trkseg>${list}</trkseg>`).join("")}</trk>`),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(feature, { maxLength: 5 }), async (features) => {
      // togeojson returns tracks first.
      const document = gpxDocument([...features].sort((a, b) => (a < b ? 1 : -1)).join(""));
      const dom = new DOMParser().parseFromString(document, "text/xml") as unknown as Parameters<typeof togeojson>[0];
      const expected = togeojson(dom).features.map(({ geometry, properties }) => {
        const { coordinateProperties: _, ...rest } = properties ?? {};
        return { type: "Feature", geometry, properties: rest };
      });
      expect(await featuresIn(document)).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});

describe("text where GPX allows only elements", () => {
  const gpx = (inner: string) =>
    `<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">${inner}</gpx>`;
  const inLine = '<trk><trkseg><trkpt lat="1" lon="2"/>trkpt lat="3" lon="4"/><trkpt lat="5" lon="6"/></trkseg></trk>';

  test.each([
    ["among points, as of a tag that lost its <", inLine],
    ["in a point", '<wpt lat="1" lon="2">name>A</wpt>'],
    ["beside the features", '<wpt lat="1" lon="2"/>\n wpt lat="3" lon="4"/>'],
    ["beside the features, in a CDATA section", '<wpt lat="1" lon="2"/><![CDATA[x]]>'],
  ])("text between GPX elements is a loss %s", async (_, inner) => {
    const { layers, context } = await readGpx(gpx(inner));
    expect(layers.flatMap(({ features }) => features)).toHaveLength(1);
    expect(context.losses).toMatchObject([{ code: "text-left-out", count: 1 }]);
  });

  test("text between GPX elements is no loss if it is white space, or in an omitted element", async () => {
    const { context } = await readGpx(
      gpx('\n<!-- c -->\n <wpt lat="1" lon="2">\n <!-- d --> \n<name>a</name> </wpt> '),
    );
    expect(context.losses).toEqual([]);
  });
});
