import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSink } from "../../../src/io/output/create-sink.js";
import { CompiledSources } from "../../support/compiled-sources.js";
import { breakAtEachStep, runBroken } from "../../support/jobs/file-system-faults.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let compiled: CompiledSources;
let script: string;
const scratch = new TemporaryFolder();

/** Two Shapefiles, a file alone, and one of an earlier run that goes. */
beforeAll(() => {
  compiled = new CompiledSources(["src/io/output/output-set.ts"]);
  script = compiled.script(
    "publish-several.js",
    breakAtEachStep(
      `const { OutputSet } = await import(${JSON.stringify(compiled.url("src/io/output/output-set.js"))});
      const overwrite = given[0] === "yes";
      const options = { overwrite, companions: ["dbf", "qix"] };`,
      `const outputs = new OutputSet();
      try {
        for (const name of ["a_point.shp", "a_line.shp"]) {
          const sink = await outputs.create(folder + "/" + name, options);
          for (const extension of [undefined, "dbf"]) await (await sink.create(extension)).write(Buffer.from("new"));
        }
        const alone = await outputs.create(folder + "/a.rejects", { overwrite });
        await (await alone.create()).write(Buffer.from("new"));
        if (overwrite) outputs.remove(folder + "/a.shp", ["dbf"]);
        await outputs.commit();
      } catch (error) {
        await outputs.abort();
        throw error;
      }`,
    ),
  );
});
afterAll(() => {
  compiled.remove();
  scratch.remove();
});

type Files = Record<string, string>;

const visible = (folder: string): Files =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.startsWith("."))
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

const all = (names: readonly string[], text: string): Files => Object.fromEntries(names.map((name) => [name, text]));
const parts = ["a_point.shp", "a_point.dbf", "a_line.shp", "a_line.dbf", "a.rejects"];
const oldFiles = all([...parts, "a_line.qix", "a.shp", "a.dbf"], "old");
const newFiles = all(parts, "new");

/** What a reader finds of one set once it has found its main file. */
function ofSet(files: Files, stem: string): string[] {
  if (!(`${stem}.shp` in files)) return [];
  return ["shp", "dbf"].map((extension) => files[`${stem}.${extension}`] ?? "none");
}

describe.each([
  { overwrite: true, links: true, manner: "kill" },
  { overwrite: true, links: false, manner: "kill" },
  { overwrite: false, links: true, manner: "kill" },
  { overwrite: true, links: true, manner: "fail" },
  { overwrite: false, links: true, manner: "fail" },
])("several outputs, broken at any step: %o", ({ overwrite, links, manner }) => {
  test("after a kill all outputs exist or none, and no set is mixed", async () => {
    const before = overwrite ? oldFiles : {};
    const ends = new Set<string>();
    const name = [overwrite, links, manner].join("-");
    const start = scratch.path(`${name}-start`);
    mkdirSync(start);
    for (const [name, text] of Object.entries(before)) writeFileSync(join(start, name), text);
    const options = { start, folders: scratch.path(name), links, manner };
    const runs = runBroken(script, options, [overwrite ? "yes" : "no"]);
    for (const [step, { folder, outcome, message }] of runs.entries()) {
      const left = visible(folder);
      for (const stem of ["a_point", "a_line", "a"]) expect(new Set(ofSet(left, stem)).size).toBeLessThanOrEqual(1);
      // Only hard links let another file take the place of one that stands alone without a moment of none.
      if (overwrite && links) expect(left["a.rejects"], `broken at step ${step}`).toMatch(/^(old|new)$/);
      if (manner === "fail" && outcome === "failed") {
        expect(message).toContain("input/output error");
        expect(left, `undone at step ${step}`).toEqual(before);
        expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
      }
      await (await createSink(join(folder, "other.csv"), { overwrite: false })).abort();
      const after = visible(folder);
      expect([before, newFiles], `recovered from step ${step}`).toContainEqual(after);
      expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
      ends.add(JSON.stringify(after));
    }
    expect(runs.length).toBeGreaterThan(12);
    expect(ends.size).toBe(2);
  });
});
