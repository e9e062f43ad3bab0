import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSink } from "../../src/io/sink.js";
import { Scratch } from "../support/recording.js";
import { Compiled } from "./compiled.js";

const companions = ["shx", "dbf", "qix", "cpg"];
let compiled: Compiled;
let script: string;
const scratch = new Scratch();

beforeAll(() => {
  compiled = new Compiled(["src/io/sink.ts"]);
  script = compiled.script(
    "publish.js",
    `
    import fsp from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    const [path, overwrite, links, deadly] = process.argv.slice(2);
    let steps = 0;
    for (const name of ["open", "link", "rename", "rm", "writeFile"]) {
      const original = fsp[name];
      fsp[name] = (...args) => {
        if (steps === Number(deadly)) process.kill(process.pid, "SIGKILL");
        steps += 1;
        if (name === "link" && links === "no") {
          return Promise.reject(Object.assign(new Error("no links here"), { code: "EPERM" }));
        }
        return original(...args);
      };
    }
    syncBuiltinESMExports();
    const { createSink } = await import(${JSON.stringify(compiled.url("src/io/sink.js"))});
    const sink = await createSink(path, { overwrite: overwrite === "yes", companions: ${JSON.stringify(companions)} });
    for (const extension of [undefined, "shx", "dbf", "cpg"]) {
      const file = await sink.create(extension);
      await file.write(Buffer.from("new"));
    }
    await sink.commit();
    `,
  );
});
afterAll(() => {
  compiled.remove();
  scratch.remove();
});

/** What a reader that opens `a.shp` gets together. */
function seen(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => name.startsWith("a."));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

const oldSet = { "a.shp": "old", "a.shx": "old", "a.dbf": "old", "a.qix": "old" };
const newSet = { "a.shp": "new", "a.shx": "new", "a.dbf": "new", "a.cpg": "new" };

/** Runs until it is killed before its n-th step; false once there are no more steps. */
function killedAt(step: number, overwrite: boolean, links: boolean): { folder: string; killed: boolean } {
  const folder = scratch.path(`${overwrite ? "old" : "fresh"}-${links ? "links" : "none"}-${step}`);
  mkdirSync(folder);
  if (overwrite) for (const [name, text] of Object.entries(oldSet)) writeFileSync(join(folder, name), text);
  const yesNo = (answer: boolean) => (answer ? "yes" : "no");
  const child = spawnSync(process.execPath, [
    script,
    join(folder, "a.shp"),
    yesNo(overwrite),
    yesNo(links),
    String(step),
  ]);
  if (child.signal !== "SIGKILL") expect(`${child.stderr}`).toBe("");
  return { folder, killed: child.signal === "SIGKILL" };
}

describe.each([
  { overwrite: true, links: true },
  { overwrite: false, links: true },
  { overwrite: true, links: false },
  { overwrite: false, links: false },
])("a set killed at any step, overwriting: $overwrite, hard links: $links", ({ overwrite, links }) => {
  test("is never seen mixed, and the next run puts the folder right", async () => {
    let kills = 0;
    const ends = new Set<string>();
    for (let step = 0; ; step += 1) {
      const { folder, killed } = killedAt(step, overwrite, links);
      const before = seen(folder);
      if ("a.shp" in before) {
        expect(before, `killed before step ${step}`).toEqual(before["a.shp"] === "old" ? oldSet : newSet);
      }
      const sink = await createSink(join(folder, "b.shp"), { overwrite: false });
      await sink.abort();
      const after = seen(folder);
      expect([overwrite ? oldSet : {}, newSet], `recovered from step ${step}`).toContainEqual(after);
      expect(readdirSync(folder).filter((name) => !name.startsWith("a."))).toEqual([]);
      ends.add(JSON.stringify(after));
      if (!killed) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(12);
    expect(ends.size).toBe(2);
  });
});

test("a file in the making by a process that lives is left alone", async () => {
  const folder = scratch.path("living");
  mkdirSync(folder);
  const sink = await createSink(join(folder, "a.csv"), { overwrite: false });
  const file = await sink.create();
  await file.write(Buffer.from("mine"));
  const other = spawnSync(process.execPath, [script, join(folder, "b.shp"), "no", "yes", "-1"]);
  expect(other.status).toBe(0);
  await sink.commit();
  expect(readFileSync(join(folder, "a.csv"), "utf8")).toBe("mine");
});
