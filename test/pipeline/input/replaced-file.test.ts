import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryPath } from "../../../src/io/output/temporary-names.js";
import { convert } from "../../../src/pipeline/convert.js";
import { expandInputs } from "../../../src/pipeline/input/expand-inputs.js";
import { createTestHost } from "../../support/host.js";
import { deadMark, ownMark } from "../../support/marks.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const host = createTestHost();
let folders = 0;

/** A Shapefile of three points, of which a run that replaces it has moved the main file aside. */
async function replacedShapefile(mark: string): Promise<{ folder: string; path: string; aside: string }> {
  const folder = scratch.path(`replaced-${++folders}`);
  mkdirSync(folder);
  const path = `${folder}/places.shp`;
  await convert({ inputs: [points(3)], output: path, workers: 1 }, host);
  const aside = temporaryPath(path, mark, "main.old");
  cpSync(path, temporaryPath(path, mark, "main.tmp"));
  renameSync(path, aside);
  return { folder, path, aside };
}

function points(count: number): string {
  const path = scratch.path(`points-${count}.csv`);
  writeFileSync(path, `id,lon,lat\n${Array.from({ length: count }, (_, i) => `${i},${i},1\n`).join("")}`);
  return path;
}

const expand = async (...inputs: string[]) =>
  (await expandInputs(inputs, host.registry, host.signal)).map(({ address }) => resolve(address));

describe("after a run that was killed while it replaced a Shapefile", () => {
  test("appending keeps the features of the old file, also if the folder was recovered a moment ago", async () => {
    const { folder, path } = await replacedShapefile(deadMark);
    await convert({ inputs: [points(1)], output: `${folder}/other.csv`, workers: 1 }, host);
    const again = await replacedShapefile(deadMark);
    for (const name of readdirSync(again.folder)) cpSync(`${again.folder}/${name}`, `${folder}/${name}`);
    const report = await convert({ inputs: [points(5)], output: path, append: true, workers: 1 }, host);
    expect(report.written).toBe(8);
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("a path, a folder and patterns find the old file", async () => {
    for (const pattern of ["places.shp", "", "*.shp", "**", "**/*.shp"]) {
      const { folder, path } = await replacedShapefile(deadMark);
      expect(await expand(`${folder}/${pattern}`), pattern).toEqual([path]);
    }
  });
});

describe("while a run replaces a Shapefile", () => {
  test("inputs are awaited", async () => {
    const { folder, path, aside } = await replacedShapefile(ownMark);
    setTimeout(() => renameSync(aside, path), 300);
    expect(await expand(folder)).toEqual([path]);
  });

  test("a pattern is refused if the file stays away", async () => {
    const { folder, aside } = await replacedShapefile(ownMark);
    const error = await expand(`${folder}/*.shp`).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "input-unreadable" });
    expect((error as Error).message).toContain(aside.slice(folder.length + 1));
  }, 20_000);
});
