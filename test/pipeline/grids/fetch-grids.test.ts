/**
 * Grids that a conversion downloads when it may. The list of grids is another one here, whose files are those of Debian's
 * proj-data and made ones: what PROJ publishes cannot be had on every machine.
 */
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { resolveGrids } from "../../../src/cli/options/grid-options.js";
import { convert } from "../../../src/pipeline/convert.js";
import { findMissingGrids } from "../../../src/pipeline/grids/find-missing-grids.js";
import type { ConvertRequest, Host } from "../../../src/pipeline/request.js";
import { cs2cs, gridFolder } from "../../crs/grids/proj-with-grids.js";
import { shiftAt } from "../../crs/grids/synthetic-grids.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { GridServer } from "../../support/servers/grid-server.js";

const { files, lines } = await vi.hoisted(async () => {
  const { createHash } = await import("node:crypto");
  const { existsSync, readFileSync } = await import("node:fs");
  const { ntv2 } = await import("../../crs/grids/synthetic-grids.js");
  const debian = "/usr/share/proj/BETA2007.gsb";
  const part = (name: string, west: number, south: number, columns: number, rows: number) =>
    ntv2([{ name, west, south, columns, rows, step: 0.25 }]);
  const files = new Map<string, Buffer>([
    ["ca_nrc_ntv2_0.tif", Buffer.from(part("CANADA", -142, 40, 391, 181))],
    ["us_noaa_conus.tif", Buffer.from(part("CONUS", -131, 20, 273, 121))],
    ...(existsSync(debian) ? [["de_adv_BETA2007.tif", readFileSync(debian)] as const] : []),
  ]);
  const areas: Record<string, string> = {
    "ca_nrc_ntv2_0.tif": "-142,40,-44,84",
    "us_noaa_conus.tif": "-131,20,-63,50",
    "de_adv_BETA2007.tif": "5.5,47,15.833,55.333",
  };
  const lines = [...files].map(([name, bytes]) =>
    [name, "", areas[name], bytes.length, createHash("sha256").update(bytes).digest("hex"), "CC0-1.0", "", "", ""].join(
      "|",
    ),
  );
  return { files, lines };
});
vi.mock("../../../src/crs/grids/catalogue/entries.js", () => ({ entryLines: `\n${lines.join("\n")}\n` }));

const scratch = new TemporaryFolder();
let server: GridServer;
let cache = "";
let caches = 0;
beforeAll(async () => {
  server = await GridServer.start(files);
});
beforeEach(() => {
  cache = scratch.path(`cache-${caches++}`);
});
afterEach(() => server.misbehave(null));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  scratch.remove();
});

const hostWith = (allowsDownload: boolean): Host => ({
  ...createTestHost(),
  grids: { endpoint: server.endpoint, cacheFolder: cache, folders: [cache], allowsDownload },
});
const run = (request: Partial<ConvertRequest> & Pick<ConvertRequest, "inputs" | "output">, download = true) =>
  convert({ workers: 1, overwrite: true, ...request }, hostWith(download));
const asked = () => server.requests.map(({ path }) => path);

const positionsIn = (path: string): number[] =>
  (JSON.parse(readFileSync(path, "utf8")) as { features: { geometry: { coordinates: number[] } }[] }).features.flatMap(
    ({ geometry }) => geometry.coordinates,
  );

const canada = scratch.path("canada.csv");
writeFileSync(canada, "n,lon,lat\n1,-100,55\n2,-101,56\n");
const nad27 = { inputs: [canada], sourceCrs: "EPSG:4267" };

