import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { crsContext } from "../../../src/crs/index.js";
import { needsProj, srsInfo } from "../proj-tools.js";

const { parse, toWkt: wkt, wgs84 } = crsContext;

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

/** UTM of several datums, national grids, State Plane, polar and continental systems. */
const codes = [
  ...[4326, 4258, 4269, 4267, 4283, 4277, 4314, 4807, 4674, 4490, 4617],
  ...range(32601, 32660, 12),
  ...range(32705, 32760, 12),
  ...range(25828, 25837, 3),
  ...range(26903, 26921, 2),
  ...range(31978, 31985, 3),
  ...range(28349, 28356, 3),
  ...range(7849, 7856, 3),
  ...range(23028, 23037, 3),
  ...range(3942, 3950, 3),
  ...range(27571, 27574),
  ...range(31466, 31469),
  ...range(31254, 31259),
  ...range(2443, 2461, 3),
  ...range(26929, 26998, 3).filter((code) => code !== 26947),
  ...range(2225, 2290, 5),
  ...[27700, 29902, 2157, 28992, 31370, 2154, 2056, 21781, 23700, 5514, 3844, 3003, 2100, 3006, 3067, 3301, 3346],
  ...[3034, 3035, 3857, 3395, 3031, 3413, 5070, 3310, 3338, 3347, 3978, 3005, 3577, 3112, 2193, 2326, 3414, 5880],
  ...[3765, 3794, 3826, 6677, 3078, 8857, 2100, 2249, 2272, 3168, 21037, 22391, 24500, 20137],
];

/** What differs in writing only: units that GDAL leaves in EPSG's words, Gauss-Krüger's name, digits beyond the tenth. */
function comparable(text: string): string {
  return text
    .replace(/"US survey foot"/g, '"Foot_US"')
    .replace(/"foot"/g, '"Foot"')
    .replace(/"British yard \(Sears 1922\)"/g, '"Yard_Sears"')
    .replace(/"Gauss_Kruger"/g, '"Transverse_Mercator"')
    .replace(/(?<=,)-?\d+\.?\d*(e-?\d+)?(?=[\],])/g, (digits) => `${Number(Number(digits).toPrecision(10))}`);
}

describe("ESRI's WKT", () => {
  it.skipIf(needsProj)(
    `ESRI's WKT equals that of GDAL for ${codes.length} systems`,
    async () => {
      const limit = pLimit(2);
      const different: string[] = [];
      await Promise.all(
        codes.map((code) =>
          limit(async () => {
            const mine = await wkt(await parse(`EPSG:${code}`), "esri");
            const theirs = await srsInfo(`EPSG:${code}`, "wkt_esri");
            if (mine === null || comparable(mine) !== comparable(theirs)) different.push(`${mine}\n${theirs}`);
          }),
        ),
      );
      expect(different).toEqual([]);
    },
    120_000,
  );

  it("ESRI's WKT is read back as the system that it was written from", async () => {
    const different: string[] = [];
    for (const code of codes) {
      const found = await parse((await wkt(await parse(`EPSG:${code}`), "esri"))!);
      if (found.id !== `EPSG:${code}`) different.push(`EPSG:${code} became ${found.id}`);
    }
    expect(different).toEqual([]);
  });

  it("ESRI's WKT has ESRI's names, and no authority, axes or shifts", async () => {
    const text = (await wkt(await parse("EPSG:2263"), "esri"))!;
    expect(text).toContain('PROJCS["NAD_1983_StatePlane_New_York_Long_Island_FIPS_3104_Feet"');
    expect(text).toContain('UNIT["Foot_US",0.304800609601219');
    expect(text).not.toMatch(/AUTHORITY|AXIS|TOWGS84/);
  });

  it.each([
    ["Föö", "Foo"],
    ["Ä", "A"],
    ["Großer Øresund / Łódź", "Grosser_Oresund_Lodz"],
    ["Пулково 1942", "________1942"],
    ["日本", "__"],
    ["ö日 (x)", "o__x"],
    ["(€)", "unnamed"],
    ["WGS 84 / mine (1)", "WGS_84_mine_1"],
  ])("ESRI's WKT has %s as the name %s, never cut or empty", async (name, expected) => {
    const text = (await wkt(await parse("+proj=laea +lat_0=45 +lon_0=10 +datum=WGS84"), "wkt2"))!;
    const written = await wkt(await parse(text.replaceAll('"laea"', `"${name}"`)), "esri");
    expect(/^PROJCS\["([^"]*)"/.exec(written!)![1]).toBe(expected);
  });

  it("ESRI's WKT never has an empty name of a datum, meridian or ellipsoid", async () => {
    const text =
      'GEOGCS["(€)",DATUM["Überall",SPHEROID["(€)",6378000,300]],PRIMEM["(€)",1],UNIT["degree",0.0174532925199433]]';
    expect(await wkt(await parse(text), "esri")).toBe(
      'GEOGCS["GCS_unnamed",DATUM["D_Uberall",SPHEROID["unnamed",6378000.0,300.0]],PRIMEM["unnamed",1.0],UNIT["Degree",0.0174532925199433]]',
    );
  });

  it("ESRI's WKT is null for systems without an ESRI name", async () => {
    expect(await wkt(await parse("EPSG:2048"), "esri")).toBeNull();
    expect(await wkt(await parse("EPSG:4978"), "esri")).toBeNull();
  });
});

