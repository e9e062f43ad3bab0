/** GML files: layers, fields, schemas, splits, and what is refused. */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { openGml } from "../../../plugins/ogc/gml-reader.js";
import { gml, gmlOptions } from "../../../plugins/ogc/index.js";
import { FileSource } from "../../../src/io/input/source.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { createRandom } from "../../support/random.js";
import { RecordingContext, readFeatures, TemporaryFolder } from "../../support/read-layers.js";
import { collection, featuresOf, namespaces, place, readGml } from "./documents.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const point = (x: number, y: number, srsName = "EPSG:25832") =>
  `<app:geom><gml:Point srsName="${srsName}"><gml:pos>${x} ${y}</gml:pos></gml:Point></app:geom>`;

describe("fields", () => {
  it("have types that fit all values, and texts stay as they are", async () => {
    const [layer] = await readGml(
      scratch,
      collection([
        place(
          "<app:n>1</app:n><app:big>9007199254740993</app:big><app:x>0.50</app:x><app:code>007</app:code><app:day>2024-02-29</app:day><app:when>2024-02-29T12:00:00Z</app:when><app:is>true</app:is><app:word> a b </app:word>",
        ),
        place(
          "<app:n>-20</app:n><app:big>1</app:big><app:x>3</app:x><app:code>12</app:code><app:day>2024-03-01</app:day><app:when>2024-03-01T12:00:00+01:00</app:when><app:is>false</app:is><app:word/>",
          "p2",
        ),
        place('<app:n xsi:nil="true"/>', "p3"),
      ]),
    );
    expect(layer!.info.fields?.map(({ name, type }) => `${name} ${type}`)).toEqual([
      ...["n int32", "big int64", "x double", "code text", "day date", "when datetime", "is boolean", "word text"],
    ]);
    expect(featuresOf(layer!).map(({ id, properties }) => ({ id, ...properties }))).toEqual([
      {
        id: "p1",
        n: 1,
        big: "9007199254740993",
        x: 0.5,
        code: "007",
        day: "2024-02-29",
        when: "2024-02-29T12:00:00Z",
        is: true,
        word: " a b ",
      },
      {
        id: "p2",
        n: -20,
        big: 1,
        x: 3,
        code: "12",
        day: "2024-03-01",
        when: "2024-03-01T12:00:00+01:00",
        is: false,
        word: "",
      },
      { id: "p3", n: null },
    ]);
  });

  it("are text on request", async () => {
    const text = collection([place("<app:n>1</app:n>")]);
    const [layer] = await readGml(scratch, text, { options: { types: "text" } });
    expect(featuresOf(layer!)[0]!.properties).toEqual({ n: "1" });
  });

  it("come from nested elements, attributes and references by their paths", async () => {
    const [layer] = await readGml(
      scratch,
      collection([
        place(
          '<app:address><app:Address><app:street>A</app:street><app:no>5</app:no></app:Address></app:address><app:height uom="m">3.5</app:height><app:owner xlink:href="#o1" xlink:title="O"/><app:gone xsi:nil="true" nilReason="unknown"/><gml:name codeSpace="x">N</gml:name>',
        ),
      ]),
    );
    expect(featuresOf(layer!)[0]!.properties).toEqual({
      address_Address_street: "A",
      address_Address_no: 5,
      height_uom: "m",
      height: 3.5,
      owner_href: "#o1",
      owner_title: "O",
      gone_nilReason: "unknown",
      gone: null,
      name_codeSpace: "x",
      name: "N",
    });
  });

  it("are JSON where elements repeat, with a note if they are nested", async () => {
    const [layer] = await readGml(
      scratch,
      collection([
        place("<app:tag>a</app:tag><app:tag>2</app:tag><app:part><app:k>1</app:k><app:k>2</app:k></app:part>"),
        place('<app:tag>b</app:tag><app:part><app:k u="m">3</app:k></app:part>', "p2"),
      ]),
    );
    expect(layer!.info.fields).toEqual([
      { name: "tag", type: "json" },
      { name: "part", type: "json" },
    ]);
    expect(featuresOf(layer!).map(({ properties }) => properties)).toEqual([
      { tag: ["a", "2"], part: { k: ["1", "2"] } },
      { tag: ["b"], part: { k: { "@u": "m", "#text": "3" } } },
    ]);
    expect(layer!.notices).toMatchObject([{ code: "nested-as-json", field: "part" }]);
  });

  it("have the types of a schema beside the file as far as the values fit", async () => {
    const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:app="http://example.org/app" targetNamespace="http://example.org/app">
      <xs:element name="Place" type="app:PlaceType" substitutionGroup="gml:AbstractFeature"/>
      <xs:complexType name="PlaceType"><xs:complexContent><xs:extension base="gml:AbstractFeatureType"><xs:sequence>
        <xs:element name="geom" type="gml:PointPropertyType"/>
        <xs:element name="unused" type="xs:date" minOccurs="0"/>
        <xs:element name="code"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="10"/></xs:restriction></xs:simpleType></xs:element>
        <xs:element name="n" type="xs:long"/><xs:element name="x" type="xs:decimal"/>
        <xs:element name="is" type="xs:boolean"/><xs:element name="odd" type="xs:int"/><xs:element name="height" type="gml:LengthType"/>
      </xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:schema>`;
    writeFileSync(scratch.path("typed.xsd"), schema);
    const text = collection([
      place(
        `${point(1, 2)}<app:code>12</app:code><app:n>3</app:n><app:x>4</app:x><app:is>1</app:is><app:odd>05</app:odd><app:height uom="m">5</app:height>`,
      ),
    ]);
    const [layer] = await readGml(scratch, text, {}, "typed.gml");
    expect(layer!.info.fields).toEqual([
      { name: "unused", type: "date" },
      { name: "code", type: "text", width: 10 },
      { name: "n", type: "int64" },
      { name: "x", type: "double" },
      { name: "is", type: "boolean" },
      { name: "odd", type: "text" },
      { name: "height_uom", type: "text" },
      { name: "height", type: "double" },
    ]);
    expect(featuresOf(layer!)[0]!.properties).toEqual({
      ...{ unused: null, code: "12", n: 3, x: 4, is: true, odd: "05", height_uom: "m", height: 5 },
    });
    expect(layer!.notices).toMatchObject([{ code: "type-not-kept", field: "odd" }]);
  });

  it("have the types of the schema that schemaLocation names, in the same folder only", async () => {
    const schema = `<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="Place" type="PlaceType"/><complexType name="PlaceType"><sequence><element name="n" type="string"/></sequence></complexType></schema>`;
    writeFileSync(scratch.path("other-name.xsd"), schema);
    const withLocation = (location: string) =>
      collection([place("<app:n>12</app:n>")]).replace(
        "<gml:FeatureCollection",
        `<gml:FeatureCollection xsi:schemaLocation="http://example.org/app ${location}"`,
      );
    const [typed] = await readGml(scratch, withLocation("other-name.xsd"));
    expect(typed!.info.fields).toEqual([{ name: "n", type: "text" }]);
    const path = scratch.path("other-name.xsd");
    for (const location of [path, "../x/other-name.xsd", "http://127.0.0.1:1/other-name.xsd", "missing.xsd"]) {
      const [inferred] = await readGml(scratch, withLocation(location));
      expect(inferred!.info.fields, location).toEqual([{ name: "n", type: "int32" }]);
    }
  });
});

describe("layers", () => {
  it("are the feature types, and those of another system are a layer of their own", async () => {
    const layers = await readGml(
      scratch,
      collection([
        place("<app:a>no place</app:a>"),
        place(point(1, 2)),
        `<app:Road gml:id="r1"><app:a>1</app:a></app:Road>`,
        place(point(3, 4, "EPSG:25833"), "p2"),
        place(point(6, 5, "urn:ogc:def:crs:EPSG::25832"), "p3"),
      ]),
    );
    expect(
      layers.map(({ info, batches }) => [info.name, info.crs?.id ?? null, batches.reduce((n, b) => n + b.length, 0)]),
    ).toEqual([
      ["Place", "EPSG:25832", 3],
      ["Road", null, 1],
      ["Place_EPSG_25833", "EPSG:25833", 1],
    ]);
    expect(layers[0]!.notices).toMatchObject([{ code: "layers-by-crs" }]);
  });

  it("take the system from the envelope of the collection or feature where geometries name none", async () => {
    const bounds = (code: number) =>
      `<gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::${code}"><gml:lowerCorner>0 0</gml:lowerCorner><gml:upperCorner>9 9</gml:upperCorner></gml:Envelope></gml:boundedBy>`;
    const bare = "<app:geom><gml:Point><gml:pos>48 11</gml:pos></gml:Point></app:geom>";
    const layers = await readGml(scratch, collection([place(bare), place(bounds(25832) + bare)], bounds(4326)));
    expect(layers.map(({ info }) => info.crs?.id)).toEqual(["EPSG:4326", "EPSG:25832"]);
    expect(layers.map((layer) => featuresOf(layer)[0]!.geometry)).toEqual([
      { type: "Point", coordinates: [11, 48] },
      { type: "Point", coordinates: [48, 11] },
    ]);
  });

  it("have one geometry; others are reported, and can be chosen", async () => {
    const text = collection([
      place(
        `${point(1, 2)}<app:center><gml:Point srsName="EPSG:25832"><gml:pos>8 9</gml:pos></gml:Point></app:center>`,
      ),
    ]);
    const [first] = await readGml(scratch, text);
    expect(featuresOf(first!)[0]!.geometry).toEqual({ type: "Point", coordinates: [1, 2] });
    expect(first!.losses).toMatchObject([{ code: "geometry-column-left-out", field: "center", count: 1 }]);
    const other = text.replace(
      '<app:center><gml:Point srsName="EPSG:25832">',
      '<app:center><gml:Point srsName="EPSG:25833">',
    );
    const [second] = await readGml(scratch, other, { options: { geometry: "center" } });
    expect(featuresOf(second!)[0]!.geometry).toEqual({ type: "Point", coordinates: [8, 9] });
    expect(second!.info.crs?.id).toBe("EPSG:25833");
  });

  it("take the geometry that a feature has where it has another one than most", async () => {
    const line = '<gml:LineString srsName="EPSG:25832"><gml:posList>0 0 1 1</gml:posList></gml:LineString>';
    const [layer] = await readGml(
      scratch,
      collection([place(point(1, 2)), place(`<app:axis>${line}</app:axis>`, "p2")]),
    );
    expect(featuresOf(layer!).map(({ geometry }) => geometry?.type)).toEqual(["Point", "LineString"]);
    expect(layer!.info.geometryTypes).toEqual(["Point", "LineString"]);
    expect(layer!.losses).toEqual([]);
  });

  it("are found in the collections of services, cities and surveys", async () => {
    const documents = [
      `<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" ${namespaces}><wfs:member>${place("<app:n>1</app:n>")}</wfs:member></wfs:FeatureCollection>`,
      `<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" ${namespaces}><wfs:member><wfs:FeatureCollection><wfs:member>${place("<app:n>1</app:n>")}</wfs:member></wfs:FeatureCollection></wfs:member></wfs:FeatureCollection>`,
      `<gml:FeatureCollection ${namespaces}><gml:featureMembers>${place("<app:n>1</app:n>")}</gml:featureMembers></gml:FeatureCollection>`,
      `<c:CityModel xmlns:c="http://www.opengis.net/citygml/2.0" ${namespaces}><c:cityObjectMember>${place("<app:n>1</app:n>")}</c:cityObjectMember></c:CityModel>`,
      `<Auszug xmlns:wfs="http://www.opengis.net/wfs/2.0" ${namespaces}><enthaelt><wfs:FeatureCollection><gml:featureMember>${place("<app:n>1</app:n>")}</gml:featureMember></wfs:FeatureCollection></enthaelt></Auszug>`,
    ];
    for (const text of documents) {
      const layers = await readGml(scratch, text);
      expect(layers.map((layer) => featuresOf(layer).map(({ properties }) => properties))).toEqual([[{ n: 1 }]]);
      expect(layers[0]!.losses).toEqual([]);
    }
  });

  it("are none in an empty collection", async () => {
    expect(await readGml(scratch, `<gml:FeatureCollection ${namespaces}/>`)).toEqual([]);
  });
});

