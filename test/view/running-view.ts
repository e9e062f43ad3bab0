import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { main } from "../support/command.js";

export interface RunningView {
  readonly url: string;
  readonly process: ChildProcess;
  /** What was written to stderr so far. */
  stderr(): string;
  /** @returns the exit status */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `geoferry view` without a browser; it ends with the test. */
export async function startView(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<RunningView> {
  const child = spawn(process.execPath, [main, "view", ...args, "--no-open"], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const ended = once(child, "exit");
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    const [status] = await ended;
    return status as number | null;
  };
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const address = new Promise<string>((resolve) => {
    child.stdout.on("data", (text) => {
      stdout += text;
      const found = /http:\/\/[^"\s]+(?=["\s])/.exec(stdout);
      if (found) resolve(found[0]);
    });
  });
  const url = await Promise.race([
    address,
    ended.then(([status]) => {
      throw new Error(`the view ended with ${status}: ${stderr}`);
    }),
  ]);
  return { url, process: child, stderr: () => stderr, stop };
}
