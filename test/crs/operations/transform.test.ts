import { describe, expect, it } from "vitest";
import { isInArea } from "../../../src/crs/area.js";
import { areaOfUse, crsContext, findOperation } from "../../../src/crs/index.js";
import { PositionCounter } from "../../../src/crs/operations/position-counter.js";
import { buildTransform, createFailureExplainer } from "../../../src/crs/operations/transform.js";
import { operationText } from "../operation-text.js";
import { gdalTransform, needsProj } from "../proj-tools.js";

const { parse, wgs84 } = crsContext;

async function transformPositions(
  from: string,
  to: string,
  positions: readonly number[],
  accuracy = 5,
): Promise<Float64Array> {
  const operation = await findOperation(await parse(from), await parse(to), { accuracy });
  const xy = Float64Array.from(positions);
  (await buildTransform(operation))(xy, null);
  return xy;
}

const shares = [0.01, 0.25, 0.5, 0.75, 0.99];

/** Twenty-five positions spread over the area of use, up to its edges. */
async function samples(code: string): Promise<number[]> {
  const [west, south, east, north] = (await areaOfUse(await parse(code)))!;
  const width = (east - west + 360) % 360 || 360;
  return shares.flatMap((u) =>
    shares.flatMap((v) => [((west + width * u + 540) % 360) - 180, south + (north - south) * v]),
  );
}

/** One of every projection method that EPSG's and ESRI's systems use and geoferry computes, and the common grids. */
const systems = `
  EPSG:3857 EPSG:3395 EPSG:32601 EPSG:32760 EPSG:25832 EPSG:26910
  EPSG:31983 EPSG:27700 EPSG:29902 EPSG:2157 EPSG:31467 EPSG:31256 EPSG:3006 EPSG:3765
  EPSG:3794 EPSG:28992 EPSG:31370 EPSG:2154 EPSG:27572 EPSG:3942 EPSG:3034 EPSG:3035 EPSG:2056 EPSG:21781
  EPSG:23700 EPSG:3844 EPSG:3003 EPSG:2100 EPSG:2263
  EPSG:2253 EPSG:26986 EPSG:5070 EPSG:3310 EPSG:3338 EPSG:3347 EPSG:3978 EPSG:3005 EPSG:3031 EPSG:3413
  EPSG:3995 EPSG:32661 EPSG:5041 EPSG:3032 EPSG:2193 EPSG:27200 EPSG:28355 EPSG:3577 EPSG:3112
  EPSG:2326 EPSG:3414 EPSG:3168 EPSG:29871 EPSG:3078 EPSG:5880 EPSG:5472 EPSG:2048 EPSG:2443
  EPSG:5179 EPSG:32040 EPSG:2066 EPSG:30200 EPSG:3388 EPSG:3994 EPSG:6933 EPSG:8857
  EPSG:6201 EPSG:3295 EPSG:2172 EPSG:2036 EPSG:4269 EPSG:4258 EPSG:4283 EPSG:4807 EPSG:4277 EPSG:4314
  ESRI:54009 ESRI:54008 ESRI:54010 ESRI:54034 ESRI:54032 ESRI:54017 ESRI:54002 ESRI:54026 ESRI:102005 ESRI:102025
  EPSG:3405 EPSG:2046 EPSG:2169 EPSG:2177 EPSG:2391 EPSG:2600 EPSG:2956 EPSG:3057 EPSG:3059 EPSG:3068
  EPSG:3083 EPSG:3111 EPSG:3116 EPSG:3123 EPSG:3152 EPSG:3174 EPSG:3400 EPSG:3416 EPSG:3448 EPSG:3571
  EPSG:3763 EPSG:3812 EPSG:4490 EPSG:4647 EPSG:4826 EPSG:5186 EPSG:5321 EPSG:5650 EPSG:6312 EPSG:6350
  EPSG:6372 EPSG:6646 EPSG:6870 EPSG:6931 EPSG:8059 EPSG:8353 EPSG:9473 EPSG:22185 EPSG:27493 EPSG:28404
  EPSG:31287 ESRI:54027 ESRI:54030 ESRI:102003 ESRI:102012 ESRI:102016 ESRI:102022 ESRI:103300
  EPSG:20255 EPSG:28191 EPSG:32662 EPSG:2180 EPSG:4230 EPSG:29101 ESRI:102008 ESRI:102031
`
  .trim()
  .split(/\s+/);
/** On NAD27 and other datums that geoferry refuses, in part or all; their projections are held against PROJ from their own datum. */
const gridOnly = new Set(
  "EPSG:32040 EPSG:6201 EPSG:3295 EPSG:2172 EPSG:2036 EPSG:3168 EPSG:29871 EPSG:5472 EPSG:2066 EPSG:28191".split(" "),
);

/** Where a part of the area of use has no operation accurate to 5 m; in all other systems every position must pass. */
const partlyRefused: Readonly<Record<string, string>> = {
  "EPSG:3003": "Monte Mario to WGS 84 (4) begins at 6.62 degrees east and ends at 37.86 north; south of it are 10 m",
  "EPSG:3338": "in the Aleutians NAD83 to WGS 84 (2) is accurate to 8 m",
  "EPSG:4269": "the Aleutians, and what lies south of the contiguous states",
  "EPSG:4230": "operations by country",
  "ESRI:102031": "operations by country",
};
/**
 * Of several operations PROJ takes, for projected coordinates, the one in whose rectangle of projected coordinates they
 * lie, which is wider than its area: there the way back is asked of it from longitude and latitude.
 */
