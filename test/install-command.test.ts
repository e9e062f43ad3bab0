import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { installCommand } from "../src/install-command.js";
import { TemporaryFolder } from "../src/testing/index.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** A project with these files. @returns the path of a file of geoferry in it */
function project(name: string, ...files: string[]): string {
  mkdirSync(scratch.path(name), { recursive: true });
  for (const file of files) writeFileSync(`${scratch.path(name)}/${file}`, "");
  return `${scratch.path(name)}/node_modules/geoferry/dist/chunks/load.js`;
}

describe("the command that installs a missing package", () => {
  test.each([
    [
      "a checkout",
      "/srv/ada/geoferry/src/install-command.ts",
      "npm pkg set --json allowScripts.gdal-async=true && npm install gdal-async",
    ],
    [
      "npm, globally",
      "/usr/lib/node_modules/geoferry/dist/chunks/load.js",
      "npm install -g --allow-scripts=gdal-async gdal-async",
    ],
    [
      "npm on Windows, globally",
      "C:\\Users\\ada\\AppData\\Roaming\\npm\\node_modules\\geoferry\\dist\\chunks\\load.js",
      "npm install -g --allow-scripts=gdal-async gdal-async",
    ],
    [
      "npx",
      "/srv/ada/.npm/_npx/1f/node_modules/geoferry/dist/x.js",
      "npx --allow-scripts=gdal-async -p geoferry -p gdal-async geoferry …",
    ],
    [
      "pnpm, globally",
      "/srv/ada/.local/share/pnpm/global/5/.pnpm/geoferry@0.1.0/node_modules/geoferry/dist/x.js",
      "pnpm add -g --allow-build=gdal-async gdal-async",
    ],
    [
      "a project of Yarn's Plug'n'Play",
      "/srv/ada/work/.yarn/__virtual__/geoferry-virtual-f2/2/.yarn/berry/cache/geoferry-npm-0.1.0.zip/node_modules/geoferry/dist/x.js",
      "yarn add gdal-async",
    ],
    ["bun, globally", "/srv/ada/.bun/install/global/node_modules/geoferry/dist/x.js", "bun add -g --trust gdal-async"],
  ])("the command for a missing package suits %s", (_case, path, command) => {
    expect(installCommand("gdal-async", path)).toBe(command);
  });

  test.each([
    [
      "npm",
      ["package.json", "package-lock.json"],
      "npm pkg set --json allowScripts.gdal-async=true && npm install gdal-async",
    ],
    ["pnpm", ["package.json", "pnpm-lock.yaml"], "pnpm add --allow-build=gdal-async gdal-async"],
    ["yarn", ["package.json", "yarn.lock"], "yarn add gdal-async"],
    ["bun", ["package.json", "bun.lock"], "bun add --trust gdal-async"],
  ])("the command for a missing package suits a project of %s", (name, files, command) => {
    expect(installCommand("gdal-async", project(name, ...files))).toBe(command);
  });

  // The paths of pnpm 10, 11 and 12, with a PNPM_HOME of any name.
  const store = "/srv/ada/tools/store/v11/links/@/geoferry/0.1.0/0c53/node_modules/geoferry/dist/x.js";
  test.each([
    [
      "pnpm 10, globally",
      "/srv/ada/tools/global/5/.pnpm/geoferry@0.1.0/node_modules/geoferry/dist/x.js",
      "/srv/ada/tools/global/5/node_modules/geoferry/dist/src/cli/main.js",
      "pnpm add -g --allow-build=gdal-async gdal-async",
    ],
    [
      "pnpm 11, globally",
      store,
      "/srv/ada/tools/global/v11/b1bd/node_modules/geoferry/dist/src/cli/main.js",
      "pnpm add -g --allow-build=gdal-async geoferry,gdal-async",
    ],
    [
      "a project of pnpm 11 with a store that projects share",
      store,
      "/srv/ada/work/node_modules/geoferry/dist/src/cli/main.js",
      "pnpm add --allow-build=gdal-async gdal-async",
    ],
  ])("the command for a missing package suits %s", (_case, path, program, command) => {
    expect(installCommand("gdal-async", path, program)).toBe(command);
  });

  test("the command for a missing package suits a project of pnpm, which links packages", () => {
    const path = project("linked", "package.json", "pnpm-lock.yaml").replace(
      "node_modules/",
      "node_modules/.pnpm/geoferry@0.1.0/node_modules/",
    );
    expect(installCommand("gdal-async", path)).toBe("pnpm add --allow-build=gdal-async gdal-async");
  });
});
