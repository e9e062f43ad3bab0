/**
 * The package as users install it: packed, installed globally without a compiler, and used with each version of
 * Node.js.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { samples } from "../support/command.js";
import { nodeVersion } from "../support/node-versions.js";
import { packedPackage } from "../support/packed-package.js";
import { checkFirstSync, type Run } from "../support/sync/first-sync.js";

const scratch = new TemporaryFolder();
/** Later versions of Node.js keep what they compiled for the next command. */
const compileCache = { NODE_COMPILE_CACHE: scratch.path("compiled") };
afterAll(() => scratch.remove());

let tarball: string;
/** The folder of packages of an installation. */
let modules: string;
beforeAll(() => {
  tarball = packedPackage();
  const prefix = scratch.path("prefix");
  // Without a compiler: a package that requires one fails.
  const env = { ...process.env, CC: "false", CXX: "false", npm_config_build_from_source: "true" };
  execFileSync("npm", ["install", "--global", "--no-audit", "--prefix", prefix, tarball], { env, stdio: "pipe" });
  modules = join(prefix, "lib", "node_modules");
});

/** Total bytes of a folder. */
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

interface Installation {
  readonly folder: string;
  readonly run: Run;
  start(args: readonly string[]): ReturnType<typeof spawn>;
}

/** The installation, run by one version of Node.js in a folder of its own. */
function runBy(node: string, name: string): Installation {
  const folder = scratch.path(name);
  mkdirSync(folder);
  const main = join(modules, "geoferry", "dist", "src", "cli", "main.js");
  const variables = { ...process.env, GEOFERRY_STATE: join(folder, "state"), NO_COLOR: "1", ...compileCache };
  return {
    folder,
    run: (args, { input = "", env = {} } = {}) =>
      spawnSync(node, [main, ...args], {
        cwd: folder,
        env: { ...variables, ...env },
        encoding: "utf8",
        input,
        timeout: 60_000,
      }),
    start: (args) => spawn(node, [main, ...args], { cwd: folder, env: variables, stdio: ["ignore", "pipe", "ignore"] }),
  };
}

test("the installation takes few megabytes, and none of its packages has an install script", () => {
  expect(sizeOf(modules) / 2 ** 20).toBeLessThan(40);
  const manifests = readdirSync(modules, { recursive: true, encoding: "utf8" })
    .filter((name) => /(^|node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(join(modules, name), "utf8")));
  expect(manifests.map(({ name }) => name)).toContain("geoferry");
  const scripts = manifests.flatMap(({ name, scripts = {} }) =>
    ["preinstall", "install", "postinstall"].filter((script) => script in scripts).map((script) => [name, script]),
  );
  expect(scripts).toEqual([]);
});

describe.each([20, 22, 24] as const)("installed globally under Node %s", (version) => {
  let installed: Installation | null = null;

  beforeAll(async () => {
    const node = await nodeVersion(version);
    if (node) installed = runBy(node, `node-${version}`);
  }, 120_000);

  test("the installation converts from and to all six formats", () => {
    if (!installed) return;
    const formats = ["gpkg", "shp", "csv", "kml", "gpx", "geojson"];
    for (const format of formats) {
      const to = installed.run(["convert", `${samples}/capitals.geojson`, `${format}.${format}`, "--quiet"]);
      expect(to, format).toMatchObject({ status: 0, stderr: "" });
    }
    const written = formats.map((format) => `${format}.${format}`);
    const back = installed.run(["convert", ...written, "back/", "--to", "geojson", "--workers", "1", "--quiet"]);
    expect(back).toMatchObject({ status: 0, stderr: "" });
    for (const format of formats) {
      const { features } = JSON.parse(readFileSync(join(installed.folder, "back", `${format}.geojson`), "utf8"));
      expect(features.length, format).toBe(195);
    }
  });

  test("the installation changes a GeoPackage in place, or says what to install", () => {
    if (!installed) return;
    installed.run(["convert", `${samples}/capitals.geojson`, "changed.gpkg", "--quiet"]);
    const { status, stderr } = installed.run(["convert", `${samples}/rivers.geojson`, "changed.gpkg", "--append"]);
    if (version === 20) {
      expect(status).toBe(4);
      expect(stderr).toContain(
        'use Node.js 22.16 or later, which includes it, or run "npm install -g --allow-scripts=better-sqlite3 better-sqlite3"',
      );
      return;
    }
    expect(status).toBe(0);
    const { stdout } = installed.run(["info", "changed.gpkg"]);
    expect(stdout).toMatch(/capitals[\s\S]*rivers/);
  });

  test("the installation serves a map and syncs it, or says what to install", async () => {
    if (!installed) return;
    const service = installed.start(["serve", "--data", "data", "--port", "0", "--json"]);
    if (version === 20) {
      expect(await once(service, "exit")).toEqual([4, null]);
      expect(installed.run(["serve", "--data", "data", "--port", "0"]).stderr).toContain(
        "npm install -g --allow-scripts=better-sqlite3 better-sqlite3",
      );
      return;
    }
    try {
      const [line] = (await once(service.stdout!, "data")) as [Buffer];
      const { url } = JSON.parse(line.toString().split("\n", 1)[0]!) as { url: string };
      checkFirstSync(installed.run, url, ["--data", "data"], {
        capitals: `${samples}/capitals.geojson`,
        backup: "before.geojson",
        pulled: "pulled.gpkg",
        state: join(installed.folder, "state"),
      });
    } finally {
      service.kill();
      await once(service, "exit");
    }
  });
});

