import { afterAll, describe, expect, test } from "vitest";
import { kmlDocument, placemarkXml, read, readLayers, readOne, scratch } from "./read-kml.js";

afterAll(() => scratch.remove());

const point = "<Point><coordinates>1,2</coordinates></Point>";
const codes = (list: readonly { readonly code: string }[]) => list.map(({ code }) => code);
const ring = (text: string) => `<LinearRing><coordinates>${text}</coordinates></LinearRing>`;

describe("finds elements", () => {
  test.each([
    [
      "with a prefix",
      '<k:kml xmlns:k="http://www.opengis.net/kml/2.2"><k:Placemark><k:name>A</k:name><k:Point><k:coordinates>1,2</k:coordinates></k:Point></k:Placemark></k:kml>',
    ],
    [
      "with a prefix that nothing declares",
      "<kml:kml><kml:Placemark><kml:name>A</kml:name><kml:Point><kml:coordinates>1,2</kml:coordinates></kml:Point></kml:Placemark></kml:kml>",
    ],
    [
      "without a namespace",
      "<kml><Placemark><name>A</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>",
    ],
    [
      "of KML 2.1",
      '<kml xmlns="http://earth.google.com/kml/2.1"><Placemark><name>A</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>',
    ],
    [
      "of KML 2.0",
      '<kml xmlns="http://earth.google.com/kml/2.0"><Folder><Placemark><name>A</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder></kml>',
    ],
    ["without kml around them", "<Placemark><name>A</name><Point><coordinates>1,2</coordinates></Point></Placemark>"],
  ])("finds elements: %s", async (_, text) => {
    const { features } = await read(text);
    expect(features).toEqual([
      { type: "Feature", geometry: { type: "Point", coordinates: [1, 2] }, properties: { name: "A" } },
    ]);
  });

  test("ignores elements of other namespaces with the same names", async () => {
    const feature = await readOne(`<o:name xmlns:o="urn:other">other</o:name><name>A</name>${point}`);
    expect(feature.properties).toEqual({ name: "A" });
  });

  test("finds elements in Latin-1 and UTF-16", async () => {
    const text = kmlDocument(placemarkXml(`<name>Köln</name>${point}`));
    for (const bytes of [
      Buffer.from(text.replace("UTF-8", "ISO-8859-1"), "latin1"),
      Buffer.from(`\ufeff${text.replace("UTF-8", "UTF-16")}`, "utf16le"),
    ]) {
      expect((await read(bytes)).features[0]!.properties).toEqual({ name: "Köln" });
    }
  });
});

describe("reads geometries that deviate from KML", () => {
  const polygon = (from: number) =>
    `<Polygon><outerBoundaryIs>${ring(`${from},0 ${from + 1},0 ${from + 1},1 ${from},0`)}</outerBoundaryIs></Polygon>`;
  const rings = (from: number) => [
    [
      [from, 0],
      [from + 1, 0],
      [from + 1, 1],
      [from, 0],
    ],
  ];
  const line = (text: string) => `<LineString><coordinates>${text}</coordinates></LineString>`;
  const points = `${point}<Point><coordinates>3,4</coordinates></Point>`;
  test.each([
    ["MultiPolygon", `<MultiPolygon>${polygon(0)}${polygon(5)}</MultiPolygon>`, "MultiPolygon", [rings(0), rings(5)]],
    [
      "MultiPoint",
      `<MultiPoint>${points}</MultiPoint>`,
      "MultiPoint",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      "MultiPoint of coordinates",
      "<MultiPoint><coordinates>1,2 3,4</coordinates></MultiPoint>",
      "MultiPoint",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      "MultiLineString",
      `<MultiLineString>${line("1,2 3,4")}</MultiLineString>`,
      "MultiLineString",
      [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ],
    [
      "MultiLineString of coordinates",
      "<MultiLineString><coordinates>1,2 3,4</coordinates><coordinates>5,6 7,8</coordinates></MultiLineString>",
      "MultiLineString",
      [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [5, 6],
          [7, 8],
        ],
      ],
    ],
    [
      "one in a MultiGeometry",
      `<MultiGeometry><MultiPoint>${points}</MultiPoint></MultiGeometry>`,
      "GeometryCollection",
      undefined,
    ],
    ["an element that KML does not have", `<Shape><Inner>${point}</Inner></Shape>`, "Point", [1, 2]],
    [
      "members of a multi-geometry",
      `<MultiPoint><pointMember>${point}</pointMember></MultiPoint>`,
      "MultiPoint",
      [[1, 2]],
    ],
    [
      "a boundary without a ring",
      "<Polygon><outerBoundaryIs><coordinates>0,0 1,0 1,1 0,0</coordinates></outerBoundaryIs></Polygon>",
      "Polygon",
      rings(0),
    ],
    ["a polygon of coordinates", "<Polygon><coordinates>0,0 1,0 1,1 0,0</coordinates></Polygon>", "Polygon", rings(0)],
  ])("reads geometries that deviate from KML: %s", async (_, inner, type, coordinates) => {
    // Repeated, so that the first feature is the template for the others.
    const { features } = await read(kmlDocument(placemarkXml(inner).repeat(3)));
    for (const { geometry } of features) {
      expect(geometry).toMatchObject({ type, ...(coordinates ? { coordinates } : {}) });
    }
  });

  test.each([
    ["a point in a line", "<LineString><Point><coordinates>1,2</coordinates></Point></LineString>"],
    ["coordinates of nothing", "<MultiGeometry><coordinates>1,2</coordinates></MultiGeometry>"],
  ])("a geometry that deviates from KML makes the feature a reject: %s", async (_, inner) => {
    const { features, rejects } = await read(kmlDocument(placemarkXml(inner).repeat(2)));
    expect(features).toEqual([]);
    expect(codes(rejects)).toEqual(["geometry-malformed", "geometry-malformed"]);
  });
});

