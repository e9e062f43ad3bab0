import { describe, expect, it } from "vitest";
import { type CrsDefinition, isSameDefinition } from "../../../src/crs/definitions/definition.js";
import { resolveDefinition } from "../../../src/crs/definitions/parse.js";
import { crsContext } from "../../../src/crs/index.js";
import { epsgLines, esriLines } from "../../../src/crs/tables/index.js";
import { needsProj, srsInfo } from "../proj-tools.js";

/** The formats, with the names of `srsInfo`. */
const formats = { WKT1_ESRI: "wkt_esri", WKT1_GDAL: "wkt1", WKT2_2019: "wkt2_2019", PROJJSON: "projjson" } as const;
type Format = keyof typeof formats;

/** Empty where GDAL cannot write the system. */
const written = (id: string, format: Format): Promise<string> => srsInfo(id, formats[format]).catch(() => "");

/** As many projected and geographic systems of both authorities, by a shuffle that is the same every time. */
function sample(count: number): string[] {
  const ids = [
    ...[...epsgLines.matchAll(/^(\d+)\|[PG]\|/gm)].map(([, code]) => `EPSG:${code}`),
    ...[...esriLines.matchAll(/^E(\d+)\|[PGW]\|/gm)].map(([, code]) => `ESRI:${code}`),
  ];
  let seed = 20261122;
  for (let i = ids.length - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    [ids[i], ids[j]] = [ids[j]!, ids[i]!];
  }
  return ids.slice(0, count);
}

const computes = ({ projection, geodetic }: CrsDefinition): boolean =>
  geodetic !== null && (projection === null || projection.method !== null);

/**
 * What no reader can know: ESRI has one name for the realisations of SIRGAS-Chile, states a parallel instead of
 * Mercator's scale, and calls spheres by its own names.
 */
const lossy: Partial<Record<Format, RegExp>> = {
  WKT1_ESRI: /SIRGAS-Chile|NEIEZ|GEORSO|D_Sphere|D_Clarke_1866_Authalic|D_International_1924_Authalic|GCS_WGS_84_G/,
  // Equidistant Cylindrical on a sphere and on the ellipsoid are one method.
  WKT1_GDAL: /WGS_1984_ARC_System/,
};

/** Systems of which GDAL with PROJ before 9.5 writes another one. */
const elsewhere: ReadonlySet<string> = new Set([
  // EPSG has given them datums of their own.
  ...["EPSG:3408", "EPSG:3411"],
  // Deprecated, on another ellipsoid or with another unit than the one whose names they bear.
  ...["EPSG:4640", "ESRI:104026"],
  // The table has it in ESRI's words, "Stereographic", for Polar Stereographic.
  "ESRI:103884",
]);

describe.skipIf(needsProj)("definitions of 600 systems written by GDAL", () => {
  const ids = sample(600);
  for (const format of Object.keys(formats) as Format[]) {
    it(`${format} written by GDAL is read as the same system, for 600 systems`, async () => {
      const different: string[] = [];
      let read = 0;
      let identified = 0;
      for (const id of ids) {
        const text = await written(id, format);
        const expected = await resolveDefinition(await crsContext.parse(id));
        if (text === "" || elsewhere.has(id) || !computes(expected) || lossy[format]?.test(text)) continue;
        read++;
        const crs = await crsContext.parse(text);
        // ESRI repeats many of EPSG's systems; which of them it is called does not matter.
        if (crs.id !== null) identified++;
        const found = await resolveDefinition(crs);
        if (!isSameDefinition(found, expected)) different.push(`${id} became ${crs.id}: ${text}`);
      }
      expect(different).toEqual([]);
      expect(read).toBeGreaterThan(500);
      expect(identified / read).toBeGreaterThan(0.97);
    }, 120_000);
  }
});
