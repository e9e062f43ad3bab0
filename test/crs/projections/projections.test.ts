import { describe, expect, it } from "vitest";
import {
  type Ellipsoid,
  metre,
  type ProjectionParameters,
  type Unit,
} from "../../../src/crs/definitions/definition.js";
import { type MethodId, projectionMethods } from "../../../src/crs/definitions/methods.js";
import { resolveDefinition } from "../../../src/crs/definitions/parse.js";
import { crsContext } from "../../../src/crs/index.js";
import { buildKernel } from "../../../src/crs/projections/index.js";
import { gdalTransform, needsProj } from "../proj-tools.js";

const ellipsoid = (a: number, inverseFlattening: number): Ellipsoid => ({ name: "", a, inverseFlattening });
const wgs84 = ellipsoid(6378137, 298.257223563);
const bessel = ellipsoid(6377397.155, 299.1528128);
const clarke1866 = ellipsoid(6378206.4, 294.9786982);
const international = ellipsoid(6378388, 297);

function projected(method: MethodId, parameters: ProjectionParameters, on: Ellipsoid, unit: Unit = metre) {
  const kernel = buildKernel({ method, methodName: method, parameters, unit }, on);
  if (!kernel) throw new Error(`${method} has no kernel`);
  return kernel;
}
const dms = (degrees: number, minutes: number, seconds: number): number =>
  Math.sign(degrees) * (Math.abs(degrees) + minutes / 60 + seconds / 3600);

const krovak = { lat0: 49.5, lon0: 42.5, colatitude: dms(30, 17, 17.3031), pseudoParallel: 78.5, k: 0.9999 };
const ferro = dms(34, 30, 59.179);
const czech: [number, number] = [ferro, dms(50, 12, 32.442)];

/** [what, method, parameters, ellipsoid, [longitude, latitude] in degrees, [x, y] in metres, metres in the last digit] */
type Example = readonly [string, MethodId, ProjectionParameters, Ellipsoid, [number, number], [number, number], number];

/** The worked examples of EPSG's guidance note 7-2. */
const examples: readonly Example[] = [
  ["Krovak", "krovak", { ...krovak, x0: 0, y0: 0 }, bessel, czech, [1050538.63, 568990.995], 1e-2],
  ["Krovak north", "krovak-north", { ...krovak, x0: 0, y0: 0 }, bessel, czech, [-568990.995, -1050538.63], 1e-2],
  [
    "modified Krovak",
    "krovak-modified",
    { ...krovak, x0: 5e6, y0: 5e6 },
    bessel,
    czech,
    [6050538.71, 5568990.91],
    1e-2,
  ],
  [
    "modified Krovak north",
    "krovak-modified-north",
    { ...krovak, x0: 5e6, y0: 5e6 },
    bessel,
    czech,
    [-5568990.91, -6050538.71],
    1e-2,
  ],
  [
    "Laborde",
    "laborde",
    { lat0: -18.9, lon0: 44.1, azimuth: 18.9, k: 0.9995, x0: 400000, y0: 800000 },
    international,
    [dms(44, 27, 27.26) - 2.33722917, dms(-16, 11, 23.28)],
    [188333.848, 1098841.091],
    2e-3,
  ],
  [
    "Lambert near-conformal",
    "lambert-conic-near-conformal",
    { lat0: 34.65, lon0: 37.35, k: 0.9996256, x0: 300000, y0: 300000 },
    ellipsoid(6378249.2, 293.4660213),
    [dms(34, 8, 11.291), dms(37, 31, 17.625)],
    [15707.96, 623165.96],
    1e-2,
  ],
  [
    "Guam",
    "guam",
    { lat0: dms(13, 28, 20.87887), lon0: dms(144, 44, 55.50254), x0: 50000, y0: 50000 },
    clarke1866,
    [dms(144, 38, 7.19265), dms(13, 20, 20.53846)],
    [37712.48, 35242.0],
    1e-2,
  ],
  [
    "Tunisia Mining Grid, in kilometres",
    "tunisia-mining",
    { lat0: 0, lon0: 0, x0: 270, y0: 360 },
    ellipsoid(6378249.2, 293.4660213),
    [8.22437 * 0.9, 38.97997 * 0.9],
    [302_000, 598_000],
    1,
  ],
  [
    "polar stereographic C",
    "polar-stereographic-c",
    { lat1: -67, lon0: 140, x0: 300000, y0: 200000 },
    international,
    [dms(140, 4, 17.04), dms(-66, 36, 18.82)],
    [303169.52, 244055.72],
    1e-2,
  ],
  [
    "hyperbolic Cassini, in links",
    "cassini-hyperbolic",
    {
      lat0: -16.25,
      lon0: 179 + 1 / 3,
      x0: 1251331.8 * 0.201168,
      y0: 1662888.5 * 0.201168,
    },
    ellipsoid(6378306.3696, 293.4663077168331),
    [179 + 59 / 60 + 39.6115 / 3600, dms(-16, 50, 29.2435)],
    [1601528.9 * 0.201168, 1336966.01 * 0.201168],
    1e-2,
  ],
  [
    "Cassini of Trinidad, in Clarke's links",
    "cassini",
    { lat0: dms(10, 26, 30), lon0: dms(-61, 20, 0), x0: 430000 * 0.201166195164, y0: 325000 * 0.201166195164 },
    ellipsoid(6378293.645208759, 294.2606763692654),
    [-62, 10],
    [66644.94 * 0.201166195164, 82536.22 * 0.201166195164],
    1e-2,
  ],
  [
    "Hotine variant B of Borneo",
    "oblique-mercator-b",
    {
      lat0: 4,
      lon0: 115,
      azimuth: dms(53, 18, 56.9537),
      gamma: dms(53, 7, 48.3685),
      k: 0.99984,
      x0: 590476.87,
      y0: 442857.65,
    },
    ellipsoid(6377298.556, 300.8017),
    [dms(115, 48, 19.8196), dms(5, 23, 14.1129)],
    [679245.73, 596562.78],
    1e-2,
  ],
  [
    "oblique stereographic of the Netherlands",
    "oblique-stereographic",
    { lat0: dms(52, 9, 22.178), lon0: dms(5, 23, 15.5), k: 0.9999079, x0: 155000, y0: 463000 },
    bessel,
    [6, 53],
    [196105.283, 557057.739],
    2e-3,
  ],
  [
    "Lambert azimuthal of Europe",
    "lambert-azimuthal",
    { lat0: 52, lon0: 10, x0: 4321000, y0: 3210000 },
    ellipsoid(6378137, 298.2572221),
    [5, 50],
    [3962799.45, 2999718.85],
    1e-2,
  ],
  [
    "Lambert cylindrical equal area",
    "equal-area-cylindrical",
    { lat1: 5, lon0: -75, x0: 0, y0: 0 },
    clarke1866,
    [-78, 5],
    [-332699.83, 554248.45],
    1e-2,
  ],
  [
    "orthographic",
    "orthographic",
    { lat0: 55, lon0: 5, x0: 0, y0: 0 },
    wgs84,
    [dms(2, 7, 46.38), dms(53, 48, 33.82)],
    [-189011.711, -128640.567],
    2e-3,
  ],
  [
    "Colombia Urban",
    "colombia-urban",
    {
      lat0: dms(4, 40, 49.75),
      lon0: dms(-74, 8, 47.73),
      x0: 92334.879,
      y0: 109320.965,
      height: 2550,
    },
    ellipsoid(6378137, 298.2572221),
    [-74.25, 4.8],
    [80859.033, 122543.174],
    2e-3,
  ],
  [
    "UTM zones with their number before the easting",
    "transverse-mercator-zoned",
    { lat0: 0, initialLongitude: -180, zoneWidth: 6, k: 0.9996, x0: 500000, y0: 0 },
    wgs84,
    [9, 0],
    [32_500_000, 0],
    1e-6,
  ],
];