describe("values of a feature", () => {
  test("values of a feature have the names and types of togeojson", async () => {
    const feature = await readOne(
      `<name>A &amp; B</name><visibility>0</visibility><open>1</open><atom:author xmlns:atom="http://www.w3.org/2005/Atom"><atom:name>Me</atom:name></atom:author><atom:link href="https://example.org/a?b=1&amp;c"/><address>Street 1</address><phoneNumber>+43 1</phoneNumber><Snippet maxLines="1">short</Snippet><description><![CDATA[<b>bold</b> & more]]></description><TimeStamp><when>2020-01-02</when></TimeStamp>${point}`,
    );
    expect(feature.properties).toEqual({
      name: "A & B",
      visibility: false,
      open: true,
      author: "Me",
      link: "https://example.org/a?b=1&c",
      address: "Street 1",
      phoneNumber: "+43 1",
      snippet: "short",
      description: "<b>bold</b> & more",
      timestamp: "2020-01-02",
    });
  });

  test("values of a feature come from its own elements: the times of a view are not its times", async () => {
    const { features, losses } = await read(
      kmlDocument(
        placemarkXml(
          `<LookAt><TimeStamp><when>1999</when></TimeStamp><altitudeMode>absolute</altitudeMode></LookAt>${point}`,
        ),
      ),
    );
    expect(features[0]!.properties).toEqual({});
    expect(losses).toMatchObject([{ code: "element-left-out", field: "LookAt" }]);
  });

  test("a TimeSpan becomes an object with begin and end, as far as it has them", async () => {
    const span = (inner: string) => readOne(`<TimeSpan>${inner}</TimeSpan>${point}`);
    expect((await span("<begin>2001</begin><end>2002-03</end>")).properties).toEqual({
      timespan: { begin: "2001", end: "2002-03" },
    });
    expect((await span("<begin>2001</begin>")).properties).toEqual({ timespan: { begin: "2001" } });
  });

  test("TimeStamps that are all datetimes make a datetime field", async () => {
    const stamped = (when: string) => placemarkXml(`<TimeStamp><when>${when}</when></TimeStamp>${point}`);
    const typeOf = async (...times: string[]) => (await read(kmlDocument(times.map(stamped).join("")))).fields;
    expect(await typeOf("2020-01-01T00:00:00Z", "2021-01-01T00:00:00+02:00")).toEqual([
      { name: "timestamp", type: "datetime" },
    ]);
    expect(await typeOf("2020-01-01", "2021-02-03")).toEqual([{ name: "timestamp", type: "date" }]);
    expect(await typeOf("2020", "2021-02-03")).toEqual([{ name: "timestamp", type: "text" }]);
  });

  test("indentation is not part of a text, white space as references is", async () => {
    const feature = await readOne(`<name>\r\n   A  B\r\n  </name><description>&#32;x&#10;</description>${point}`);
    expect(feature.properties).toEqual({ name: "A  B", description: " x\n" });
  });

  test.each([
    ["tags", "see <b>here</b>", "see <b>here</b>"],
    [
      "tags with attributes, and empty ones",
      '<a href="x?a=1&amp;b=2">x</a><br/>y',
      '<a href="x?a=1&amp;b=2">x</a><br/>y',
    ],
    ["white space between tags", "<p>a</p>\n <i>b</i> c <u>d</u> ", "<p>a</p>\n <i>b</i> c <u>d</u>"],
    [
      "references before and behind tags",
      "1 &lt; 2 &amp; 3 <b>4 &gt; 3</b> &copy;",
      "1 &lt; 2 &amp; 3 <b>4 &gt; 3</b> &copy;",
    ],
    ["CDATA beside tags", "<![CDATA[<i>a</i> & b]]><br/><![CDATA[<u>c</u>]]>", "<i>a</i> & b<br/><u>c</u>"],
    ["CDATA and escaped HTML", "<![CDATA[<i>a</i> &amp; b]]> &lt;b&gt;", "<i>a</i> &amp; b <b>"],
  ])("HTML in texts is kept unchanged: %s", async (_, written, kept) => {
    const data = `<ExtendedData><Data name="html"><value>${written}</value></Data></ExtendedData>`;
    const feature = await readOne(`<description>${written}</description>${data}${point}`);
    expect(feature.properties).toEqual({ description: kept, html: kept });
  });

  test("tags within coordinates separate positions, and white space between elements is not text", async () => {
    const feature = await readOne(
      "<name>a</name> <description><b>x</b></description>\n <LineString><coordinates>1,2<br/>3,4</coordinates></LineString>",
    );
    expect(feature).toMatchObject({
      geometry: {
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      properties: { name: "a", description: "<b>x</b>" },
    });
  });

  test("a gx:SimpleArrayData outside a track is an array", async () => {
    const array = (name: string, ...values: string[]) =>
      `<gx:SimpleArrayData name="${name}">${values.map((value) => `<gx:value>${value}</gx:value>`).join("")}</gx:SimpleArrayData>`;
    const data = (inner: string) =>
      `<ExtendedData><SchemaData schemaUrl="#s">${inner}</SchemaData></ExtendedData>${point}`;
    const { features, fields } = await read(
      kmlDocument(
        placemarkXml(data(`${array("speeds", "1", "2.5", "")}<SimpleData name="n">3</SimpleData>`)) +
          placemarkXml(data(array("speeds"))) +
          placemarkXml(point),
      ),
    );
    expect(fields).toEqual([
      { name: "speeds", type: "json" },
      { name: "n", type: "text" },
    ]);
    expect(features.map(({ properties }) => properties)).toEqual([
      { speeds: [1, 2.5, null], n: "3" },
      { speeds: [] },
      {},
    ]);
  });

  test("the id of a placemark is the feature id", async () => {
    const { features } = await read(kmlDocument(`<Placemark id="a1">${point}</Placemark>`), { fid: "key" });
    expect(features[0]).toMatchObject({ id: "a1", properties: { key: "a1" } });
  });

  test("the names of folders make a path, without the document and unnamed containers", async () => {
    const text = kmlDocument(
      `<name>Doc</name><Folder><name>A</name><Folder>${placemarkXml(point)}<Folder><name>B</name>${placemarkXml(point)}</Folder></Folder></Folder>${placemarkXml(point)}`,
    );
    const { name, features } = await read(text);
    expect(name).toBe("Doc");
    expect(features.map(({ properties }) => properties.folder)).toEqual(["A", "A/B", undefined]);
  });
});

describe("extended data", () => {
  const schema = (fields: string) => `<Schema id="s" name="s">${fields}</Schema>`;
  const data = (values: string) => `<ExtendedData><SchemaData schemaUrl="#s">${values}</SchemaData></ExtendedData>`;

  test("extended data have the types of their Schema, before or after the features", async () => {
    const fields = ["bool", "int", "uint", "short", "ushort", "float", "double", "string"];
    const declared = schema(fields.map((type) => `<SimpleField type="${type}" name="f_${type}"/>`).join(""));
    const values = ["0", "-3", "4294967295", "7", "65535", "1.5", "-2e3", "007"];
    const said = data(fields.map((type, n) => `<SimpleData name="f_${type}">${values[n]}</SimpleData>`).join(""));
    for (const text of [declared + placemarkXml(said + point), placemarkXml(said + point) + declared]) {
      const { features, fields: found } = await read(kmlDocument(text));
      expect(Object.values(features[0]!.properties)).toEqual([false, -3, 4294967295, 7, 65535, 1.5, -2000, "007"]);
      expect(found.map(({ type }) => type)).toEqual([
        "boolean",
        "int32",
        "int64",
        "int32",
        "int32",
        "double",
        "double",
        "text",
      ]);
    }
  });

  test("extended data are null for an empty number or a missing value, and an empty text for an empty text", async () => {
    const declared = schema(
      '<SimpleField type="int" name="n"/><SimpleField type="bool" name="b"/><SimpleField type="string" name="t"/><SimpleField type="string" name="u"/>',
    );
    const said = data('<SimpleData name="n"></SimpleData><SimpleData name="b"> </SimpleData><SimpleData name="t"/>');
    const { features } = await read(kmlDocument(declared + placemarkXml(said + point)));
    expect(features[0]!.properties).toEqual({ n: null, b: null, t: "", u: null });
  });

  test("extended data get a wider type, with a notice, if values do not fit the declared one", async () => {
    const declared = schema(
      '<SimpleField type="int" name="n"/><SimpleField type="int" name="d"/><SimpleField type="bool" name="b"/>',
    );
    const said = data(
      '<SimpleData name="n">3000000000</SimpleData><SimpleData name="d">1.5</SimpleData><SimpleData name="b">maybe</SimpleData>',
    );
    const { features, fields, notices } = await read(kmlDocument(declared + placemarkXml(said + point)));
    expect(features[0]!.properties).toEqual({ n: 3000000000, d: 1.5, b: "maybe" });
    expect(fields.map(({ type }) => type)).toEqual(["int64", "double", "text"]);
    expect(codes(notices)).toEqual(["type-widened", "type-widened", "type-widened"]);
  });

  test("values of Data elements are text; displayName replaces a missing name", async () => {
    const feature = await readOne(
      `<ExtendedData><Data name="a"><displayName>Shown</displayName><value>1</value></Data><Data><displayName>B</displayName><value>x</value></Data></ExtendedData>${point}`,
    );
    expect(feature.properties).toEqual({ a: "1", B: "x" });
  });

  test("extended data include elements of other namespaces", async () => {
    const feature = await readOne(`<ExtendedData xmlns:c="urn:c"><c:number>14</c:number></ExtendedData>${point}`);
    expect(feature.properties).toEqual({ number: "14" });
  });

  test("extended data with the name of an element are the same field if the values agree, otherwise a second field", async () => {
    const both = (a: string, b: string) =>
      `<name>${a}</name><ExtendedData><Data name="name"><value>${b}</value></Data></ExtendedData>${point}`;
    expect((await readOne(both("A", "A"))).properties).toEqual({ name: "A" });
    expect((await readOne(both("A", "B"))).properties).toEqual({ name: "A", name_1: "B" });
  });

  test("a field with two values in one feature is reported", async () => {
    const twice =
      '<ExtendedData><Data name="a"><value>1</value></Data><Data name="a"><value>2</value></Data></ExtendedData>';
    const { features, losses } = await read(kmlDocument(placemarkXml(twice + point)));
    expect(features[0]!.properties).toEqual({ a: "2" });
    expect(losses).toMatchObject([{ code: "value-repeated", field: "a", count: 1 }]);
  });

  test("extended data of typed placemarks of KML 2.0 and 2.1 are read", async () => {
    const declared =
      '<Schema name="Park" parent="Placemark"><SimpleField type="wstring" name="Code"/><SimpleField type="int" name="width"/></Schema>';
    const { features } = await read(
      kmlDocument(`${declared}<Park><name>P</name><Code>x</Code><width>3</width>${point}</Park>`),
    );
    expect(features).toMatchObject([
      { properties: { name: "P", Code: "x", width: 3 }, geometry: { coordinates: [1, 2] } },
    ]);
  });
});

describe("geometries", () => {
  const geometry = async (inner: string) => (await readOne(inner)).geometry;

  test("geometries of one kind become a Multi geometry, of several a collection", async () => {
    expect(await geometry(`<MultiGeometry>${point}${point}</MultiGeometry>`)).toEqual({
      type: "MultiPoint",
      coordinates: [
        [1, 2],
        [1, 2],
      ],
    });
    const line = "<LineString><coordinates>1,2 3,4</coordinates></LineString>";
    expect(await geometry(`<MultiGeometry>${point}${line}</MultiGeometry>`)).toMatchObject({
      type: "GeometryCollection",
      geometries: [{ type: "Point" }, { type: "LineString" }],
    });
    expect(
      await geometry(`<MultiGeometry><MultiGeometry>${line}${line}</MultiGeometry></MultiGeometry>`),
    ).toMatchObject({
      type: "GeometryCollection",
      geometries: [{ type: "MultiLineString" }],
    });
  });

  test("geometries accept holes before the shell, and close open rings", async () => {
    const inner = `<innerBoundaryIs>${ring("1,1 2,1 2,2")}</innerBoundaryIs>`;
    const outer = `<outerBoundaryIs>${ring("0,0 9,0 9,9 0,9 0,0")}</outerBoundaryIs>`;
    const { features, notices } = await read(kmlDocument(placemarkXml(`<Polygon>${inner}${outer}</Polygon>`)));
    expect(features[0]!.geometry).toEqual({
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [9, 0],
          [9, 9],
          [0, 9],
          [0, 0],
        ],
        [
          [1, 1],
          [2, 1],
          [2, 2],
          [1, 1],
        ],
      ],
    });
    expect(notices).toMatchObject([{ code: "ring-closed", count: 1 }]);
  });

  test.each([
    [
      "indented and one a line",
      "\n\t 1,2,3\n\t 4,5,6\n ",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    [
      "blanks after the commas",
      "1, 2, 3 4, 5, 6",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    [
      "heights for some",
      "1,2 4,5,6",
      [
        [1, 2],
        [4, 5, 6],
      ],
    ],
    [
      "a comma behind each position",
      "1,2, 4,5,",
      [
        [1, 2],
        [4, 5],
      ],
    ],
    [
      "a comma behind each position with height",
      "1,2,3, 4,5,6,",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    [
      "semicolons between positions",
      "1,2;4,5",
      [
        [1, 2],
        [4, 5],
      ],
    ],
    [
      "no-break spaces",
      "1,2\u00a04,5",
      [
        [1, 2],
        [4, 5],
      ],
    ],
    [
      "commas only, in threes",
      "1,2,0,4,5,0,7,8,0",
      [
        [1, 2, 0],
        [4, 5, 0],
        [7, 8, 0],
      ],
    ],
    [
      "a comment within a number, and white space around",
      " 1,2 3,4<!-- 4 -->5\n",
      [
        [1, 2],
        [3, 45],
      ],
    ],
    [
      "an element around the first, behind which a number goes on",
      "<b>1,2</b>5 3,4",
      [
        [1, 25],
        [3, 4],
      ],
    ],
    [
      "a reference in the middle",
      "1,2&#32;3,4",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      "plain positions and others in one text",
      "1,2 3,4 5e0,6 7,8",
      [
        [1, 2],
        [3, 4],
        [5, 6],
        [7, 8],
      ],
    ],
    [
      "exponents and signs",
      "+1e0,-2.5E1 .5,5.",
      [
        [1, -25],
        [0.5, 5],
      ],
    ],
  ])("coordinates with %s", async (_, text, expected) => {
    expect(await geometry(`<LineString><coordinates>${text}</coordinates></LineString>`)).toEqual({
      type: "LineString",
      coordinates: expected,
    });
  });

  test.each(["no,no", "1,2 3", "1,,2", "1,2 nan,4", "1;2;3;4;5"])(
    "geometries with the coordinates %s are rejected",
    async (text) => {
      const { features, rejects } = await read(
        kmlDocument(
          placemarkXml(`<name>bad</name><LineString><coordinates>${text}</coordinates></LineString>`) +
            placemarkXml(point),
        ),
      );
      expect(features).toHaveLength(1);
      expect(rejects).toMatchObject([
        { code: "geometry-malformed", place: { record: 1 }, feature: { properties: { name: "bad" }, geometry: null } },
      ]);
    },
  );

  test("geometries lose a fourth number, which is reported", async () => {
    const { features, losses } = await read(
      kmlDocument(placemarkXml("<Point><coordinates>1,2,3,4</coordinates></Point>")),
    );
    expect(features[0]!.geometry).toEqual({ type: "Point", coordinates: [1, 2, 3] });
    expect(codes(losses)).toContain("extra-coordinates");
  });

  test("a LinearRing becomes a line, a Model a point, no geometry null", async () => {
    expect(await geometry(ring("0,0 1,0 1,1 0,0"))).toMatchObject({ type: "LineString" });
    expect(
      await geometry(
        "<Model><Location><longitude>1</longitude><latitude>2</latitude><altitude>3</altitude></Location></Model>",
      ),
    ).toEqual({ type: "Point", coordinates: [1, 2, 3] });
    expect(await geometry("<name>nowhere</name>")).toBeNull();
  });

  test("geometries of overlays are their box, rotated counter-clockwise", async () => {
    const overlay = (rotation: string) =>
      read(
        kmlDocument(
          `<GroundOverlay><name>O</name><Icon><href>a.png</href></Icon><LatLonBox><north>1</north><south>-1</south><east>2</east><west>-2</west>${rotation}</LatLonBox></GroundOverlay>`,
        ),
      );
    const plain = (await overlay("")).features[0]!;
    expect(plain.properties).toEqual({ name: "O", icon: "a.png", "@geometry-type": "groundoverlay" });
    expect(plain.geometry).toMatchObject({
      coordinates: [
        [
          [-2, 1],
          [2, 1],
          [2, -1],
          [-2, -1],
          [-2, 1],
        ],
      ],
    });
    const turned = (await overlay("<rotation>90</rotation>")).features[0]!.geometry as { coordinates: number[][][] };
    // The rotation moves the north-west corner of the picture to the south-west.
    const [x, y] = turned.coordinates[0]![0]!;
    expect(x).toBeCloseTo(-1, 12);
    expect(y).toBeCloseTo(-2, 12);
  });

  test("geometries of overlays across the antimeridian are a box on each side", async () => {
    const box = "<north>2</north><south>1</south><east>-170</east><west>160</west>";
    const { features } = await read(kmlDocument(`<GroundOverlay><LatLonBox>${box}</LatLonBox></GroundOverlay>`));
    const { type, coordinates } = features[0]!.geometry as { type: string; coordinates: number[][][][] };
    expect(type).toBe("MultiPolygon");
    const longitudes = coordinates.map(([ring]) => [...new Set(ring!.map(([x]) => x!))].sort((m, n) => m - n));
    expect(longitudes).toEqual([
      [-180, -170],
      [160, 180],
    ]);
    for (const [ring] of coordinates) expect(ring).toHaveLength(5);
  });

  test("geometries of overlays that only touch the antimeridian, or cover the whole earth, stay one box", async () => {
    for (const sides of ["<east>180</east><west>170</west>", "<east>180</east><west>-180</west>"]) {
      const box = `<north>2</north><south>1</south>${sides}`;
      const { features } = await read(kmlDocument(`<GroundOverlay><LatLonBox>${box}</LatLonBox></GroundOverlay>`));
      expect(features[0]!.geometry!.type).toBe("Polygon");
    }
  });

  test("geometries of overlays may be four corners", async () => {
    const quad = "<gx:LatLonQuad><coordinates>0,0 4,0 3,2 1,2</coordinates></gx:LatLonQuad>";
    const { features } = await read(kmlDocument(`<GroundOverlay>${quad}</GroundOverlay>`));
    expect(features[0]!.geometry).toEqual({
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [4, 0],
          [3, 2],
          [1, 2],
          [0, 0],
        ],
      ],
    });
  });
});