describe("convert with grid downloads", () => {
  test("convert downloads only the grids that its positions need", async () => {
    const output = scratch.path("canada.geojson");
    const { notices, operations } = await run({ ...nad27, output });
    expect(asked()).toEqual(["/ca_nrc_ntv2_0.tif"]);
    expect(readdirSync(cache)).toEqual(["ca_nrc_ntv2_0.tif"]);
    expect(notices.find(({ code }) => code === "grid-downloaded")?.example).toContain("ca_nrc_ntv2_0.tif (CC0-1.0)");
    expect(operations[0]!.grids).toEqual(["ca_nrc_ntv2_0.tif"]);
    const [east, north] = shiftAt(-100, 55);
    const [x, y] = positionsIn(output);
    expect((x! + 100) * 3600).toBeCloseTo(east, 2);
    expect((y! - 55) * 3600).toBeCloseTo(north, 2);
  });

  test("convert downloads no cached grids", async () => {
    await run({ ...nad27, output: scratch.path("one.geojson") });
    server.misbehave(null);
    const { notices } = await run({ ...nad27, output: scratch.path("two.geojson") });
    expect(asked()).toEqual([]);
    expect(notices.map(({ code }) => code)).not.toContain("grid-downloaded");
  });

  test("convert downloads no grids unless allowed", async () => {
    const output = scratch.path("without.geojson");
    await run({ ...nad27, accuracy: 50, output }, false);
    expect(asked()).toEqual([]);
    expect(existsSync(cache)).toBe(false);
  });

  test("convert neither downloads nor scans if no grid can help", async () => {
    await run({ inputs: [canada], output: scratch.path("mercator.csv"), targetCrs: "EPSG:3857" });
    expect(asked()).toEqual([]);
  });

  test("convert downloads no grids without geometries", async () => {
    const empty = scratch.path("empty.geojson");
    writeFileSync(
      empty,
      '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"n":1}}]}',
    );
    const output = scratch.path("empty.csv");
    await run({ inputs: [empty], targetCrs: "EPSG:4267", accuracy: 50, output });
    expect(asked()).toEqual([]);
    const [layer] = await findMissingGrids({ input: empty, targetCrs: "EPSG:4267" }, hostWith(false));
    expect(layer!.grids).toEqual([]);
  });

  test("convert swaps x and y before choosing grids", async () => {
    const swapped = scratch.path("swapped.csv");
    writeFileSync(swapped, "n,lon,lat\n1,35.5,-80\n");
    await run({ inputs: [swapped], sourceCrs: "EPSG:4267", swapXy: true, output: scratch.path("swapped.geojson") });
    expect(asked()).toEqual(["/us_noaa_conus.tif"]);
  });

  test("convert writes nothing if a download fails or has a wrong checksum", async () => {
    const output = scratch.path("never.geojson");
    server.misbehave({ kind: "status", status: 404 });
    await expect(run({ ...nad27, output })).rejects.toMatchObject({ code: "input-download" });
    server.misbehave({ kind: "altered" });
    await expect(run({ ...nad27, output })).rejects.toMatchObject({ code: "grid-checksum-mismatch" });
    expect(existsSync(output)).toBe(false);
    expect(readdirSync(cache)).toEqual([]);
  });

  // BETA2007.gsb of Debian's proj-data, which PROJ reads itself.
  test.runIf(files.has("de_adv_BETA2007.tif") || process.env.CI)(
    "convert shifts Gauß-Krüger coordinates as PROJ does",
    async () => {
      const input = scratch.path("gk.csv");
      const places = [3_500_000, 5_700_000, 3_450_123.4, 5_400_567.8, 3_580_000, 5_950_000];
      writeFileSync(input, `n,x,y\n${[0, 2, 4].map((at) => `${at},${places[at]},${places[at + 1]}`).join("\n")}\n`);
      const output = scratch.path("etrs89.csv");
      const systems = { sourceCrs: "EPSG:31467", targetCrs: "EPSG:4258" };
      const { operations } = await run({ inputs: [input], output, ...systems });
      expect(asked()).toEqual(["/de_adv_BETA2007.tif"]);
      expect(operations[0]!.used[0] ?? operations[0]).toMatchObject({ accuracy: 0.9 });
      const folder = gridFolder("beta");
      symlinkSync("/usr/share/proj/BETA2007.gsb", join(folder, "BETA2007.gsb"));
      const expected = await cs2cs(folder, "EPSG:31467", "EPSG:4258", places, [true, true]);
      const found = readFileSync(output, "utf8").trim().split("\n").slice(1);
      // A millimetre.
      found
        .flatMap((line) => line.split(",").slice(0, 2).map(Number))
        .forEach((value, i) => {
          expect(Math.abs(value - expected[i]!)).toBeLessThan(1e-8);
        });
    },
  );
});

describe("the grids for an input", () => {
  test("the missing grids that the features of an input would use are listed", async () => {
    const question = { input: canada, sourceCrs: "EPSG:4267" };
    const [layer] = await findMissingGrids(question, hostWith(false));
    expect(layer).toMatchObject({ layer: "canada", from: "EPSG:4267", to: "EPSG:4326" });
    expect(layer!.grids.map(({ name }) => name)).toEqual(["ca_nrc_ntv2_0.tif"]);
    await run({ ...nad27, output: scratch.path("there.geojson") });
    expect((await findMissingGrids(question, hostWith(false)))[0]!.grids).toEqual([]);
  });
});

describe("downloads on demand", () => {
  test("downloads are off unless --grid-download or PROJ_NETWORK enables them", () => {
    expect(resolveGrids({}, {}).allowsDownload).toBe(false);
    expect(resolveGrids({}, { PROJ_NETWORK: "OFF" }).allowsDownload).toBe(false);
    expect(resolveGrids({}, { PROJ_NETWORK: "ON" }).allowsDownload).toBe(true);
    expect(resolveGrids({ gridDownload: false }, { PROJ_NETWORK: "ON" }).allowsDownload).toBe(false);
    expect(resolveGrids({ gridDownload: true }, {}).allowsDownload).toBe(true);
  });

  test("downloaded grids are found without the standard folders, too", () => {
    const environment = { GEOFERRY_GRID_CACHE: "/cache" };
    expect(resolveGrids({ standardGrids: false }, environment).folders).toEqual([]);
    expect(resolveGrids({ standardGrids: false, gridDownload: true }, environment).folders).toEqual(["/cache"]);
    expect(resolveGrids({}, { ...environment, GEOFERRY_STANDARD_GRIDS: "0" }).folders).toEqual([]);
    expect(resolveGrids({}, environment).folders[0]).toBe("/cache");
  });

  test("downloads come from --grid-endpoint, PROJ_NETWORK_ENDPOINT, or PROJ's server", () => {
    expect(resolveGrids({}, {}).endpoint).toBe("https://cdn.proj.org");
    const environment = { PROJ_NETWORK_ENDPOINT: "https://a.example.org" };
    expect(resolveGrids({}, environment).endpoint).toBe("https://a.example.org");
    expect(resolveGrids({ gridEndpoint: "https://b.example.org/proj/" }, environment).endpoint).toBe(
      "https://b.example.org/proj/",
    );
    expect(() => resolveGrids({ gridEndpoint: "file:///etc" }, {})).toThrow("--grid-endpoint");
  });
});
