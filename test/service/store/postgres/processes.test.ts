import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { CompiledSources } from "../../../support/compiled-sources.js";
import { execute, testDatabase } from "../../../support/servers/postgres.js";
import { ModelMap, type ModelRequest, type Properties } from "../reference-model.js";
import { insertMap, makeWriteRequest, readAllByCursor, writeOrFail } from "../store-fixture.js";
import type { AcknowledgedWrite, ObservedPage, OutputLine } from "./writer-process.js";

const database = await testDatabase();
// Each commit waits for a shared disk.
vi.setConfig({ testTimeout: 300_000 });
const script = "test/service/store/postgres/writer-process";

let compiled: CompiledSources;
beforeAll(() => {
  compiled = new CompiledSources([`${script}.ts`]);
});
afterAll(() => compiled.remove());

type Mode = "mixed" | "replace" | "roam";

class WriterProcess {
  readonly lines: OutputLine[] = [];
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;

  constructor(mode: Mode, url: string, seed: number, maps: readonly string[]) {
    const path = fileURLToPath(compiled.url(`${script}.js`));
    this.child = spawn(process.execPath, [path, mode, url, String(seed), ...maps], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const reader = createInterface({ input: this.child.stdout! });
    // The last line of a killed process may be incomplete.
    reader.on("line", (line) => line.endsWith("}") && this.lines.push(JSON.parse(line)));
    this.ended = Promise.all([once(this.child, "exit"), once(reader, "close")]);
  }

  async finished(): Promise<OutputLine[]> {
    await this.ended;
    expect(this.lines.at(-1)).toEqual({ done: true });
    return this.lines;
  }

  async killedAfter(acknowledged: number, milliseconds: number): Promise<OutputLine[]> {
    while (this.lines.length < acknowledged && this.child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    this.child.kill("SIGKILL");
    await this.ended;
    return this.lines;
  }
}

const acknowledged = (lines: readonly OutputLine[]): AcknowledgedWrite[] =>
  lines.flatMap((line) => ("write" in line ? [line.write] : []));
const observedPages = (lines: readonly OutputLine[]): ObservedPage[] =>
  lines.flatMap((line) => ("read" in line ? [line.read] : []));
const changed = ({ success, deleted }: AcknowledgedWrite): boolean => success.length > 0 || deleted > 0;

/** Rows whose counts or keys differ from the features; none must be returned. */
const wrongCounts = `
  SELECT * FROM (
    SELECT map, bits, seq >> bits AS bucket, count(*) FROM features, (VALUES (8), (14), (20)) AS level (bits) GROUP BY 1, 2, 3
  ) AS rows FULL JOIN bucket_counts AS kept USING (map, bits, bucket) WHERE rows.count IS DISTINCT FROM kept.count`;
const wrongKeys = `
  SELECT * FROM (
    SELECT f.map, n.number AS field, f.seq, sha256(convert_to('n' || (f.properties::json ->> 'ref'), 'UTF8')) AS digest
    FROM features f JOIN key_fields n ON n.map = f.map AND n.name = 'ref'
  ) AS rows FULL JOIN feature_keys AS kept USING (map, field, seq) WHERE rows.digest IS DISTINCT FROM kept.digest`;
const wrongTotals = `
  SELECT number FROM maps WHERE features <> (SELECT count(*) FROM features f WHERE f.map = maps.number)`;

async function expectConsistentDatabase(url: string): Promise<void> {
  for (const wrong of [wrongCounts, wrongKeys, wrongTotals]) expect(await execute(url, wrong)).toEqual([]);
}

async function createMaps(maps: number): Promise<{ url: string; maps: string[] }> {
  const url = await database!.emptySchema();
  const store = await openPostgresStore(url);
  const made: string[] = [];
  for (let i = 0; i < maps; i++) made.push(await insertMap(store));
  await store[Symbol.asyncDispose]();
  return { url, maps: made };
}

/** Replays the acknowledged writes on a plain list; returns its content after each revision. */
function replayOnModel(writes: readonly AcknowledgedWrite[]): Map<number, string> {
  const model = new ModelMap();
  const text = () =>
    JSON.stringify(
      model.features.map(({ id, geometry, properties }) => ({ type: "Feature", id, geometry, properties })),
    );
  const states = new Map([[0, text()]]);
  // Of the writes that report one revision, one made it, and the others changed nothing after it.
  const inOrder = [...writes].sort((a, b) => a.revision - b.revision || Number(changed(b)) - Number(changed(a)));
  for (const { kind, sent, revision, deleted, success, failed } of inOrder) {
    const request: ModelRequest = {
      kind,
      remoteField: kind === "create" ? null : "ref",
      items: sent.map(({ geometry, properties }) => ({
        id: null,
        geometry,
        properties: properties as Properties,
        bad: false,
      })),
      strict: false,
      behind: null,
    };
    const outcome = model.write(request, (index) => success.find((one) => one.index === index)?.id ?? "");
    if (outcome.kind !== "done") throw new Error(outcome.kind);
    const failing = outcome.fates.flatMap(({ what }, i) => (what === "failed" ? [i] : []));
    expect({ revision, deleted, failed }).toEqual({
      revision: model.revision,
      deleted: outcome.deleted,
      failed: failing,
    });
    states.set(revision, text());
  }
  return states;
}

describe.skipIf(!database)("two processes on one database", () => {
  test("write one map as one process would: all acknowledged and observed states form one history", async () => {
    const { url, maps } = await createMaps(1);
    const writers = [1, 2].map((seed) => new WriterProcess("mixed", url, seed, maps));
    const lines = (await Promise.all(writers.map((writer) => writer.finished()))).flat();
    const writes = acknowledged(lines);
    expect(writes).toHaveLength(120);
    const revisions = writes.filter(changed).map(({ revision }) => revision);
    expect(new Set(revisions).size).toBe(revisions.length);
    const states = replayOnModel(writes);
    expect(observedPages(lines)).toHaveLength(120);
    for (const { revision, text } of observedPages(lines)) expect(text).toBe(states.get(revision));

    const store = await openPostgresStore(url);
    expect(JSON.stringify(await readAllByCursor(store, maps[0]!))).toBe(states.get(Math.max(...revisions)));
    await store[Symbol.asyncDispose]();
    await expectConsistentDatabase(url);
  });

  test("replace a map concurrently: it has all features of one, and each replacement is complete", async () => {
    const url = await database!.emptySchema();
    const stores = [await openPostgresStore(url), await openPostgresStore(url)];
    const map = await insertMap(stores[0]!);
    const put = (by: number) =>
      makeWriteRequest(
        map,
        "synchronize",
        Array.from({ length: 40 }, (_, i) => ({ geometry: null, properties: { ref: i * (1 + (by % 3)), by } })),
        { remoteField: "ref" },
      );
    const outcomes = await Promise.all(Array.from({ length: 24 }, (_, by) => writeOrFail(stores[by % 2]!, put(by))));
    const last = outcomes.reduce((a, b) => (a.revision > b.revision ? a : b));
    expect(outcomes.map(({ revision }) => revision).sort((a, b) => a - b)).toEqual(outcomes.map((_, i) => i + 1));
    const stored = await readAllByCursor(stores[0]!, map);
    expect(new Set(stored.map(({ properties }) => properties.by))).toEqual(new Set([outcomes.indexOf(last)]));
    expect(stored).toHaveLength(40);
    for (const store of stores) await store[Symbol.asyncDispose]();
    await expectConsistentDatabase(url);
  });

  test("write to several maps and change everything else without a deadlock", async () => {
    const { url, maps } = await createMaps(5);
    const deadlocks = "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()";
    const before = await execute(url, deadlocks);
    const writers = [3, 4].map((seed) => new WriterProcess("roam", url, seed, maps));
    const lines = (await Promise.all(writers.map((writer) => writer.finished()))).flat();
    expect(acknowledged(lines)).toHaveLength(144);
    expect(await execute(url, deadlocks)).toEqual(before);
    await expectConsistentDatabase(url);
  });
});

describe.skipIf(!database)("a process that is killed while it writes", () => {
  test("leaves the map as before or after a write, with all acknowledged writes, and no lock", async () => {
    const { url, maps } = await createMaps(1);
    const store = await openPostgresStore(url);
    for (let round = 0; round < 6; round++) {
      const before = (await store.map(maps[0]!))!.revision;
      const writer = new WriterProcess("replace", url, round, maps);
      const writes = acknowledged(await writer.killedAfter(2, round * 9));
      const { revision } = await writeOrFail(
        store,
        makeWriteRequest(maps[0]!, "create", [{ geometry: null, properties: {} }]),
      );
      // The write in progress was either applied or not.
      expect([writes.length, writes.length + 1]).toContain(revision - 1 - before);
      const stored = await readAllByCursor(store, maps[0]!);
      const marks = stored.map(({ properties }) => properties.by);
      expect(new Set(marks.slice(0, -1))).toEqual(new Set([revision - 1 - before]));
      expect(marks).toHaveLength(1001);
      await expectConsistentDatabase(url);
    }
    await store[Symbol.asyncDispose]();
  });
});