describe("heights", () => {
  const modes = async (mode: string, z: string) =>
    (await readOne(`<Point>${mode}<coordinates>1,2${z}</coordinates></Point>`)).properties;

  test("heights are absolute unless the file has another mode; KML's default is another mode", async () => {
    expect(await modes("<altitudeMode>absolute</altitudeMode>", ",3")).toEqual({});
    expect(await modes("", ",3")).toEqual({ altitudeMode: "clampToGround" });
    expect(await modes("<altitudeMode>relativeToGround</altitudeMode>", ",3")).toEqual({
      altitudeMode: "relativeToGround",
    });
    expect(await modes("<gx:altitudeMode>clampToSeaFloor</gx:altitudeMode>", ",3")).toEqual({
      altitudeMode: "clampToSeaFloor",
    });
  });

  test("heights of zero have no mode", async () => {
    expect(await modes("", ",0")).toEqual({});
    expect(await modes("<altitudeMode>absolute</altitudeMode>", ",0")).toEqual({ altitudeMode: "absolute" });
  });
});

describe("tracks", () => {
  const track = (inner: string) => `<gx:Track>${inner}</gx:Track>`;

  test("tracks ignore the Model that they show", async () => {
    const model =
      "<Model><altitudeMode>absolute</altitudeMode><Location><longitude>0</longitude><latitude>0</latitude></Location></Model>";
    const inner = `<gx:coord>1 2 0</gx:coord><gx:coord>3 4 0</gx:coord>`;
    const { features, losses } = await read(
      kmlDocument(placemarkXml(track(`${inner}${model}`)) + placemarkXml(track(model + inner))),
    );
    const line = {
      type: "LineString",
      coordinates: [
        [1, 2, 0],
        [3, 4, 0],
      ],
    };
    expect(features.map(({ geometry }) => geometry)).toEqual([line, line]);
    expect(losses).toMatchObject([{ code: "element-left-out", field: "Model", count: 2 }]);
  });
  const coord = (text: string) => `<gx:coord>${text}</gx:coord>`;
  const when = (...times: string[]) => times.map((time) => `<when>${time}</when>`).join("");

  test("tracks have a time for each position, null where one is missing", async () => {
    const feature = await readOne(track(when("2020", "") + coord("1 2 3") + coord("4 5 6") + coord("7 8 9")));
    expect(feature.geometry).toEqual({
      type: "LineString",
      coordinates: [
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
      ],
    });
    expect(feature.properties.coordinateProperties).toEqual({ times: ["2020", null, null] });
  });

  test("tracks leave out the time of an empty position", async () => {
    const { features, notices } = await read(
      kmlDocument(placemarkXml(track(when("2020", "2021", "2022") + coord("1 2") + coord("") + coord("4 5")))),
    );
    expect(features[0]!.geometry).toEqual({
      type: "LineString",
      coordinates: [
        [1, 2],
        [4, 5],
      ],
    });
    expect(features[0]!.properties.coordinateProperties).toEqual({ times: ["2020", "2022"] });
    expect(codes(notices)).toContain("position-missing");
  });

  test("tracks of a MultiTrack have aligned times, angles and arrays, even if one has no times", async () => {
    const array =
      '<ExtendedData><SchemaData><gx:SimpleArrayData name="heart"><gx:value>80</gx:value><gx:value>81</gx:value></gx:SimpleArrayData></SchemaData></ExtendedData>';
    const feature = await readOne(
      `<gx:MultiTrack><gx:interpolate>1</gx:interpolate>${track(`${when("2020", "2021") + coord("1 2") + coord("3 4")}<gx:angles>10 0 0</gx:angles>${array}`)}${track(coord("5 6") + coord("7 8"))}</gx:MultiTrack>`,
    );
    expect(feature.geometry).toMatchObject({
      type: "MultiLineString",
      coordinates: [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [5, 6],
          [7, 8],
        ],
      ],
    });
    expect(feature.properties).toEqual({
      interpolate: true,
      coordinateProperties: {
        times: [
          ["2020", "2021"],
          [null, null],
        ],
        angles: [
          [[10, 0, 0], null],
          [null, null],
        ],
        heart: [
          [80, 81],
          [null, null],
        ],
      },
    });
  });

  test("tracks of a single position become points", async () => {
    const { features, notices } = await read(kmlDocument(placemarkXml(track(when("2020") + coord("1 2 3")))));
    expect(features[0]!.geometry).toEqual({ type: "Point", coordinates: [1, 2, 3] });
    expect(codes(notices)).toContain("line-of-one-point");
  });
});

