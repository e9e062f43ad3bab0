import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { Journal, type JournalHeader, journalPath } from "../../../src/sync/journal/journal.js";
import { findUncertainRequests, readJournal } from "../../../src/sync/journal/journal-reader.js";

const root = mkdtempSync(join(tmpdir(), "geoferry-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const beginning: JournalHeader = {
  run: "r1",
  service: "https://m.example",
  map: "m",
  mode: "append",
  fingerprint: "5a",
};
let folders = 0;
const begin = async () => {
  const folder = join(root, String(folders++));
  return { folder, journal: await Journal.begin(folder, beginning) };
};

test("a sent batch without an acknowledgment is uncertain", async () => {
  const { folder, journal } = await begin();
  expect(await findUncertainRequests(folder)).toBeNull();
  const first = await journal.recordSent({ kind: "create", features: 2, keys: ["a", 7], idempotencyKey: "r1-0" });
  await journal.recordSent({ kind: "delete", features: 1, ids: ["x"] });
  await journal.acknowledge(first, "done");
  expect(await findUncertainRequests(folder)).toMatchObject({ batches: 1, features: 1 });
  expect((await readJournal(folder))?.uncertain).toMatchObject([{ batch: 1, kind: "delete", ids: ["x"] }]);
});

test("keys may contain separators of lines and paragraphs", async () => {
  const { folder, journal } = await begin();
  await journal.recordSent({ kind: "create", features: 1, keys: ["one\u2028two\u2029three"] });
  expect((await readJournal(folder))?.uncertain).toMatchObject([{ keys: ["one\u2028two\u2029three"] }]);
});

test("the journal ignores a truncated last line, and the next run appends after it", async () => {
  const { folder, journal } = await begin();
  await journal.recordSent({ kind: "create", features: 5, first: 0 });
  await journal[Symbol.asyncDispose]();
  appendFileSync(journalPath(folder), '{"line":"ACK","batch":0,"outc');
  expect((await readJournal(folder))?.uncertain).toHaveLength(1);
  await using resumed = await Journal.resume(folder, 1);
  await resumed.acknowledge(0, "done");
  expect(await readJournal(folder)).toMatchObject({
    isEnded: false,
    batches: 1,
    uncertain: [],
    settledRanges: [[0, 5]],
  });
  await resumed.end();
  expect((await readJournal(folder))?.isEnded).toBe(true);
});

test("a batch that was sent again and completed is not uncertain", async () => {
  const { folder, journal } = await begin();
  await journal.recordSent({ kind: "create", features: 5, first: 10, idempotencyKey: "r1-0" });
  const again = await journal.recordSent({ kind: "create", features: 5, first: 10, idempotencyKey: "r1-0" });
  expect((await readJournal(folder))?.uncertain.map(({ batch }) => batch)).toEqual([again]);
  await journal.acknowledge(again, "done");
  expect((await readJournal(folder))?.uncertain).toEqual([]);
});

/** Makes one call on an open file fail. */
const failing = async (method: "appendFile" | "datasync", act: (file: FileHandle) => Promise<void>) => {
  await using file = await open(join(root, "any"), "w");
  const spy = vi.spyOn(Object.getPrototypeOf(file) as FileHandle, method);
  spy.mockImplementationOnce(async function (this: FileHandle) {
    await act(this);
    throw Object.assign(new Error("of the disk"), { code: "ENOSPC" });
  });
  onTestFinished(() => spy.mockRestore());
};

test("a line truncated by a full disk does not damage the next one", async () => {
  const { folder, journal } = await begin();
  await failing("appendFile", async (file) => {
    await file.write('{"line":"SENT","batch":0,');
  });
  await expect(journal.recordSent({ kind: "create", features: 1, keys: ["a"] })).rejects.toMatchObject({
    code: "journal-failed",
  });
  await journal.recordSent({ kind: "create", features: 1, keys: ["b"] });
  expect((await readJournal(folder))?.uncertain).toMatchObject([{ keys: ["b"] }]);
});

test("nothing is sent after a line did not reach the disk", async () => {
  const { journal } = await begin();
  await failing("datasync", async () => {});
  const batch = { kind: "create", features: 1, keys: ["a"] } as const;
  for (let i = 0; i < 2; i++)
    await expect(journal.recordSent(batch)).rejects.toMatchObject({
      code: "journal-failed",
      message: expect.stringContaining("the disk is full; nothing was sent"),
    });
});

test("after the first request, the error of a full disk does not say that nothing was sent", async () => {
  const { journal } = await begin();
  const batch = { kind: "update", features: 1, keys: ["a"] } as const;
  await journal.recordSent(batch);
  await failing("appendFile", async () => {});
  await expect(journal.recordSent(batch)).rejects.toMatchObject({
    code: "journal-failed",
    message: expect.stringMatching(/the disk is full; nothing more was sent, but completed changes remain on the map/),
  });
});

test("lines of concurrent batches do not mix", async () => {
  const { folder, journal } = await begin();
  const keys = Array.from({ length: 500 }, (_, n) => `key ${n}`);
  await Promise.all(Array.from({ length: 20 }, () => journal.recordSent({ kind: "create", features: 500, keys })));
  const lines = readFileSync(journalPath(folder), "utf8").trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { line: string }).line)).toEqual([
    "BEGIN",
    ...Array(20).fill("SENT"),
  ]);
});

test("a request that names its features is settled only by one that names the same", async () => {
  const { folder, journal } = await begin();
  const done = await journal.recordSent({ kind: "create", features: 2, first: 0, names: ["a", "b"] });
  await journal.acknowledge(done, "done");
  // What was created is no longer among the creates of the plan.
  const next = { kind: "create", features: 2, first: 0, names: ["c", "d"] } as const;
  await journal.recordSent(next);
  expect((await readJournal(folder))?.uncertain).toMatchObject([{ names: ["c", "d"] }]);
  await journal.acknowledge(await journal.recordSent(next), "done");
  expect((await readJournal(folder))?.uncertain).toEqual([]);
});
