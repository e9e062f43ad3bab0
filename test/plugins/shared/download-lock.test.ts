/** Locks of downloads: those of ended processes are replaced, although their number may belong to another process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DownloadLock } from "../../../plugins/shared/download-lock.js";
import { findProcessStart } from "../../../src/running-process.js";

function lockPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "new", "a.lock");
}

async function expectFree(path: string): Promise<void> {
  const lock = new DownloadLock(path);
  await lock.acquire();
  await lock.release();
  expect(existsSync(path)).toBe(false);
}

/** The text of a lock of this process, with changed lines. */
async function writeLock(path: string, changes: Readonly<Record<number, string>>, ageSeconds = 0): Promise<void> {
  const lock = new DownloadLock(path);
  await lock.acquire();
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, lines.map((line, n) => changes[n] ?? line).join("\n"));
  clearInterval((lock as unknown as { timer: NodeJS.Timeout }).timer);
  setAge(path, ageSeconds);
}

test("a lock of a running process is kept", async () => {
  const path = lockPath();
  const lock = new DownloadLock(path);
  await lock.acquire();
  await expect(new DownloadLock(path).acquire()).rejects.toMatchObject({ code: "output-locked" });
  await lock.release();
  await expectFree(path);
});

test.skipIf(process.platform !== "linux").each([
  ["another process has the number", { 1: "1" }],
  ["the system was started again", { 2: "00000000-0000-4000-8000-000000000000" }],
] as const)("a lock is replaced if %s", async (_, changes) => {
  const path = lockPath();
  await writeLock(path, changes);
  await expectFree(path);
});

test("a lock of another machine is replaced when it is no longer renewed", async () => {
  const path = lockPath();
  await writeLock(path, { 3: "elsewhere" }, 240);
  await expect(new DownloadLock(path).acquire()).rejects.toMatchObject({ code: "output-locked" });
  setAge(path, 360);
  await expectFree(path);
});

function setAge(path: string, seconds: number): void {
  const at = Date.now() / 1000 - seconds;
  utimesSync(path, at, at);
}

test("a lock with only a process number is replaced after ten seconds", async () => {
  const path = lockPath();
  await writeLock(path, {}, 0);
  writeFileSync(path, String(process.pid));
  setAge(path, 20);
  await expectFree(path);
});

test.skipIf(process.platform !== "linux")("a zombie does not run", async () => {
  // The shell replaces itself, so that nothing collects the status of its child.
  const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 30"], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [bytes] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(bytes.toString());
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "latin1")).toContain(") Z ");
  expect(findProcessStart(pid)).toBeNull();
  expect(findProcessStart(parent.pid!)).toMatch(/^\d+$/);
});
