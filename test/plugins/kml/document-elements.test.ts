/** Metadata of a document and its folders (OGC 07-147r2, 9.1 to 9.12) are kept from KML to KML, and are a loss elsewhere. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { convertFile } from "../../support/host.js";
import { canValidate, validateDocument } from "../../support/schemas.js";
import { kmlDocument, placemarkXml, read, scratch } from "./read-kml.js";

afterAll(() => scratch.remove());
const isTestable = canValidate("ogckml22.xsd");
const point = "<Point><coordinates>1,2</coordinates></Point>";
let count = 0;

interface Rewritten {
  readonly text: string;
  readonly path: string;
  readonly losses: readonly string[];
}

/** Converts a document to a format. @returns the output and the losses: codes, fields and counts */
async function rewritten(
  inner: string,
  name = "out.kml",
  readerOptions: Record<string, string> = {},
  attributes = 'xmlns="http://www.opengis.net/kml/2.2" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:x="urn:x" xmlns:xal="urn:oasis:names:tc:ciq:xsdschema:xAL:2.0"',
): Promise<Rewritten> {
  const folder = scratch.path(`d${count++}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/in.kml`, kmlDocument(inner, attributes));
  const path = `${folder}/${name}`;
  const { losses } = await convertFile(`${folder}/in.kml`, path, { readerOptions });
  const text = name.endsWith("kmz")
    ? execFileSync("unzip", ["-p", path, "doc.kml"], { encoding: "utf8" })
    : readFileSync(path, name.endsWith("kml") ? "utf8" : "latin1");
  if (isTestable && /km[lz]$/.test(name)) expect(validateDocument(text, "ogckml22.xsd")).toBe("");
  return { text, path, losses: losses.map(({ code, field, count: n }) => [code, field, n].filter(Boolean).join(" ")) };
}

const view = "<LookAt><longitude>7</longitude><latitude>51</latitude><range>900</range></LookAt>";
const region =
  "<Region><LatLonAltBox><north>2</north><south>1</south><east>2</east><west>1</west></LatLonAltBox></Region>";
const data =
  '<ExtendedData><Data name="a"><displayName>A</displayName><value>1 &amp; 2</value></Data><x:y z="1">w</x:y></ExtendedData>';
const head =
  "<visibility>0</visibility><open>1</open>" +
  "<atom:author><atom:name>Ann</atom:name><atom:email>ann@example.org</atom:email></atom:author>" +
  '<atom:link href="http://example.org/"/>';
const own = `<address>Street 1</address><Snippet maxLines="3">short</Snippet>`;
const description = "<description>&lt;b&gt;A&lt;/b&gt; day</description>";
const rest = `${view}<TimeSpan><begin>2020</begin></TimeSpan>${region}${data}`;
const inside = (text: string) => text.replace(/\n/g, "");