describe("what is not a feature", () => {
  it("is reported if it is beside the features", async () => {
    const text = collection([place("<app:n>1</app:n>")], '<gml:note>x</gml:note><gml:featureMember xlink:href="#p9"/>');
    const [layer] = await readGml(scratch, text.replace("</gml:FeatureCollection>", "word</gml:FeatureCollection>"));
    const [loss] = layer!.losses;
    expect(loss).toMatchObject({ code: "element-left-out", count: 3 });
  });

  const refused: [name: string, text: string, code: string, reason: string][] = [
    [
      "an exception report",
      '<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception exceptionCode="X"><ows:ExceptionText>Unknown type</ows:ExceptionText></ows:Exception></ows:ExceptionReport>',
      "input-corrupt",
      "Unknown type",
    ],
    [
      "an exception report between features",
      collection([place("<app:n>1</app:n>"), "<ExceptionReport><Exception>Disk is full</Exception></ExceptionReport>"]),
      "input-corrupt",
      "Disk is full",
    ],
    [
      "an answer that was cut off",
      `<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" ${namespaces}><wfs:truncatedResponse/></wfs:FeatureCollection>`,
      "input-corrupt",
      "truncatedResponse",
    ],
    [
      "a document without members",
      `<app:Thing ${namespaces}><app:n>1</app:n></app:Thing>`,
      "unsupported",
      "<Thing> is not a collection of features",
    ],
    [
      "a document that ends early",
      collection([place("<app:n>1</app:n>")]).slice(0, -10),
      "input-truncated",
      "not closed",
    ],
    ["tags that do not match", collection(["<app:Place></app:Plaza>"]), "input-corrupt", "</app:Place> is expected"],
  ];
  it.each(refused)("is refused: %s", async (_, text, code, reason) => {
    await expect(readGml(scratch, text)).rejects.toMatchObject({ code, message: expect.stringContaining(reason) });
  });
});

