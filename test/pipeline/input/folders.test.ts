import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { convertMany, type Outcome } from "../../../src/pipeline/convert-many.js";
import { expandInputs } from "../../../src/pipeline/input/expand-inputs.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
beforeEach(() => {
  scratch = new TemporaryFolder();
  mkdirSync(scratch.path("in/sub"), { recursive: true });
});
afterEach(() => scratch.remove());

const table = "lon,lat\n1,2\n";
const put = (path: string) => writeFileSync(scratch.path(path), table);

async function run(output: string, request: Partial<ConvertRequest> = {}): Promise<Map<string, string>> {
  const asked = { inputs: [scratch.path("in")], output: scratch.path(output), to: "geojson", workers: 1, ...request };
  const outcomes: Outcome[] = await convertMany(asked, createTestHost());
  const from = scratch.path("in").length + 1;
  return new Map(outcomes.map(({ input, error }) => [input.slice(from), error?.code ?? "done"]));
}

test("circular links are not followed, links to files are inputs, and broken links are reported", async () => {
  put("in/a.csv");
  symlinkSync("..", scratch.path("in/sub/up"));
  symlinkSync("../a.csv", scratch.path("in/sub/link.csv"));
  symlinkSync("nowhere.csv", scratch.path("in/dangling.csv"));
  expect(await run("out/")).toEqual(
    new Map([
      ["a.csv", "done"],
      ["dangling.csv", "input-missing"],
      ["sub/link.csv", "done"],
    ]),
  );
});

test("a file is read once, however many inputs name it", async () => {
  for (const name of ["in/a.csv", "in/sub/b.csv", "in/roads.shp", "in/roads.dbf", "in/alone.dbf"]) put(name);
  const expanded = async (...names: readonly string[]) => {
    const inputs = names.map((name) => scratch.path(name));
    const found = await expandInputs(inputs, createTestHost().registry, new AbortController().signal);
    return found.map(({ address }) => relative(scratch.path("in"), resolve(address)));
  };
  expect(await expanded("in/*.csv", "in/a*.csv", "in/sub/../a.csv")).toEqual(["a.csv"]);
  expect(await expanded("in", "in/a.csv")).toEqual(["a.csv", "alone.dbf", "roads.shp", "sub/b.csv"]);
  expect(await expanded("in/roads.shp", "in/roads.dbf", "in/alone.dbf", "in/alone.dbf")).toEqual([
    "roads.shp",
    "alone.dbf",
  ]);
  expect(await expanded("in/roads.dbf", "in/*.shp")).toEqual(["roads.dbf"]);
});

test("a symbolic link to itself fails without stopping the other inputs", async () => {
  put("in/a.csv");
  symlinkSync("self.csv", scratch.path("in/self.csv"));
  const outcomes = await run("out/");
  expect(outcomes.get("a.csv")).toBe("done");
  expect(outcomes.get("self.csv")).not.toBe("internal");
  expect(existsSync(scratch.path("out/self.geojson"))).toBe(false);
});

test("names with a leading dash, a line feed or spaces are valid", async () => {
  const names = ["-to", "new\nline", " a b "];
  for (const name of names) put(`in/${name}.csv`);
  await run("out/");
  expect(readdirSync(scratch.path("out")).sort()).toEqual(names.map((name) => `${name}.geojson`).sort());
});

test("an output folder within the input is not read again, one beside it is", async () => {
  put("in/a.csv");
  put("in/sub/b.csv");
  mkdirSync(scratch.path("in/out"));
  const expected = new Map([
    ["a.csv", "done"],
    ["sub/b.csv", "done"],
  ]);
  expect(await run("in/out")).toEqual(expected);
  expect(await run("in/out", { overwrite: true })).toEqual(expected);
  const again = [scratch.path("in/out/a.geojson")];
  expect(await run("in/out", { inputs: again, to: "csv" })).toEqual(new Map([["out/a.geojson", "done"]]));
});

test("files of a folder that no format has by name are reported once, unlike companions, hidden files and rejects", async () => {
  for (const name of [
    "a.csv",
    "b.txt",
    "README",
    "sub/c.unknown",
    ".hidden",
    "a.csvt",
    "a.csv.rejects.geojsonl",
    "Thumbs.db",
  ])
    put(`in/${name}`);
  const reported: string[][] = [];
  const host = { ...createTestHost(), onLeftOut: (paths: readonly string[]) => void reported.push([...paths]) };
  const request = { inputs: [scratch.path("in")], output: scratch.path("out/"), to: "geojson", workers: 1 };
  expect((await convertMany(request, host)).map(({ error }) => error)).toEqual([undefined]);
  const pattern = { ...request, inputs: [scratch.path("in/*")], output: scratch.path("out2/") };
  expect((await convertMany(pattern, host)).map(({ error }) => error)).toEqual([undefined]);
  expect(reported.map((paths) => paths.map((path) => path.slice(path.indexOf("/in/") + 4)))).toEqual([
    ["README", "b.txt", "sub/c.unknown"],
    ["README", "b.txt"],
  ]);
});

test("a pattern finds each file once, also through a link to a folder above it", async () => {
  put("in/a.csv");
  put("in/sub/b.csv");
  symlinkSync("..", scratch.path("in/sub/up"));
  symlinkSync("../a.csv", scratch.path("in/sub/link.csv"));
  const { registry, signal } = createTestHost();
  const found = await expandInputs([scratch.path("in/**/*.csv")], registry, signal);
  expect(found.map(({ relativePath }) => relativePath)).toEqual(["a.csv", "sub/b.csv", "sub/link.csv"]);
});
