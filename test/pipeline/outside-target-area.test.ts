/** Positions far outside of where the system of the output is used: counted, and no accuracy is stated for them. */
import { writeFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { convertFile } from "../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const table = (name: string, rows: readonly string[]): string => {
  const path = scratch.path(`${name}.csv`);
  writeFileSync(path, `longitude,latitude\n${rows.join("\n")}\n`);
  return path;
};
const brazil = ["-47.9,-15.8", "-48,-16"];
const germany = ["10,50", "11,51"];

it("features outside the target area are reported with a suitable system and unknown accuracy", async () => {
  const path = table("both", [...germany, ...brazil]);
  const report = await convertFile(path, scratch.path("both.csv.gpkg"), { targetCrs: "EPSG:25832" });
  const outside = report.notices.find(({ code }) => code === "outside-target-area");
  expect(outside).toMatchObject({ count: 2 });
  expect(outside?.example).toMatch(/^-47\.9, -15\.8 is at .*--target-crs EPSG:32723 /);
  expect(report.operations[0]).toMatchObject({ accuracy: null });
  const operation = report.notices.find(({ code }) => code === "crs-operation");
  expect(operation?.example).toContain("the accuracy is unknown for 2 features outside the target's area of use");

  const advised = await convertFile(table("south", brazil), scratch.path("south.gpkg"), { targetCrs: "EPSG:32723" });
  expect(advised.notices.map(({ code }) => code)).not.toContain("outside-target-area");
  expect(advised.operations[0]!.accuracy).toBe(0);
});

it("features inside the target area, or not reprojected, are not reported", async () => {
  const inside = await convertFile(table("inside", germany), scratch.path("inside.gpkg"), { targetCrs: "EPSG:25832" });
  expect(inside.notices.map(({ code }) => code)).not.toContain("outside-target-area");
  expect(inside.operations[0]!.accuracy).toBeGreaterThan(0);
  const same = { sourceCrs: "EPSG:4258", targetCrs: "EPSG:4258" };
  const kept = await convertFile(table("kept", brazil), scratch.path("kept.gpkg"), same);
  expect(kept.notices.map(({ code }) => code)).not.toContain("outside-target-area");
});
