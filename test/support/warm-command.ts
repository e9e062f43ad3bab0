import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface WarmRequest {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: string;
}

/** Services, workers and viewers, which a signal stops; a prompt in a terminal; the completion of a shell. */
const commandsOfOwnProcess = new Set(["serve", "worker", "view", "login", "__complete", "completion"]);

const timeoutMs = 120_000;

/**
 * One process of this test file that runs commands one after the other: to start a process for each takes half a second of
 * processor time, of which most is compiling the same code again.
 */
class WarmCommand {
  #folder = "";
  #child: ChildProcess | null = null;
  #runs = 0;
  #isBusy = false;

  /** Whether a command can run here: of several at once the others need processes of their own. */
  canRun({ args, env }: WarmRequest): boolean {
    // Node and SQLite read these when they start.
    const setsStart = Object.entries(env).some(
      ([name, value]) => /^(NODE_|(SQLITE_)?TMPDIR$)/.test(name) && value !== process.env[name],
    );
    const usesDevices = args.some((arg) => arg === "-" || arg.startsWith("/dev/") || arg.startsWith("/proc/"));
    // A hook writes to the stderr of the process.
    const usesOutput = usesDevices || args.includes("--on-failure");
    return (
      !this.#isBusy &&
      args.length > 0 &&
      !args.some((arg) => commandsOfOwnProcess.has(arg)) &&
      !usesOutput &&
      !setsStart
    );
  }

  /** Runs a command, and blocks until it has ended. */
  runSync(request: WarmRequest): CommandResult {
    const [child, result] = this.#start(request);
    const lock = new Int32Array(new SharedArrayBuffer(4));
    const end = Date.now() + timeoutMs;
    while (!existsSync(result) && isRunning(child) && Date.now() < end) Atomics.wait(lock, 0, 0, 2);
    return this.#end(child, result);
  }

  async run(request: WarmRequest): Promise<CommandResult> {
    const [child, result] = this.#start(request);
    const end = Date.now() + timeoutMs;
    while (!existsSync(result) && isRunning(child) && Date.now() < end) await setTimeout(3);
    return this.#end(child, result);
  }

  #start(request: WarmRequest): [child: ChildProcess, result: string] {
    this.#isBusy = true;
    const child = this.#child ?? this.#spawn();
    const result = join(this.#folder, String(this.#runs++));
    (child.stdio[3] as Writable).write(`${JSON.stringify({ ...request, result })}\n`);
    return [child, result];
  }

  #spawn(): ChildProcess {
    const script = fileURLToPath(new URL("warm-command-process.mjs", import.meta.url));
    const folder = mkdtempSync(join(tmpdir(), "geoferry-warm-"));
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit", "pipe"] });
    child.stdio[3]!.on("error", () => {});
    // Does not keep the test file from ending.
    child.unref();
    (child.stdio[3] as Writable & { unref(): void }).unref();
    process.once("exit", () => {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });
    this.#folder = folder;
    this.#child = child;
    return child;
  }

  #end(child: ChildProcess, result: string): CommandResult {
    this.#isBusy = false;
    if (!isRunning(child) || !existsSync(result)) {
      child.kill("SIGKILL");
      this.#child = null;
    }
    if (!existsSync(result)) return { status: null, stdout: "", stderr: "the process of the commands has ended" };
    const said = JSON.parse(readFileSync(result, "utf8")) as CommandResult;
    rmSync(result);
    return said;
  }
}

/** Also while the event loop is blocked, when `exitCode` is not set yet. Elsewhere than on Linux the time limit ends the wait. */
function isRunning({ pid }: ChildProcess): boolean {
  if (process.platform !== "linux") return true;
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

export const warmCommand = new WarmCommand();
