/** KML documents that NetworkLinks of the same KMZ refer to (OGC 07-147r2, 9.9 and annex C). */
import { createWriteStream, readFileSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { afterAll, describe, expect, test } from "vitest";
import { ZipFile } from "yazl";
import { TemporaryFolder } from "../../../../src/testing/index.js";
import { convertFile } from "../../../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

let count = 0;

const kml = (inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${inner}</Document></kml>`;
const place = (name: string, more = ""): string =>
  `<Placemark><name>${name}</name>${more}<Point><coordinates>1,2</coordinates></Point></Placemark>`;
const link = (href: string, name?: string): string =>
  `<NetworkLink>${name ? `<name>${name}</name>` : ""}<Link><href>${href}</href></Link></NetworkLink>`;

async function read(entries: Readonly<Record<string, string | Buffer>>, options: Record<string, string> = {}) {
  const input = scratch.path(`${count++}.kmz`);
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(entries)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(input));
  const output = `${input}.geojson`;
  const report = await convertFile(input, output, { readerOptions: options });
  const collection = JSON.parse(readFileSync(output, "utf8")) as {
    features: { properties: Record<string, unknown> }[];
  };
  const properties = collection.features.map((feature) => feature.properties);
  return {
    properties,
    places: properties.map(({ name, folder = "" }) => `${String(folder)}:${String(name)}`),
    notices: report.notices.map(({ code, count: n, example }) => ({ code, count: n, example })),
  };
}

describe("a KML entry that a NetworkLink of the same KMZ refers to", () => {
  test("a linked KML entry of a KMZ is read as a folder with the name of the link", async () => {
    const { places, notices } = await read({
      "doc.kml": kml(
        `<name>All</name>${place("a")}<Folder><name>F</name>${link("files/more%20places.kml", "More")}${place("b")}</Folder>${place("c")}`,
      ),
      "files/more places.kml": kml(
        `<name>Other</name>${place("d")}<Folder><name>G</name>${place("e")}</Folder>${link("./deeper/x.kml")}`,
      ),
      "files/deeper/x.kml": kml(`${place("f")}${link("../../last.kml#view", "Last")}`),
      "last.kml": kml(place("g")),
    });
    expect(places).toEqual([":a", "F/More:d", "F/More/G:e", "F/More:f", "F/More/Last:g", "F:b", ":c"]);
    expect(notices).toEqual([]);
  });

  test("a linked KML entry of a KMZ is read once; missing, unlinked and external targets are reported", async () => {
    const { places, notices } = await read({
      "doc.kml": kml(
        link("a.kml", "A") +
          link("a.kml", "A again") +
          link("gone.kml") +
          link("http://example.org/x.kml") +
          place("m"),
      ),
      "a.kml": kml(place("a") + link("b.kml")),
      "b.kml": kml(place("b") + link("doc.kml")),
      "alone.kml": kml(place("alone")),
    });
    expect(places).toEqual(["A:a", "A:b", ":m"]);
    expect(notices).toMatchObject([
      { code: "network-link-repeated", count: 2, example: expect.stringContaining("doc.kml") },
      { code: "network-link-missing", count: 1, example: expect.stringContaining("gone.kml") },
      { code: "network-link", count: 1, example: expect.stringContaining("http://example.org/x.kml") },
      { code: "zip-entries-ignored", count: 1, example: expect.stringContaining("alone.kml") },
    ]);
  });

  test("a linked KML entry of a KMZ can have its own styles and Schemas with the same ids", async () => {
    const style = (color: string) => `<Style id="s"><LineStyle><color>${color}</color></LineStyle></Style>`;
    const data = (type: string) => `<Schema id="S" name="S"><SimpleField name="n" type="${type}"/></Schema>`;
    const styled = (name: string, value: string) =>
      place(
        name,
        `<styleUrl>#s</styleUrl><ExtendedData><SchemaData schemaUrl="#S"><SimpleData name="n">${value}</SimpleData></SchemaData></ExtendedData>`,
      );
    const { properties } = await read({
      "doc.kml": kml(style("ff0000ff") + data("int") + styled("a", "1") + link("b.kml")),
      "b.kml": kml(style("ffff0000") + data("double") + styled("b", "1.5")),
    });
    expect(properties.map(({ stroke, n }) => [stroke, n])).toEqual([
      ["#ff0000", 1],
      ["#0000ff", 1.5],
    ]);
  });

  test("a linked KML entry of a KMZ is a layer where layers are folders, also in UTF-16", async () => {
    const wide = (text: string) => Buffer.from(`\ufeff${text.replace("UTF-8", "UTF-16")}`, "utf16le");
    for (const encoded of [(text: string) => Buffer.from(text), wide]) {
      const { places } = await read({
        "doc.kml": kml(`<Folder><name>F</name>${link("b.kml", "B")}</Folder>`),
        "b.kml": encoded(kml(place("b"))),
      });
      expect(places).toEqual(["F/B:b"]);
    }
  });
});