describe("a file in splits", () => {
  const random = createRandom(3);
  const members = Array.from({ length: 300 }, (_, n) => {
    const type = n % 3 === 0 ? "Road" : "Place";
    return `<app:${type} gml:id="f${n}"><app:n>${n}</app:n>${random() < 0.9 ? point(n, 2 * n) : ""}</app:${type}>`;
  });
  const single = collection(members);
  const list = `<gml:FeatureCollection ${namespaces}><gml:featureMembers>${members.join("\n")}</gml:featureMembers></gml:FeatureCollection>`;

  it.each([
    ["featureMember", single],
    ["featureMembers", list],
  ])("has the same features as a whole: %s", async (_, text) => {
    const path = scratch.path("many.gml");
    writeFileSync(path, text);
    const options = parseOptions("gml", gmlOptions, {});
    const read = async (splitSize: number, bySplits: boolean) => {
      await using dataset = await openGml(FileSource.at(path), options, new RecordingContext(), splitSize);
      const splits: unknown[] = [];
      for await (const split of dataset.layers[0]!.splits!()) splits.push(split);
      const layers = [await readFeatures(dataset, 0, bySplits), await readFeatures(dataset, 1, bySplits)];
      return { splits: splits.length, layers };
    };
    const whole = await read(1 << 20, false);
    expect(whole.layers.map((layer) => layer.length)).toEqual([100, 200]);
    for (const size of [1, 500, 5000]) {
      const parts = await read(size, true);
      expect(parts.layers).toEqual(whole.layers);
      expect(parts.splits).toBeGreaterThan(5);
      expect((await read(size, false)).layers).toEqual(whole.layers);
    }
  });

  it("of many types: a layer reads little of the others", async () => {
    const path = scratch.path("types.gml");
    const types = Array.from(
      { length: 300 },
      (_, n) => `<app:Type${n}><app:n>${n}</app:n>${point(n, n)}</app:Type${n}>`,
    );
    const text = collection(types);
    writeFileSync(path, text);
    await using dataset = await openGml(
      FileSource.at(path),
      parseOptions("gml", gmlOptions, {}),
      new RecordingContext(),
      1 << 17,
    );
    expect(dataset.layers).toHaveLength(300);
    expect(dataset.layers.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(10 * text.length);
    expect((await readFeatures(dataset, 299))[0]?.properties).toEqual({ n: 299 });
    expect(await readFeatures(dataset, 150, true)).toHaveLength(1);
  });

  it("in UTF-16 is read whole", async () => {
    const path = scratch.path("wide.gml");
    writeFileSync(path, Buffer.from(`\uFEFF${single.replace("UTF-8", "UTF-16")}`, "utf16le"));
    await using dataset = await openGml(
      FileSource.at(path),
      parseOptions("gml", gmlOptions, {}),
      new RecordingContext(),
      1,
    );
    expect((await readFeatures(dataset, 1)).map(({ id }) => id)).toHaveLength(200);
  });
});

describe("detection", () => {
  const head = (text: string) => gml.identify(Buffer.from(text), { name: "x.xml", size: 1, findSibling: () => null });
  it("is by the root and the namespace", () => {
    expect(head(collection([]))).toBe("yes");
    expect(head(`<a:Thing ${namespaces}/>`)).toBe("maybe");
    expect(head("<gpx xmlns='http://www.topografix.com/GPX/1/1'/>")).toBe("no");
    expect(head("<kml xmlns='http://www.opengis.net/kml/2.2'/>")).toBe("no");
    expect(head(`<schema ${namespaces}/>`)).toBe("no");
    expect(head("<other/>")).toBe("no");
    expect(head("<ExceptionReport/>")).toBe("maybe");
  });
});