test("npx runs the package without an installation, and names its own command for a missing package", {
  timeout: 120_000,
}, () => {
  const folder = scratch.path("npx");
  mkdirSync(folder);
  const env = { ...process.env, npm_config_cache: scratch.path("npx-cache"), npm_config_audit: "false", NO_COLOR: "1" };
  const npx = (...args: string[]) =>
    spawnSync("npm", ["exec", "--yes", "--loglevel=error", `--package=${tarball}`, "--", "geoferry", ...args], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
  const { status, stdout, stderr } = npx("convert", `${samples}/capitals.geojson`, "capitals.gpkg", "--quiet");
  expect(status, stdout + stderr).toBe(0);
  // The header of a SQLite file (sqlite.org/fileformat2.html, 1.3).
  expect(readFileSync(join(folder, "capitals.gpkg")).subarray(0, 15).toString()).toBe("SQLite format 3");
  expect(npx("convert", "capitals.gpkg", "capitals.gml").stderr).toContain(
    "npx --allow-scripts=gdal-async -p geoferry -p gdal-async geoferry",
  );
});

describe("installed into a project by another package manager", { timeout: 120_000 }, () => {
  /** Package managers of the registry, with the paths of their programs. */
  const managers = { "pnpm@10": "bin/pnpm.cjs", "yarn@1": "bin/yarn.js", "@yarnpkg/cli-dist@4": "bin/yarn.js" };
  const folderOf = (name: string) => name.replace(/\W+/g, "-").replace(/^-/, "");

  beforeAll(() => {
    const folder = scratch.path("managers");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    const packages = Object.keys(managers).map((name) => `${folderOf(name)}@npm:${name}`);
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", ...packages], { cwd: folder, stdio: "pipe" });
  });

  test.each([
    ["pnpm@10", {}, (path: string) => ["add", path], ["exec"]],
    ["yarn@1", {}, (path: string) => ["add", path], ["--silent"]],
    // Plug'n'Play: the package stays in an archive, and Yarn replaces the file system of Node.js.
    ["@yarnpkg/cli-dist@4", { "yarn.lock": "" }, (path: string) => ["add", `geoferry@file:${path}`], []],
  ] as const)("%s: the package converts from and to a text format and SQLite", async (name, files, add, run) => {
    const node = await nodeVersion(24);
    if (!node) return;
    const manager = join(scratch.path("managers"), "node_modules", folderOf(name), managers[name]);
    const folder = scratch.path(`project-${name.replace(/\W/g, "-")}`);
    mkdirSync(folder);
    const convert = [
      [`${samples}/capitals.geojson`, "capitals.csv"],
      ["capitals.csv", "capitals.gpkg"],
      ["capitals.gpkg", "back.geojson"],
    ].map(([from, to]) => `geoferry convert ${from} ${to} --quiet`);
    const project = JSON.stringify({ scripts: { convert: convert.join(" && ") } });
    for (const [path, text] of Object.entries({ "package.json": project, ...files }))
      writeFileSync(join(folder, path), text);
    const env = {
      ...process.env,
      ...compileCache,
      HOME: scratch.path("home"),
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      YARN_GLOBAL_FOLDER: scratch.path("yarn"),
      YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
      YARN_ENABLE_TELEMETRY: "0",
      npm_config_userconfig: join(homedir(), ".npmrc"),
    };
    execFileSync(node, [manager, ...add(tarball)], { cwd: folder, env, stdio: "pipe" });
    const runManager = (...args: readonly string[]) =>
      spawnSync(node, [manager, ...args], { cwd: folder, env, encoding: "utf8" });
    // One start of the package manager for three of geoferry.
    const { status, stdout: said, stderr: complaint } = runManager("run", "convert");
    expect(status, said + complaint).toBe(0);
    expect(JSON.parse(readFileSync(join(folder, "back.geojson"), "utf8")).features).toHaveLength(195);
    // The message names the command of this package manager.
    const { stdout, stderr } = runManager(...run, "geoferry", "convert", "back.geojson", "back.gml");
    expect(stdout + stderr).toContain(
      name.startsWith("pnpm") ? 'run "pnpm add --allow-build=gdal-async gdal-async"' : 'run "yarn add gdal-async"',
    );
  });
});
