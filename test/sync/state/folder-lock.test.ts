import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { acquireMapLock, FolderLock } from "../../../src/sync/state/folder-lock.js";
import { CompiledSources } from "../../support/compiled-sources.js";

const names = { service: "https://maps.example.org", map: "m" };
let compiled: CompiledSources;
let folder: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  compiled = new CompiledSources(["src/sync/state/folder-lock.ts"]);
});
afterAll(() => compiled.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "geoferry-lock-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A process that acquires the lock and holds it. */
async function holder(): Promise<ChildProcess> {
  const script = compiled.script(
    "hold.js",
    `import { acquireMapLock, FolderLock } from ${JSON.stringify(compiled.url("src/sync/state/folder-lock.js"))};
     globalThis.lock = await acquireMapLock(process.argv[2], ${JSON.stringify(names)});
     process.stdout.write("held");
     setInterval(() => {}, 1000);`,
  );
  const child = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  await once(child.stdout!, "data");
  return child;
}

test("only one run at a time holds the lock", async () => {
  const child = await holder();
  await expect(acquireMapLock(folder, names)).rejects.toMatchObject({
    code: "map-locked",
    kind: "locked",
    message: expect.stringMatching(
      new RegExp(
        `^map m of https://maps.example.org: another run holds the lock \\(process ${child.pid} on ${hostname()}, since \\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z\\); try again when it has finished$`,
      ),
    ),
  });
}, 30_000);

test("a corrupt lock file is reported with a remedy", async () => {
  writeFileSync(join(folder, "lock.db"), "garbage".repeat(200));
  await expect(acquireMapLock(folder, names)).rejects.toMatchObject({
    code: "output-failed",
    message: expect.stringMatching(/lock\.db: .*not a database \(the file contains only the lock; delete it\)/),
  });
});

test("the operating system releases the lock when its process dies", async () => {
  const child = await holder();
  child.kill("SIGKILL");
  await once(child, "exit");
  using lock = await acquireMapLock(folder, names);
  expect(lock).toBeInstanceOf(FolderLock);
}, 30_000);

test("the lock is released at the end of a run, and excludes runs within a process", async () => {
  const first = await acquireMapLock(folder, names);
  await expect(acquireMapLock(folder, names)).rejects.toMatchObject({ code: "map-locked" });
  first[Symbol.dispose]();
  using second = await acquireMapLock(folder, names);
  expect(second).toBeInstanceOf(FolderLock);
});

test("the lock reports a lock file that cannot be written", async () => {
  await expect(acquireMapLock(join(folder, "missing"), names)).rejects.toMatchObject({ code: "output-failed" });
});
