/** Changes beside the features are refused or reported: existing rows, layers and companion files, and resources. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let folders = 0;

function newFolder(files: Readonly<Record<string, string>>): (name: string) => string {
  const folder = scratch.path(`f${folders++}`);
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(`${folder}/${name}`, content);
  return (name) => `${folder}/${name}`;
}

const codes = (list: readonly { readonly code: string }[]) => list.map(({ code }) => code);

describe("features are not added to coordinates of another kind", () => {
  test.each(["old.csv", "old.shp", "old.parquet"])(
    "meters without a reference system refuse degrees: %s",
    async (name) => {
      const at = newFolder({
        "meters.csv": "id,x,y\n1,464240,5549868\n",
        "degrees.csv": "id,lat,lon\n2,51.5,9.5\n",
      });
      await convertFile(at("meters.csv"), at(name), { reproject: false });
      const before = readFileSync(at(name));
      await expect(convertFile(at("degrees.csv"), at(name), { append: true })).rejects.toMatchObject({
        code: "crs-missing",
        message: expect.stringMatching(/--no-reproject adds coordinates unchanged$/),
      });
      expect(readFileSync(at(name))).toEqual(before);
      expect(existsSync(at("old.prj"))).toBe(false);
    },
  );

  test("degrees without a reference system accept degrees", async () => {
    const at = newFolder({ "old.csv": "id,lat,lon\n1,50.5,8.5\n", "new.csv": "id,lat,lon\n2,51.5,9.5\n" });
    await convertFile(at("new.csv"), at("old.csv"), { append: true });
    expect(readFileSync(at("old.csv"), "utf8")).toBe("lon,lat,id\n8.5,50.5,1\n9.5,51.5,2\n");
  });
});

describe("a file of a guessed encoding is not rewritten by --append", () => {
  test.each(["old.csv", "old.shp"])("%s", async (name) => {
    const at = newFolder({ "a.csv": "id,lon,lat,name\n1,19,51,Lodz\n", "b.csv": "id,lon,lat,name\n2,20,52,Plock\n" });
    await convertFile(at("a.csv"), at(name));
    const table = at(name.replace(".shp", ".dbf"));
    // Windows-1250 has 0xA3 for the first letter of the town, and geoferry would guess a pound sign (Windows-1252).
    const bytes = readFileSync(table);
    bytes[bytes.indexOf("Lodz")] = 0xa3;
    if (name === "old.shp") bytes[29] = 0;
    writeFileSync(table, bytes);
    rmSync(at("old.cpg"), { force: true });
    await expect(convertFile(at("b.csv"), at(name), { append: true })).rejects.toMatchObject({
      code: "append-encoding-unknown",
      kind: "usage",
    });
    expect(readFileSync(table)).toEqual(bytes);
    // The advice works.
    await convertFile(at(name), at("new.csv"), { readerOptions: { encoding: "windows-1250" } });
    await convertFile(at("b.csv"), at("new.csv"), { append: true });
    expect(readFileSync(at("new.csv"), "utf8")).toContain("Łodz");
  });

  test("other notes about how it is read are reported", async () => {
    const at = newFolder({ "old.csv": "id,lon,lat,n\n1,19,51,1e5\n", "b.csv": "id,lon,lat,n\n2,20,52,2\n" });
    const { notices } = await convertFile(at("b.csv"), at("old.csv"), { append: true });
    expect(notices.map(({ code }) => code)).toContain("number-ambiguous");
  });
});

describe("what a file has beside its features is not lost by --append", () => {
  test("lines around the header of a CSV", async () => {
    const text = "Stations of 2024, confidential\n\nid;name;lon;lat\n1;a;7.5;46.5\n2;b;8.5;47.5\n";
    const at = newFolder({ "old.csv": text, "b.csv": "id,lon,lat\n3,20,52\n" });
    await expect(convertFile(at("b.csv"), at("old.csv"), { append: true })).rejects.toMatchObject({
      code: "append-would-remove",
      message: expect.stringContaining("lines above or below"),
    });
    expect(readFileSync(at("old.csv"), "utf8")).toBe(text);
  });

  test("a row of units below the header of a CSV", async () => {
    const text = "name;x;y\n;[m];[m]\na;565000;5935000\nb;566000;5936000\n";
    const at = newFolder({ "old.csv": text, "b.csv": "name,x,y\nc,567000,5937000\n" });
    await expect(convertFile(at("b.csv"), at("old.csv"), { append: true, reproject: false })).rejects.toMatchObject({
      code: "append-would-remove",
      message: expect.stringContaining("lines above or below"),
    });
    expect(readFileSync(at("old.csv"), "utf8")).toBe(text);
  });

  test("other files in the archive of a Shapefile", async () => {
    const at = newFolder({ "a.csv": "id,lon,lat\n1,2,3\n", LICENSE: "ours" });
    await convertFile(at("a.csv"), at("old.shp.zip"));
    execFileSync("zip", ["-q", "old.shp.zip", "LICENSE"], { cwd: at("") });
    const before = readFileSync(at("old.shp.zip"));
    await expect(convertFile(at("a.csv"), at("old.shp.zip"), { append: true })).rejects.toMatchObject({
      code: "append-would-remove",
      message: expect.stringContaining("other files in the archive"),
    });
    expect(readFileSync(at("old.shp.zip"))).toEqual(before);
  });

  test("files that describe a Shapefile stay", async () => {
    const described = { "old.shp.xml": "<metadata/>", "old.qpj": "GEOGCS[…]", "old.qmd": "<qgis/>" };
    const at = newFolder({ "a.csv": "id,lon,lat\n1,2,3\n" });
    await convertFile(at("a.csv"), at("old.shp"));
    for (const [name, text] of Object.entries(described)) writeFileSync(at(name), text);
    writeFileSync(at("old.sbn"), "index");
    await convertFile(at("a.csv"), at("old.shp"), { append: true });
    for (const [name, text] of Object.entries(described)) expect(readFileSync(at(name), "utf8")).toBe(text);
    expect(existsSync(at("old.sbn"))).toBe(false);
  });

  test("its metadata; other metadata of the appended file are a loss", async () => {
    const gpx = (name: string, lon: number) =>
      `<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><metadata><desc>${name}</desc></metadata><wpt lat="1" lon="${lon}"/></gpx>`;
    const at = newFolder({
      "old.gpx": gpx("the old one", 2),
      "b.gpx": gpx("the new one", 3),
      "c.csv": "lon,lat\n4,5\n",
    });
    const { losses } = await convertFile(at("b.gpx"), at("old.gpx"), { append: true });
    expect(losses).toMatchObject([
      { code: "metadata-left-out", example: expect.stringContaining("existing file keeps") },
    ]);
    expect((await convertFile(at("c.csv"), at("old.gpx"), { append: true })).losses).toEqual([]);
    const text = readFileSync(at("old.gpx"), "utf8");
    expect([text.includes("the old one"), text.includes("the new one"), text.match(/<wpt/g)?.length]).toEqual([
      true,
      false,
      3,
    ]);
  });
});

describe("coordinates of an unknown system are not added to those of a known one", () => {
  test.each(["old.csv", "old.shp", "old.fgb", "old.gpkg"])("--no-reproject does not mix them: %s", async (name) => {
    const at = newFolder({ "a.csv": "ref,lon,lat\n1,10,50\n", "b.csv": "ref,lon,lat\n2,13,53\n" });
    await convertFile(at("a.csv"), at(name), { targetCrs: "EPSG:25832", layerName: "t" });
    const before = readFileSync(at(name));
    const append = (options: object) =>
      convertFile(at("b.csv"), at(name), { append: true, layerName: "t", reproject: false, ...options });
    await expect(append({})).rejects.toMatchObject({
      code: "crs-missing",
      message: expect.stringContaining("--source-crs EPSG:25832 says that they are in this system, too"),
    });
    expect(readFileSync(at(name))).toEqual(before);
    expect(await append({ sourceCrs: "EPSG:25832" })).toMatchObject({ outputs: [{ crs: "EPSG:25832" }] });
  });

  test("coordinates of existing features that --append would round are a loss, and whole with more decimals", async () => {
    const point = (x: number) => JSON.stringify({ type: "Point", coordinates: [x, 47.1] });
    const old = `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":${point(7.1234567)}},{"type":"Feature","properties":{},"geometry":${point(7.123456789012)}}]}`;
    const added = `{"type":"Feature","properties":{},"geometry":${point(8.123456789012)}}`;
    const at = newFolder({ "old.geojson": old, "exact.geojson": old, "new.geojson": added });
    const { losses } = await convertFile(at("new.geojson"), at("old.geojson"), { append: true });
    expect(losses).toEqual([
      {
        code: "existing-rounded",
        layer: "old",
        count: 1,
        example: "7.123456789012 of an existing feature became 7.1234568; --out precision=15 keeps all decimals",
      },
    ]);
    const exact = await convertFile(at("new.geojson"), at("exact.geojson"), {
      append: true,
      writerOptions: { precision: "15" },
    });
    expect(exact.losses).toEqual([]);
    const { features } = JSON.parse(readFileSync(at("exact.geojson"), "utf8"));
    expect(features.map(({ geometry }: { geometry: object }) => JSON.stringify(geometry))).toEqual([
      point(7.1234567),
      point(7.123456789012),
      point(8.123456789012),
    ]);
  });

  test("a layer that --append adds to a file, since none has its name, is noted", async () => {
    const at = newFolder({ "a.csv": "ref,lon,lat\n1,10,50\n", "b.csv": "ref,lon,lat\n2,13,53\n" });
    await convertFile(at("a.csv"), at("old.gpkg"), {});
    const { notices } = await convertFile(at("b.csv"), at("old.gpkg"), { append: true });
    expect(notices.find(({ code }) => code === "layer-added")?.example).toBe(
      '--append found no layer "b" to add to and added it; there is "a"; --layer-name names the layer to add to',
    );
    const appended = await convertFile(at("b.csv"), at("old.gpkg"), { append: true, layerName: "a" });
    expect(codes(appended.notices)).not.toContain("layer-added");
  });

  test("a table whose coordinates were not recognized is not given others", async () => {
    const at = newFolder({
      "new.geojsonl": '{"type":"Feature","properties":{"id":2},"geometry":{"type":"Point","coordinates":[9.5,51.5]}}\n',
      "old.csv": "id;Länge;Breite\n1;8,25;50,75\n2;8,5;50,5\n",
    });
    await expect(convertFile(at("new.geojsonl"), at("old.csv"), { append: true })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("--in x=Länge --in y=Breite"),
    });
    expect(readFileSync(at("old.csv"), "utf8")).toBe("id;Länge;Breite\n1;8,25;50,75\n2;8,5;50,5\n");
  });
});

describe("a table whose columns are named by numbers is appended to", () => {
  test.each([
    [
      "old.csv",
      "lon,lat,name,2024\n1,2,a,5\n",
      "lon,lat,name,2024\n3,4,b,6\n",
      "lon,lat,name,2024\n1,2,a,5\n3,4,b,6\n",
    ],
    ["old.csv", "lon,lat,2019,2020\n1,2,7,8\n", "lon,lat,2020\n3,4,9\n", "lon,lat,2019,2020\n1,2,7,8\n3,4,,9\n"],
    ["old.tsv", "lon\tlat\t1\n1\t2\t5\n", "lon,lat,1\n3,4,6\n", "lon\tlat\t1\n1\t2\t5\n3\t4\t6\n"],
    ["old.csv", "lon,lat,name\n", "lon,lat,name\n3,4,b\n", "lon,lat,name\n3,4,b\n"],
  ])("%s: %j", async (name, existing, added, whole) => {
    const at = newFolder({ [name]: existing, "added.csv": added });
    const { notices } = await convertFile(at("added.csv"), at(name), { append: true });
    expect(readFileSync(at(name), "utf8")).toBe(whole);
    expect(notices).toContainEqual(
      expect.objectContaining({ code: "header-assumed", example: expect.stringContaining("names of the columns") }),
    );
  });

  test("but not one whose first row could be names, and was taken for data", async () => {
    const text = "2019,2020\n5,6\n";
    const at = newFolder({ "old.csv": text, "added.csv": text });
    const append = (name: string, options: object) =>
      convertFile(at("added.csv"), at(name), { append: true, ...options });
    await expect(append("old.csv", { readerOptions: { header: "yes" } })).rejects.toMatchObject({
      code: "append-header-unknown",
      message: expect.stringMatching(/old\.csv: .*--in header=no if .*--in header=yes --rename OLD=NEW if/),
    });
    expect(readFileSync(at("old.csv"), "utf8")).toBe(text);
    // The advice works.
    await convertFile(at("old.csv"), at("data.csv"), { readerOptions: { header: "no" } });
    await append("data.csv", { readerOptions: { header: "no" } });
    expect(readFileSync(at("data.csv"), "utf8")).toBe("field_1,field_2\n2019,2020\n5,6\n2019,2020\n5,6\n");
    const names = { readerOptions: { header: "yes" }, rename: { "2019": "y2019" } };
    await convertFile(at("old.csv"), at("names.csv"), names);
    await append("names.csv", names);
    expect(readFileSync(at("names.csv"), "utf8")).toBe("y2019,2020\n5,6\n5,6\n");
  });
});

describe("rows of a table that others are appended to", () => {
  const append = async (existing: string | Buffer, options: Readonly<Record<string, string>> = {}) => {
    const at = newFolder({ "new.csv": "lon,lat,id,v\n9.5,51.5,2,7.5\n" });
    writeFileSync(at("old.csv"), existing);
    const report = await convertFile(at("new.csv"), at("old.csv"), { append: true, writerOptions: options });
    const notice = report.notices.find(({ code }) => code === "rows-rewritten");
    return { text: readFileSync(at("old.csv"), "utf8"), example: notice?.example };
  };

  test.each([
    [
      "another delimiter and decimal sign",
      "lon;lat;id;v\n8,5;50,5;1;1,5\n",
      String.raw`line 1 was "lon;lat;id;v\n" and is "lon,lat,id,v\n"`,
    ],
    [
      "zeros at the end of numbers",
      "lon,lat,id,v\n8.5,50.5,1,1.50\n",
      String.raw`line 2 was "8.5,50.5,1,1.50\n" and is "8.5,50.5,1,1.5\n"`,
    ],
    ["CRLF", "lon,lat,id,v\r\n8.5,50.5,1,1.5\r\n", String.raw`line 1 was "lon,lat,id,v\r\n" and is "lon,lat,id,v\n"`],
    [
      "a byte order mark",
      "\ufefflon,lat,id,v\n8.5,50.5,1,1.5\n",
      String.raw`line 1 was "\ufefflon,lat,id,v\n" and is "lon,lat,id,v\n"`,
    ],
  ])("are reported if they are written differently: %s", async (_, existing, change) => {
    const { example } = await append(existing);
    expect(example).toContain(change);
  });

  test.each([
    ["the same notation", "lon,lat,id,v\n8.5,50.5,1,1.5\n", {}],
    ["no line end in the last line", "lon,lat,id,v\n8.5,50.5,1,1.5", {}],
    ["options for the notation", "lon;lat;id;v\r\n8.5;50.5;1;1.5\r\n", { delimiter: "semicolon", eol: "crlf" }],
  ])("stay as they are, without a notice: %s", async (_, existing, options) => {
    const { text, example } = await append(existing, options);
    expect(example).toBeUndefined();
    expect(text.startsWith(existing)).toBe(true);
    expect(text.trimEnd().split("\n")).toHaveLength(3);
  });
});

describe("the .prj file beside an overwritten table", () => {
  const table = "n,lon,lat\na,8.5,50.1\n";

  test.each(["csv", "tsv"])("is removed with the system that it declared: .%s", async (extension) => {
    const at = newFolder({
      "in.geojsonl": '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[8.5,50.1]}}\n',
    });
    const output = at(`out.${extension}`);
    await convertFile(at("in.geojsonl"), output, { targetCrs: "EPSG:25832" });
    expect(existsSync(at("out.prj"))).toBe(true);
    await convertFile(at("in.geojsonl"), output, { overwrite: true });
    expect(existsSync(at("out.prj"))).toBe(false);
  });

  test("stays if it belongs to a Shapefile", async () => {
    const at = newFolder({ "in.csv": table, "out.csv": table, "out.prj": "x", "out.shp": "x" });
    await convertFile(at("in.csv"), at("out.csv"), { overwrite: true });
    expect(readFileSync(at("out.prj"), "utf8")).toBe("x");
  });

  test("refuses the table if another table uses it, too", async () => {
    const at = newFolder({ "in.csv": table, "out.csv": table, "out.prj": "x", "out.tsv": "x" });
    await expect(convertFile(at("in.csv"), at("out.csv"), { overwrite: true })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("belongs to out.tsv"),
    });
    expect(readFileSync(at("out.prj"), "utf8")).toBe("x");
  });
});

test("a notice names the layers that --overwrite removes with the file", async () => {
  const table = "id,lat,lon\n1,50,8\n";
  const at = newFolder({ "a.csv": table, "b.csv": table, "c.csv": table });
  const inputs = [at("a.csv"), at("b.csv")];
  await convertFile(inputs[0]!, at("out.gpkg"), { inputs });
  const { notices } = await convertFile(at("a.csv"), at("out.gpkg"), { overwrite: true });
  expect(notices).toContainEqual({
    code: "layers-removed",
    layer: "out.gpkg",
    count: 1,
    example:
      "--overwrite replaces the whole file, whose other layers are gone: b; --replace-layer would have kept them",
  });
  // The only layer of a file may have another name.
  expect(codes((await convertFile(at("c.csv"), at("out.gpkg"), { overwrite: true })).notices)).not.toContain(
    "layers-removed",
  );
});

test("images of a KMZ are a loss", async () => {
  const point = "<Point><coordinates>8,50</coordinates></Point>";
  const at = newFolder({
    "doc.kml": `<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><description>&lt;img src="i.png"/&gt;</description>${point}</Placemark></kml>`,
    "i.png": "PNG",
  });
  execFileSync("zip", ["-q", "a.kmz", "doc.kml", "i.png"], { cwd: at(".") });
  for (const output of ["b.kmz", "b.geojson"]) {
    const { losses } = await convertFile(at("a.kmz"), at(output));
    expect(losses).toMatchObject([{ code: "resource-left-out", count: 1, example: expect.stringContaining("i.png") }]);
  }
  execFileSync("zip", ["-q", "plain.kmz", "doc.kml"], { cwd: at(".") });
  expect((await convertFile(at("plain.kmz"), at("c.kmz"))).losses).toEqual([]);
});

test("--no-reproject into a format of longitudes and latitudes is noted if the system is unknown", async () => {
  const at = newFolder({ "m.csv": "id,x,y\n1,464240,5549868\n" });
  for (const [output, noted] of [
    ["m.geojson", true],
    ["m.kml", true],
    ["m.shp", false],
  ] as const) {
    const { notices } = await convertFile(at("m.csv"), at(output), { reproject: false });
    expect(codes(notices).includes("crs-unchecked"), output).toBe(noted);
  }
});

describe("a GeoJSON that is one page of an answer", () => {
  const feature = '{"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[1,2]}}';
  const collection = (before: string, after = "") =>
    `{"type":"FeatureCollection"${before},"features":[${feature}]${after}}`;

  test.each([
    ["of an ArcGIS service", collection(',"exceededTransferLimit":true')],
    ["with the flag behind the features", collection("", ',"exceededTransferLimit" : true')],
    ["of a newer ArcGIS service", collection(',"properties":{"exceededTransferLimit": true}')],
  ])("%s is refused, and read with skipErrors", async (_, text) => {
    const at = newFolder({ "page.geojson": text });
    await expect(convertFile(at("page.geojson"), at("out.csv"))).rejects.toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("name the address of the layer"),
    });
    expect(existsSync(at("out.csv"))).toBe(false);
    const { written, skippedRanges } = await convertFile(at("page.geojson"), at("out.csv"), { skipErrors: true });
    expect([written, skippedRanges.length]).toEqual([1, 1]);
  });

  test("of an OGC API is a loss", async () => {
    const at = newFolder({ "page.geojson": collection(',"numberMatched":2345', ',"numberReturned":1') });
    const { losses } = await convertFile(at("page.geojson"), at("out.csv"));
    expect(losses).toMatchObject([
      { code: "page-of-more", count: 2344, example: expect.stringContaining("1 of 2,345 features") },
    ]);
  });

  test.each([
    ["flag that is false", collection(',"exceededTransferLimit":false')],
    ["count of all", collection(',"numberMatched":1,"numberReturned":1')],
    ["property of that name", `{"type":"Feature","properties":{"exceededTransferLimit":true},"geometry":null}`],
  ])("is not seen in a %s", async (_, text) => {
    const at = newFolder({ "whole.geojson": text });
    const { written, losses } = await convertFile(at("whole.geojson"), at("out.csv"));
    expect([written, losses]).toEqual([1, []]);
  });
});
