/** The samples that bring geoferry to where people work, run with the programs that they are made for. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { hasProgram, main, samples } from "../support/command.js";
import { packedPackage } from "../support/packed-package.js";

const scratch = new TemporaryFolder();
const integrations = join(samples, "integrations");
const work = scratch.path("work");
const programs = scratch.path("programs");
const env = {
  ...process.env,
  NO_COLOR: "1",
  RUNNER_TEMP: scratch.path("."),
  PATH: `${programs}${delimiter}${process.env.PATH}`,
};

beforeAll(() => {
  mkdirSync(programs);
  cpSync(samples, join(work, "samples"), { recursive: true });
  writeFileSync(join(programs, "geoferry"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(join(programs, "geoferry"), 0o755);
});
afterAll(() => scratch.remove());

const canPreCommit = hasProgram("pre-commit");
if (!canPreCommit) console.warn("NOT TESTED: the hook for pre-commit, which is not installed");

describe.skipIf(!canPreCommit)("the hook for pre-commit", { timeout: 240_000 }, () => {
  test("the pre-commit hook installs geoferry and rejects a commit with damaged data", () => {
    const folder = scratch.path("repository");
    mkdirSync(folder);
    const config = readFileSync(join(integrations, "pre-commit/.pre-commit-config.yaml"), "utf8");
    writeFileSync(join(folder, ".pre-commit-config.yaml"), config.replaceAll("geoferry@0.1.0", packedPackage()));
    const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, stdio: "pipe" });
    git("init", "--quiet");
    cpSync(join(samples, "parks.geojson"), join(folder, "parks.geojson"));
    cpSync(join(samples, "flawed/places.geojson"), join(folder, "places.geojson"));
    git("add", ".");
    const check = (...files: string[]) =>
      spawnSync("pre-commit", ["run", "geoferry-check", "--files", ...files], {
        cwd: folder,
        env: { ...env, PRE_COMMIT_HOME: scratch.path("pre-commit") },
        encoding: "utf8",
      });
    const sound = check("parks.geojson");
    expect(sound.stdout + sound.stderr).toMatch(/check geographic data\.+Passed/);
    expect(sound.status).toBe(0);
    const flawed = check("parks.geojson", "places.geojson");
    expect(flawed.stdout).toMatch(/check geographic data\.+Failed/);
    expect(flawed.stdout).toContain("latitude 149.13");
    expect(flawed.status).toBe(1);
  });
});

describe.skipIf(!hasProgram("python3"))("the module for Python", () => {
  const python = (code: string) =>
    spawnSync("python3", ["-c", code], {
      cwd: work,
      env: { ...env, PYTHONPATH: join(integrations, "python"), PYTHONDONTWRITEBYTECODE: "1" },
      encoding: "utf8",
    });

  test("the Python module converts, and returns the summary and the losses", () => {
    const { stdout, stderr } = python(
      'from geoferry import convert; s, l = convert("samples/mixed.geojson", "mixed.shp"); print(s["written"], s["rejected"], sorted({x["code"] for x in l}))',
    );
    expect(stderr).toBe("");
    expect(stdout).toBe("8 1 ['field-renamed', 'type-changed', 'z-missing']\n");
  });

  test("the Python module raises the error of a command with its message", () => {
    const { stdout } = python(
      'from geoferry import convert, GeoferryError\ntry:\n  convert("absent.csv", "x.gpkg")\nexcept GeoferryError as e: print(e.status, e)',
    );
    expect(stdout).toBe("3 geoferry: absent.csv: there is no such file or folder\n");
  });

  test("the Python module prints a report when run as a program", () => {
    const { stdout, stderr } = spawnSync(
      "python3",
      [join(integrations, "python/geoferry.py"), "samples/parks.geojson", "parks.shp"],
      { cwd: work, env, encoding: "utf8" },
    );
    expect(stderr).toBe("");
    expect(stdout).toContain("27 of 27 features written to parks.shp");
    expect(stdout).toContain("lost: field-renamed established (1 times)");
  });
});

/** Python with the modules of QGIS: that of Debian's python3-qgis, or one that a variable names. */
const qgisPython = process.env.GEOFERRY_QGIS_PYTHON ?? "/usr/bin/python3";
const hasQgis = spawnSync(qgisPython, ["-c", "import qgis.core"], { stdio: "ignore" }).status === 0;
if (!hasQgis) {
  if (process.env.CI) throw new Error("python3-qgis is missing, and CI must not leave its tests out");
  console.warn("NOT TESTED: the Processing provider for QGIS, which needs python3-qgis");
}

