import { existsSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { convertFile } from "../../../support/host.js";
import { kmlDocument, placemarkXml, read, readLayers, scratch } from "../read-kml.js";

afterAll(() => scratch.remove());

const point = "<Point><coordinates>1,2</coordinates></Point>";
const withDoctype = (subset: string, inner: string) =>
  `<?xml version="1.0"?><!DOCTYPE kml [${subset}]><kml xmlns="http://www.opengis.net/kml/2.2">${inner}</kml>`;

describe("XML attacks", () => {
  test("lists a limited number of dropped elements by name, and counts the others together", async () => {
    const elements = Array.from({ length: 300 }, (_, n) => `<e${n}>x</e${n}>`).join("");
    const { losses } = await read(kmlDocument(placemarkXml(elements)));
    expect(losses).toHaveLength(51);
    expect(losses.at(-1)).toMatchObject({ code: "element-left-out", count: 250 });
    expect(losses.at(-1)!.field).toBeUndefined();
  });

  test("refuses entities with references to entities", async () => {
    const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join("");
    const text = withDoctype(`<!ENTITY l0 "ha">${laughs}`, placemarkXml(`<name>&l9;</name>${point}`));
    await expect(read(text)).rejects.toMatchObject({ code: "input-corrupt" });
  });

  test("refuses an entity with an ampersand", async () => {
    const text = withDoctype('<!ENTITY firm "Smith &amp; Sons">', placemarkXml(`<name>&firm;</name>${point}`));
    expect((await read(text)).features[0]!.properties).toEqual({ name: "Smith & Sons" });
  });

  test("refuses many references to long entities", async () => {
    const text = withDoctype(
      `<!ENTITY a "${"x".repeat(200)}">`,
      placemarkXml(`<name>${"&a;".repeat(10_000)}</name>${point}`),
    );
    await expect(read(text)).rejects.toMatchObject({ code: "input-corrupt" });
  });

  test("never reads external entities", async () => {
    writeFileSync(scratch.path("secret.txt"), "secret");
    const entity = `<!ENTITY f SYSTEM "file://${scratch.path("secret.txt")}">`;
    const text = withDoctype(entity, placemarkXml(`<name>&f;</name>${point}`));
    await expect(read(text)).rejects.toMatchObject({ code: "input-corrupt" });
    const parameters = withDoctype(
      '<!ENTITY % p SYSTEM "http://localhost:9/x.dtd"> %p;',
      placemarkXml(`<name>A</name>${point}`),
    );
    expect((await read(parameters)).features[0]!.properties).toEqual({ name: "A" });
  });

  test("refuses elements that are nested too deep", async () => {
    const text = kmlDocument("<Folder>".repeat(5000));
    await expect(read(text)).rejects.toMatchObject({ code: "input-corrupt" });
  });

  test("reads geometries of the maximum depth", async () => {
    const depth = 400;
    const text = kmlDocument(
      placemarkXml(`${"<MultiGeometry>".repeat(depth)}${point}${"</MultiGeometry>".repeat(depth)}`),
    );
    expect((await read(text)).features).toHaveLength(1);
  });

  test("ignores styles with circular references", async () => {
    const map = (id: string, of: string) =>
      `<StyleMap id="${id}"><Pair><key>normal</key><styleUrl>#${of}</styleUrl></Pair></StyleMap>`;
    const { features, notices } = await read(
      kmlDocument(`${map("a", "b")}${map("b", "a")}${placemarkXml(`<styleUrl>#a</styleUrl>${point}`)}`),
    );
    expect(features[0]!.properties).toEqual({ styleUrl: "#a" });
    expect(notices).toMatchObject([{ code: "style-missing" }]);
  });

  test("reads fields with names of JavaScript properties", async () => {
    const data = ["__proto__", "constructor", "toString", "hasOwnProperty"]
      .map((name) => `<Data name="${name}"><value>v</value></Data>`)
      .join("");
    const schema = '<Schema id="__proto__" name="x"><SimpleField type="toString" name="valueOf"/></Schema>';
    const { fields } = await read(
      kmlDocument(`${schema}${placemarkXml(`<ExtendedData>${data}</ExtendedData>${point}`)}`),
    );
    expect(fields.map(({ name, type }) => [name, type])).toEqual([
      ["valueOf", "text"],
      ["__proto__", "text"],
      ["constructor", "text"],
      ["toString", "text"],
      ["hasOwnProperty", "text"],
    ]);
  });

  test("quickly refuses very long sequences of numbers", async () => {
    const line = (text: string) =>
      kmlDocument(placemarkXml(`<LineString><coordinates>${text}</coordinates></LineString>`));
    const { rejects } = await read(line("1,".repeat(500_000)));
    expect(rejects).toMatchObject([{ code: "geometry-malformed" }]);
    expect((await read(line("x ".repeat(500_000)))).rejects).toHaveLength(1);
    expect((await read(line(`1,2${" ".repeat(500_000)}3,4`))).features).toHaveLength(1);
  });

  test("rejects each damaged range, up to a limit", async () => {
    const text = kmlDocument("<Placemark><name></Placemark>".repeat(3000));
    const [layer] = await readLayers(text, {}, true);
    expect(layer!.rejects.length).toBeGreaterThan(100);
    expect(layer!.rejects.length).toBeLessThan(3000);
  });
});

/** Returns a zip with one entry, whose central directory may declare a wrong size. */
function zipOf(name: string, content: Buffer, saidSize = content.length): Buffer {
  const packed = deflateRawSync(content);
  const path = Buffer.from(name);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(20, 4);
  local.writeUInt16LE(8, 8);
  local.writeUInt32LE(packed.length, 18);
  local.writeUInt32LE(saidSize, 22);
  local.writeUInt16LE(path.length, 26);
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02014b50, 0);
  central.writeUInt16LE(20, 6);
  central.writeUInt16LE(8, 10);
  central.writeUInt32LE(packed.length, 20);
  central.writeUInt32LE(saidSize, 24);
  central.writeUInt16LE(path.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(46 + path.length, 12);
  end.writeUInt32LE(30 + path.length + packed.length, 16);
  return Buffer.concat([local, path, packed, central, path, end]);
}

describe("KMZ attacks", () => {
  const convert = async (zip: Buffer, name: string) => {
    const path = scratch.path(`${name}.kmz`);
    writeFileSync(path, zip);
    return convertFile(path, scratch.path(`${name}.geojson`));
  };

  test("refuses a KMZ entry larger than declared, and leaves no file", async () => {
    const bomb = Buffer.from(kmlDocument(placemarkXml(`<name>${" ".repeat(1 << 24)}</name>${point}`)));
    await expect(convert(zipOf("doc.kml", bomb, 1000), "bomb")).rejects.toMatchObject({ kind: "input" });
    expect(existsSync(scratch.path("bomb.geojson"))).toBe(false);
  });

  test("does not write a KMZ entry outside the target folder", async () => {
    const zip = zipOf("../../evil.kml", Buffer.from(kmlDocument(placemarkXml(point))));
    await convert(zip, "evil").catch((error: { kind: string }) => expect(error.kind).toBe("input"));
    expect(existsSync(scratch.path("../evil.kml"))).toBe(false);
    expect(existsSync(scratch.path("../../evil.kml"))).toBe(false);
  });

  test("refuses a .kmz without a .kml, with an explanation", async () => {
    await expect(convert(zipOf("a.txt", Buffer.from("x")), "none")).rejects.toMatchObject({ kind: "input" });
  });
});