describe("worked examples of guidance note 7-2, there and back", () => {
  for (const [what, method, parameters, on, [longitude, latitude], [x, y], digit] of examples) {
    it(`${what}: the worked example of guidance note 7-2, there and back`, () => {
      const kernel = projected(method, parameters, on);
      const xy = Float64Array.of((longitude * Math.PI) / 180, (latitude * Math.PI) / 180);
      kernel.forward(xy, 0, 1);
      expect(Math.abs(xy[0]! - x), `${xy[0]}`).toBeLessThan(digit);
      expect(Math.abs(xy[1]! - y), `${xy[1]}`).toBeLessThan(digit);
      kernel.inverse(xy, 0, 1);
      expect(Math.abs((xy[0]! * 180) / Math.PI - longitude)).toBeLessThan(1e-11);
      expect(Math.abs((xy[1]! * 180) / Math.PI - latitude)).toBeLessThan(1e-11);
    });
  }
});

it("Lambert azimuthal is accurate at the pole (Snyder 3-12 and 24-23 in sixty digits)", () => {
  for (const [latitude, radius] of [
    [89.99999, 1.116939795591273],
    [89.999, 111.6939795575952],
    [60, 3309819.551020479],
    [-30, 11028731.46614951],
  ] as const) {
    const kernel = projected("lambert-azimuthal", { lat0: 90, lon0: 0, x0: 0, y0: 0 }, wgs84);
    const xy = Float64Array.of(0, (latitude * Math.PI) / 180);
    kernel.forward(xy, 0, 1);
    expect(Math.abs(xy[1]! + radius), `${latitude}`).toBeLessThan(2e-8);
    kernel.inverse(xy, 0, 1);
    expect(Math.abs((xy[1]! * 180) / Math.PI - latitude), `${latitude}`).toBeLessThan(1e-13);
  }
});

