import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { GeoferryError } from "../../src/errors.js";
import { samples } from "../support/command.js";
import { convertFile } from "../support/host.js";
import { createRandom, damageBytes } from "../support/random.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** How many damaged inputs of each format. */
const count = 200;

const sets = {
  csv: { folder: `${samples}/csv`, names: ["capitals", "parks", "trail", "landeshauptstaedte"], files: ["csv"] },
  geojson: { folder: samples, names: ["capitals", "parks", "rivers", "mixed"], files: ["geojson"] },
  geopackage: { folder: `${samples}/geopackage`, names: ["world", "mont-blanc", "survey", "mixed"], files: ["gpkg"] },
  gpx: { folder: `${samples}/gpx`, names: ["hike", "tour-du-mont-blanc"], files: ["gpx"] },
  kml: { folder: `${samples}/kml`, names: ["parks-and-rivers"], files: ["kml"] },
  shapefile: {
    folder: `${samples}/shapefile`,
    names: ["capitals", "parks", "rivers", "survey"],
    files: ["shp", "shx", "dbf", "prj", "cpg"],
  },
};

async function outcome(
  input: string,
  output: string,
  skipErrors: boolean,
): Promise<{ features: number } | { error: unknown }> {
  try {
    const report = await convertFile(input, output, { skipErrors, overwrite: true, allowEmpty: true });
    return { features: report.written };
  } catch (error) {
    return { error };
  }
}

describe.each(Object.entries(sets))("%s: damaged inputs", (format, { folder, names, files }) => {
  test(`${count} damaged inputs end with a clear error or with features, never with a bug, and leave nothing behind`, async () => {
    const random = createRandom(format.length * 7919);
    const place = scratch.path(format);
    mkdirSync(place);
    for (let i = 0; i < count; i++) {
      const name = names[i % names.length]!;
      const present = files.filter((extension) => existsSync(`${folder}/${name}.${extension}`));
      const victim = present[Math.floor(random() * Math.min(3, present.length))]!;
      // One in ten gets a companion of another file instead.
      const swapped = present.length > 1 && random() < 0.1 ? names[(i + 1) % names.length]! : undefined;
      for (const extension of present) copyFileSync(`${folder}/${name}.${extension}`, `${place}/in.${extension}`);
      if (swapped) copyFileSync(`${folder}/${swapped}.${victim}`, `${place}/in.${victim}`);
      else writeFileSync(`${place}/in.${victim}`, damageBytes(readFileSync(`${folder}/${name}.${victim}`), random));
      const output = `${place}/out.geojson`;
      for (const skipErrors of [false, true]) {
        const result = await outcome(`${place}/in.${files[0]}`, output, skipErrors);
        const label = `input ${i}: ${name}, ${victim}${swapped ? ` of ${swapped}` : " damaged"}, skipErrors ${skipErrors}`;
        if ("error" in result) {
          expect(result.error, label).toBeInstanceOf(GeoferryError);
          expect((result.error as GeoferryError).kind, `${label}: ${(result.error as GeoferryError).message}`).not.toBe(
            "internal",
          );
          expect(
            readdirSync(place).filter((file) => !file.startsWith("in.")),
            label,
          ).toEqual([]);
        } else {
          const written = readdirSync(place).filter((file) => file.startsWith("out"));
          const layers = written.filter((file) => file.endsWith(".geojson"));
          expect(layers, label).not.toEqual([]);
          for (const file of layers) JSON.parse(readFileSync(`${place}/${file}`, "utf8"));
          for (const file of written) rmSync(`${place}/${file}`);
        }
      }
    }
  }, 300_000);
});

describe("--skip-errors reads everything outside the damage", () => {
  test("--skip-errors reads the other features of a GeoJSON with a damaged one", async () => {
    const features = Array.from(
      { length: 50 },
      (_, i) => `{"type":"Feature","properties":{"n":${i}},"geometry":{"type":"Point","coordinates":[${i},1]}}`,
    );
    features[20] = features[20]!.replace('"coordinates":[', '"coordinates":[[[');
    writeFileSync(scratch.path("one.geojson"), `{"type":"FeatureCollection","features":[\n${features.join(",\n")}\n]}`);
    await expect(convertFile(scratch.path("one.geojson"), scratch.path("strict.csv"))).rejects.toMatchObject({
      kind: "input",
    });
    const report = await convertFile(scratch.path("one.geojson"), scratch.path("one.csv"), { skipErrors: true });
    expect(report.written).toBe(49);
    // The feature, and the end of the file that its brackets swallowed.
    expect(report.rejected).toBeGreaterThan(0);
  });

  test("--skip-errors reads the features of a truncated Shapefile", async () => {
    for (const extension of ["shx", "dbf", "prj", "cpg"])
      copyFileSync(`${samples}/shapefile/parks.${extension}`, scratch.path(`parks.${extension}`));
    const whole = readFileSync(`${samples}/shapefile/parks.shp`);
    writeFileSync(scratch.path("parks.shp"), whole.subarray(0, Math.floor(whole.length / 2)));
    await expect(convertFile(scratch.path("parks.shp"), scratch.path("parks-strict.csv"))).rejects.toMatchObject({
      kind: "input",
    });
    const report = await convertFile(scratch.path("parks.shp"), scratch.path("parks.csv"), { skipErrors: true });
    expect(report.written).toBeGreaterThan(8);
    expect(report.written).toBeLessThanOrEqual(27);
  });

  test("--skip-errors reads the rows of a CSV before an unclosed quote", async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `${i},1,row ${i}`);
    rows[10] = '10,1,"never closed';
    writeFileSync(scratch.path("quote.csv"), `lon,lat,name\n${rows.join("\n")}\n`);
    await expect(convertFile(scratch.path("quote.csv"), scratch.path("quote-strict.geojson"))).rejects.toMatchObject({
      kind: "input",
    });
    const report = await convertFile(scratch.path("quote.csv"), scratch.path("quote.geojson"), { skipErrors: true });
    expect(report.written).toBe(29);
  });
});
