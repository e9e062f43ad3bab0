/** The metadata of a GPX (GPX 1.1, metadataType) are kept where the target can hold them, and are a loss elsewhere. */
import { readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { canValidate, validateDocument } from "../../support/schemas.js";

const schema = "gpx-1.1.xsd";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const described = (desc: string, rest = ""): string =>
  `<metadata><name>Walk</name><desc>${desc}</desc>${rest}</metadata>`;
const rest =
  '<author><name>Ann</name><email id="ann" domain="example.org"/><link href="http://example.org/ann"><text>Her page</text></link></author>' +
  '<copyright author="Ann &amp; Bo"><year>2024</year><license>http://example.org/by</license></copyright>' +
  '<link href="http://example.org/1"><text>One</text><type>text/html</type></link><link href="http://example.org/2"></link>' +
  "<time>2024-05-06T07:08:09Z</time><keywords>walk, lake</keywords>";
const gpx = (metadata: string, version = "1.1"): string =>
  `<?xml version="1.0"?><gpx version="${version}" creator="x" xmlns="http://www.topografix.com/GPX/${version.replace(".", "/")}">${metadata}<wpt lat="1" lon="2"><name>a</name></wpt></gpx>`;

function written(name: string, text: string): string {
  const path = scratch.path(name);
  writeFileSync(path, text);
  return path;
}

describe("the metadata of a GPX", () => {
  const input = written("walk.gpx", gpx(described("A day &amp; a night", rest)));

  test("metadata are the same in another GPX", async () => {
    const output = scratch.path("copy.gpx");
    const report = await convertFile(input, output);
    expect(report.losses).toEqual([]);
    expect(readFileSync(output, "utf8")).toContain(described("A day &amp; a night", rest));
  });

  test.runIf(canValidate(schema))("metadata are valid against the GPX schema", async () => {
    const output = scratch.path("valid.gpx");
    await convertFile(input, output);
    expect(validateDocument(readFileSync(output), schema)).toBe("");
  });

  test("metadata of GPX 1.0 are written as those of GPX 1.1", async () => {
    const old = written(
      "old.gpx",
      gpx(
        "<name>Walk</name><desc>d</desc><author>Ann</author><email>ann@example.org</email><url>http://example.org/1</url><urlname>One</urlname><keywords>k</keywords>",
        "1.0",
      ),
    );
    const output = scratch.path("new.gpx");
    await convertFile(old, output);
    expect(readFileSync(output, "utf8")).toContain(
      '<metadata><name>Walk</name><desc>d</desc><author><name>Ann</name><email id="ann" domain="example.org"/></author><link href="http://example.org/1"><text>One</text></link><keywords>k</keywords></metadata>',
    );
  });

  test("metadata are one loss for the layer if the target cannot hold them", async () => {
    const { losses } = await convertFile(input, scratch.path("walk.csv"));
    expect(losses).toMatchObject([
      {
        code: "metadata-left-out",
        count: 1,
        example: expect.stringContaining("description, author, copyright, links, time, keywords"),
      },
    ]);
  });

  test("metadata become the description of a GeoPackage's contents", async () => {
    const output = scratch.path("walk.gpkg");
    const { losses } = await convertFile(input, output);
    const database = new Database(output, { readonly: true });
    const contents = database.prepare("SELECT identifier, description FROM gpkg_contents").all();
    database.close();
    expect(contents).toEqual([{ identifier: "Walk", description: "A day & a night" }]);
    expect(losses).toMatchObject([{ example: expect.stringContaining(": author, copyright, links, time, keywords") }]);
  });

  test("metadata of several files in one layer are kept where they are equal", async () => {
    const one = written("one.gpx", gpx(described("same", "<keywords>a</keywords>")));
    const two = written("two.gpx", gpx(described("same", "<keywords>b</keywords>")));
    const output = scratch.path("both.gpx");
    const { losses } = await convertFile(one, output, { inputs: [one, two] });
    expect(readFileSync(output, "utf8")).toContain("<desc>same</desc></metadata>");
    expect(losses).toMatchObject([{ code: "metadata-left-out", example: expect.stringMatching(/: keywords$/) }]);
  });
});
