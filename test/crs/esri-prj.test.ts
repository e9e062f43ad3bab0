import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { crsContext } from "../../src/crs/index.js";
import { resolve } from "../../src/crs/parse.js";
import { kernelOf } from "../../src/crs/projections/index.js";
import { epsgLines } from "../../src/crs/table/crs-epsg.js";

/** What GDAL writes into a `.prj`, of every code on stdin, in one run; a line each, empty where it cannot. */
const script = `
import sys
from osgeo import osr
osr.UseExceptions()
for code in sys.stdin.read().split():
    system = osr.SpatialReference()
    try:
        system.ImportFromEPSG(int(code))
        print(system.ExportToWkt(['FORMAT=WKT1_ESRI']))
    except Exception:
        print()
`;
const python = ["python3", "/usr/bin/python3"].find(
  (command) => spawnSync(command, ["-c", "import osgeo"]).status === 0,
);

const written = (codes: readonly string[]): string[] =>
  spawnSync(python!, ["-c", script], {
    input: codes.join("\n"),
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    env: { ...process.env, OSR_USE_NON_DEPRECATED: "NO" },
  }).stdout.split("\n");

/** Every sixth projected system of EPSG's that geoferry computes. */
async function computed(): Promise<string[]> {
  const codes = [...epsgLines.matchAll(/^(\d+)\|P\|/gm)].map((line) => line[1]!).filter((_, index) => index % 6 === 0);
  const found: string[] = [];
  for (const code of codes) {
    const { geodetic, projection, obstacle } = await resolve(await crsContext.parse(`EPSG:${code}`));
    if (obstacle === null && (await kernelOf(projection!, geodetic!.datum.ellipsoid))) found.push(code);
  }
  return found;
}

/**
 * What no reader can know: ESRI's Mercator states a parallel instead of the scale, its Equidistant_Cylindrical is
 * spherical, and its name for the meridian of Paris has fewer digits.
 */
const lossy = /NEIEZ|GEORSO|Equidistant_Cyl|Paris_RGS|D_Sphere|D_Clarke_1866_Authalic|D_International_1924_Authalic/;

it.skipIf(python === undefined && !process.env.CI)(
  "the .prj that GDAL writes is read as the system, whatever EPSG projected system it is",
  async () => {
    const codes = await computed();
    expect(codes.length).toBeGreaterThan(850);
    const texts = written(codes);
    const failed: string[] = [];
    let identified = 0;
    for (const [index, code] of codes.entries()) {
      const text = texts[index]!;
      if (text === "") continue;
      const crs = await crsContext.parse(text);
      const [mine, theirs] = await Promise.all([resolve(crs), resolve(await crsContext.parse(`EPSG:${code}`))]);
      if (crs.id !== null) identified++;
      const same = mine.geodetic?.datum.code === theirs.geodetic?.datum.code && mine.projection?.method !== null;
      if (!same && !lossy.test(text)) failed.push(`${code}: ${text}`);
    }
    expect(failed).toEqual([]);
    expect(identified / codes.length).toBeGreaterThan(0.975);
  },
  60_000,
);
