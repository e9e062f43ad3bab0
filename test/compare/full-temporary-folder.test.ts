import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { geoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
const disk = scratch.path("disk");
mkdirSync(disk);
// A separate file system, which only root can create.
const canMount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).status === 0;
const unmount = () => spawnSync("umount", ["-l", disk]);
if (canMount) unmount();
else console.warn("NOT TESTED: a full temporary folder, since no file system can be mounted here");
afterAll(() => scratch.remove());

const put = (name: string, version: number, from: number): string => {
  const features = Array.from({ length: 2500 }, (_, n) => ({
    type: "Feature",
    geometry: { type: "Point", coordinates: [n / 100, 1] },
    properties: { ref: from + n, version, text: "x".repeat(200) },
  }));
  writeFileSync(scratch.path(name), JSON.stringify({ type: "FeatureCollection", features }));
  return scratch.path(name);
};

test.runIf(canMount || process.env.CI)(
  "a full temporary folder is reported, however much fits into it",
  () => {
    const inputs = [put("old.geojson", 1, 0), put("new.geojson", 2, 500)];
    const statuses = new Set<number | null>();
    for (const size of ["200k", "700k", "1200k", "1500k", "64m"]) {
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk]).status).toBe(0);
      try {
        const { status, stderr } = geoferry(["diff", ...inputs, "--key", "ref"], { env: { TMPDIR: disk } });
        statuses.add(status);
        expect(status, `${size}: ${stderr}`).toBe(size === "64m" ? 0 : 6);
        if (status === 6) expect(stderr).toContain("TMPDIR");
        expect(readdirSync(disk)).toEqual([]);
      } finally {
        unmount();
      }
    }
    expect(statuses).toEqual(new Set([6, 0]));
  },
  240_000,
);