const chosenByRectangle = new Set(["EPSG:29101", "ESRI:102008", "ESRI:102031"]);

const equalArea = new Set(["EPSG:3035", "EPSG:6931", "EPSG:6933", "EPSG:8857"]);

describe.skipIf(needsProj)("equal to PROJ within a millimetre", () => {
  for (const code of systems) {
    it(`${code} from longitude and latitude, and back, equals PROJ within a millimetre`, async () => {
      const there = await samples(code);
      const base = gridOnly.has(code) ? await baseOf(code) : "EPSG:4326";
      const mine = await transformPositions(base, code, there);
      await checkRefused(code, base, there, mine);
      const known = await isInSomeArea(base, code, there);
      const done = mine.filter((value, index) => !Number.isNaN(value) && known(index));
      const served = there.filter((_, index) => !Number.isNaN(mine[index]!) && known(index));
      const [theirs, back, theirBack] = await Promise.all([
        gdalTransform(base, code, Float64Array.from(served)),
        transformPositions(code, base, [...done]),
        pathBack(code, base, done),
      ]);
      const tolerance = (await parse(code)).kind === "geographic" ? 1e-8 : 1e-3;
      expect(maxDistance(done, theirs), `${served} → ${done}, ${theirs}`).toBeLessThan(tolerance);
      // PROJ 9.1 ends its series for the latitude of equal area early: 1.6 mm at 20° and 70°.
      const exactness = equalArea.has(code) ? 1.5e-8 : 1e-8;
      expect(maxDistance(back, theirBack), `${done} → ${back}, ${theirBack}`).toBeLessThan(exactness);
    });
  }

  it("Robinson's map over the whole globe, on its nodes and beside them", async () => {
    const globe: number[] = [];
    for (let latitude = -90; latitude <= 90; latitude += 0.61)
      globe.push(-179.9, latitude, -1e-3, latitude, 149, latitude);
    for (let node = -90; node <= 90; node += 5) {
      for (const beside of [-1e-9, 0, 1e-9]) globe.push(77.7, Math.max(-90, Math.min(90, node + beside)));
    }
    const definition = "+proj=robin +lon_0=11 +x_0=1000 +datum=WGS84";
    const mine = await transformPositions("EPSG:4326", definition, globe);
    const [theirs, back, theirBack] = await Promise.all([
      gdalTransform("EPSG:4326", definition, Float64Array.from(globe)),
      transformPositions(definition, "EPSG:4326", [...mine]),
      gdalTransform(definition, "EPSG:4326", mine),
    ]);
    expect(maxDistance(mine, theirs)).toBeLessThan(1e-6);
    expect(maxDistance(back, theirBack)).toBeLessThan(1e-11);
    // Beside the map there is nothing.
    expect(await transformPositions(definition, "EPSG:4326", [17e6, 8e6, 0, 8.7e6])).toEqual(
      new Float64Array(4).fill(Number.NaN),
    );
  });

  const pairs: [string, string, number[], accuracy?: number][] = [
    ["EPSG:4230", "EPSG:25830", [-3.7, 40.4, -6, 37.4, -1, 41.6]],
    ["EPSG:31467", "EPSG:25832", [3500000, 5500000, 3570000, 5400000]],
    ["EPSG:27572", "EPSG:2154", [600000, 2400000, 800000, 2000000]],
    ["EPSG:27700", "EPSG:25830", [400000, 300000, 530000, 180000]],
    ["EPSG:28992", "EPSG:25831", [155000, 463000, 120000, 480000]],
    ["EPSG:2056", "EPSG:25832", [2600000, 1200000, 2700000, 1250000]],
    ["EPSG:4283", "EPSG:7844", [145, -37, 151, -33]],
    ["EPSG:25832", "EPSG:3035", [500000, 5500000, 600000, 6000000]],
    ["EPSG:26910", "EPSG:3857", [500000, 4649776, 600000, 5000000]],
    ["EPSG:2326", "EPSG:3857", [836694, 819069, 820000, 830000]],
    // Through ETRS89, as no operation joins them.
    ["EPSG:4289", "EPSG:4314", [6.5, 52, 6.9, 51.5]],
    // What an area named offshore has in common with another is not: the more accurate of two goes first.
    ["EPSG:4270", "EPSG:4134", [52.15, 24.97]],
    ["EPSG:4231", "EPSG:4747", [-0.13, 57.43]],
    // Of equally accurate ones those of fewer movements.
    ["EPSG:4322", "EPSG:7844", [113.39, -25.83]],
    // EPSG has replaced these operations by others from the same datum to another one: they stay the direct ones.
    ["EPSG:4124", "EPSG:4258", [18, 60, 13, 56]],
  ];
  for (const [from, to, positions, accuracy] of pairs) {
    it(`${from} to ${to} by one direct operation equals PROJ within a millimetre`, async () => {
      const mine = await transformPositions(from, to, positions, accuracy);
      const theirs = await gdalTransform(from, to, Float64Array.from(positions));
      for (let i = 0; i < mine.length; i++) {
        expect(Math.abs(mine[i]! - theirs[i]!), `${mine} ${theirs}`).toBeLessThan(
          Math.abs(mine[0]!) <= 400 ? 1e-8 : 1e-3,
        );
      }
    });
  }
});

