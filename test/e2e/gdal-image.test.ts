/**
 * The steps of the image with GDAL, without building it: its packages exist, and what its own commands leave of GDAL's
 * driver still converts.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { hasProgram, ogrinfo, root, samples } from "../support/command.js";
import { packedPackage } from "../support/packed-package.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly (readonly [name: string, text: string])[];
}

/** Stages of a Dockerfile, without comments, each instruction in one line. */
function parseDockerfile(text: string): Stage[] {
  const stages: { name: string; base: string; instructions: [string, string][] }[] = [];
  for (const line of text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")) {
    const [, instruction, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (!instruction || !rest) continue;
    const [, base, name] = /^(\S+) AS (\S+)$/.exec(rest) ?? [];
    if (instruction === "FROM") stages.push({ base: base!, name: name!, instructions: [] });
    else stages.at(-1)?.instructions.push([instruction, rest]);
  }
  return stages;
}

const context = join(samples, "deploy/compose");
const dockerfile = readFileSync(join(context, "Dockerfile"), "utf8");
const stages = parseDockerfile(dockerfile);
const stageOf = (name: string): Stage => stages.find((stage) => stage.name === name)!;
const commandsOf = (name: string): string[] =>
  stageOf(name)
    .instructions.filter(([instruction]) => instruction === "RUN")
    .map(([, text]) => text);

describe("the image with GDAL", () => {
  test("the Dockerfile refers only to stages and files that exist, and its commands are those of a shell", () => {
    const seen: string[] = [];
    for (const { name, base, instructions } of stages) {
      expect(base).toMatch(/^(\$\{(NODE|BASE)_IMAGE\}|scratch|packages)$/);
      for (const [instruction, text] of instructions) {
        const from = /^--from=(\S+)/.exec(text)?.[1];
        if (from) expect(seen, name).toContain(from);
        if (instruction === "COPY" && !from) expect(existsSync(join(context, text.split(" ")[0]!)), text).toBe(true);
        if (instruction === "RUN") expect(spawnSync("sh", ["-nc", text]).status, text).toBe(0);
      }
      seen.push(name);
    }
    expect(seen).toEqual(["packages", "root", "gdal-packages", "gdal", "default"]);
  });

  // The base image of the Dockerfile.
  const isBookworm =
    existsSync("/etc/os-release") && readFileSync("/etc/os-release", "utf8").includes("VERSION_CODENAME=bookworm");

  test.skipIf(!isBookworm)("Debian has the packages that the image installs", () => {
    expect(dockerfile).toContain("BASE_IMAGE=debian:bookworm-slim");
    const names = [...commandsOf("gdal-packages"), ...commandsOf("gdal")].flatMap((command) =>
      (/apt-get install ([^&]+)/.exec(command)?.[1] ?? "").split(" ").filter((word) => /^[a-z]/.test(word)),
    );
    expect(names).toEqual(expect.arrayContaining(["libgdal-dev", "libgdal32"]));
    const isKnown = (name: string) =>
      spawnSync("dpkg", ["-s", name]).status === 0 || spawnSync("apt-cache", ["show", name]).status === 0;
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
  });

  const driver = join(root, "node_modules/gdal-async");
  const hasDriver = existsSync(join(driver, "lib/binding")) && hasProgram("ogrinfo");
  if (!hasDriver) {
    if (process.env.CI) throw new Error("GDAL's driver is missing, and CI must not leave its tests out");
    console.warn("NOT TESTED: what the image with GDAL keeps of its driver, which is not compiled here");
  }

  describe.skipIf(!hasDriver || !isBookworm)("its driver", () => {
    const work = scratch.path("image");

    beforeAll(() => {
      mkdirSync(work);
      const { version } = JSON.parse(readFileSync(join(driver, "package.json"), "utf8")) as { version: string };
      const packages = [packedPackage(), `gdal-async@${version}`];
      // Compiled here already, with the headers of the same GDAL.
      execFileSync(
        "npm",
        ["install", "--omit=dev", "--no-package-lock", "--no-audit", "--ignore-scripts", ...packages],
        {
          cwd: work,
          stdio: "pipe",
        },
      );
      cpSync(join(driver, "lib/binding"), join(work, "node_modules/gdal-async/lib/binding"), { recursive: true });
    }, 180_000);

    test("npm stores the permission to compile the driver", () => {
      const [command] = /npm pkg set [^&]+/.exec(commandsOf("gdal-packages").join("\n"))!;
      execFileSync("sh", ["-c", command], { cwd: work, stdio: "pipe" });
      expect(JSON.parse(readFileSync(join(work, "package.json"), "utf8"))).toMatchObject({
        allowScripts: { "gdal-async": true },
      });
    });

    test("what the image keeps of the driver converts, with the data of Debian's GDAL and PROJ", () => {
      const trim = commandsOf("gdal-packages").find((command) => command.startsWith("find "))!;
      execFileSync("sh", ["-c", trim], { cwd: work, stdio: "pipe" });
      const kept = readdirSync(join(work, "node_modules/gdal-async"));
      expect(kept).toContain("lib");
      expect(kept).not.toContain("deps");
      const settings = stageOf("gdal").instructions.find(([name]) => name === "ENV")![1];
      const env = Object.fromEntries(settings.split(" ").map((setting) => setting.split("=")));
      for (const folder of [env.GDAL_DATA, env.PROJ_LIB]) expect(readdirSync(folder).length, folder).toBeGreaterThan(3);
      writeFileSync(join(work, "place.geojson"), '{"type":"Point","coordinates":[9,47]}');
      const convert = (...args: string[]) =>
        spawnSync(join(work, "node_modules/.bin/geoferry"), ["convert", ...args, "--quiet"], {
          cwd: work,
          env: { PATH: process.env.PATH, GDAL_DATA: env.GDAL_DATA, PROJ_LIB: env.PROJ_LIB },
          encoding: "utf8",
        });
      expect(convert(join(samples, "capitals.geojson"), "capitals.gml")).toMatchObject({ status: 0, stderr: "" });
      expect(ogrinfo(join(work, "capitals.gml")).text).toContain("Feature Count: 195");
      // The writer of DXF starts from a file among GDAL's data.
      expect(convert("place.geojson", "place.dxf")).toMatchObject({ status: 0 });
      expect(ogrinfo(join(work, "place.dxf")).text).toContain("Feature Count: 1");
    });
  });
});
