/** What stands beside a file is found in one listing of its folder, however many files are asked for. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { findCompanions } from "../../../src/io/output/temporary-names.js";
import { TemporaryFolder } from "../../../src/testing/index.js";

const listed = vi.hoisted(() => ({ times: 0 }));
vi.mock("node:fs", async (actual) => {
  const fs = await actual<typeof import("node:fs")>();
  const readdirSync = ((...given: Parameters<typeof fs.readdirSync>) => {
    listed.times++;
    return fs.readdirSync(...given);
  }) as typeof fs.readdirSync;
  return { ...fs, readdirSync };
});

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
beforeEach(() => {
  listed.times = 0;
});

let folders = 0;
/** A folder that no one has changed for an hour. */
function folderOf(...names: string[]): string {
  const folder = scratch.path(`listing${folders++}`);
  mkdirSync(folder);
  for (const name of names) writeFileSync(`${folder}/${name}`, "");
  const then = Date.now() / 1000 - 3600;
  utimesSync(folder, then, then);
  return folder;
}
const namesBeside = (path: string, extensions: readonly string[]) =>
  findCompanions(path, extensions)
    .map((found) => basename(found))
    .sort();

it("a companion has the exact stem and an extension in any letter case", () => {
  const folder = folderOf("a.shp", "a.DBF", "a.prj", "A.prj", "a.shp.xml", "ab.prj", "a.txt");
  const extensions = ["dbf", "PRJ", "prj", "shp.xml"];
  for (let time = 0; time < 2; time++) {
    expect(namesBeside(`${folder}/a.shp`, extensions)).toEqual(["a.DBF", "a.prj", "a.shp.xml"]);
  }
});

it("companions of many files are found with one listing of the folder", () => {
  const stems = Array.from({ length: 200 }, (_, n) => `f${n}`);
  const folder = folderOf(...stems.flatMap((stem) => [`${stem}.csv`, `${stem}.prj`]));
  listed.times = 0;
  for (const stem of stems) expect(namesBeside(`${folder}/${stem}.csv`, ["prj"])).toEqual([`${stem}.prj`]);
  expect(listed.times).toBe(1);
});

it("a companion that was created after the first search is found", () => {
  const folder = folderOf("a.csv");
  expect(namesBeside(`${folder}/a.csv`, ["prj"])).toEqual([]);
  writeFileSync(`${folder}/a.prj`, "");
  expect(namesBeside(`${folder}/a.csv`, ["prj"])).toEqual(["a.prj"]);
});
