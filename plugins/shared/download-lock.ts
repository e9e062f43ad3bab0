/** A lock file beside an interrupted download, so that two processes do not continue it at once. */
import { readlinkSync } from "node:fs";
import { readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { makeFolders } from "../../src/make-folders.js";
import { createError } from "../../src/plugin/index.js";
import { findProcessStart, findSystemStart } from "../../src/running-process.js";

/** The holder renews the modification time of its lock at this interval. */
const renewalMs = 10_000;
/** A lock of another machine or container counts as abandoned if it was not renewed for this long. */
const foreignAbandonedAfterMs = 5 * 60_000;
/** The holder writes the file immediately after it has created it. */
const maxEmptyMs = 10_000;

function readOrEmpty(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return "";
  }
}

/** Process numbers have a meaning within one namespace of one machine. */
const findMachine = (): string =>
  `${hostname()} ${readOrEmpty(() => readlinkSync("/proc/self/ns/pid"))}`.trim().replaceAll("\n", " ");

/** The text of a lock: number and start of the process, id of the system's start, machine. */
const ownMark = (): string =>
  [process.pid, findProcessStart(process.pid) ?? "", findSystemStart(), findMachine()].join("\n");

/** Whether the process that wrote a lock runs. @param ageMs time since the lock was renewed */
function isHeld(text: string, ageMs: number): boolean {
  const [number, start, boot, machine] = text.split("\n");
  const pid = Number(number);
  if (machine === undefined || !Number.isInteger(pid) || pid <= 0) return ageMs < maxEmptyMs;
  if (machine !== findMachine()) return ageMs < foreignAbandonedAfterMs;
  return boot === findSystemStart() && findProcessStart(pid) === start;
}

export class DownloadLock {
  private mark = "";
  private timer: NodeJS.Timeout | undefined;

  /** @param path of the lock file */
  constructor(private readonly path: string) {}

  /** Creates the folder and the lock; replaces one of a process that has ended. @throws output-locked, output-failed */
  async acquire(): Promise<void> {
    const { path } = this;
    try {
      makeFolders(dirname(path));
      await removeAbandoned(path);
      this.mark = ownMark();
      await writeFile(path, this.mark, { flag: "wx" });
      this.timer = setInterval(() => void renew(path), renewalMs).unref();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") throw createError("output-locked", { output: path }, error);
      throw createError("output-failed", { output: path, reason: message }, error);
    }
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    if ((await readMark(this.path)) === this.mark) await rm(this.path, { force: true });
  }
}

const readMark = (path: string): Promise<string | null> => readFile(path, "utf8").catch(() => null);

async function renew(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => {});
}

async function removeAbandoned(path: string): Promise<void> {
  const mark = await readMark(path);
  const found = await stat(path).catch(() => null);
  if (mark === null || found === null || isHeld(mark, Date.now() - found.mtimeMs)) return;
  // Renamed first: another process may have removed this lock and taken the next one since it was read.
  const aside = `${path}.${process.pid}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if ((await readMark(aside)) === mark) await rm(aside, { force: true });
  else await rename(aside, path);
}
