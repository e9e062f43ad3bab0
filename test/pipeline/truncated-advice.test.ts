/** A file that ends early: the message names `--skip-errors` only where it helps. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { createError } from "../../src/errors.js";
import { samples } from "../support/command.js";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const failureOf = async (path: string, options: object): Promise<unknown> =>
  convertFile(path, scratch.path("out.csv"), { overwrite: true, ...options }).then(
    () => null,
    (error: unknown) => error,
  );

test("a truncated GeoPackage gets the advice to get the whole file", async () => {
  const whole = scratch.path("parks.gpkg");
  await convertFile(`${samples}/parks.geojson`, whole, {});
  const cut = scratch.path("cut.gpkg");
  writeFileSync(cut, readFileSync(whole).subarray(0, 40_000));
  for (const skipErrors of [false, true])
    expect(await failureOf(cut, { skipErrors })).toMatchObject({
      code: "input-truncated",
      message: expect.stringMatching(/get the whole file$/),
    });
});

test("a Shapefile with a truncated header gets the advice to get the whole file", async () => {
  const cut = scratch.path("cut.shp");
  writeFileSync(cut, readFileSync(`${samples}/shapefile/survey.shp`).subarray(0, 60));
  expect(await failureOf(cut, { from: "shapefile" })).toMatchObject({
    code: "input-truncated",
    message: expect.stringMatching(/get the whole file$/),
  });
});

test("the advice to skip the missing end of a truncated GeoJSON works", async () => {
  const cut = scratch.path("cut.geojson");
  writeFileSync(cut, readFileSync(`${samples}/parks.geojson`).subarray(0, 3000));
  expect(await failureOf(cut, {})).toMatchObject({ message: expect.stringContaining("--skip-errors") });
  expect(await failureOf(cut, { skipErrors: true })).toBeNull();
});

test("an unknown reference system is replaced with --source-crs; another target does not help", () => {
  const { message } = createError("crs-unknown", { text: "the yard" });
  expect(message).toContain("--source-crs");
  expect(message).not.toContain("--target-crs");
});
