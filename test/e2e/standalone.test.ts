/** The standalone executable, run in a minimal root file system without Node.js. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { root, samples } from "../support/command.js";
import { canChangeRoot, createMinimalRoot } from "../support/minimal-root.js";
import { nodeVersion } from "../support/node-versions.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const canRun = canChangeRoot("the standalone executable");

/** System programs that the executable uses; a minimal Debian has them. */
const programs = ["sh", "tail", "gzip", "tar", "mkdir", "chmod", "mktemp", "touch", "rm", "mv"];

describe.skipIf(!canRun)("the standalone executable, in a system without Node", () => {
  const chroot = scratch.path("root");
  const run = (...args: string[]) => {
    const env = { PATH: "/usr/bin:/bin", HOME: "/home", TMPDIR: "/tmp", LANG: "C.UTF-8" };
    return spawnSync("/usr/sbin/chroot", [chroot, "/geoferry", ...args], { env, encoding: "utf8", timeout: 60_000 });
  };

  beforeAll(async () => {
    const env = { ...process.env, GEOFERRY_STANDALONE: scratch.path("built") };
    execFileSync(process.execPath, ["src/build/standalone.mjs", "linux-x64"], { cwd: root, env, stdio: "pipe" });
    const node = (await nodeVersion(24))!;
    // Only the libraries: the executable contains Node.js.
    createMinimalRoot(chroot, programs, { [node]: null });
    copyFileSync(scratch.path(join("built", readdirSync(scratch.path("built"))[0]!)), join(chroot, "geoferry"));
    cpSync(samples, join(chroot, "samples"), { recursive: true });
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

  test("the executable runs the quick start of the README", () => {
    expect(run("info", "samples/shapefile/survey.shp").stdout).toContain("EPSG:25832");
    for (const target of ["survey.geojson", "survey.gpkg", "survey.csv"]) {
      const { status, stderr } = run("convert", "samples/shapefile/survey.shp", `/tmp/${target}`);
      expect(stderr).not.toContain("Warning");
      expect(status).toBe(0);
    }
    expect(run("convert", "samples/rivers.geojson", "/tmp/survey.gpkg", "--append").status).toBe(0);
    expect(run("info", "/tmp/survey.gpkg").stdout).toMatch(/survey[\s\S]*rivers/);
    expect(JSON.parse(readFileSync(join(chroot, "tmp/survey.geojson"), "utf8")).features).toHaveLength(20);
  });
});
