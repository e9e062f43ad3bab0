/** `geoferry grids`, and the folders in which conversions find grids. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ntv2 } from "../crs/grids/synthetic-grids.js";
import { type CommandResult, geoferry, startGeoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";
import { GridServer } from "../support/servers/grid-server.js";

const scratch = new TemporaryFolder();
const cache = scratch.path("cache");
const proj = scratch.path("proj");
mkdirSync(proj);
writeFileSync(
  `${proj}/NTv2_0.gsb`,
  ntv2([{ name: "CANADA", west: -142, south: 40, columns: 391, rows: 181, step: 0.25 }]),
);
writeFileSync(`${proj}/proj.db`, "");
const env = {
  GEOFERRY_STANDARD_GRIDS: "1",
  GEOFERRY_GRID_CACHE: cache,
  PROJ_DATA: proj,
  PROJ_USER_WRITABLE_DIRECTORY: scratch.path("user"),
};
const grids = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  geoferry(["grids", ...args], { env: { ...env, ...more } });
const recordsOf = ({ stdout }: CommandResult) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Asynchronous, so that the server of this process can respond. */
async function gridsBeside(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  const child = startGeoferry(["grids", ...args], undefined, { ...env, ...more });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name]!.on("data", (text) => (texts[name] += String(text)));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, ...texts };
}

const name = "fr_ign_ntf_r93.tif";
let server: GridServer;
beforeAll(async () => {
  server = await GridServer.start(new Map([[name, Buffer.alloc(77_216, 1)]]));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  scratch.remove();
});