describe.skipIf(!hasQgis)("the Processing provider for QGIS", { timeout: 240_000 }, () => {
  const program = `
import json, sys
sys.path[:0] = [sys.argv[1], "/usr/share/qgis/python/plugins"]
from qgis.core import QgsApplication, QgsCoordinateReferenceSystem, QgsProcessingContext, QgsProcessingFeedback, QgsVectorLayer
app = QgsApplication([], False)
app.initQgis()
from geoferry_provider.plugin import GeoferryPlugin
plugin = GeoferryPlugin()
plugin.initProcessing()
def run(name, parameters):
    feedback = QgsProcessingFeedback(False)
    algorithm = QgsApplication.processingRegistry().algorithmById("geoferry:" + name)
    try:
        results, ok = algorithm.run(parameters, QgsProcessingContext(), feedback)
    except Exception as error:
        results, ok = str(error), False
    return {"results": results, "ok": ok, "log": feedback.textLog()}
folder = sys.argv[2]
# A system without a code: UTM with a central meridian of 10 degrees.
custom = QgsCoordinateReferenceSystem.fromProj("+proj=tmerc +lat_0=0 +lon_0=10 +k=0.9996 +x_0=500000 +y_0=0 +datum=WGS84 +units=m")
done = {
    "convert": run("convert", {"INPUT": folder + "/samples/mixed.geojson", "TARGET_CRS": "EPSG:3857", "OUTPUT": folder + "/qgis.shp"}),
    "filter": run("convert", {"INPUT": folder + "/samples/parks.geojson", "WHERE": "area_km2 > 5000", "OUTPUT": folder + "/qgis.gpkg"}),
    "custom": run("convert", {"INPUT": folder + "/samples/parks.geojson", "TARGET_CRS": custom, "OUTPUT": folder + "/qgis.parquet"}),
    "check": run("check", {"INPUT": folder + "/samples/flawed/places.geojson"}),
    "missing": run("convert", {"INPUT": folder + "/absent.csv", "OUTPUT": folder + "/absent.gpkg"}),
}
layer = QgsVectorLayer(folder + "/qgis_point.shp", "points", "ogr")
done["layer"] = {"valid": layer.isValid(), "crs": layer.crs().authid(), "features": layer.featureCount()}
plugin.unload()
print(json.dumps(done))
sys.stdout.flush()
import os
os._exit(0)
`;

  test("the QGIS provider converts with a target CRS and a filter, checks, and logs losses and errors", () => {
    const { stdout, stderr, status } = spawnSync(qgisPython, ["-c", program, join(integrations, "qgis"), work], {
      env: { ...env, QT_QPA_PLATFORM: "offscreen", XDG_RUNTIME_DIR: scratch.path("."), PYTHONDONTWRITEBYTECODE: "1" },
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    const { convert, filter, custom, check, missing, layer } = JSON.parse(stdout.trim().split("\n").at(-1)!);
    expect(convert).toMatchObject({ ok: true, results: { WRITTEN: 8, REJECTED: 1, LOSSES: 5 } });
    expect(convert.log).toContain("lost: field-renamed first_ascent");
    // The parks by their area, counted by hand in samples/parks.geojson.
    const { features } = JSON.parse(readFileSync(join(samples, "parks.geojson"), "utf8"));
    const large = features.filter(({ properties }: { properties: { area_km2: number } }) => properties.area_km2 > 5000);
    expect(filter).toMatchObject({ ok: true, results: { WRITTEN: large.length } });
    // samples/mixed.geojson has a point at a pole, outside of the area of use of EPSG:3857.
    expect(convert.log).toContain("EPSG:4326 to EPSG:3857: conversion on the same datum, of unknown accuracy");
    expect(custom, JSON.stringify(custom)).toMatchObject({ ok: true, results: { WRITTEN: 27 } });
    expect(check).toMatchObject({ ok: true, results: { PROBLEMS: 5 } });
    expect(missing.ok).toBe(false);
    expect(JSON.stringify(missing)).toContain("there is no such file or folder");
    // Two points, one feature without a geometry, and the one at the poles that is kept without its geometry.
    expect(layer).toEqual({ valid: true, crs: "EPSG:3857", features: 4 });
  });
});