it("the one with the smallest area is chosen among equally accurate operations, as in PROJ since 9.2", async () => {
  const kuwait = await transformPositions("EPSG:4743", "EPSG:4204", [48, 29.86], 20);
  const balkans = await transformPositions("EPSG:4258", "EPSG:3906", [14.5, 46.05, 15.6, 46.55, 20.5, 44.5]);
  const expected = [
    ...[47.9977318173806, 29.859672571590917],
    ...[
      14.50472963233949, 46.05030644778289, 15.604885202030305, 46.55032917400911, 20.505382331374, 44.499946899321145,
    ],
  ];
  for (const [index, value] of [...kuwait, ...balkans].entries()) expect(value).toBeCloseTo(expected[index]!, 9);
});

it("satellite-geodesy frames are not joined through a classical datum, and operations that contradict their neighbors are not used", async () => {
  // Both are ETRS89. By way of MGI 1901, whose shift in Kosovo (EPSG:9142, 9143) is off, it would be 1.6 km.
  expect([...(await transformPositions("EPSG:8685", "EPSG:9140", [20.5, 42.5]))]).toEqual([20.5, 42.5]);
  const kosovo = await transformPositions("EPSG:3906", "EPSG:9140", [21, 42.5, 20.6, 42]);
  // PROJ's for Serbia, EPSG:9499 to WGS 84, at the first; the second has North Macedonia's one near.
  expect(Math.hypot(kosovo[0]! - 20.994658, kosovo[1]! - 42.500285)).toBeLessThan(1e-6);
  expect(Math.hypot(kosovo[2]! - 20.594658, kosovo[3]! - 42.000285)).toBeLessThan(3e-4);
});

it("finds operations on either side of the antimeridian: NAD27 in the Aleutians, as PROJ 9.5.1 does", async () => {
  const positions = [175.26250000000005, 52.65111111111111, -176.21000000000004, 52.31333333333333];
  const feet = [1065669.90916836, 720970.6468369336, 2953516.531788105, 479947.24793391617];
  expect(
    maxDistance(await transformPositions("EPSG:4326", "EPSG:26740", positions, 999), Float64Array.from(feet)),
  ).toBeLessThan(1e-3);
  const back = await transformPositions("EPSG:26740", "EPSG:4326", feet, 999);
  expect(maxDistance(back, Float64Array.from(positions))).toBeLessThan(2e-8);
});

/** The largest difference of a coordinate; NaN where either side has a position that the other lacks. */
const maxDistance = (a: Float64Array, b: Float64Array): number =>
  a.length === b.length ? Math.max(...a.map((value, index) => Math.abs(value - b[index]!))) : Number.NaN;

/** Whether a coordinate's position lies in the area of an operation. Beside all of them PROJ takes a ballpark. */
async function isInSomeArea(
  from: string,
  to: string,
  positions: readonly number[],
): Promise<(index: number) => boolean> {
  const { transformations } = await findOperation(await parse(from), await parse(to));
  return (index) => {
    const at = index - (index % 2);
    const within = ({ area }: (typeof transformations)[number]) =>
      !area || isInArea(area, positions[at]!, positions[at + 1]!);
    return transformations.length === 0 || transformations.some(within);
  };
}

async function pathBack(code: string, base: string, positions: Float64Array): Promise<Float64Array> {
  if (!chosenByRectangle.has(code)) return gdalTransform(code, base, positions);
  const geographic = geographicOf[code]!;
  return gdalTransform(geographic, base, await gdalTransform(code, geographic, positions));
}
const geographicOf: Readonly<Record<string, string>> = {
  "EPSG:29101": "EPSG:4618",
  "ESRI:102008": "EPSG:4269",
  "ESRI:102031": "EPSG:4230",
};

/** Refused are positions outside every operation that is good enough, and only in the systems listed as such. */
async function checkRefused(code: string, base: string, there: readonly number[], mine: Float64Array): Promise<void> {
  const { transformations } = await findOperation(await parse(base), await parse(code));
  const good = transformations.filter(({ accuracy, offshore }) => accuracy !== null && accuracy <= 5 && !offshore);
  const refused: string[] = [];
  for (let i = 0; i < mine.length; i += 2) {
    if (!Number.isNaN(mine[i]!)) continue;
    const [longitude, latitude] = [there[i]!, there[i + 1]!];
    refused.push(`${longitude}, ${latitude}`);
    expect(good.filter(({ area }) => area === null || isInArea(area, longitude, latitude))).toEqual([]);
  }
  if (partlyRefused[code] === undefined) expect(refused).toEqual([]);
  else expect(refused.length, "listed as partly served, and is wholly").toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(mine.length / 2);
}

async function baseOf(code: string): Promise<string> {
  const wkt = (await crsContext.toWkt(await parse(code), "wkt1"))!;
  if (wkt) return /GEOGCS\[.*?AUTHORITY\["EPSG","(\d+)"\]\],PROJECTION/.exec(wkt)![1]!.replace(/^/, "EPSG:");
  return "EPSG:4267";
}

