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