describe("styles", () => {
  const style = (id: string, color: string) =>
    `<Style id="${id}"><LineStyle><color>${color}</color><width>2</width></LineStyle></Style>`;

  test("styles become simplestyle properties, with color and opacity separate", async () => {
    const feature = await readOne(
      `<Style><IconStyle><color>80ffffff</color><scale>1.5</scale><heading>90</heading><Icon><href>i.png</href></Icon><hotSpot x="0.5" y="1" xunits="fraction" yunits="pixels"/></IconStyle><LabelStyle><color>ff00ff00</color></LabelStyle><LineStyle><color>7fc08040</color><width>3</width></LineStyle><PolyStyle><color>ff0000ff</color><fill>0</fill></PolyStyle></Style>${point}`,
    );
    expect(feature.properties).toEqual({
      icon: "i.png",
      "icon-color": "#ffffff",
      "icon-opacity": 128 / 255,
      "icon-scale": 1.5,
      "icon-heading": 90,
      "icon-offset": [0.5, 1],
      "icon-offset-units": ["fraction", "pixels"],
      "label-color": "#00ff00",
      "label-opacity": 1,
      stroke: "#4080c0",
      "stroke-opacity": 127 / 255,
      "stroke-width": 3,
      fill: "#ff0000",
      "fill-opacity": 0,
    });
  });

  test("styles that are shared are found before and after the features, and through the normal pair of a StyleMap", async () => {
    const map =
      '<StyleMap id="m"><Pair><key>highlight</key><styleUrl>#b</styleUrl></Pair><Pair><key>normal</key><styleUrl>#a</styleUrl></Pair></StyleMap>';
    const use = placemarkXml(`<styleUrl>#m</styleUrl>${point}`);
    const shared = style("a", "ff0000ff") + style("b", "ff00ff00") + map;
    for (const text of [shared + use, use + shared]) {
      const { features } = await read(kmlDocument(text));
      expect(features[0]!.properties).toEqual({
        styleUrl: "#m",
        stroke: "#ff0000",
        "stroke-opacity": 1,
        "stroke-width": 2,
      });
    }
  });

  test("styles of the feature take precedence over shared ones", async () => {
    const feature = await readOne(
      `<styleUrl>a</styleUrl><Style><LineStyle><color>ff00ff00</color></LineStyle></Style>${point}`,
      style("a", "ff0000ff"),
    );
    expect(feature.properties).toEqual({ styleUrl: "#a", stroke: "#00ff00", "stroke-opacity": 1, "stroke-width": 2 });
  });

  test("styles that are missing are reported, and styles=no reads none", async () => {
    const text = kmlDocument(
      placemarkXml(`<styleUrl>#x</styleUrl><Style><LineStyle><width>2</width></LineStyle></Style>${point}`),
    );
    expect(codes((await read(text)).notices)).toEqual(["style-missing"]);
    expect((await read(text, { styles: "no" })).features[0]!.properties).toEqual({ styleUrl: "#x" });
  });

  test("styles can be different for each of many features", async () => {
    const many = Array.from({ length: 5000 }, (_, n) => n);
    const shared = many.map((n) => style(`s${n}`, `ff0000${(n % 256).toString(16).padStart(2, "0")}`)).join("");
    const { features } = await read(
      kmlDocument(shared + many.map((n) => placemarkXml(`<styleUrl>#s${n}</styleUrl>${point}`)).join("")),
    );
    const expected = many.map((n) => `#${(n % 256).toString(16).padStart(2, "0")}0000`);
    expect(features.map(({ properties }) => properties.stroke)).toEqual(expected);
  });
});

