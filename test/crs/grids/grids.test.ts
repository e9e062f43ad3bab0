/** Shifts by grids are held against PROJ, which is given the same files under the names that it looks for. */
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crsContext, findOperation } from "../../../src/crs/index.js";
import { shareGrids } from "../../../src/crs/operations/share-grids.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";
import { operationText } from "../operation-text.js";
import { needsProj } from "../proj-tools.js";
import { cs2cs, gridFolder } from "./proj-with-grids.js";
import { type GeoTiffOptions, ntv2, type SyntheticPart, writeGeoTiff } from "./synthetic-grids.js";

const { parse } = crsContext;
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(dirname(folder), { recursive: true, force: true });
});

function newFolder(name = "grids"): string {
  const folder = gridFolder(name);
  folders.push(folder);
  return folder;
}

async function transformWithGrids(
  folder: string,
  from: string,
  to: string,
  positions: readonly number[],
  accuracy = 5,
) {
  const operation = await findOperation(await parse(from), await parse(to), { accuracy, grids: [folder] });
  const xy = Float64Array.from(positions);
  (await buildTransform(operation))(xy, null);
  return [...xy];
}

/** Metres between positions in degrees, the greatest; NaN where one side has no number. */
function maxDistance(mine: readonly number[], theirs: readonly number[]): number {
  let greatest = mine.length === theirs.length ? 0 : Number.NaN;
  for (let i = 0; i < mine.length; i += 2) {
    const east = (mine[i]! - theirs[i]!) * Math.cos((theirs[i + 1]! * Math.PI) / 180);
    const north = mine[i + 1]! - theirs[i + 1]!;
    greatest = Math.max(greatest, Math.hypot(east, north) * 111_320);
  }
  return greatest;
}

const conus: SyntheticPart = { name: "conus", west: -131, south: 20, columns: 273, rows: 121, step: 0.25 };
const nested: readonly SyntheticPart[] = [
  conus,
  { name: "dense", parent: "conus", west: -100, south: 30, columns: 41, rows: 41, step: 0.1, bias: 0.3 },
  { name: "densest", parent: "dense", west: -99, south: 31, columns: 21, rows: 31, step: 0.05, bias: 0.7 },
  // Beside the dense one, so that the way back crosses from one to the other.
  { name: "beside", parent: "conus", west: -96, south: 30, columns: 41, rows: 41, step: 0.1, bias: -0.2 },
];

/** Everywhere in the contiguous states, on nodes and edges of all parts, and just beside them. */
const american: number[] = [];
for (let x = -124; x <= -67; x += 1.37) for (let y = 25.1; y <= 49; y += 1.13) american.push(x, y);
for (const [x, y] of [
  [-100, 30],
  [-96, 34],
  [-99, 31],
  [-98, 32.5],
  [-96, 31.7],
  [-110.25, 40.5],
] as const) {
  for (const off of [-2e-4, -1e-7, 0, 1e-7, 2e-4]) american.push(x + off, y, x, y + off, x + off, y + off);
}