describe("published values", () => {
  it("World Equidistant Cylindrical on the ellipsoid (guidance note 7-2, 3.2.5), as PROJ has it since 9.8", async () => {
    const [x, y, far, farther] = await transformPositions(
      "EPSG:4326",
      "EPSG:4087",
      [10, 55, -143.9999611505, 71.9993230521],
    );
    expect(x).toBeCloseTo(1113194.91, 2);
    expect(y).toBeCloseTo(6097230.31, 2);
    // Of Apache SIS, GeoCalc and ESRI's engine.
    expect(far).toBeCloseTo(-16030002.35, 2);
    expect(farther).toBeCloseTo(7992053.817, 2);
    const back = await transformPositions("EPSG:4087", "EPSG:4326", [1113194.9079, 6097230.3131]);
    expect(back[1]).toBeCloseTo(55, 8);
    const operation = await findOperation(wgs84, await parse("EPSG:4087"));
    expect(await operationText(operation)).toMatch(/PROJ before 9.8 took a sphere.*EPSG:32662/);
  });

  const cylinder = (name: string, parallel: string) =>
    `PROJCS["${name}",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Equidistant_Cylindrical"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",${parallel}],UNIT["Meter",1.0]]`;

  // ogr2ogr 3.13 (PROJ 9.9) writes these for EPSG:4087 and +proj=eqc +lat_ts=30, and has these values for (10, 45).
  it("Equidistant_Cylindrical in the .prj files of GDAL is on the ellipsoid", async () => {
    const named = cylinder("WGS_1984_World_Equidistant_Cylindrical", "0.0");
    expect((await parse(named)).id).toBe("EPSG:4087");
    const [x, y] = await transformPositions("EPSG:4326", named, [10, 45]);
    expect(x).toBeCloseTo(1113194.9079, 4);
    expect(y).toBeCloseTo(4984944.378, 4);
    const [x30, y30] = await transformPositions("EPSG:4326", cylinder("unknown", "30.0"), [10, 45]);
    expect(x30).toBeCloseTo(964862.8025, 4);
    expect(y30).toBeCloseTo(4984944.378, 4);
    const operation = await findOperation(wgs84, await parse(cylinder("unknown", "30.0")));
    expect(await operationText(operation)).toMatch(/took a sphere, as ArcGIS does/);
  });

  it("Equidistant_Cylindrical under other names is ArcGIS's, on the sphere, and a note has PROJ's reading", async () => {
    expect((await parse(cylinder("World_Equidistant_Cylindrical", "60.0"))).id).toBe("ESRI:54002");
    for (const text of [cylinder("World_Equidistant_Cylindrical", "60.0"), cylinder("Mine", "60.0"), "ESRI:54002"]) {
      const [x, y] = await transformPositions("EPSG:4326", text, [10, 45]);
      // Snyder (1987, 12-1 and 12-2): R λ cos φ1, and R φ.
      expect(x).toBeCloseTo((6378137 * Math.PI) / 18 / 2, 4);
      expect(y).toBeCloseTo((6378137 * Math.PI) / 4, 4);
      const operation = await findOperation(wgs84, await parse(text));
      expect(await operationText(operation)).toMatch(/as in ArcGIS.*PROJ 9.8 or later take the ellipsoid.*EPSG:4087/);
    }
    for (const code of ["EPSG:32662", "ESRI:54001"])
      expect(await operationText(await findOperation(wgs84, await parse(code)))).toMatch(/EPSG:4087/);
    const sphere = await findOperation(wgs84, await parse("ESRI:53002"), { accuracy: 999 });
    expect(await operationText(sphere)).not.toMatch(/EPSG:4087/);
  });

  it("EASE-Grids and the US National Atlas on the sphere of the ellipsoid's surface, as PROJ 9.5.1 has them", async () => {
    for (const [base, code, position, [x, y]] of [
      ["EPSG:4326", "EPSG:3973", [30, 60], [1648937.994949, -2856044.385783]],
      ["EPSG:4326", "EPSG:3974", [-60, -71.5], [-1773779.444504, 1024092.039768]],
      ["EPSG:4326", "EPSG:3975", [100, -45], [9629773.978816, -5201905.58042]],
      ["EPSG:4267", "EPSG:9311", [-75, 40], [2091294.905803, -235165.712456]],
    ] as const) {
      const mine = await transformPositions(base, code, [...position]);
      expect(mine[0], code).toBeCloseTo(x, 5);
      expect(mine[1], code).toBeCloseTo(y, 5);
      const [longitude, latitude] = await transformPositions(code, base, [...mine]);
      expect(longitude, code).toBeCloseTo(position[0], 11);
      expect(latitude, code).toBeCloseTo(position[1], 11);
    }
    const operation = await findOperation(wgs84, await parse("EPSG:3975"));
    expect(await operationText(operation)).toMatch(/PROJ before 9.2 took the ellipsoid.*EPSG:6931 to 6933/);
  });

  it("San Francisco's airport on a turned orthographic map (EPSG method 1130), as PROJ 9.5.1 has it", async () => {
    const positions = [-122.43, 37.58, -122.3846388888889, 37.62607694444444, -122.33, 37.66];
    const feet = Float64Array.of(-930.945406, -20644.887451, 2874.269725, 324.831483, 11103.170296, 18632.597109);
    const mine = await transformPositions("EPSG:6318", "EPSG:10622", positions);
    expect(maxDistance(mine, feet)).toBeLessThan(1e-5);
    const back = await transformPositions("EPSG:10622", "EPSG:6318", [...mine]);
    expect(maxDistance(back, Float64Array.from(positions))).toBeLessThan(1e-11);
  });

  it.skipIf(needsProj)(
    "World Equidistant Cylindrical (Sphere) is transformed if no accuracy is requested",
    async () => {
      for (const code of ["EPSG:3786", "EPSG:4088", "EPSG:2163"]) {
        await expect(transformPositions("EPSG:4326", code, [10, 55])).rejects.toThrow(/--accuracy 999/);
        const mine = await transformPositions("EPSG:4326", code, [-110, 45], 999);
        const theirs = await gdalTransform("EPSG:4326", code, Float64Array.of(-110, 45));
        expect(maxDistance(mine, theirs)).toBeLessThan(1e-3);
      }
    },
  );

  it.skipIf(needsProj)("names of Web Mercator from before its code are recognized", async () => {
    const expected = await gdalTransform("EPSG:4326", "EPSG:3785", Float64Array.of(10, 55));
    const sphere =
      "+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +wktext";
    for (const text of ["EPSG:3785", "EPSG:900913", "ESRI:102113", sphere]) {
      expect((await parse(text)).id, text).toBe("EPSG:3857");
      expect(maxDistance(await transformPositions("EPSG:4326", text, [10, 55]), expected)).toBeLessThan(1e-3);
    }
  });

  it("Belge Lambert 72, the Belgian variant of the conic (EPSG guidance note 7-2, 3.1.1.3)", async () => {
    const latitude = 50 + 40 / 60 + 46.461 / 3600;
    const longitude = 5 + 48 / 60 + 26.533 / 3600;
    const [x, y] = await transformPositions("EPSG:4313", "EPSG:31300", [longitude, latitude]);
    expect(x).toBeCloseTo(251763.2, 1);
    expect(y).toBeCloseTo(153034.13, 1);
  });

  it("Belge Lambert 72 and Belgian Lambert 72, which EPSG calls equivalent, to the digits of its parameters", async () => {
    for (const place of [
      [2.6, 51.1],
      [4.35, 50.85],
      [6.3, 50.3],
      [5.8, 49.55],
    ] as const) {
      const [turned, plain] = [
        await transformPositions("EPSG:4313", "EPSG:31300", place),
        await transformPositions("EPSG:4313", "EPSG:31370", place),
      ];
      expect(maxDistance(turned, plain)).toBeLessThan(0.06);
    }
  });

  it("British National Grid (guidance note 7-2, 3.2.2)", async () => {
    const [x, y] = await transformPositions("EPSG:4277", "EPSG:27700", [0.5, 50.5]);
    expect(x).toBeCloseTo(577274.99, 1);
    expect(y).toBeCloseTo(69740.5, 1);
  });

  it("Web Mercator (guidance note 7-2, 3.2.1.2)", async () => {
    const xy = await transformPositions("EPSG:4326", "EPSG:3857", [-(100 + 20 / 60), 24 + 22 / 60 + 54.433 / 3600]);
    expect(xy[0]).toBeCloseTo(-11169055.58, 2);
    expect(xy[1]).toBeCloseTo(2800000.0, 2);
  });
});

