/** Outputs beside other datasets of the same name, whose companions they must not take over, replace or remove. */
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
beforeEach(() => {
  scratch = new TemporaryFolder();
});
afterEach(() => scratch.remove());

const path = (name: string) => scratch.path(name);
const contents = () =>
  Object.fromEntries(readdirSync(scratch.folder).map((name) => [name, readFileSync(path(name), "latin1")]));

const utm: Partial<ConvertRequest> = { sourceCrs: "EPSG:25832", targetCrs: "EPSG:25832" };
const overwrite = { overwrite: true };

function input(name = "in.csv"): string {
  writeFileSync(path(name), "id,x,y\n1,433287.62,5800000\n2,433300,5800100\n");
  return path(name);
}

/** Converts, expects a refusal that names the companion and its owner, and that nothing has changed. */
async function expectRefusal(from: string, to: string, request: Partial<ConvertRequest>, words: string | RegExp) {
  const before = contents();
  await expect(convertFile(from, path(to), request)).rejects.toThrow(words);
  expect(contents()).toEqual(before);
}

describe("companions of another dataset are refused", () => {
  test.each([
    ["in degrees", { sourceCrs: "EPSG:25832" }],
    ["in the same system", utm],
    ["in another system, with overwrite", { sourceCrs: "EPSG:25832", targetCrs: "EPSG:3857", ...overwrite }],
  ])("a TSV %s beside a CSV with a .prj", async (_, request) => {
    const from = input();
    await convertFile(from, path("e.csv"), utm);
    await expectRefusal(from, "e.tsv", request, "e.prj: belongs to e.csv");
    writeFileSync(path("e.tsv"), "id\n1\n");
    await expectRefusal(from, "e.tsv", { ...request, ...overwrite }, "e.prj: belongs to e.csv");
  });

  test("the .prj of the input", async () => {
    await convertFile(input(), path("t.csv"), utm);
    const request = { targetCrs: "EPSG:25833" };
    await expectRefusal(path("t.csv"), "t.tsv", request, "t.prj: belongs to t.csv");
    await expectRefusal(path("t.csv"), "t.tsv", { ...request, ...overwrite }, "t.prj: belongs to t.csv");
  });

  test.each([{}, { append: true }, overwrite])("a Shapefile beside a CSV with a .prj: %o", async (request) => {
    const from = input();
    await convertFile(from, path("a.csv"), utm);
    await expectRefusal(from, "a.shp", { sourceCrs: "EPSG:25832", ...request }, "a.prj: belongs to a.csv");
  });

  test("the .csvt of a CSV is kept", async () => {
    const from = input();
    await convertFile(from, path("e.csv"), { sourceCrs: "EPSG:25832", writerOptions: { csvt: "yes" } });
    await expectRefusal(from, "e.tsv", { sourceCrs: "EPSG:25832", ...overwrite }, "e.csvt: belongs to e.csv");
  });

  test("a table without geometry as the .dbf of a Shapefile", async () => {
    const from = input();
    await convertFile(from, path("a.shp"), utm);
    await expectRefusal(from, "a.dbf", { to: "shapefile", ...utm, ...overwrite }, /a\.\w+: belongs to a\.shp/);
  });
});

test.each(["csv", "shp"])("a .prj that the existing .%s would be read with is not created", async (extension) => {
  const from = input();
  await convertFile(from, path(`e.${extension}`), utm);
  rmSync(path("e.prj"));
  await expectRefusal(from, "e.tsv", utm, `but e.${extension} would be read with it, too`);
});

test.each(["prj", "csvt"])(
  "ifNewer converts again if the .%s of an input beside the output is newer",
  async (extension) => {
    const from = path("t.csv");
    await convertFile(input(), from, { ...utm, writerOptions: { csvt: "yes" } });
    const run = async () => (await convertFile(from, path("t.gpkg"), { ifNewer: true })).upToDate;
    const past = new Date(Date.now() - 60_000);
    for (const name of ["t.csv", "t.prj", "t.csvt"]) utimesSync(path(name), past, past);
    expect([await run(), await run()]).toEqual([false, true]);
    const future = new Date(Date.now() + 60_000);
    utimesSync(path(`t.${extension}`), future, future);
    expect(await run()).toBe(false);
  },
);

describe("outputs keep their own companions", () => {
  test("a CSV replaces itself and its .prj", async () => {
    const from = input();
    for (const targetCrs of ["EPSG:25832", "EPSG:25833"]) {
      await convertFile(from, path("e.csv"), { ...utm, targetCrs, ...overwrite });
      expect(contents()["e.prj"]).toContain(`Zone_${targetCrs.slice(-2)}N`);
    }
    await convertFile(from, path("e.csv"), { sourceCrs: "EPSG:25832", ...overwrite });
    expect(Object.keys(contents())).toEqual(["e.csv", "in.csv"]);
  });

  test("a Shapefile replaces itself beside a table, which ignores its .prj", async () => {
    const from = input();
    await convertFile(from, path("a.shp"), utm);
    await convertFile(from, path("a.csv"), { sourceCrs: "EPSG:25832" });
    await convertFile(from, path("a.shp"), { ...utm, ...overwrite });
    expect(contents()["a.prj"]).toContain("Zone_32N");
  });

  test("a .prj without a dataset of its name may be replaced", async () => {
    const from = input();
    writeFileSync(path("e.prj"), "left over");
    await convertFile(from, path("e.csv"), { ...utm, ...overwrite });
    expect(contents()["e.prj"]).toContain("Zone_32N");
  });

  test("an archive beside a table has its companions inside", async () => {
    const from = input();
    await convertFile(from, path("a.csv"), utm);
    await convertFile(path("a.csv"), path("a.shz"), utm);
    expect(Object.keys(contents())).toEqual(["a.csv", "a.prj", "a.shz", "in.csv"]);
  });
});
