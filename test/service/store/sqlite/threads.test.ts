/** The store and the service after a thread of SQLite ended unexpectedly. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { startService } from "../../../../src/service/serve.js";
import type { Store } from "../../../../src/service/store/contract.js";
import { openSqliteStore } from "../../../../src/service/store/sqlite/index.js";
import type { ThreadExit } from "../../../../src/service/store/sqlite/supervised-thread.js";
import { insertMap, makeWriteRequest, numberedFeatures, readAllByCursor, writeOrFail } from "../store-fixture.js";
import { expectConsistent } from "./consistency.js";

vi.setConfig({ testTimeout: 120_000 });
const folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Threads of this process by start time; the writer of a store is the first. */
let threads: Worker[] = [];
const trackWorker = (worker: Worker) => void threads.push(worker);
beforeEach(() => {
  threads = [];
  process.on("worker", trackWorker);
});
const closing: (() => unknown)[] = [];
afterEach(async () => {
  process.off("worker", trackWorker);
  for (const close of closing.splice(0).reverse()) await close();
});

const isAnswering = (store: Store): Promise<boolean> =>
  store.ping().then(
    () => true,
    () => false,
  );
const waitUntilAnswering = (store: Store) => expect.poll(() => isAnswering(store), { timeout: 60_000 }).toBe(true);

interface ReportedExit extends ThreadExit {
  /** Whether the store responded at the time of the event. */
  readonly answered: Promise<boolean>;
}

async function opened(name: string): Promise<{ store: Store; path: string; ends: ReportedExit[] }> {
  const path = join(folder, name);
  const ends: ReportedExit[] = [];
  const store = await openSqliteStore(path, {
    onThreadExit: (end) => void ends.push({ ...end, answered: isAnswering(store) }),
  });
  closing.push(() => store[Symbol.asyncDispose]());
  return { store, path, ends };
}

test("a writer thread is restarted: its write in progress is rolled back and reported, and the next write succeeds", async () => {
  const { store, path, ends } = await opened("writer.db");
  const map = await insertMap(store);
  await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(3)));
  const other = new Sqlite(path);
  closing.push(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const lost = store.write(makeWriteRequest(map, "create", numberedFeatures(2)));
  const ended = threads[0]!.terminate();
  // The waiting statement must end: an exception in an ending thread would abort the process.
  other.exec("COMMIT");
  await ended;
  await expect(lost).rejects.toMatchObject({ code: "store-unavailable", statusCode: 503 });
  await waitUntilAnswering(store);
  expect(ends).toMatchObject([{ role: "writer", restartDelay: 0 }]);
  expect(await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(1)))).toMatchObject({ revision: 2 });
  expect(await readAllByCursor(store, map)).toHaveLength(4);
  expectConsistent(path);
});

test("a reader thread is restarted, while the other one serves reads", async () => {
  const { store, ends } = await opened("reader.db");
  const map = await insertMap(store);
  await threads[1]!.terminate();
  expect(await store.map(map)).toMatchObject({ id: map });
  await waitUntilAnswering(store);
  expect(ends).toMatchObject([{ role: "reader", restartDelay: 0 }]);
  expect(threads).toHaveLength(4);
});

test("a thread that ends repeatedly is restarted each time, after a longer delay", async () => {
  const { store, ends } = await opened("often.db");
  for (let i = 1; i <= 4; i++) {
    await waitUntilAnswering(store);
    await threads.at(i === 1 ? 0 : -1)!.terminate();
    await expect.poll(() => ends.length, { timeout: 60_000 }).toBe(i);
    expect(await ends.at(-1)!.answered).toBe(false);
    // Reads still work.
    expect(await store.accounts()).toEqual([]);
  }
  expect(ends.map(({ restartDelay }) => restartDelay)).toEqual([0, 500, 1000, 2000]);
  await waitUntilAnswering(store);
  await store.purge(0);
});

test("a store closes at once while a thread waits for its restart", async () => {
  const { store, ends } = await opened("closing.db");
  for (let i = 1; i <= 3; i++) {
    await waitUntilAnswering(store);
    await threads.at(i === 1 ? 0 : -1)!.terminate();
    await expect.poll(() => ends.length).toBe(i);
  }
  await store[Symbol.asyncDispose]();
  expect(threads).toHaveLength(5);
});

test("the service logs the exit with its cause", async () => {
  const lines: string[] = [];
  const service = await startService({
    store: { kind: "folder", path: join(folder, "data") },
    spoolFolder: null,
    host: "127.0.0.1",
    port: 0,
    probePort: null,
    tls: null,
    publicUrl: null,
    trustProxy: [],
    insecureHttp: false,
    settings: {},
    auditDays: 0,
    logLevel: "error",
    logTarget: { write: (line) => void lines.push(line) },
  });
  closing.push(() => service.close());
  await threads[0]!.terminate();
  // Pending calls of the thread may have failed as well.
  const exitEntries = () =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith("a thread of the store"));
  await expect.poll(exitEntries).toHaveLength(1);
  expect(exitEntries()).toMatchObject([
    {
      level: "error",
      msg: "a thread of the store ended and is restarted",
      thread: "writer",
      pause: 0,
      err: { message: expect.stringContaining("exit status 1") },
    },
  ]);
  const ready = () => fetch(`${service.url}/readyz`).then(({ status }) => status);
  await expect.poll(ready, { timeout: 60_000 }).toBe(200);
});
