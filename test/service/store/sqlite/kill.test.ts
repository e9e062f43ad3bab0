/** A writer process is killed at random times: all acknowledged writes are present, and no partial ones. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSqliteStore } from "../../../../src/service/store/sqlite/index.js";
import { CompiledSources } from "../../../support/compiled-sources.js";
import { insertMap, readAllByCursor } from "../store-fixture.js";
import { expectConsistent } from "./consistency.js";

/**
 * Writes to two maps until killed: on one, features are created and deleted; all of the other are replaced each time.
 * The first uses more remote fields than are indexed, so that keys are indexed again and again, in small batches.
 */
const writer = (index: string) => `
import { createHash } from "node:crypto";
import { openSqliteStore } from ${JSON.stringify(index)};
const [path, run, growing, replaced] = process.argv.slice(2);
const store = await openSqliteStore(path, undefined, { batchSize: 25, maxWaitMs: 1e6, isExclusive: true });
const audit = { account: null, action: "features-written", address: null };
const rest = { strict: false, versions: null, idempotency: null, now: 1, audit };
const item = (ref, by, index) => ({
  index,
  id: null,
  key: createHash("sha256").update("s" + ref).digest("hex"),
  geometry: "null",
  properties: JSON.stringify({ ref, by, ["f" + (index % 12)]: ref }),
});
const say = (word, value) => process.stdout.write(JSON.stringify([word, value]) + "\\n");
const write = async (map, kind, remoteField, items) => {
  const outcome = await store.write({ map, kind, remoteField, items, ...rest });
  if (outcome.kind !== "done" || outcome.failed.length > 0) throw new Error(JSON.stringify(outcome));
  return outcome;
};
const made = [];
for (let i = 0; ; i++) {
  const refs = Array.from({ length: 1 + (i % 90) }, (_, k) => run + "/" + i + "/" + k);
  const { success } = await write(growing, "upsert", "ref", refs.map((ref, k) => item(ref, i, k)));
  const ids = success.map(({ id }) => id);
  say("created", ids);
  made.push(ids);
  const by = Number(run) * 1e6 + i;
  const kept = Array.from({ length: 40 }, (_, k) => item("r" + (k < 20 ? k : k + "/" + by), by, k));
  await write(replaced, "synchronize", "ref", kept);
  say("replaced", by);
  const unknown = { index: 0, id: null, key: "00".repeat(32), properties: "{}" };
  await store.write({ map: growing, kind: "update", remoteField: "f" + (i % 12), items: [unknown], ...rest });
  if (i % 3 !== 2) continue;
  const gone = made.shift();
  say("deleting", gone);
  await write(growing, "delete", null, gone.map((id, index) => ({ index, id, key: null })));
  say("deleted", gone);
}
`;

const folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));
let compiled: CompiledSources;
let script: string;

beforeAll(() => {
  const sources = ["index", "thread"].map((name) => `src/service/store/sqlite/${name}.ts`);
  compiled = new CompiledSources(sources);
  const imports = { "#sqlite-store": `./${sources[1]!.replace(".ts", ".js")}` };
  writeFileSync(join(compiled.folder, "package.json"), JSON.stringify({ type: "module", imports }));
  script = compiled.script("writer.mjs", writer(compiled.url(sources[0]!.replace(".ts", ".js"))));
});
afterAll(() => {
  compiled.remove();
  rmSync(folder, { recursive: true, force: true });
});

type Word = "created" | "replaced" | "deleting" | "deleted";

/** Output of a writer that is killed after this many words and a delay. */
async function killedWriter(
  args: readonly string[],
  words: number,
  milliseconds: number,
): Promise<[Word, string[] | number][]> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8");
  const ended = new Promise((resolve) => child.once("close", resolve));
  const first = new Promise<void>((resolve) => {
    child.stdout.on("data", (text: string) => {
      said += text;
      if (said.split("\n").length > words) resolve();
    });
  });
  await Promise.race([first, ended]);
  await wait(milliseconds);
  child.kill("SIGKILL");
  await ended;
  // The last line may be incomplete.
  return said
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test("a writer that is killed ten times loses no acknowledged write", { timeout: 240_000 }, async () => {
  const path = join(folder, "killed.db");
  const store = await openSqliteStore(path);
  const [growing, replaced] = [await insertMap(store), await insertMap(store)];
  await store[Symbol.asyncDispose]();
  const wanted = new Set<string>();
  const doubtful = new Set<string>();
  const gone = new Set<string>();
  let author = -1;
  for (let run = 0; run < 10; run++) {
    const said = await killedWriter([path, String(run), growing, replaced], 1 + 4 * run, Math.random() * 50);
    expect(said.length).toBeGreaterThan(0);
    for (const [word, value] of said) {
      if (word === "replaced") author = value as number;
      for (const id of word === "replaced" ? [] : (value as string[])) {
        if (word === "created") wanted.add(id);
        if (word === "deleting") wanted.delete(id);
        if (word === "deleting") doubtful.add(id);
        if (word === "deleted") gone.add(id);
      }
    }
    expectConsistent(path);
    const after = await openSqliteStore(path);
    const found = new Set((await readAllByCursor(after, growing)).map(({ id }) => id));
    expect([...wanted].filter((id) => !found.has(id))).toEqual([]);
    expect([...gone].filter((id) => found.has(id))).toEqual([]);
    const authors = new Set((await readAllByCursor(after, replaced)).map(({ properties }) => properties.by));
    await after[Symbol.asyncDispose]();
    // All features of one write, not earlier than the last acknowledged one.
    if (author >= 0) {
      expect(authors.size).toBe(1);
      expect(Number([...authors][0])).toBeGreaterThanOrEqual(author);
    }
  }
  expect(wanted.size).toBeGreaterThan(10);
  expect(doubtful.size).toBeGreaterThan(0);
});
