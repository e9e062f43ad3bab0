/** Characters that a format cannot have in the names of fields, which must not make two fields one. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const properties = {
  a: "first",
  "a\u0001": "second",
  "a\ufffe": "third",
  "b\u0001": "fourth",
  "a\ud83d\ude00": "fifth",
};

test.each(["csv", "fgb", "geojsonl", "gpkg", "gpx", "kml", "ods", "parquet", "shp", "topojson", "xlsx"])(
  "fields of a .%s stay apart",
  async (extension) => {
    const input = scratch.path("names.geojson");
    writeFileSync(
      input,
      JSON.stringify({ type: "Feature", geometry: { type: "Point", coordinates: [1, 2] }, properties }),
    );
    const output = scratch.path(`names.${extension}`);
    const back = scratch.path(`${extension}.geojson`);
    const { losses } = await convertFile(input, output);
    await convertFile(output, back);
    const found: Record<string, unknown> = JSON.parse(readFileSync(back, "utf8")).features[0].properties;
    const values = Object.values(properties);
    const kept = Object.entries(found).filter(([, value]) => values.includes(String(value)));
    expect(kept.map(([, value]) => value)).toEqual(values);
    // Names that changed are losses.
    const changed = kept.filter(([name], n) => name !== Object.keys(properties)[n]);
    expect(losses.filter(({ code }) => code === "field-renamed")).toHaveLength(changed.length);
  },
);

test.each(["windows-1252", "cp850", "shift_jis", "gbk"])(
  "fields whose names a Shapefile in %s lacks stay apart, and are losses",
  async (encoding) => {
    const input = scratch.path("lacking.geojson");
    const given = { "☃": "first", "☂": "second", "a?": "third", Größe: "fourth", 漢字漢字漢字: "fifth" };
    writeFileSync(
      input,
      JSON.stringify({ type: "Feature", geometry: { type: "Point", coordinates: [1, 2] }, properties: given }),
    );
    const output = scratch.path(`lacking-${encoding}.shp`);
    const { losses } = await convertFile(input, output, { writerOptions: { encoding } });
    const header = readFileSync(output.replace(/shp$/, "dbf"));
    const names = [0, 1, 2, 3, 4].map((n) => {
      const name = header.subarray(32 + 32 * n, 43 + 32 * n);
      return new TextDecoder(encoding === "cp850" ? "latin1" : encoding).decode(name.subarray(0, name.indexOf(0)));
    });
    expect(names.slice(0, 3)).toEqual(["_", "__1", "a?"]);
    expect(new Set(names).size).toBe(5);
    const asian = ["shift_jis", "gbk"].includes(encoding);
    // Ten bytes hold five characters.
    expect(names[4]).toBe(asian ? "漢字漢字漢" : "______");
    if (encoding === "windows-1252") expect(names[3]).toBe("Größe");
    if (encoding === "shift_jis") expect(names[3]).toBe("Gr__e");
    const renamed = losses.filter(({ code }) => code === "field-renamed").map(({ field }) => field);
    expect(renamed).toEqual(expect.arrayContaining(["☃", "☂", "漢字漢字漢字"]));
    expect(renamed).not.toContain("a?");
  },
);

test.each(["\u000b", "\u0001", "\u001a", "\u001b", "\u001f"])(
  "a short CSV with %j in it is read",
  async (character) => {
    const input = scratch.path("control.csv");
    writeFileSync(input, `id,lon,lat,name\n1,2,3,"one${character}two"\n`);
    const output = scratch.path("control.geojson");
    await convertFile(input, output, { overwrite: true });
    expect(JSON.parse(readFileSync(output, "utf8")).features[0].properties.name).toBe(`one${character}two`);
  },
);
