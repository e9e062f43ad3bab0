/** Parts of a KML that features cannot hold: each is kept in another form, or named in the report. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { convertFile } from "../../support/host.js";
import { canValidate, validateDocument } from "../../support/schemas.js";
import { kmlDocument, placemarkXml, read, readLayers, readOne, scratch } from "./read-kml.js";

afterAll(() => scratch.remove());
const isTestable = canValidate("ogckml22.xsd");
const point = "<Point><coordinates>1,2</coordinates></Point>";
const line = "<LineString><coordinates>1,2 3,4</coordinates></LineString>";
const polygon =
  "<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon>";
const namespaces =
  'xmlns="http://www.opengis.net/kml/2.2" xmlns:kml="http://www.opengis.net/kml/2.2" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:x="urn:x" xmlns:xlink="http://www.w3.org/1999/xlink"';
let count = 0;

async function rewritten(inner: string, name = "out.kml", from = "in.kml") {
  const folder = scratch.path(`u${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/${from}`, kmlDocument(inner, namespaces));
  const path = `${folder}/${name}`;
  const { losses, notices } = await convertFile(`${folder}/${from}`, path);
  const text = readFileSync(path, name.endsWith("kml") ? "utf8" : "latin1");
  if (isTestable && name.endsWith("kml")) expect(validateDocument(text, "ogckml22.xsd")).toBe("");
  const named = (list: typeof losses) =>
    list.map(({ code, field, count: n }) => [code, field, n].filter(Boolean).join(" "));
  return { folder, path, text, losses: named(losses), notices: named(notices) };
}

describe("arrays of gx:SimpleArrayData have the type that their Schema declares", () => {
  const schema = (type: string) => `<Schema id="s"><gx:SimpleArrayField name="a" type="${type}"/></Schema>`;
  const values = (...list: string[]) =>
    `<ExtendedData><SchemaData schemaUrl="#s"><gx:SimpleArrayData name="a">${list.map((each) => `<gx:value>${each}</gx:value>`).join("")}</gx:SimpleArrayData></SchemaData></ExtendedData>`;
  const track = (...list: string[]) =>
    `<gx:Track><when>2020-01-01T00:00:00Z</when><when>2020-01-01T00:00:01Z</when><gx:coord>1 2</gx:coord><gx:coord>3 4</gx:coord>${values(...list)}</gx:Track>`;

  test.each([
    ["string", ["1.50", "2"], ["1.50", "2"]],
    ["xsd:string", ["1", "2"], ["1", "2"]],
    ["float", ["1.5", "2"], [1.5, 2]],
    ["int", ["1", ""], [1, null]],
    ["bool", ["1", "false"], [true, false]],
    ["int", ["1", "x"], [1, "x"]],
  ])("arrays of gx:SimpleArrayData have the type of their Schema: %s", async (type, given, expected) => {
    const outside = await readOne(`${values(...given)}${point}`, schema(type));
    expect(outside.properties!.a).toEqual(expected);
    const inTrack = await readOne(track(...given), schema(type));
    expect(inTrack.properties!.coordinateProperties).toMatchObject({ a: expected });
  });

  test("arrays of gx:SimpleArrayData have the type of a later Schema; without a Schema, the type is inferred", async () => {
    const { features } = await read(kmlDocument(placemarkXml(track("1.50", "2")) + schema("string")));
    expect(features[0]!.properties!.coordinateProperties).toMatchObject({ a: ["1.50", "2"] });
    expect((await readOne(track("1.50", "2"))).properties!.coordinateProperties).toMatchObject({ a: [1.5, 2] });
  });
});

describe("display names of fields (displayName of a SimpleField) are titles of columns", () => {
  const schema =
    '<Schema name="doc" id="s"><SimpleField name="n" type="int"><displayName>Number &amp; more</displayName></SimpleField><SimpleField name="t" type="string"/></Schema>';
  const data =
    '<ExtendedData><SchemaData schemaUrl="#s"><SimpleData name="n">5</SimpleData><SimpleData name="t">x</SimpleData></SchemaData></ExtendedData>';
  const given = `<name>doc</name>${schema}${placemarkXml(data + point)}`;

  test("display names of fields are kept from KML to KML", async () => {
    const { text, losses } = await rewritten(given);
    expect(losses).toEqual([]);
    expect(text).toContain(
      '<SimpleField name="n" type="int"><displayName>Number &amp; more</displayName></SimpleField>',
    );
    expect(text.match(/displayName>/g)).toHaveLength(2);
  });

  test("display names of fields become titles of the data columns of a GeoPackage, and back", async () => {
    const { folder, path, losses } = await rewritten(given, "out.gpkg");
    expect(losses).toEqual([]);
    const database = new Database(path, { readonly: true });
    const rows = database.prepare("SELECT column_name, title FROM gpkg_data_columns").all();
    database.close();
    expect(rows).toEqual([{ column_name: "n", title: "Number & more" }]);
    const back = await convertFile(path, `${folder}/back.kml`);
    expect(back.losses).toEqual([]);
    expect(readFileSync(`${folder}/back.kml`, "utf8")).toContain("<displayName>Number &amp; more</displayName>");
  });

  test("display names of fields are a loss if the target cannot hold them, or if two Schemas differ", async () => {
    expect((await rewritten(given, "out.geojson")).losses).toEqual(["metadata-left-out 1"]);
    const other = schema.replace('id="s"', 'id="o"').replace("Number &amp; more", "Other");
    expect((await rewritten(given.replace(schema, schema + other))).losses).toEqual(["element-left-out displayName 1"]);
  });

  test("other metadata of GeoPackage columns are a loss", async () => {
    const { folder, path } = await rewritten(given, "out.gpkg");
    const database = new Database(path);
    database.prepare("UPDATE gpkg_data_columns SET description = 'how many'").run();
    database.close();
    const { losses } = await convertFile(path, `${folder}/back.kml`);
    expect(losses.map(({ code, example }) => `${code}: ${example}`)).toEqual([
      'metadata-left-out: KML has no place for the description of the column "n"',
    ]);
  });
});

describe("shared styles that no feature uses", () => {
  const style = (id: string, inner = "<LineStyle><width>2</width></LineStyle>") => `<Style id="${id}">${inner}</Style>`;
  const map = (id: string, normal: string, highlight: string) =>
    `<StyleMap id="${id}"><Pair><key>normal</key><styleUrl>#${normal}</styleUrl></Pair><Pair><key>highlight</key><styleUrl>#${highlight}</styleUrl></Pair></StyleMap>`;
  const using = (id: string) => placemarkXml(`<styleUrl>#${id}</styleUrl>${line}`);

  test.each([
    ["one", style("a") + style("b") + using("a"), ["style-unused 1"]],
    ["all", style("a") + map("m", "a", "b") + style("b") + placemarkXml(line), ["style-unused 3"]],
    ["none", map("m", "a", "b") + style("a") + style("b") + using("m"), []],
    ["those behind the features", using("a") + style("a") + style("c"), ["style-unused 1"]],
    [
      "of cascades",
      `<gx:CascadingStyle id="c">${style("")}</gx:CascadingStyle>${placemarkXml(line)}`,
      ["style-unused 1"],
    ],
  ])("unused shared styles are a note: %s", async (_, inner, expected) => {
    const { notices } = await rewritten(inner);
    expect(notices.filter((each) => each.startsWith("style"))).toEqual(expected);
  });

  test("unused shared styles are listed by id", async () => {
    const { notices } = await read(kmlDocument(style("first") + style("second") + placemarkXml(point)));
    expect(notices.find(({ code }) => code === "style-unused")!.example).toContain('"first", "second"');
  });

  test("unused shared styles are not reported with styles=no", async () => {
    const [layer] = await readLayers(kmlDocument(style("a") + placemarkXml(point)), { styles: "no" });
    expect(layer!.notices).toEqual([]);
  });
});

describe("parts of styles without a field, or with invalid values, are losses", () => {
  const losses = async (inner: string) =>
    (await read(kmlDocument(placemarkXml(`<Style>${inner}</Style>${line}`), namespaces))).losses.map(
      ({ code, field }) => `${code} ${field}`,
    );

  test.each([
    ["LabelStyle", "<LabelStyle><heading>3</heading></LabelStyle>", ["heading"]],
    [
      "LineStyle",
      "<LineStyle><gx:outerColor>ff000000</gx:outerColor><scale>2</scale><width>wide</width></LineStyle>",
      ["gx:outerColor", "scale", "width"],
    ],
    ["PolyStyle", "<PolyStyle><color>red</color><width>2</width></PolyStyle>", ["color", "width"]],
    [
      "IconStyle",
      '<IconStyle><Icon><href>a.png</href><gx:w>32</gx:w><refreshMode>x</refreshMode></Icon><hotSpot x="a" y="1"/><fill>0</fill></IconStyle>',
      ["gx:w", "refreshMode", "hotSpot", "fill"],
    ],
    ["a hot spot of none", '<LineStyle><hotSpot x="1" y="1"/></LineStyle>', ["hotSpot"]],
    [
      "what is kept",
      "<LabelStyle><color>ff00ff00</color><scale>2</scale></LabelStyle><IconStyle><heading>2</heading></IconStyle><LineStyle/><PolyStyle><fill>1</fill><outline>true</outline></PolyStyle>",
      [],
    ],
  ])("a style part without a field, or with an invalid value, is a loss: %s", async (_, inner, expected) => {
    expect(await losses(inner)).toEqual(expected.map((name) => `element-left-out ${name}`));
  });
});

describe("outline and fill that are switched off (OGC 07-147r2, 12.11)", () => {
  const style = (line: string, poly: string) =>
    `<Style id="s"><LineStyle>${line}</LineStyle><PolyStyle>${poly}</PolyStyle></Style>`;
  const off = style(
    "<color>7f0000ff</color><width>2</width>",
    "<outline>0</outline><fill>0</fill><color>ff00ff00</color>",
  );

  test.each([
    ["its own", "", off],
    ["shared", off, "<styleUrl>#s</styleUrl>"],
    [
      "shared, and its own in part",
      style("<width>5</width>", "<outline>0</outline><fill>0</fill><color>ff00ff00</color>"),
      "<styleUrl>#s</styleUrl><Style><LineStyle><color>7f0000ff</color></LineStyle></Style>",
    ],
  ])("a polygon shows neither outline nor fill that are switched off: %s", async (_, outside, inner) => {
    const { properties } = await readOne(inner + polygon, outside);
    expect(properties).toMatchObject({ stroke: "#ff0000", "stroke-opacity": 0, fill: "#00ff00", "fill-opacity": 0 });
  });

  test("an outline that is switched off does not hide lines", async () => {
    const { properties } = await readOne(off + line);
    expect(properties).toMatchObject({ stroke: "#ff0000", "stroke-opacity": 127 / 255 });
    expect((await readOne(style("", "<outline>0</outline>") + line)).properties).not.toHaveProperty("stroke-opacity");
  });

  test("a switched-off outline is a loss for lines and polygons together", async () => {
    const both = `<MultiGeometry>${line}${polygon}</MultiGeometry>`;
    const { features, losses } = await read(kmlDocument(placemarkXml(off + both)));
    expect(features[0]!.properties).toMatchObject({ "stroke-opacity": 127 / 255 });
    expect(losses).toMatchObject([{ code: "element-left-out", field: "outline", count: 1 }]);
  });

  test("outline and fill that are switched off are off in the output without a color, too", async () => {
    const { text, losses } = await rewritten(
      placemarkXml(`${style("", "<outline>0</outline><fill>0</fill>")}${polygon}`),
    );
    expect(losses).toEqual([]);
    expect(text).toContain("<PolyStyle><fill>0</fill><outline>0</outline></PolyStyle>");
  });

  test("colors of three digits are written as elements, too", async () => {
    const { text } = await rewritten(placemarkXml(`${style("<color>ff0</color>", "")}${polygon}`));
    expect(text).toContain("<LineStyle><color>ff00ffff</color></LineStyle>");
  });
});

test("captured elements keep attributes with a prefix", async () => {
  const details =
    '<LookAt x:id="v" kml:id="look" xlink:title="a"><longitude>7</longitude><latitude>51</latitude><range>900</range></LookAt>';
  const data = '<ExtendedData><x:y xlink:href="#z" xml:lang="de" k="1">w</x:y></ExtendedData>';
  const folder = scratch.path(`u${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/in.kml`, kmlDocument(`<name>d</name>${details}${data}${placemarkXml(point)}`, namespaces));
  const { losses } = await convertFile(`${folder}/in.kml`, `${folder}/out.kml`);
  const text = readFileSync(`${folder}/out.kml`, "utf8");
  expect(losses).toEqual([]);
  expect(text).toContain(
    '<LookAt xmlns:x="urn:x" xmlns:xlink="http://www.w3.org/1999/xlink" x:id="v" id="look" xlink:title="a">',
  );
  expect(text).toContain(
    '<x:y xmlns:x="urn:x" xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#z" xml:lang="de" k="1">w</x:y>',
  );
});

describe("attributes that are left out", () => {
  const read1 = async (inner: string) => {
    const { losses, notices } = await read(kmlDocument(inner, namespaces));
    return [...losses, ...notices].map(({ code, field, count: n }) => `${code} ${field} ${n}`);
  };

  test.each([
    [
      "ids of geometries",
      placemarkXml('<Point id="p" targetId="q"><coordinates>1,2</coordinates></Point>').repeat(2),
      ["attribute-left-out Point id 2", "attribute-left-out Point targetId 2"],
    ],
    ["ids of folders", `<Folder id="f">${placemarkXml(point)}</Folder>`, ["attribute-left-out Folder id 1"]],
    [
      "ids of parts of styles",
      placemarkXml(`<Style id="s"><LineStyle id="l"/></Style>${line}`),
      ["attribute-left-out LineStyle id 1"],
    ],
    [
      "others of features",
      `<Placemark id="a" x:kind="road" targetId="b">${point}</Placemark>`,
      ["element-left-out Placemark x:kind 1", "attribute-left-out Placemark targetId 1"],
    ],
    [
      "others of data",
      placemarkXml(
        `<ExtendedData><Data name="a" x:uom="m"><value>1</value></Data><x:y z="1">w</x:y></ExtendedData>${point}`,
      ),
      ["element-left-out Data x:uom 1", "element-left-out x:y z 1"],
    ],
    ["of links", placemarkXml(`<atom:link href="a" title="t"/>${point}`), ["element-left-out atom:link title 1"]],
    [
      "of fields",
      `<Schema id="s" name="s"><SimpleField name="n" type="string" x:unit="m"/></Schema>${placemarkXml(point)}`,
      ["element-left-out SimpleField x:unit 1"],
    ],
    [
      "none",
      `<Style id="s"/>${placemarkXml(`<styleUrl>#s</styleUrl><Snippet>a</Snippet><ExtendedData><Data name="a"><value>1</value></Data><SchemaData schemaUrl="#s"><SimpleData name="b">1</SimpleData></SchemaData></ExtendedData>${point}`)}`,
      [],
    ],
  ])("attributes that are left out are named: %s", async (_, inner, expected) => {
    expect(await read1(inner)).toEqual(expected);
  });
});

describe("values that differ between parts of a geometry", () => {
  const part = (inner: string) => `<Polygon>${inner}${polygon.slice("<Polygon>".length)}`;
  const said = async (...parts: string[]) => {
    const { losses } = await read(
      kmlDocument(placemarkXml(`<MultiGeometry>${parts.map(part).join("")}</MultiGeometry>`)),
    );
    return losses.map(({ code, field, count: n }) => `${code} ${field} ${n}`);
  };

  test.each([
    [
      "modes of heights",
      ["<altitudeMode>absolute</altitudeMode>", "<altitudeMode>relativeToGround</altitudeMode>"],
      ["altitudeMode"],
    ],
    ["no modes of KML's", ["<altitudeMode>above</altitudeMode>"], ["altitudeMode"]],
    [
      "extrude and tessellate",
      ["<extrude>1</extrude><tessellate>0</tessellate>", "<extrude>0</extrude><tessellate>1</tessellate>"],
      ["extrude", "tessellate"],
    ],
    [
      "the same",
      [
        "<extrude>1</extrude><altitudeMode>absolute</altitudeMode>",
        "<extrude>1</extrude><altitudeMode>absolute</altitudeMode>",
      ],
      [],
    ],
  ])("values that differ between parts of a geometry are a loss: %s", async (_, parts, expected) => {
    expect(await said(...parts)).toEqual(expected.map((name) => `element-left-out ${name} 1`));
  });

  test("times and values of a track without a position are reported", async () => {
    const times = "<when>2020</when><when>2021</when><when>2022</when>";
    const track = `<gx:Track>${times}<gx:coord>1 2</gx:coord><gx:coord>3 4</gx:coord></gx:Track>`;
    const { notices } = await read(kmlDocument(placemarkXml(track)));
    expect(notices).toMatchObject([{ code: "position-missing", count: 1 }]);
  });
});

test("folders without a feature are reported by name", async () => {
  const inner = `<Folder><name>a</name></Folder><Folder><name>b</name>${placemarkXml(point)}<Folder><name>c</name></Folder></Folder>`;
  const { notices } = await read(kmlDocument(inner));
  expect(notices).toMatchObject([{ code: "folder-empty", count: 2 }]);
  expect(notices[0]!.example).toContain('"a", "b/c"');
  const layers = await readLayers(kmlDocument(inner), { layers: "folders" });
  expect(layers.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(layers.flatMap(({ notices: all }) => all)).toEqual([]);
});
