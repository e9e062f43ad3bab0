import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSink } from "../../../src/io/output/create-sink.js";
import { CompiledSources } from "../../support/compiled-sources.js";
import { breakAtEachStep, runBroken } from "../../support/jobs/file-system-faults.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const companions = ["shx", "dbf", "qix", "cpg"];
let compiled: CompiledSources;
let script: string;
const scratch = new TemporaryFolder();

beforeAll(() => {
  compiled = new CompiledSources(["src/io/output/create-sink.ts"]);
  script = compiled.script(
    "publish.js",
    breakAtEachStep(
      `const { createSink } = await import(${JSON.stringify(compiled.url("src/io/output/create-sink.js"))});
      const [stem, overwrite] = given;
      const options = { overwrite: overwrite === "yes", companions: ${JSON.stringify(companions)} };`,
      `const sink = await createSink(folder + "/" + stem + ".shp", options);
      for (const extension of [undefined, "shx", "dbf", "cpg"]) {
        const file = await sink.create(extension);
        await file.write(Buffer.from("new"));
      }
      await sink.commit();`,
    ),
  );
});
afterAll(() => {
  compiled.remove();
  scratch.remove();
});

/** What a reader that opens `a.shp` gets together. */
function seen(folder: string, stem: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => name.startsWith(`${stem}.`));
  return Object.fromEntries(names.map((name) => [`a${extname(name)}`, readFileSync(join(folder, name), "utf8")]));
}

const oldSet = { "a.shp": "old", "a.shx": "old", "a.dbf": "old", "a.qix": "old" };
const newSet = { "a.shp": "new", "a.shx": "new", "a.dbf": "new", "a.cpg": "new" };

/** 251 bytes, so that a name has as many as it may. */
const longStem = `${"ä".repeat(125)}b`;

/** Runs that are killed, or fail, each at a later step. */
function brokenRuns(manner: string, overwrite: boolean, links: boolean, stem: string) {
  const name = `${stem.length}-${overwrite ? "old" : "fresh"}-${links ? "links" : "none"}-${manner}`;
  const start = scratch.path(`${name}-start`);
  mkdirSync(start);
  if (overwrite)
    for (const [name, text] of Object.entries(oldSet)) writeFileSync(join(start, stem + extname(name)), text);
  const options = { start, folders: scratch.path(name), links, manner };
  return runBroken(script, options, [stem, overwrite ? "yes" : "no"]);
}

/** Lets another run look at the folder. */
async function visit(folder: string): Promise<void> {
  const sink = await createSink(join(folder, "b.shp"), { overwrite: false });
  await sink.abort();
}

describe.each([
  { overwrite: true, links: true, manner: "kill" },
  { overwrite: false, links: true, manner: "kill" },
  { overwrite: true, links: false, manner: "kill" },
  { overwrite: true, links: true, manner: "once" },
  { overwrite: true, links: true, manner: "from then on" },
  { overwrite: true, links: true, manner: "kill", stem: longStem },
  { overwrite: false, links: false, manner: "kill", stem: longStem },
  { overwrite: true, links: true, manner: "once", stem: longStem },
] as const)("a set broken at any step: %o", ({ overwrite, links, manner, ...named }) => {
  const { stem } = { stem: "a", ...named };
  test("a set is never mixed after a kill, and the next run repairs the folder", async () => {
    const ends = new Set<string>();
    const runs = brokenRuns(manner, overwrite, links, stem);
    for (const [step, { folder, outcome, message }] of runs.entries()) {
      const before = seen(folder, stem);
      if ("a.shp" in before) {
        expect(before, `broken at step ${step}`).toEqual(before["a.shp"] === "old" ? oldSet : newSet);
      }
      if (manner === "once" && outcome === "failed") {
        expect(message).toContain("cannot be written: input/output error");
        expect(before, `undone at step ${step}`).toEqual(oldSet);
        expect(readdirSync(folder).length).toBe(4);
      }
      await visit(folder);
      const after = seen(folder, stem);
      expect([overwrite ? oldSet : {}, newSet], `recovered from step ${step}`).toContainEqual(after);
      expect(readdirSync(folder).filter((name) => !name.startsWith(`${stem}.`))).toEqual([]);
      ends.add(JSON.stringify(after));
    }
    expect(runs.length).toBeGreaterThan(13);
    expect(ends.size).toBe(2);
  });
});

test("a temporary file of a running process is kept", async () => {
  const folder = scratch.path("living");
  mkdirSync(folder);
  const sink = await createSink(join(folder, "a.csv"), { overwrite: false });
  const file = await sink.create();
  await file.write(Buffer.from("mine"));
  const other = compiled.script(
    "other.js",
    `const { createSink } = await import(${JSON.stringify(compiled.url("src/io/output/create-sink.js"))});
    const sink = await createSink(process.argv[2], { overwrite: false });
    await (await sink.create()).write(Buffer.from("of another"));
    await sink.commit();`,
  );
  expect(spawnSync(process.execPath, [other, join(folder, "b.csv")]).status).toBe(0);
  await sink.commit();
  expect(readFileSync(join(folder, "a.csv"), "utf8")).toBe("mine");
});