const geoTiffs: Readonly<Record<string, GeoTiffOptions>> = {
  "uncompressed strips": {},
  "Deflate with the floating predictor, in tiles": {
    creation: ["COMPRESS=DEFLATE", "PREDICTOR=3", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=32"],
  },
  "LZW with horizontal differences": { creation: ["COMPRESS=LZW", "PREDICTOR=2"] },
  "LZW in blocks of a band each": { creation: ["COMPRESS=LZW", "INTERLEAVE=BAND"] },
  "big-endian LZW with horizontal differences": { creation: ["ENDIANNESS=BIG", "COMPRESS=LZW", "PREDICTOR=2"] },
  "double precision in degrees, west positive": {
    type: "Float64",
    unit: "degree",
    positive: "west",
    creation: ["COMPRESS=DEFLATE", "PREDICTOR=3"],
  },
  "double precision in radians with horizontal differences": {
    type: "Float64",
    unit: "radian",
    creation: ["COMPRESS=LZW", "PREDICTOR=2"],
  },
  "whole numbers with a scale and an offset": {
    type: "Int16",
    scale: 2e-4,
    offset: 0.5,
    creation: ["COMPRESS=DEFLATE", "PREDICTOR=2"],
  },
  "BigTIFF, nodes as areas": { creation: ["BIGTIFF=YES"], metadata: { AREA_OR_POINT: "Area" } },
};

describe.skipIf(needsProj)("NAD27 to WGS 84 by us_noaa_conus.tif, equal to PROJ within a millimetre", () => {
  for (const [kind, options] of Object.entries(geoTiffs)) {
    it(`NAD27 to WGS 84 by us_noaa_conus.tif (${kind}) equals PROJ within a millimetre, there and back`, async () => {
      const folder = newFolder();
      await writeGeoTiff(join(folder, "us_noaa_conus.tif"), nested, options);
      const mine = await transformWithGrids(folder, "EPSG:4267", "EPSG:4326", american);
      const theirs = await cs2cs(folder, "EPSG:4267", "EPSG:4326", american);
      expect(maxDistance(mine, theirs)).toBeLessThan(1e-3);
      const back = await transformWithGrids(folder, "EPSG:4326", "EPSG:4267", mine);
      expect(maxDistance(back, await cs2cs(folder, "EPSG:4326", "EPSG:4267", mine))).toBeLessThan(1e-3);
      // That both only did nothing would be a millimetre, too.
      expect(maxDistance(mine, american)).toBeGreaterThan(10);
    });
  }
});

const nadcon5 = "us_noaa_nadcon5_nad83_1986_nad83_harn_conus.tif";
const kansas: SyntheticPart = { name: "kansas", west: -102, south: 37, columns: 13, rows: 9, step: 0.5 };

/**
 * Longitude and latitude, and both there and back, by `+proj=gridshift` of PROJ 9.5.1 (older ones lack it) with the grid
 * of the test.
 */
const nadcon5Expected: readonly (readonly [number, number, number, number, number, number])[] = [
  [-102, 37, -101.999423253801, 37.000134295689, -102.000576746199, 36.999865704311],
  [-101.9, 37.1, -101.899420231208, 37.1001347027, -101.900579768792, 37.0998652973],
  [-100.26, 38.24, -100.259375256955, 38.240138590385, -100.260624743045, 38.239861409615],
  [-100.24, 38.26, -100.239374574605, 38.260138611384, -100.240625425395, 38.259861388616],
  [-99.75, 39.25, -99.749348695317, 39.250138886507, -99.750651304683, 39.249861113493],
  [-99.13, 39.97, -99.129324445421, 39.970138435785, -99.130675554579, 39.969861564215],
  [-98.62, 38.5, -98.619344410498, 38.500138273771, -98.620655589502, 38.499861726229],
  [-97.5, 40.9, -97.499277760569, 40.900134378571, -97.500722239431, 40.899865621429],
  [-96.1, 39.6, -96.099285641022, 39.600130143136, -96.100714358978, 39.599869856864],
  [-96.3, 37.02, -96.299349049331, 37.020133587995, -96.300650950669, 37.019866412005],
  [-101.99, 40.99, -101.989368812831, 40.990137041349, -101.990631187169, 40.989862958651],
];

describe.skipIf(needsProj)("NADCON 5, by parabolas", () => {
  const writeNadcon5 = async (part: SyntheticPart, options: GeoTiffOptions) => {
    const folder = newFolder();
    const metadata = { interpolation_method: "biquadratic", ...options.metadata };
    await writeGeoTiff(join(folder, nadcon5), [part], { ...options, metadata });
    return folder;
  };
  /** In every cell, at its edges and at those of the grid. */
  const positions: number[] = [];
  for (let x = -102; x <= -96; x += 0.12) for (let y = 37; y <= 41; y += 0.16) positions.push(x, y);

  for (const [kind, options] of [
    ["with longitudes and latitudes", {}],
    ["with heights beside them", { heights: true, metadata: { TYPE: "GEOGRAPHIC_3D_OFFSET" } }],
  ] as const) {
    it(`NADCON 5 reproduces a quadratic shift: a grid ${kind}`, async () => {
      const curved = (x: number, y: number) =>
        [0.3 + 0.02 * (x + 99) ** 2 - 0.01 * (x + 99) * (y - 39), -0.2 + 0.03 * (y - 39) ** 2] as const;
      const folder = await writeNadcon5({ ...kansas, shift: curved }, options);
      const moved = (sign: number) => {
        const at: number[] = [];
        for (let i = 0; i < positions.length; i += 2) {
          const [x, y] = [positions[i]!, positions[i + 1]!];
          const [east, north] = curved(x, y);
          at.push(x + (sign * east) / 3600, y + (sign * north) / 3600);
        }
        return at;
      };
      expect(maxDistance(await transformWithGrids(folder, "EPSG:4269", "EPSG:4152", positions), moved(1))).toBeLessThan(
        1e-5,
      );
      // As NOAA's program does: by the shift at the place that it starts from.
      expect(
        maxDistance(await transformWithGrids(folder, "EPSG:4152", "EPSG:4269", positions), moved(-1)),
      ).toBeLessThan(1e-5);
    });
  }

  it("NADCON 5 equals PROJ 9.5.1 for another shift, there and back", async () => {
    const folder = await writeNadcon5(kansas, {});
    const asked = nadcon5Expected.flatMap((row) => row.slice(0, 2));
    const there = nadcon5Expected.flatMap(([, , x, y]) => [x, y]);
    const back = nadcon5Expected.flatMap(([, , , , x, y]) => [x, y]);
    expect(maxDistance(await transformWithGrids(folder, "EPSG:4269", "EPSG:4152", asked), there)).toBeLessThan(1e-5);
    expect(maxDistance(await transformWithGrids(folder, "EPSG:4152", "EPSG:4269", asked), back)).toBeLessThan(1e-5);
  });

  it("NADCON 5 is refused if the file declares another interpolation", async () => {
    const folder = await writeNadcon5(kansas, { metadata: { interpolation_method: "bicubic" } });
    await expect(transformWithGrids(folder, "EPSG:4269", "EPSG:4152", [-99, 39])).rejects.toThrow(
      /interpolation method "bicubic" is not supported/,
    );
  });
});

/** Canada in two sheets that touch, with parts inside parts. */
const canada: readonly SyntheticPart[] = [
  { name: "CAwest", west: -142, south: 40, columns: 163, rows: 181, step: 0.25 },
  { name: "CAeast", west: -101.5, south: 40, columns: 223, rows: 181, step: 0.25, bias: 0.05 },
  { name: "ALberta", parent: "CAwest", west: -120, south: 49, columns: 101, rows: 111, step: 0.1, bias: 0.2 },
  { name: "ALcalga", parent: "ALberta", west: -115, south: 50, columns: 41, rows: 41, step: 0.05, bias: 0.4 },
];
const canadian: number[] = [];
for (let x = -140; x <= -48; x += 1.71) for (let y = 41; y <= 83; y += 1.31) canadian.push(x, y);
for (const [x, y] of [
  [-101.5, 55],
  [-120, 49],
  [-110, 60],
  [-115, 50],
  [-113, 51],
] as const) {
  for (const off of [-3e-4, -1e-7, 0, 1e-7, 3e-4]) canadian.push(x + off, y, x, y + off);
}

describe.skipIf(needsProj)("NTv2, equal to PROJ within a millimetre", () => {
  for (const bigEndian of [false, true]) {
    it(`NAD27 to WGS 84 by ntv2_0.gsb, ${bigEndian ? "big" : "little"}-endian, there and back`, async () => {
      const folder = newFolder();
      writeFileSync(join(folder, "ntv2_0.gsb"), ntv2(canada, { bigEndian }));
      const mine = await transformWithGrids(folder, "EPSG:4267", "EPSG:4326", canadian);
      expect(maxDistance(mine, await cs2cs(folder, "EPSG:4267", "EPSG:4326", canadian))).toBeLessThan(1e-3);
      const back = await transformWithGrids(folder, "EPSG:4326", "EPSG:4267", mine);
      expect(maxDistance(back, await cs2cs(folder, "EPSG:4326", "EPSG:4267", mine))).toBeLessThan(1e-3);
      expect(maxDistance(mine, canadian)).toBeGreaterThan(10);
    });
  }

  it("British National Grid to UTM by one operation to ETRS89, not by way of WGS 84", async () => {
    const folder = newFolder();
    const part = { name: "OSTN15", west: -9, south: 49, columns: 111, rows: 121, step: 0.1 };
    writeFileSync(join(folder, "OSTN15_NTv2_OSGBtoETRS.gsb"), ntv2([part]));
    const positions = [400000, 300000, 530000, 180000, 250000, 650000, 120000, 900000];
    const operation = await findOperation(await parse("EPSG:27700"), await parse("EPSG:25830"), { grids: [folder] });
    const xy = Float64Array.from(positions);
    (await buildTransform(operation))(xy, null);
    const theirs = await cs2cs(folder, "EPSG:27700", "EPSG:25830", positions, [false, false]);
    for (let i = 0; i < xy.length; i++) expect(Math.abs(xy[i]! - theirs[i]!)).toBeLessThan(1e-3);
    expect(operation.transformations.find((route) => route.steps.some((step) => step.grids.length > 0))).toMatchObject({
      accuracy: 0.03,
      steps: [{ code: "7709" }],
    });
  });

  it("a file that PROJ inverted: RGF93 to NTF by that of NTF to RGF93", async () => {
    const folder = newFolder();
    await writeGeoTiff(join(folder, "fr_ign_ntf_r93.tif"), [
      { name: "FRANCE", west: -6, south: 40, columns: 181, rows: 131, step: 0.1 },
    ]);
    const positions = [2.35, 48.85, -4, 48, 7.7, 48.5, 3, 43];
    for (const [from, to] of [
      ["EPSG:4171", "EPSG:4275"],
      ["EPSG:4275", "EPSG:4171"],
    ] as const) {
      const mine = await transformWithGrids(folder, from, to, positions);
      expect(maxDistance(mine, await cs2cs(folder, from, to, positions)), from).toBeLessThan(1e-3);
      expect(maxDistance(mine, positions)).toBeGreaterThan(10);
    }
  });

  it("two grids in sequence: NAD27 to NAD83(HARN) through NAD83", async () => {
    const folder = newFolder();
    await writeGeoTiff(join(folder, "us_noaa_conus.tif"), nested);
    const alabama = { name: "alhpgn", west: -89, south: 29, columns: 50, rows: 70, step: 0.1, bias: -1.6 };
    await writeGeoTiff(join(folder, "us_noaa_alhpgn.tif"), [alabama]);
    const positions = [-86.8, 33.5, -88, 30.8, -85.5, 34.6];
    for (const [from, to] of [
      ["EPSG:4267", "EPSG:4152"],
      ["EPSG:4152", "EPSG:4267"],
      ["EPSG:4267", "EPSG:4326"],
    ] as const) {
      const mine = await transformWithGrids(folder, from, to, positions);
      expect(maxDistance(mine, await cs2cs(folder, from, to, positions)), `${from} ${to}`).toBeLessThan(1e-3);
    }
  });

  it("outside of the grid, but in its operation's area, the next best operation is used, or none", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "ntv2_0.gsb"), ntv2([{ ...canada[0]!, rows: 41 }]));
    const [inside, beyond] = [
      [-110, 49.5],
      [-110, 55],
    ] as const;
    const mine = await transformWithGrids(folder, "EPSG:4267", "EPSG:4326", [...inside, ...beyond], 20);
    expect(maxDistance(mine, await cs2cs(folder, "EPSG:4267", "EPSG:4326", [...inside, ...beyond]))).toBeLessThan(1e-3);
    expect((await transformWithGrids(folder, "EPSG:4267", "EPSG:4326", [...inside, ...beyond])).slice(2)).toEqual([
      NaN,
      NaN,
    ]);
  });
});