const unnamed = (projection: string, spheroid = "WGS 84", flattening = "298.257223563") =>
  `PROJCS["UNK / ${projection}",GEOGCS["UNK",DATUM["Unknown datum",SPHEROID["${spheroid}",6378137,${flattening}]],PRIMEM["Greenwich",0],UNIT["degree",0.017453292519943295]],PROJECTION["${projection}"],PARAMETER["central_meridian",105],UNIT["Meter",1]]`;

describe("a datum without a name on WGS 84's ellipsoid", () => {
  const written = [
    unnamed("Robinson"),
    "+proj=longlat +ellps=WGS84 +no_defs",
    "EPSG:4030",
    'GEOGCS["unnamed",DATUM["D_Unknown",SPHEROID["unnamed",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["Degree",0.0174532925199433]]',
    'GEOGCS["x",DATUM["Not_specified_based_on_WGS_84_ellipsoid",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]',
  ];
  it("a datum without a name on WGS 84's ellipsoid is assumed to be WGS 84, with a note, in files of any program", async () => {
    for (const text of written) {
      const crs = await parse(text);
      const operation = await findOperation(crs, wgs84);
      expect(await operationText(operation), text).toContain("WGS 84 is assumed");
      expect(operation.accuracy).toBe(2);
      expect(operation.kind).toBe(crs.kind === "geographic" ? "identity" : "conversion");
    }
  });

  it("a datum without a name on WGS 84's ellipsoid is transformed to other datums as WGS 84 is", async () => {
    const mine = await transformPositions(unnamed("Robinson"), "EPSG:4258", [9437066.6, 4000000]);
    expect(mine).toEqual(
      await transformPositions("+proj=robin +lon_0=105 +datum=WGS84", "EPSG:4258", [9437066.6, 4000000]),
    );
    const operation = await findOperation(await parse(unnamed("Robinson")), await parse("EPSG:25832"));
    expect(await operationText(operation)).toMatch(/ETRS89.*WGS 84 is assumed/);
    expect(operation.accuracy).toBe(2);
  });

  it("a datum without a name is reported where another datum of that ellipsoid lies far off", async () => {
    const operation = await findOperation(await parse(unnamed("Transverse_Mercator")), wgs84);
    expect(await operationText(operation)).toMatch(/Vietnam 2000.*22\d m off/);
    const elsewhere = unnamed("Transverse_Mercator").replace("105", "9");
    expect(await operationText(await findOperation(await parse(elsewhere), wgs84))).not.toContain("off");
  });
});

