import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CommandResult, warmCommand } from "./warm-command.js";

/** The root of the checkout. */
export const root = fileURLToPath(new URL("../..", import.meta.url));
export const samples = join(root, "samples");
export const main = join(root, "dist", "src", "cli", "main.js");

export type { CommandResult };

export interface GeoferryOptions {
  readonly input?: string | Buffer;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs the built command line to its end. */
export function geoferry(args: readonly string[], options: GeoferryOptions = {}): CommandResult {
  const env = { ...process.env, NO_COLOR: "1", ...options.env };
  const request = { args, cwd: options.cwd ?? root, env, input: "" };
  if (!options.input && warmCommand.canRun(request)) return warmCommand.runSync(request);
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
    input: options.input ?? "",
    cwd: options.cwd ?? root,
    env,
    maxBuffer: 1 << 28,
    timeout: 120_000,
  });
  return { status, stdout, stderr };
}

export function startGeoferry(args: readonly string[], cwd: string = root, env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [main, ...args], {
    cwd,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
}

/**
 * Whether a reference program is installed; in CI its absence is a failure, elsewhere tests that need it are skipped.
 */
export function hasProgram(program: string): boolean {
  const found = spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
  if (!found && process.env.CI) throw new Error(`${program} is missing, and CI must not leave its tests out`);
  return found;
}

export interface OgrLayer {
  readonly count: number;
  readonly geometry: string;
  readonly text: string;
}

/** The output of ogrinfo for a file, with its warnings. */
export function ogrinfo(path: string): { text: string; complaints: string } {
  const { stdout, stderr } = spawnSync("ogrinfo", ["-ro", "-al", "-so", path], { encoding: "utf8" });
  return { text: stdout, complaints: stderr };
}

/** The first Python that has the modules of GDAL: Debian's, beside which another may come first on the path. */
export const pythonWithGdal = (): string | undefined =>
  ["python3", "/usr/bin/python3"].find(
    (command) => spawnSync(command, ["-c", "import osgeo"], { stdio: "ignore" }).status === 0,
  );
