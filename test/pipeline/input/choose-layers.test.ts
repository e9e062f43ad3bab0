import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inspect } from "../../../src/pipeline/inspect.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

beforeAll(() => {
  mkdirSync(scratch.path("tree"));
  for (const name of ["a", "b", "c", "a,b"]) writeFileSync(scratch.path(`tree/${name}.csv`), "lon,lat\n1,2\n");
  execFileSync("zip", ["-q", "-r", "../all.zip", "."], { cwd: scratch.path("tree") });
  execFileSync("zip", ["-q", "../some.zip", "a.csv", "b.csv", "c.csv"], { cwd: scratch.path("tree") });
});

const layersOf = async (zip: string, layers: string[]) => {
  const { layers: found } = await inspect({ inputs: [scratch.path(zip)], layers, workers: 1 }, createTestHost(), false);
  return found.map(({ layer }) => layer).sort();
};

test.each([
  ["some.zip", ["a,b"], ["a", "b"]],
  ["some.zip", ["a", "c"], ["a", "c"]],
  ["all.zip", ["a,b"], ["a,b"]],
  ["all.zip", ["c,a"], ["a", "c"]],
  ["all.zip", ['"a,b",c'], ["a,b", "c"]],
])("of %s, --layer %j chooses %j", async (zip, wanted, found) => {
  expect(await layersOf(zip, wanted)).toEqual(found);
});

test("all missing layers are named", async () => {
  await expect(layersOf("some.zip", ["a,d"])).rejects.toMatchObject({
    code: "layer-missing",
    message: expect.stringContaining('has no layer "d"'),
  });
});
