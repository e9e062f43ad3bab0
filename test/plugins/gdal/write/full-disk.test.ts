import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { geoferry, samples } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal } from "../support.js";

const scratch = new TemporaryFolder();
const disk = scratch.path("disk");
mkdirSync(disk);
const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=20k", "tmpfs", disk]).status === 0;
afterAll(() => {
  if (isMounted) spawnSync("umount", [disk]);
  scratch.remove();
});

test.skipIf(!hasGdal || !isMounted)("a full disk of the output is named, not that of temporary files", () => {
  const output = `${disk}/capitals.gml`;
  const { status, stderr } = geoferry(["convert", `${samples}/capitals.geojson`, output, "--to", "gdal:GML"]);
  expect([status, stderr]).toEqual([6, expect.stringContaining(`${output}: cannot be written: ENOSPC`)]);
  expect(stderr).not.toContain("TMPDIR");
  expect(readdirSync(disk)).toEqual([]);
});
