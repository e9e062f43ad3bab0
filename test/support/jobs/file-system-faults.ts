import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { expect } from "vitest";

/**
 * A script that runs a function in one folder after another, and breaks the n-th run at its n-th file system operation,
 * until a run ends before that. Its first arguments are a folder to start each run from, the folder that gets those of
 * the runs, called `0`, `1` and so on, whether hard links are supported (`yes`, `no`), and the kind of fault: `kill`,
 * `from then on` for all later operations as well, anything else for this one only.
 *
 * One process has all runs. One that is to be killed waits at its operation forever, and so does all else that it does
 * from then on; once the last has ended, the process is killed. Each run prints a line, a `BrokenRun` as JSON.
 *
 * @param body statements that may use `folder`, `given`, the remaining arguments, and `load`
 * @param load statements that run once, before the first run
 */
export const breakAtEachStep = (load: string, body: string): string => `
import { AsyncLocalStorage } from "node:async_hooks";
import { cpSync, writeSync } from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
const [start, folders, links, manner, ...given] = process.argv.slice(2);
const runs = new AsyncLocalStorage();
// Keeps what waits, and open files, from being collected.
const kept = [];
for (const name of ["open", "link", "rename", "rm", "unlink", "writeFile"]) {
  const original = fsp[name];
  fsp[name] = (...args) => {
    const run = runs.getStore();
    const due = manner === "from then on" ? run.steps >= run.deadly : run.steps === run.deadly;
    if (due && manner === "kill") {
      run.stop();
      return new Promise((resolve) => kept.push(resolve));
    }
    run.steps += 1;
    if (due) return Promise.reject(Object.assign(new Error("broken"), { code: "EIO" }));
    if (name === "link" && links === "no") {
      return Promise.reject(Object.assign(new Error("no links here"), { code: "EPERM" }));
    }
    return original(...args).then((result) => {
      kept.push(result);
      return result;
    });
  };
}
syncBuiltinESMExports();
${load}
const body = async (folder) => {
  ${body}
};
for (let step = 0, over = false; !over; step += 1) {
  const folder = folders + "/" + step;
  cpSync(start, folder, { recursive: true });
  const outcome = await new Promise((resolve) => {
    const run = { steps: 0, deadly: step, stop: () => resolve("killed") };
    runs.run(run, body, folder).then(
      () => {
        over = run.steps <= step;
        resolve("done");
      },
      (error) => resolve(error.stack),
    );
  });
  const result = outcome === "killed" || outcome === "done" ? { outcome } : { outcome: "failed", message: outcome };
  writeSync(1, JSON.stringify({ folder, ...result, over }) + "\\n");
}
if (manner === "kill") process.kill(process.pid, "SIGKILL");
`;

export interface BrokenRun {
  readonly folder: string;
  readonly outcome: "killed" | "failed" | "done";
  /** Of the error that it failed with. */
  readonly message?: string;
  /** Whether it ended before the operation that was to break. */
  readonly over: boolean;
}

/** Starts such a script, and returns what it did once the process is gone. */
export function runBroken(
  script: string,
  options: { start: string; folders: string; links: boolean; manner: string },
  given: readonly string[],
): BrokenRun[] {
  const { start, folders, links, manner } = options;
  mkdirSync(folders);
  const args = [script, start, folders, links ? "yes" : "no", manner, ...given];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, signal, stderr }).toEqual(
    manner === "kill" ? { status: null, signal: "SIGKILL", stderr: "" } : { status: 0, signal: null, stderr: "" },
  );
  const runs = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as BrokenRun);
  expect(runs.map(({ over }) => over)).toEqual(runs.map((_, step) => step === runs.length - 1));
  if (manner === "kill") expect(runs.map(({ outcome }) => outcome === "killed")).toEqual(runs.map(({ over }) => !over));
  return runs;
}