describe("heights of compound systems", () => {
  it("heights of compound systems are unchanged, with a note", async () => {
    const operation = await findOperation(await parse("EPSG:7415"), wgs84);
    expect(await operationText(operation)).toContain("NAP height, is dropped");
    expect(await operationText(await findOperation(wgs84, await parse("EPSG:7415")))).toContain("taken for NAP height");
    expect(await operationText(await findOperation(await parse("EPSG:7415"), await parse("EPSG:7415")))).toBe("");
  });

  it("heights of compound systems are reported for each notation of the system", async () => {
    const geographic =
      'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
    const texts = [
      `COMPD_CS["both",${geographic},VERT_CS["EGM96 height",VERT_DATUM["EGM96 geoid",2005],UNIT["metre",1]]]`,
      `${geographic},VERTCS["EGM96_Geoid",VDATUM["EGM96_Geoid"],PARAMETER["Vertical_Shift",0.0],PARAMETER["Direction",1.0],UNIT["Meter",1.0]]`,
      "+proj=longlat +datum=WGS84 +geoidgrids=egm96_15.gtx",
    ];
    for (const text of texts) {
      const operation = await findOperation(await parse(text), wgs84);
      expect(operation.kind).toBe("identity");
      expect(await operationText(operation), text).toMatch(/heights are copied unchanged.*egm96.*dropped/i);
    }
  });
});

describe("coordinates that are not changed", () => {
  it("coordinates between equal definitions are unchanged to the last digit", async () => {
    const positions = [0.1 + 0.2, 51.12345678901234, 179.99999999999997, -1e-300];
    const esri =
      'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
    for (const definition of ["OGC:CRS84", "urn:ogc:def:crs:EPSG::4326", esri, "+proj=longlat +datum=WGS84"]) {
      const operation = await findOperation(await parse(definition), wgs84);
      expect(operation.kind).toBe("identity");
      const xy = Float64Array.from(positions);
      expect((await buildTransform(operation))(xy, null)).toBe(0);
      expect([...xy]).toEqual(positions);
    }
  });

  it("longitudes and latitudes are unchanged to the bit between datums treated as equal", async () => {
    const operation = await findOperation(await parse("EPSG:4258"), wgs84);
    expect(operation.accuracy).toBe(1);
    expect(await operationText(operation)).toContain("assumed to be the same");
    const xy = Float64Array.of(9.12345678901234, 49.98765432109876);
    (await buildTransform(operation))(xy, null);
    expect([...xy]).toEqual([9.12345678901234, 49.98765432109876]);
  });

  it("heights are used and left unchanged", async () => {
    const run = await buildTransform(await findOperation(await parse("EPSG:4314"), wgs84));
    const z = Float64Array.of(3000, Number.NaN);
    const xy = Float64Array.of(10, 50, 10, 50);
    expect(run(xy, z)).toBe(0);
    expect(z[0]).toBe(3000);
    expect(xy[0]).not.toBe(xy[2]);
  });
});

describe("positions that have no image", () => {
  it("positions without an image become NaN, NaN and are counted; others are not affected", async () => {
    const run = await buildTransform(await findOperation(wgs84, await parse("EPSG:3857")));
    const xy = Float64Array.of(10, 91, 10, 50, Number.NaN, 0, 0, 90);
    expect(run(xy, null)).toBe(3);
    expect([...xy.subarray(0, 2), ...xy.subarray(4)]).toEqual([NaN, NaN, NaN, NaN, NaN, NaN]);
    expect(xy[2]).toBeCloseTo(1113194.9079, 3);
  });

  it("positions outside of the areas of all operations have no image", async () => {
    const operation = await findOperation(await parse("EPSG:4314"), wgs84);
    const xy = Float64Array.of(10, 50, -100, 40);
    expect((await buildTransform(operation))(xy, null)).toBe(1);
    expect(xy[2]).toBeNaN();
  });
});