describe.skipIf(needsProj)("grids of a definition", () => {
  let folder = "";
  beforeAll(() => {
    folder = newFolder();
    writeFileSync(join(folder, "ntv2_0.gsb"), ntv2(canada));
  });
  const asks = (grids: string) => `+proj=longlat +ellps=clrk66 +nadgrids=${grids} +no_defs +type=crs`;

  it("grids are used in their order, those with an @ if they exist", async () => {
    for (const grids of ["ntv2_0.gsb", "@conus,@alaska,@ntv2_0.gsb", "@nowhere,ntv2_0.gsb,null"]) {
      const mine = await transformWithGrids(folder, asks(grids), "EPSG:4326", canadian);
      // As an argument that begins with + it would be taken for an option.
      const said = asks(grids).replaceAll("+", "");
      const theirs = await cs2cs(folder, said, "EPSG:4326", canadian, [false, true]);
      expect(maxDistance(mine, theirs), grids).toBeLessThan(1e-3);
      const back = await transformWithGrids(folder, "EPSG:4326", asks(grids), mine);
      expect(maxDistance(back, await cs2cs(folder, "EPSG:4326", said, mine, [true, false])), grids).toBeLessThan(1e-3);
    }
  });

  it("grids have the accuracy of EPSG's operation with that file; that of `null` is unknown", async () => {
    const operation = await findOperation(await parse(asks("@ntv2_0.gsb,null")), await parse("EPSG:4326"), {
      grids: [folder],
    });
    expect(operation.accuracy).toBe(2);
    expect(await transformWithGrids(folder, asks("@ntv2_0.gsb,null"), "EPSG:4326", [10, 50])).toEqual([NaN, NaN]);
    expect(await transformWithGrids(folder, asks("@ntv2_0.gsb,null"), "EPSG:4326", [10, 50], 999)).toEqual([10, 50]);
  });

  it("missing grids are requested by name", async () => {
    for (const grids of ["nowhere.gsb", "nowhere.gsb,ntv2_0.gsb", "@nowhere.gsb"])
      await expect(transformWithGrids(folder, asks(grids), "EPSG:4326", [-110, 55])).rejects.toThrow(
        /shift grid nowhere\.gsb, which is missing: name the file with --grid/,
      );
  });
});