describe("metadata of a document", () => {
  const given = `<name>doc</name>${head}${own}${description}${rest}${placemarkXml(point)}`;

  test.each(["out.kml", "out.kmz"])("metadata of a document are the same in %s", async (name) => {
    const { text, losses } = await rewritten(given, name);
    expect(losses).toEqual([]);
    expect(inside(text)).toContain(
      `<name>doc</name>${head}${own}${description}${view}<TimeSpan><begin>2020</begin></TimeSpan>${region}`,
    );
    expect(inside(text)).toContain(
      '<Data name="a"><displayName>A</displayName><value>1 &amp; 2</value></Data><x:y xmlns:x="urn:x" z="1">w</x:y></ExtendedData>',
    );
  });

  test("metadata of a document are unchanged by a second conversion", async () => {
    const { text } = await rewritten(given);
    const body = /<Document>(.*)<\/Document>/s.exec(text)![1]!;
    expect((await rewritten(body)).text).toBe(text);
  });

  test("metadata of a document are kept beside declarations of types that KML does not have", async () => {
    const typed = `<ExtendedData><Data name="a"><value>1</value></Data><gf:field xmlns:gf="urn:x-geoferry:kml" schema="s" name="n" type="int64"/></ExtendedData><Schema id="s" name="s"><SimpleField name="n" type="string"/></Schema>`;
    const { text } = await rewritten(
      `<name>doc</name>${typed}${placemarkXml(`<ExtendedData><SchemaData schemaUrl="#s"><SimpleData name="n">5</SimpleData></SchemaData></ExtendedData>${point}`)}`,
    );
    expect(inside(text)).toMatch(
      /<ExtendedData><Data name="a"><value>1<\/value><\/Data><gf:field [^>]* name="n" type="int64"\/><\/ExtendedData>/,
    );
    expect(text.match(/gf:field/g)).toHaveLength(1);
  });

  test("metadata of a document are one loss with all kinds and counts if the target cannot hold them", async () => {
    const { losses } = await rewritten(given, "out.geojson");
    expect(losses).toEqual(["metadata-left-out 1"]);
    const { path } = await rewritten(given, "out.csv");
    const report = await convertFile(path.replace("out.csv", "in.kml"), path.replace("out.csv", "b.csv"));
    expect(report.losses[0]!.example).toBe(
      "Comma-separated values cannot hold this metadata of the file: description, author, links, visibility, open, address, Snippet, LookAt, TimeSpan, Region, ExtendedData",
    );
  });

  test("metadata of a document are kept in a GeoPackage as far as it can hold them", async () => {
    const { path } = await rewritten(given, "out.gpkg");
    const database = new Database(path, { readonly: true });
    const contents = database.prepare("SELECT identifier, description FROM gpkg_contents").all();
    database.close();
    expect(contents).toEqual([{ identifier: "doc", description: "<b>A</b> day" }]);
  });

  test("metadata of a document are kept to and from GPX as far as both can hold them", async () => {
    const { path, losses } = await rewritten(`<name>doc</name>${head}${description}${placemarkXml(point)}`, "out.gpx");
    expect(losses).toEqual(["metadata-left-out 1"]);
    const back = path.replace("out.gpx", "back.kml");
    await convertFile(path, back);
    expect(inside(readFileSync(back, "utf8"))).toContain(
      `<name>doc</name>${head.replace("<visibility>0</visibility><open>1</open>", "")}${description}`,
    );
  });
});

describe("metadata of folders", () => {
  const folder = (name: string, inner: string) => `<Folder><name>${name}</name>${inner}${placemarkXml(point)}</Folder>`;
  const given = `<name>doc</name>${folder("a", `<open>0</open>${description}${region}`)}<Folder><name>b</name><visibility>0</visibility>${folder("c", data)}</Folder>`;

  test("metadata of folders are the same in a KML", async () => {
    const { text, losses } = await rewritten(given);
    expect(losses).toEqual([]);
    const plain = inside(text);
    expect(plain).toContain(`<Folder><name>a</name><open>0</open>${description}${region}<Placemark>`);
    expect(plain).toContain(
      "<Folder><name>b</name><visibility>0</visibility><Folder><name>c</name><ExtendedData><Data",
    );
  });

  test("metadata of folders belong to the layers if each folder is a layer", async () => {
    const { text, losses } = await rewritten(`${description}${given}`, "out.kml", { layers: "folders" });
    expect(losses).toEqual(["element-left-out visibility 1"]);
    const plain = inside(text);
    expect(plain).toContain(`<Document><name>doc</name>${description}`);
    expect(plain).toContain(`<Document><name>a</name><open>0</open>${description}${region}`);
  });

  test("metadata of folders are a loss in other formats", async () => {
    const { losses } = await rewritten(given, "out.geojson");
    expect(losses).toEqual(["metadata-left-out 1"]);
  });
});

