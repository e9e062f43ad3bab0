import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSink } from "../../../src/io/output/create-sink.js";
import { CompiledSources } from "../../support/compiled-sources.js";
import { failAtStepEpilogue, failAtStepScript } from "../../support/jobs/file-system-faults.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const companions = ["shx", "dbf", "qix", "cpg"];
let compiled: CompiledSources;
let script: string;
const scratch = new TemporaryFolder();

beforeAll(() => {
  compiled = new CompiledSources(["src/io/output/create-sink.ts"]);
  script = compiled.script(
    "publish.js",
    `
    ${failAtStepScript}
    const [path, overwrite] = given;
    const { createSink } = await import(${JSON.stringify(compiled.url("src/io/output/create-sink.js"))});
    const sink = await createSink(path, { overwrite: overwrite === "yes", companions: ${JSON.stringify(companions)} });
    for (const extension of [undefined, "shx", "dbf", "cpg"]) {
      const file = await sink.create(extension);
      await file.write(Buffer.from("new"));
    }
    await sink.commit();
    ${failAtStepEpilogue}
    `,
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

type Manner = "kill" | "once" | "from then on";

/** Runs until it is killed, or fails, at its n-th step; `over` once there are no more steps. */
function brokenAt(step: number, manner: Manner, overwrite: boolean, links: boolean, stem: string) {
  const folder = scratch.path(
    `${stem.length}-${overwrite ? "old" : "fresh"}-${links ? "links" : "none"}-${manner}-${step}`,
  );
  mkdirSync(folder);
  if (overwrite)
    for (const [name, text] of Object.entries(oldSet)) writeFileSync(join(folder, stem + extname(name)), text);
  const yesNo = (answer: boolean) => (answer ? "yes" : "no");
  const options = [yesNo(overwrite), yesNo(links), String(step), manner];
  const child = spawnSync(process.execPath, [script, join(folder, `${stem}.shp`), ...options], { encoding: "utf8" });
  const over = child.status === 77;
  if (manner === "kill" && !over) expect(child.signal, child.stderr).toBe("SIGKILL");
  return { folder, over, status: child.status, message: child.stderr };
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
    let step = 0;
    for (; ; step += 1) {
      const { folder, over, status, message } = brokenAt(step, manner, overwrite, links, stem);
      const before = seen(folder, stem);
      if ("a.shp" in before) {
        expect(before, `broken at step ${step}`).toEqual(before["a.shp"] === "old" ? oldSet : newSet);
      }
      if (manner === "once" && status === 1) {
        expect(message).toContain("cannot be written: input/output error");
        expect(before, `undone at step ${step}`).toEqual(oldSet);
        expect(readdirSync(folder).length).toBe(4);
      }
      await visit(folder);
      const after = seen(folder, stem);
      expect([overwrite ? oldSet : {}, newSet], `recovered from step ${step}`).toContainEqual(after);
      expect(readdirSync(folder).filter((name) => !name.startsWith(`${stem}.`))).toEqual([]);
      ends.add(JSON.stringify(after));
      if (over) break;
    }
    expect(step).toBeGreaterThan(12);
    expect(ends.size).toBe(2);
  }, 180_000);
});

test("a temporary file of a running process is kept", async () => {
  const folder = scratch.path("living");
  mkdirSync(folder);
  const sink = await createSink(join(folder, "a.csv"), { overwrite: false });
  const file = await sink.create();
  await file.write(Buffer.from("mine"));
  const other = spawnSync(process.execPath, [script, join(folder, "b.shp"), "no", "yes", "1000", "kill"]);
  expect(other.status).toBe(77);
  await sink.commit();
  expect(readFileSync(join(folder, "a.csv"), "utf8")).toBe("mine");
});
