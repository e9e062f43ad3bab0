/** The standalone executable, run in a minimal root file system without Node.js. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { hasProgram, root, samples } from "../support/command.js";
import { canChangeRoot, createMinimalRoot } from "../support/minimal-root.js";
import { nodeVersion } from "../support/node-versions.js";
import { readmeCommands } from "../support/readme-commands.js";
import { checkFirstSync, type Run } from "../support/sync/first-sync.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const canRun = canChangeRoot("the standalone executable");

/** Makes an executable. A faster compression than that of a release; `gzip` reads its level from this variable. */
function build(platform: string, folder: string): string {
  const env = { ...process.env, GEOFERRY_STANDALONE: folder, GZIP: "-1" };
  execFileSync(process.execPath, ["src/build/standalone.mjs", platform], { cwd: root, env, stdio: "pipe" });
  return join(folder, readdirSync(folder)[0]!);
}

/** System programs that the executable uses, and those in commands of the README; a minimal Debian has them. */
const programs = ["sh", "tail", "gzip", "tar", "mkdir", "chmod", "mktemp", "touch", "rm", "mv", "cat", "head"];

describe.skipIf(!canRun)("the standalone executable, in a system without Node", () => {
  const chroot = scratch.path("root");
  const variables = {
    PATH: "/usr/bin:/bin",
    HOME: "/home",
    TMPDIR: "/tmp",
    LANG: "C.UTF-8",
    NODE_COMPILE_CACHE: "/tmp/compiled",
  };
  /** Runs a program in the folder /srv/maps of that system. */
  const inside = (...command: string[]) => [chroot, "sh", "-c", 'cd /srv/maps && exec "$@"', "sh", ...command];
  const execute = (command: string[], { input = "", env = {} }: Parameters<Run>[1] = {}) =>
    spawnSync("/usr/sbin/chroot", inside(...command), {
      env: { ...variables, ...env },
      encoding: "utf8",
      input,
      timeout: 60_000,
    });
  const run = (...args: string[]) => execute(["geoferry", ...args]);

  beforeAll(async () => {
    const executable = build("linux-x64", scratch.path("built"));
    const node = (await nodeVersion(24))!;
    // Only the libraries: the executable contains Node.js.
    createMinimalRoot(chroot, programs, { [node]: null });
    copyFileSync(executable, join(chroot, "usr/bin/geoferry"));
    mkdirSync(join(chroot, "srv/maps"), { recursive: true });
    cpSync(samples, join(chroot, "srv/maps/samples"), { recursive: true });
    execFileSync("mknod", ["-m", "666", join(chroot, "dev/null"), "c", "1", "3"]);
    execFileSync("mknod", ["-m", "666", join(chroot, "dev/urandom"), "c", "1", "9"]);
  }, 180_000);

  test("the executable prints its version, from a copy that it unpacked once", () => {
    expect(run("--version")).toMatchObject({ status: 0, stderr: "", stdout: "0.1.0\n" });
    const home = join(chroot, "home/.cache/geoferry");
    const [folder, ...others] = readdirSync(home);
    expect(others).toEqual([]);
    expect(readdirSync(join(home, folder!)).sort()).toEqual(["complete", "lib", "node"]);
    expect(run("--version").stdout).toBe("0.1.0\n");
  });

  test("the executable runs the commands of the README", () => {
    expect(readmeCommands.length).toBeGreaterThan(12);
    for (const { command, status } of readmeCommands) {
      const ran = execute(["sh", "-c", command]);
      expect(ran.status, `${command}\n${ran.stderr}`).toBe(status);
      expect(ran.stderr, command).not.toContain("Warning");
    }
    expect(JSON.parse(readFileSync(join(chroot, "srv/maps/survey.geojson"), "utf8")).features).toHaveLength(20);
    expect(run("info", "samples/shapefile/survey.shp").stdout).toContain("EPSG:25832");
    // SQLite changes a file in place.
    expect(run("convert", "samples/rivers.geojson", "atlas.gpkg", "--append", "--layer-name", "more").status).toBe(0);
    expect(run("info", "atlas.gpkg").stdout).toMatch(/parks[\s\S]*rivers[\s\S]*more/);
  });

  test("the executable serves a map and syncs it", async () => {
    const service = spawn("/usr/sbin/chroot", inside("geoferry", "serve", "--data", "maps", "--port", "0", "--json"), {
      env: variables,
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [line] = (await once(service.stdout, "data")) as [Buffer];
      const { url } = JSON.parse(line.toString().split("\n", 1)[0]!) as { url: string };
      checkFirstSync((args, options) => execute(["geoferry", ...args], options), url, ["--data", "maps"], {
        capitals: "samples/capitals.geojson",
        backup: "before.geojson",
        pulled: "pulled.gpkg",
        state: "/srv/maps/state",
      });
    } finally {
      service.kill();
      await once(service, "exit");
    }
  });
});

const emulator = "qemu-aarch64-static";
/** Libraries of Debian's libstdc++6-arm64-cross and libatomic1-arm64-cross. */
const librariesOfArm = "/usr/aarch64-linux-gnu";
const canEmulate = hasProgram(emulator) && existsSync(join(librariesOfArm, "lib/libstdc++.so.6"));
if (!canEmulate) {
  if (process.env.CI) throw new Error("libstdc++6-arm64-cross is missing, and CI must not leave its tests out");
  console.warn("NOT TESTED: the standalone executable for Linux arm64, which needs qemu-user-static");
}

describe.skipIf(!canEmulate)("the standalone executable for Linux arm64, under QEMU", { timeout: 240_000 }, () => {
  const work = scratch.path("arm64");
  let program: string[];
  const run = (...args: string[]) =>
    spawnSync(emulator, [...program, ...args], { cwd: work, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });

  beforeAll(() => {
    mkdirSync(work);
    const executable = build("linux-arm64", scratch.path("built-arm64"));
    // It unpacks itself, and this machine cannot run what is inside.
    spawnSync(executable, ["--version"], { env: { ...process.env, GEOFERRY_HOME: scratch.path("home") } });
    const home = scratch.path(join("home", readdirSync(scratch.path("home"))[0]!));
    program = ["-L", librariesOfArm, join(home, "node"), join(home, "lib/dist/src/cli/main.js")];
  }, 180_000);

  test("the executable for arm64 converts, reprojects, and changes a GeoPackage in place", () => {
    expect(run("--version")).toMatchObject({ status: 0, stdout: "0.1.0\n" });
    expect(run("convert", `${samples}/shapefile/survey.shp`, "survey.geojson").stderr).toContain("ETRS89 to WGS 84");
    expect(JSON.parse(readFileSync(join(work, "survey.geojson"), "utf8")).features).toHaveLength(20);
    expect(run("convert", `${samples}/parks.geojson`, "atlas.gpkg", "--make-valid")).toMatchObject({ status: 0 });
    expect(run("convert", `${samples}/rivers.geojson`, "atlas.gpkg", "--append")).toMatchObject({ status: 0 });
    expect(run("info", "atlas.gpkg").stdout).toMatch(/parks[\s\S]*rivers/);
  });
});
