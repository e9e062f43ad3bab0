/** The order of axes that EPSG declares, compared with PROJ's database. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { crsContext } from "../../src/crs/index.js";
import { epsgLines } from "../../src/crs/tables/index.js";

const database = "/usr/share/proj/proj.db";

describe("the northing or latitude is first", () => {
  const known: [code: number, isNorthFirst: boolean][] = [
    [4326, true],
    [4258, true],
    // ETRS89 (lon-lat), RGF93 (lon-lat)
    [7042, false],
    [7084, false],
    [25832, false],
    [3857, false],
    [27700, false],
    [31467, true],
    [2180, true],
    [3035, true],
    [3067, false],
    // UPS North (N,E) and (E,N)
    [32661, true],
    [5041, false],
  ];
  it.each(known)("in EPSG:%i: %s", async (code, isNorthFirst) => {
    expect(await crsContext.isNorthFirst(await crsContext.parse(`EPSG:${code}`))).toBe(isNorthFirst);
  });

  it.runIf(existsSync(database) || process.env.CI)("in the same systems as in PROJ's database", async () => {
    const sql = `select s.code c, a.orientation = 'north' and b.orientation = 'east' or a.name like 'Northing%' and b.name like 'Easting%' n
      from projected_crs s
      join axis a on a.coordinate_system_auth_name = s.coordinate_system_auth_name
        and a.coordinate_system_code = s.coordinate_system_code and a.coordinate_system_order = 1
      join axis b on b.coordinate_system_auth_name = s.coordinate_system_auth_name
        and b.coordinate_system_code = s.coordinate_system_code and b.coordinate_system_order = 2
      where s.auth_name = 'EPSG'`;
    const text = execFileSync("sqlite3", ["-json", database, sql], { encoding: "utf8", maxBuffer: 2 ** 26 });
    const rows = JSON.parse(text) as { c: string | number; n: number }[];
    const codes = new Set(epsgLines.split("\n").map((line) => line.slice(0, line.indexOf("|"))));
    const differing: string[] = [];
    let compared = 0;
    for (const { c: number, n } of rows) {
      const c = String(number);
      if (!codes.has(c)) continue;
      compared++;
      const crs = { id: `EPSG:${c}`, name: "", definition: `EPSG:${c}`, kind: "projected" } as const;
      if ((await crsContext.isNorthFirst(crs)) !== (n === 1)) differing.push(c);
    }
    expect(compared).toBeGreaterThan(4000);
    expect(differing).toEqual([]);
  });
});