describe("layers and splits", () => {
  test("the option layers creates a layer for each folder, with its name", async () => {
    const text = kmlDocument(
      `<name>D</name><Folder><name>A</name>${placemarkXml(`<name>1</name>${point}`)}<Folder><name>B</name>${placemarkXml(point)}</Folder>${placemarkXml(`<name>2</name>${point}`)}</Folder>${placemarkXml(point)}`,
    );
    const layers = await readLayers(text, { layers: "folders" });
    expect(layers.map(({ name, features }) => [name, features.length])).toEqual([
      ["A", 2],
      ["B", 1],
      ["D", 1],
    ]);
    expect(layers[0]!.features.map(({ properties }) => properties)).toEqual([{ name: "1" }, { name: "2" }]);
  });

  test("an empty folder is a layer without features; a folder with folders only is no layer", async () => {
    const folder = (name: string, content: string) => `<Folder><name>${name}</name>${content}</Folder>`;
    const text = kmlDocument(
      `<Schema name="none" id="s"><SimpleField name="n" type="int"/></Schema>${folder("none", "")}${folder("out", folder("in", "") + folder("full", placemarkXml(point)))}`,
    );
    const layers = await readLayers(text, { layers: "folders" });
    expect(layers.map(({ name, features, fields }) => [name, features.length, fields])).toEqual([
      ["none", 0, [{ name: "n", type: "int32" }]],
      ["in", 0, []],
      ["full", 1, []],
    ]);
  });

  test("layers of folders have unique names", async () => {
    const folder = (name: string, content = placemarkXml(point)) => `<Folder><name>${name}</name>${content}</Folder>`;
    const text = kmlDocument(
      `<name>D</name>${placemarkXml(point)}${folder("D")}${folder("a/b")}${folder("A", folder("D"))}${folder("", "")}`,
    );
    const layers = await readLayers(text, { layers: "folders" });
    expect(layers.map(({ name }) => name)).toEqual(["D", "D_1", "a/b", "A/D"]);
  });

  test("network links, other overlays and tours are reported", async () => {
    const { features, notices, losses } = await read(
      kmlDocument(
        `<NetworkLink><name>More</name><Link><href>more.kml</href></Link></NetworkLink><ScreenOverlay><name>Logo</name></ScreenOverlay><PhotoOverlay/>${placemarkXml(point)}`,
      ),
    );
    expect(features).toHaveLength(1);
    expect(notices).toMatchObject([{ code: "network-link", count: 1 }]);
    expect(losses).toMatchObject([{ code: "overlay-left-out", count: 2 }]);
    expect(notices[0]!.example).toContain('"More" refers to more.kml');
  });

  test("skipErrors skips damage, and keeps the folder of the features after it", async () => {
    const text = kmlDocument(
      `<Folder><name>F</name>${placemarkXml(`<name>1</name>${point}`)}${placemarkXml(`<name>2</nam>${point}`)}${placemarkXml(`<name>3</name>${point}`)}</Folder>`,
    );
    await expect(readLayers(text)).rejects.toMatchObject({ code: "input-corrupt" });
    const [layer] = await readLayers(text, {}, true);
    expect(layer!.features.map(({ properties }) => properties)).toEqual([
      { name: "1", folder: "F" },
      { name: "3", folder: "F" },
    ]);
    expect(layer!.rejects).toMatchObject([{ code: "input-corrupt", place: { record: 2 } }]);
  });
});

test("reports damage before the first feature of a UTF-16 document when damage is skipped", async () => {
  const text = `\ufeff<kml><Document><name x=></name>${"<Placemark><name>a</name></Placemark>".repeat(2)}</Document></kml>`;
  await expect(readLayers(Buffer.from(text, "utf16le"))).rejects.toMatchObject({ code: "input-corrupt" });
  const [layer] = await readLayers(Buffer.from(text, "utf16le"), {}, true);
  expect(layer!.features).toEqual([]);
  expect(layer!.rejects).toMatchObject([{ code: "input-corrupt", reason: expect.stringContaining("skipped") }]);
});