describe("elements that are left out are losses by name", () => {
  const lossesOf = async (inner: string) =>
    (
      await read(
        kmlDocument(
          inner,
          'xmlns="http://www.opengis.net/kml/2.2" xmlns:x="urn:x" xmlns:atom="http://www.w3.org/2005/Atom"',
        ),
      )
    ).losses.map(({ code, field, count: n }) => `${code} ${field} ${n}`);
  const twice = (inner: string) => placemarkXml(inner + point).repeat(2);

  test.each([
    ["views and regions", twice(view + region), ["element-left-out LookAt 2", "element-left-out Region 2"]],
    [
      "addresses of xAL",
      twice('<xal:AddressDetails xmlns:xal="urn:oasis:names:tc:ciq:xsdschema:xAL:2.0"/>'),
      ["element-left-out xal:AddressDetails 2"],
    ],
    [
      "names for people",
      twice('<ExtendedData><Data name="a"><displayName>A</displayName><value>1</value></Data></ExtendedData>'),
      ["element-left-out displayName 2"],
    ],
    [
      "names of arrays for people",
      `<Schema id="s" name="s"><gx:SimpleArrayField name="n" type="string"><displayName>N</displayName></gx:SimpleArrayField></Schema>${placemarkXml(point)}`,
      ["element-left-out displayName 1"],
    ],
    [
      "parts of shared styles",
      `<Style id="s"><BalloonStyle><text>t</text></BalloonStyle><ListStyle/></Style>${placemarkXml(point)}`,
      ["element-left-out BalloonStyle 1", "element-left-out ListStyle 1"],
    ],
    [
      "parts of own styles",
      twice("<Style><BalloonStyle><text>t</text></BalloonStyle></Style>"),
      ["element-left-out BalloonStyle 2"],
    ],
    [
      "modes of colors",
      twice("<Style><LineStyle><color>ff0000ff</color><colorMode>random</colorMode></LineStyle></Style>"),
      ["element-left-out colorMode 2"],
    ],
    [
      "styles of features that are pointed at",
      `<StyleMap id="m"><Pair><key>normal</key><styleUrl>#a</styleUrl></Pair><Pair><key>highlight</key><styleUrl>#b</styleUrl></Pair></StyleMap>${placemarkXml(point)}`,
      ["element-left-out highlight 1"],
    ],
    [
      "what authors say beside their names",
      twice("<atom:author><atom:name>A</atom:name><atom:uri>u</atom:uri></atom:author>"),
      ["element-left-out atom:uri 2"],
    ],
    [
      "geometries outside Placemarks",
      `<Folder><Point><coordinates>7,51</coordinates></Point></Folder>${placemarkXml(point)}`,
      ["element-left-out undefined 1"],
    ],
    ["old metadata", twice("<Metadata><a>1</a></Metadata>"), ["element-left-out a 2"]],
    [
      "what geometries have beside KML's elements",
      placemarkXml(
        `<MultiGeometry><LineString><extrude>1</extrude><gx:drawOrder xmlns:gx="http://www.google.com/kml/ext/2.2">2</gx:drawOrder><coordinates>1,2 3,4</coordinates></LineString><Point><x:y><x:z/></x:y><coordinates>1,2</coordinates></Point></MultiGeometry>`,
      ).repeat(3),
      ["element-left-out gx:drawOrder 3", "element-left-out x:y 3"],
    ],
    ["lines of snippets", twice('<Snippet maxLines="2">s</Snippet>'), ["element-left-out maxLines 2"]],
  ])("an omitted KML element is a loss by name: %s", async (_, inner, expected) => {
    expect(await lossesOf(inner)).toEqual(expected);
  });

  test("omitted KML elements with a default value are no loss", async () => {
    const plain =
      "<Style><LineStyle><colorMode>normal</colorMode></LineStyle><PolyStyle><fill>1</fill><outline>1</outline></PolyStyle></Style>";
    expect(await lossesOf(twice(plain))).toEqual([]);
  });
});

test("a slash in the name of a folder does not make two folders of it", async () => {
  const folder = (name: string, content: string) => `<Folder><name>${name}</name>${content}</Folder>`;
  const placemark = (name: string) => placemarkXml(`<name>${name}</name>${point}`);
  const { text } = await rewritten(folder("A/B", placemark("p")) + folder("A", folder("B", placemark("q"))));
  const compact = text.replace(/\s+/g, "");
  expect(compact).toMatch(/<Folder><name>A\/B<\/name><Placemark.*?<name>p<\/name>/);
  expect(compact).toMatch(/<Folder><name>A<\/name><Folder><name>B<\/name><Placemark.*?<name>q<\/name>/);
  const csv = await rewritten(folder("A/B", placemark("p")), "out.csv");
  expect(csv.text).toContain("A\\/B");
});