describe("axes to the west and south", () => {
  it("axes to the west of the conic of Greenland and Iceland are supported", () => {
    const p = { lat0: 65, lon0: -19, k: 1, x0: 500000, y0: 600000 };
    const at = () => Float64Array.of((-21 * Math.PI) / 180, (64 * Math.PI) / 180);
    const [east, west] = [at(), at()];
    projected("lambert-conic-1sp", { ...p, x0: 0 }, bessel).forward(east, 0, 1);
    const kernel = projected("lambert-conic-west", p, bessel);
    kernel.forward(west, 0, 1);
    expect(west[0]).toBeCloseTo(500000 - east[0]!, 6);
    expect(west[1]).toBeCloseTo(east[1]!, 6);
    kernel.inverse(west, 0, 1);
    expect((west[0]! * 180) / Math.PI).toBeCloseTo(-21, 10);
  });

  it("axes to the south and west of Portugal's Bonne are supported", () => {
    const p = { lat0: 39 + 2 / 3, lon0: -8.13, x0: 0, y0: 0 };
    const [north, south] = [1, 2].map(() => Float64Array.of((-7 * Math.PI) / 180, (41 * Math.PI) / 180)) as [
      Float64Array,
      Float64Array,
    ];
    projected("bonne", p, bessel).forward(north, 0, 1);
    projected("bonne-south", p, bessel).forward(south, 0, 1);
    expect([...south]).toEqual([-north[1]!, -north[0]!]);
  });
});

/** As PROJ names them, on WGS 84; those whose PROJ has no inverse, or only one by rounded steps, go there only. */
const maps: readonly (readonly [proj: string, there?: "there only"])[] = [
  ..."moll eck1 eck2 eck3 eck4 eck5 eck6 gall wag4 wag5 aitoff hammer natearth natearth2 patterson comill times crast mbtfpq qua_aut igh sinu"
    .split(" ")
    .map((name) => [name] as const),
  ["igh_o +lon_0=-160"],
  ["wag7", "there only"],
  ["loxim +lat_1=40"],
  ["wink1 +lat_ts=50.46"],
  ["wink2 +lat_1=50.46", "there only"],
  ["wintri +lat_1=50.467"],
  ["tpeqd +lat_1=10 +lon_1=100 +lat_2=-40 +lon_2=140"],
  ["nsper +h=3000000 +lat_0=40 +lon_0=10"],
  ["geos +h=35786023 +lon_0=-75"],
  ["ortho +lat_0=40 +lon_0=10"],
  ["aeqd +lat_0=40 +lon_0=10"],
  ["aeqd +lat_0=-90"],
  ["stere +lat_0=40 +lon_0=10 +k=0.999"],
  ["stere +lat_0=-90 +lat_ts=-71"],
  ["bonne +lat_1=40"],
  ["eqearth", "there only"],
  ["cea +lat_ts=30", "there only"],
  ["laea +lat_0=52 +lon_0=10", "there only"],
  ["aea +lat_0=-30 +lat_1=-20 +lat_2=-50"],
  ["eqdc +lat_0=39 +lat_1=33 +lat_2=45"],
];

describe.skipIf(needsProj)("maps of the whole earth are PROJ's, to a tenth of a millimetre", () => {
  const globe: number[] = [];
  for (let longitude = -173; longitude < 180; longitude += 23.3)
    for (let latitude = -88.9; latitude < 90; latitude += 17.7) globe.push(longitude, latitude);
  for (const [proj, way] of maps) {
    it(`${proj} equals PROJ on the whole earth to a tenth of a millimetre`, async () => {
      const text = `+proj=${proj} +datum=WGS84 +units=m +no_defs`;
      const definition = await resolveDefinition(await crsContext.parse(text));
      const kernel = buildKernel(definition.projection!, definition.geodetic!.datum.ellipsoid)!;
      const theirs = await gdalTransform("EPSG:4326", text, Float64Array.from(globe));
      const seen = globe.flatMap((_, i) => (i % 2 === 0 && Number.isFinite(theirs[i]!) ? [i, i + 1] : []));
      expect(seen.length).toBeGreaterThan(globe.length / 8);
      const there = Float64Array.from(seen, (i) => (globe[i]! * Math.PI) / 180);
      kernel.forward(there, 0, seen.length / 2);
      expect(Math.max(...there.map((value, i) => Math.abs(value - theirs[seen[i]!]!)))).toBeLessThan(1e-4);
      const back = Float64Array.from(there);
      kernel.inverse(back, 0, seen.length / 2);
      const apart = (i: number) => Math.abs((back[i]! * 180) / Math.PI - globe[seen[i]!]!);
      expect(Math.max(...seen.map((_, i) => apart(i)))).toBeLessThan(1e-9);
      if (way === "there only") return;
      const theirBack = await gdalTransform(text, "EPSG:4326", there);
      expect(Math.max(...theirBack.map((value, i) => Math.abs(value - globe[seen[i]!]!)))).toBeLessThan(5e-9);
    });
  }
});

it("every method has a unique name in every dialect", () => {
  const names = Object.values(projectionMethods).map(({ wkt2 }) => wkt2);
  expect(new Set(names).size).toBe(names.length);
});