describe("refusals", () => {
  const refused = async (from: string, to = "EPSG:4326", accuracy = 5) =>
    findOperation(await parse(from), await parse(to), { accuracy }).then(
      (operation) => `found ${operation.name}`,
      (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
    );

  for (const code of ["EPSG:26712", "EPSG:32040", "EPSG:26741"]) {
    it(`${code} is refused, since NAD27 needs grids for 5 m`, async () => {
      expect(await refused(code)).toMatch(/^crs-no-operation: no transformation from EPSG:\d+ to EPSG:4326/);
    });
  }

  it("NAD27 is refused at the location of the data, with an accuracy and a grid for it", async () => {
    // North Carolina. EPSG:1173 is for the contiguous United States, 10 m.
    const within = [-84.4, 33.8, -75.4, 36.6] as const;
    const nad27 = await parse("EPSG:4267");
    await expect(findOperation(nad27, wgs84, { accuracy: 5, within })).rejects.toThrow(
      /; --accuracy 10 takes NAD27 to WGS 84 \(4\), accurate to 10 m; geoferry grids get us_noaa_conus\.tif/,
    );
    expect(await findOperation(nad27, wgs84, { within })).toMatchObject({ name: "NAD27 to WGS 84 (4)", accuracy: 10 });
  });

  it("an unknown datum is refused unless its ellipsoid is that of WGS 84", async () => {
    const onGrs80 = unnamed("Transverse_Mercator", "GRS 1980", "298.257222101");
    expect(await refused(onGrs80)).toContain('the datum "Unknown datum" and its shift to WGS 84 are unknown');
    expect(await refused("+proj=utm +zone=32 +ellps=GRS80")).toContain("are unknown");
    expect(await refused(unnamed("Robinson"), "EPSG:4326", 1)).toContain("2 m at best");
    // A shift or a grid that is spoken of makes it another datum.
    expect(await refused("+proj=longlat +ellps=WGS84 +nadgrids=some.gsb")).toContain("some.gsb");
    expect(await refused(unnamed("Robinson").replace("Unknown datum", "unknown using nadgrids=x"))).toContain(
      "are unknown",
    );
    expect(await refused(unnamed("Robinson").replace("Unknown datum", "My own"))).toContain("are unknown");
    const bound = `BOUNDCRS[SOURCECRS[GEOGCRS["unknown",DATUM["unknown",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],AXIS["longitude",east],AXIS["latitude",north],ANGLEUNIT["degree",0.0174532925199433]]],TARGETCRS[GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],AXIS["longitude",east],AXIS["latitude",north],ANGLEUNIT["degree",0.0174532925199433]]],ABRIDGEDTRANSFORMATION["by grid",METHOD["NTv2"],PARAMETERFILE["Latitude and longitude difference file","their.gsb"]]]`;
    expect(await refused(bound)).toContain("their.gsb");
  });

  it("a datum of another name on a known ellipsoid is refused, with the option and candidate systems", async () => {
    // UTM zone 32 on GRS 1980, as a .prj with a datum of one's own has it.
    const own = (datum: string) =>
      `PROJCS["Own",GEOGCS["Own",DATUM["${datum}",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",9.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`;
    for (const datum of ["D_Unknown", "D_Our_Survey"])
      expect(await refused(own(datum))).toMatch(
        /name the system with --source-crs: .*EPSG:25832 \(ETRS89 \/ UTM zone 32N\)/,
      );
    expect(await refused("EPSG:4326", own("D_Our_Survey"))).toContain("name the system with --target-crs: ");
    const onBessel = own("D_Our_Survey").replace(
      '"GRS_1980",6378137.0,298.257222101',
      '"Bessel_1841",6377397.155,299.1528128',
    );
    expect(await refused(onBessel.replace("0.9996", "1.0").replace("500000.0", "3500000.0"))).toContain("EPSG:31467");
  });

  it("a missing grid in a definition is refused", async () => {
    expect(await refused("+proj=longlat +ellps=clrk66 +nadgrids=conus")).toContain("conus");
  });

  it("an operation less accurate than requested is refused, with a grid that would suffice", async () => {
    expect(await refused("EPSG:27700", "EPSG:4326", 1)).toMatch(
      /accurate to 2 m.*1 m is required.*--accuracy 2 .*grids get/,
    );
    expect(await refused("EPSG:4258", "EPSG:4326", 0.5)).toContain("accurate to 1 m");
  });

  it("unsupported projections and systems that are not maps are refused", async () => {
    expect(await refused("ESRI:54050")).toContain("Fuller");
    expect(await refused("EPSG:4978")).toContain("geocentric");
  });

  it("`ballpark` transforms between unknown datums, with a note", async () => {
    const operation = await findOperation(await parse("EPSG:4267"), wgs84, { allowBallpark: true, accuracy: 0.5 });
    expect(operation.accuracy).toBeNull();
    expect(await operationText(operation)).toContain("hundreds of metres");
  });
});

describe("far from the area of an operation", () => {
  const away: [string, string, number[]][] = [
    // Bermuda 1957 and Fiji 1986 have one operation each; the second position is Paris.
    ["EPSG:4216", "EPSG:4326", [-64.75, 32.3, 2.35, 48.86]],
    ["EPSG:4326", "EPSG:4216", [-64.75, 32.3, 2.35, 48.86]],
    ["EPSG:27700", "EPSG:4326", [530000, 180000, 15e6, -4e6]],
  ];
  for (const [from, to, positions] of away) {
    it(`${from} to ${to} has no result far from the areas of all operations, and the reason names the location`, async () => {
      const operation = await findOperation(await parse(from), await parse(to), { accuracy: 20 });
      const xy = Float64Array.from(positions);
      expect((await buildTransform(operation))(xy, null)).toBe(1);
      expect(Number.isFinite(xy[0]!)).toBe(true);
      expect(xy[2]).toBeNaN();
      const why = await createFailureExplainer(operation);
      expect(why(positions[2]!, positions[3]!)).toMatch(/lies at .*°.*(outside of where|no shift is known)/);
    });
  }

  it.skipIf(needsProj)("up to a degree outside of its area the operation equals that of PROJ", async () => {
    // The area of Bermuda 1957 ends at 32.43 north.
    const [x, y] = await transformPositions("EPSG:4216", "EPSG:4326", [-64.75, 33.2], 20);
    const [theirX, theirY] = await gdalTransform("EPSG:4216", "EPSG:4326", Float64Array.of(-64.75, 33.2));
    expect(Math.hypot(x! - theirX!, y! - theirY!)).toBeLessThan(1e-8);
    expect((await transformPositions("EPSG:4216", "EPSG:4326", [-64.75, 34], 20))[0]).toBeNaN();
    const operation = await findOperation(await parse("EPSG:4216"), wgs84, { accuracy: 20 });
    const tally = new PositionCounter(operation.transformations.length);
    (await buildTransform(operation, tally))(Float64Array.of(-64.75, 33.2, -64.75, 32.3, -64.75, 34), null);
    expect([tally.outsideAreaCount, tally.getCount(0), tally.getCount(null)]).toEqual([1, 2, 1]);
    expect(tally.getBox(0)).toEqual([-64.75, expect.closeTo(32.3), -64.75, expect.closeTo(33.2)]);
  });

  it("satellite-geodesy frames remain valid far away: ETRS89 in French Guiana", async () => {
    expect([...(await transformPositions("EPSG:4258", "EPSG:4326", [-52.3, 4.9]))]).toEqual([-52.3, 4.9]);
  });
});

describe("a shift that the definition declares", () => {
  const bessel = "+proj=longlat +ellps=bessel +towgs84=";
  const asked = async (definition: string, accuracy = 5) => findOperation(await parse(definition), wgs84, { accuracy });

  it("a declared shift is EPSG's operation with the same parameters, with its accuracy and area", async () => {
    const operation = await asked(`${bessel}598.1,73.7,418.2,0.202,0.045,-2.455,6.7`);
    expect(await operationText(operation)).toMatch(/DHDN to WGS 84 \(2\).*accurate to 3 m/);
    const [x, y] = await transformPositions(`${bessel}598.1,73.7,418.2,0.202,0.045,-2.455,6.7`, "EPSG:4326", [9, 50]);
    const expected = await transformPositions("EPSG:4314", "EPSG:4326", [9, 50]);
    expect(Math.hypot(x! - expected[0]!, y! - expected[1]!)).toBeLessThan(1e-8);
    expect(
      (await transformPositions(`${bessel}598.1,73.7,418.2,0.202,0.045,-2.455,6.7`, "EPSG:4326", [-100, 40]))[0],
    ).toBeNaN();
  });

  it("a declared shift can be a replaced operation of EPSG: EPSG:15934 of the Netherlands, 1 m", async () => {
    const operation = await asked(
      "+proj=sterea +lat_0=52.15616055555555 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565.2369,50.0087,465.658,-0.406857330322398,0.350732676542563,-1.8703473836068,4.0812 +units=m",
    );
    expect(operation.accuracy).toBe(1);
  });

  it("a declared shift of unknown accuracy is refused with advice; --accuracy 999 uses it", async () => {
    await expect(asked(`${bessel}612,70,411,0,0,0,1`)).rejects.toThrow(/TOWGS84.*--source-crs.*--accuracy 999/);
    const operation = await asked(`${bessel}612,70,411,0,0,0,1`, 999);
    expect(operation.accuracy).toBeNull();
    expect(await operationText(operation)).toContain("accuracy is unknown");
  });

  it("a declared shift of zeros on GRS 1980 is reported as a satellite-geodesy frame", async () => {
    const operation = await asked("+proj=utm +zone=32 +ellps=GRS80 +towgs84=0,0,0,0,0,0,0 +units=m");
    expect(operation.accuracy).toBe(4);
  });

  it("a declared shift is reported where EPSG's parameters for the datum take precedence", async () => {
    const text = (shift: string) =>
      `GEOGCS["DHDN",DATUM["Deutsches_Hauptdreiecksnetz",SPHEROID["Bessel 1841",6377397.155,299.1528128],TOWGS84[${shift}]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]`;
    const other = await asked(text("100,200,300,0,0,0,0"));
    expect(await operationText(other)).toContain("TOWGS84 100, 200, 300");
    expect(await operationText(other)).toContain("is none that EPSG has for Deutsches Hauptdreiecksnetz: not used");
    expect(await operationText(await asked(text("598.1,73.7,418.2,0.202,0.045,-2.455,6.7")))).not.toContain("not used");
    // Replaced since.
    expect(await operationText(await asked(text("582,105,414,1.04,0.35,-3.08,8.3")))).not.toContain("not used");
  });

  it("a declared shift connects to a third datum", async () => {
    const mine = await transformPositions(`${bessel}598.1,73.7,418.2,0.202,0.045,-2.455,6.7`, "EPSG:4258", [9, 50]);
    const viaWgs84 = await transformPositions("EPSG:4314", "EPSG:4326", [9, 50]);
    expect(Math.hypot(mine[0]! - viaWgs84[0]!, mine[1]! - viaWgs84[1]!)).toBeLessThan(1e-8);
  });
});

describe("longitudes beyond the antimeridian", () => {
  // Geodetic Datum of New Zealand 1949: by three or seven parameters, as EPSG has them.
  it("longitudes beyond the antimeridian stay on their side of it, and use the operation for their place", async () => {
    const operation = await findOperation(await crsContext.parse("EPSG:4272"), crsContext.wgs84);
    const beyond = Float64Array.of(178.5, -38, 180.2, -38, -181.5, -38);
    const usual = Float64Array.of(178.5, -38, -179.8, -38, 178.5, -38);
    const transform = await buildTransform(operation);
    expect([transform(beyond, null), transform(usual, null)]).toEqual([0, 0]);
    expect(beyond[2]! - 360).toBeCloseTo(usual[2]!, 9);
    expect(beyond[4]! + 360).toBeCloseTo(usual[4]!, 9);
    expect([beyond[0], beyond[3], beyond[5]]).toEqual([usual[0], usual[3], usual[5]]);
  });
});

it("Ammassalik 1958 to GR96 uses the operation of EPSG v13.102, which lies 78 m from the former one", async () => {
  const operation = await findOperation(await crsContext.parse("EPSG:4196"), await crsContext.parse("EPSG:4747"));
  expect(operation.accuracy).toBe(0.4);
  const xy = Float64Array.of(-37.6, 65.6);
  await (await buildTransform(operation))(xy, null);
  // PROJ 9.9's cs2cs.
  expect(xy[0]).toBeCloseTo(-37.59472615614098, 8);
  expect(xy[1]).toBeCloseTo(65.6019149852675, 8);
});