describe("WKT1 and WKT2", () => {
  for (const flavour of ["wkt1", "wkt2"] as const) {
    it.skipIf(needsProj)(
      `${flavour} is read by GDAL as the same system`,
      async () => {
        const limit = pLimit(2);
        const different: string[] = [];
        await Promise.all(
          codes
            .filter((_, index) => index % 4 === 0)
            .map((code) =>
              limit(async () => {
                const mine = (await wkt(await parse(`EPSG:${code}`), flavour))!;
                const [found, expected] = await Promise.all([
                  srsInfo(mine, "wkt_esri"),
                  srsInfo(`EPSG:${code}`, "wkt_esri"),
                ]);
                if (comparable(found) !== comparable(expected)) different.push(`${code}: ${found}\n${expected}`);
              }),
            ),
        );
        expect(different).toEqual([]);
      },
      120_000,
    );

    it(`${flavour} is read back as the system that it was written from`, async () => {
      const different: string[] = [];
      for (const code of codes) {
        const found = await parse((await wkt(await parse(`EPSG:${code}`), flavour))!);
        if (found.id !== `EPSG:${code}`) different.push(`EPSG:${code} became ${found.id}`);
      }
      expect(different).toEqual([]);
    });
  }

  it("WKT1 and WKT2 keep a declared shift", async () => {
    const crs = await parse(
      "+proj=tmerc +lon_0=9 +x_0=3500000 +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7",
    );
    expect(await wkt(crs, "wkt1")).toContain("TOWGS84[598.1,73.7,418.2,0.202,0.045,-2.455,6.7]");
    expect(await wkt(crs, "wkt2")).toMatch(/^BOUNDCRS\[.*"Scale difference",1.0000067/);
    const again = await parse((await wkt(crs, "wkt2"))!);
    expect(await wkt(again, "wkt1")).toContain("TOWGS84[598.1,73.7,418.2,0.202,0.045,-2.455,6.7");
  });

  it("a declared shift is read from the PROJJSON that PROJ writes, in the units of its parameters", async () => {
    // "parameters" is the output of `projinfo -o PROJJSON` (PROJ 9.1) for the shift above.
    const arcSecond = { type: "AngularUnit", name: "arc-second", conversion_factor: 4.84813681109536e-6 };
    const million = { type: "ScaleUnit", name: "parts per million", conversion_factor: 1e-6 };
    const parameters = [
      { name: "X-axis translation", value: 598.1, unit: "metre" },
      { name: "Y-axis translation", value: 73.7, unit: "metre" },
      { name: "Z-axis translation", value: 418.2, unit: "metre" },
      { name: "X-axis rotation", value: 0.202, unit: arcSecond },
      { name: "Y-axis rotation", value: 0.045, unit: arcSecond },
      { name: "Z-axis rotation", value: -2.455, unit: arcSecond },
      { name: "Scale difference", value: 6.7, unit: million },
    ];
    const ellipsoid = { name: "Bessel 1841", semi_major_axis: 6377397.155, inverse_flattening: 299.1528128 };
    const source_crs = {
      type: "GeographicCRS",
      name: "unknown",
      datum: { type: "GeodeticReferenceFrame", name: "unknown", ellipsoid },
    };
    const method = { name: "Position Vector transformation (geog2D domain)" };
    const target_crs = { ...source_crs, name: "WGS 84", id: { authority: "EPSG", code: 4326 } };
    const transformation = { name: "to WGS 84", method, parameters };
    const bound = await parse(JSON.stringify({ type: "BoundCRS", source_crs, target_crs, transformation }));
    expect(await wkt(bound, "wkt1")).toContain("TOWGS84[598.1,73.7,418.2,0.202,0.045,-2.455,6.7]");
  });

  it("WKT of WGS84 needs no tables and equals the one made with them", async () => {
    expect(await wkt(wgs84, "esri")).toBe(
      'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]',
    );
    for (const flavour of ["esri", "wkt1", "wkt2"] as const)
      expect(await parse((await wkt(wgs84, flavour))!)).toBe(wgs84);
  });
});