describe("notes on grids", () => {
  const between = async (from: string, to: string, grids: readonly string[]) =>
    findOperation(await parse(from), await parse(to), { grids });

  it("the note on grids names one with better accuracy, how much better, and how to get it", async () => {
    const operation = await between("EPSG:27700", "EPSG:4326", []);
    const { better } = operation;
    expect(await operationText(operation)).toContain(
      "geoferry grids get uk_os_OSTN15_NTv2_OSGBtoETRS.tif makes it accurate to 1 m where it reaches",
    );
    expect(better[0]).toMatchObject({ name: "OSGB36 to WGS 84 (9)", accuracy: 1 });
  });

  it("the note on grids names several that are needed together in one sentence", async () => {
    await expect(findOperation(await parse("EPSG:4267"), await parse("EPSG:8449"), { accuracy: 1 })).rejects.toThrow(
      "; geoferry grids get us_noaa_conus.tif us_noaa_ethpgn.tif together make it accurate to 0.2 m where they reach; ",
    );
  });

  it("NAD27 without a grid is refused for half a metre, with the names of grids", async () => {
    await expect(
      findOperation(await parse("EPSG:4267"), await parse("EPSG:4326"), { accuracy: 0.5 }),
    ).rejects.toMatchObject({
      message: expect.stringContaining("geoferry grids get "),
      details: {
        better: expect.arrayContaining([expect.objectContaining({ grids: [["us_noaa_conus.tif", "conus"]] })]),
      },
    });
  });

  it("the note on grids names a file that was given and is not used", async () => {
    const folder = newFolder();
    const path = join(folder, "mine.gsb");
    writeFileSync(path, ntv2(canada));
    expect(await operationText(await between("EPSG:4314", "EPSG:4326", [path]))).toContain(
      "the grid mine.gsb is not used",
    );
    expect(await operationText(await between("EPSG:4314", "EPSG:4326", [folder]))).not.toContain("mine.gsb");
    await expect(between("EPSG:4314", "EPSG:4326", [join(folder, "none.gsb")])).rejects.toMatchObject({
      code: "grid-missing",
    });
  });

  it("a grid file is found by its name in any case", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "NTV2_0.GSB"), ntv2(canada));
    expect(await transformWithGrids(folder, "EPSG:4267", "EPSG:4326", [-110, 55])).not.toContain(NaN);
  });
});

it("shares one copy of a grid among threads", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "ntv2_0.gsb"), ntv2(canada));
  const found = await findOperation(await parse("EPSG:4267"), await parse("EPSG:4326"), { grids: [folder] });
  const [grid] = Object.values((await shareGrids(found)).loadedGrids!);
  expect(grid!.values.buffer).toBeInstanceOf(SharedArrayBuffer);
  const clone = structuredClone(grid!);
  grid!.values[0] = 42;
  expect(clone.values[0]).toBe(42);
});