describe("geoferry grids list", () => {
  test("grids list shows size, area, systems and license of each grid", () => {
    const { status, stdout } = grids(["list"]);
    expect(status).toBe(0);
    expect(stdout.trim().split("\n")).toHaveLength(157);
    expect(stdout).toMatch(/^uk_os_OSTN15_NTv2_OSGBtoETRS\.tif {2}3\.0 MB {2}.*OSGB.* to ETRS89; BSD-2-Clause$/m);
  });

  test("grids list filters by words, by installation state, and by a box", () => {
    expect(grids(["list", "public", "nad27", "ALASKA"]).stdout).toMatch(/^us_noaa_alaska\.tif /);
    expect(grids(["list", "--installed"]).stdout).toMatch(
      new RegExp(`^ca_nrc_ntv2_0\\.tif .*; at ${proj}/NTv2_0\\.gsb\n$`),
    );
    const swiss = recordsOf(grids(["list", "--bbox", "7,46.5,8,47", "--json"])).map((record) => record.name);
    expect(swiss).toContain("ch_swisstopo_CHENyx06a.tif");
    expect(swiss).not.toContain("uk_os_OSTN15_NTv2_OSGBtoETRS.tif");
    const { status, stdout, stderr } = grids(["list", "atlantis"]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    expect(stderr).toContain("no grid");
  });

  // The operations of EPSG for NAD27: NADCON's conus for the conterminous states, the National Transformation for
  // Canada.
  test("grids list filters by the grids that the conversion of an input would use", () => {
    const names = (place: string) => {
      const input = scratch.path("places.csv");
      writeFileSync(input, `n,lon,lat\n1,${place}\n`);
      const found = grids(["list", "--for", input, "--source-crs", "EPSG:4267", "--json"]);
      return recordsOf(found).map((record) => record.name);
    };
    expect(names("-80,35.5")).toEqual(["us_noaa_conus.tif"]);
    expect(names("-100,60")).toEqual(["ca_nrc_ntv2_0.tif"]);
    expect(grids(["list", "--source-crs", "EPSG:4267"]).status).toBe(2);
  });

  // Size and checksum of PROJ-data's index.
  test("grids list --json has all details", () => {
    const [record] = recordsOf(grids(["list", "ca_nrc_ntv2_0", "--json"]));
    expect(record).toEqual({
      type: "grid",
      name: "ca_nrc_ntv2_0.tif",
      otherNames: expect.arrayContaining(["NTv2_0.gsb"]),
      area: [-142, 40, -44, 84],
      bytes: 7_784_410,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      licence: "OGL-Canada-2.0",
      provider: expect.stringContaining("Natural Resources Canada"),
      areaName: expect.stringContaining("Canada"),
      description: "NAD27 to NAD83",
      installed: `${proj}/NTv2_0.gsb`,
    });
  });
});

test("geoferry grids where shows the folders in order, and the grids in them", () => {
  const folders = recordsOf(grids(["where", "--json"], { GEOFERRY_GRIDS: scratch.path("named") }));
  expect(folders.map(({ path, reason, exists }) => ({ path, reason, exists }))).toEqual([
    { path: scratch.path("named"), reason: "GEOFERRY_GRIDS", exists: false },
    { path: cache, reason: "GEOFERRY_GRID_CACHE", exists: false },
    { path: scratch.path("user"), reason: "PROJ's folder of the user", exists: false },
    { path: proj, reason: "PROJ_DATA", exists: true },
  ]);
  expect(folders[3]!.grids).toEqual([{ name: "NTv2_0.gsb", size: expect.any(Number), published: "ca_nrc_ntv2_0.tif" }]);
  expect(grids(["where"]).stdout).toContain("does not exist");
});

describe("geoferry grids get", () => {
  const get = (...args: string[]) => gridsBeside(["get", ...args, "--grid-endpoint", server.endpoint]);

  test("grids get rejects a file that differs from the published one, and leaves nothing", async () => {
    const { status, stderr } = await get(name);
    expect(status).toBe(3);
    expect(stderr).toContain(`${server.endpoint}/${name}: is not the grid that PROJ publishes under this name: it`);
    expect(existsSync(cache) ? readdirSync(cache) : []).toEqual([]);
  });

  test("grids get reports a grid that the server does not have", async () => {
    const { status, stderr } = await get("be_ign_bd72lb72_etrs89lb08.tif");
    expect(status).toBe(3);
    expect(stderr).toContain("the server answers 404");
  });

  test("grids get accepts an input instead of names", async () => {
    server.misbehave(null);
    const input = scratch.path("ntf.csv");
    writeFileSync(input, "n,lon,lat\n1,2.3,48.8\n");
    const { status, stderr } = await get("--for", input, "--source-crs", "EPSG:4275", "--target-crs", "EPSG:4171");
    expect(stderr).toContain(`ntf, EPSG:4275 to EPSG:4171: ${name}`);
    expect(status).toBe(3);
    expect(server.requests.map(({ path }) => path)).toEqual([`/${name}`]);
    expect((await get()).stderr).toContain("grids get needs NAMES of grids");
  });

  test("grids get accepts names of published grids only", async () => {
    server.misbehave(null);
    const mistyped = await get("us_noa_conus.tif");
    expect(mistyped.status).toBe(2);
    expect(mistyped.stderr).toContain('did you mean "us_noaa_conus.tif"?');
    for (const path of ["../ca_nrc_ntv2_0.tif", "x/../../etc/passwd", `${server.endpoint}/a.tif`])
      expect((await get(path)).status).toBe(2);
    expect(server.requests).toEqual([]);
  });

  test("grids get does not download installed grids", async () => {
    server.misbehave(null);
    copyFileSync(`${proj}/NTv2_0.gsb`, `${proj}/ca_nrc_ntv2_0.tif`);
    const { status, stdout } = await get("ca_nrc_ntv2_0.tif", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ path: `${proj}/ca_nrc_ntv2_0.tif`, downloaded: false });
    expect(server.requests).toEqual([]);
  });

  test("grids get does not follow redirects to another scheme, and uses http only on request", async () => {
    const evil = createServer((_, response) => void response.writeHead(302, { location: "file:///etc/passwd" }).end());
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
    const { status, stderr } = await gridsBeside(["get", name], { PROJ_NETWORK_ENDPOINT: endpoint });
    evil.close();
    expect(status).toBe(3);
    expect(stderr).toContain("redirects to file:");
    expect((await gridsBeside(["get", name, "--grid-endpoint", "ftp://example.org"])).status).toBe(2);
  });
});

describe("convert", () => {
  const input = scratch.path("wells.csv");
  writeFileSync(input, "n,lon,lat\n1,-100,50\n");
  const convert = (more: readonly string[], environment: NodeJS.ProcessEnv = env) =>
    geoferry(["convert", input, "-", "--to", "csv", "--source-crs", "EPSG:4267", ...more], { env: environment });

  test("convert uses the grids of the standard folders", () => {
    const { status, stderr } = convert([]);
    expect(status).toBe(0);
    expect(stderr).toContain("1 position by NAD27 to WGS 84 (33), accurate to 2 m");
  });

  test("convert ignores them with --no-standard-grids", () => {
    expect(convert(["--no-standard-grids"]).stderr).toContain("geoferry grids get ca_nrc_ntv2_0.tif");
    expect(convert([], { ...env, GEOFERRY_STANDARD_GRIDS: "0" }).stderr).toContain("geoferry grids get");
  });

  test("convert prefers the grids of --grid", () => {
    const own = scratch.path("ca_nrc_ntv2_0.tif");
    writeFileSync(own, "no grid");
    const { status, stderr } = convert(["--grid", own]);
    expect(status).toBe(3);
    expect(stderr).toContain(`${own}: cannot be used as a shift grid`);
  });
});
