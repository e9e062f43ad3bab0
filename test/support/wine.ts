/**
 * geoferry on Windows, as far as Wine behaves like it: paths with drive letters and backslashes, files that cannot be
 * renamed or removed while they are open, names that ignore case, and Node's own build for Windows.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "./command.js";

/** The path of a file of this machine in Wine. */
export const windowsPath = (path: string): string => `Z:${path.replaceAll("/", "\\")}`;

export class WineMachine {
  readonly work: string;
  private readonly env: NodeJS.ProcessEnv;

  /** @param folder an empty one, for the settings of Wine and for what is written @param node the path of node.exe */
  constructor(
    private readonly folder: string,
    private readonly node: string,
  ) {
    this.work = join(folder, "work");
    mkdirSync(this.work, { recursive: true });
    this.env = { ...process.env, WINEPREFIX: join(folder, "wine"), WINEDEBUG: "-all", NO_COLOR: "1" };
    for (const args of [
      ["wineboot", "--init"],
      ["winecfg", "-v", "win10"],
    ])
      spawnSync("wine", args, { env: this.env, stdio: "ignore", timeout: 120_000 });
  }

  /** Runs geoferry to its end. Pipes of Wine are none that Node knows, so that files take their place. */
  run(args: readonly string[], { input = "", env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {}) {
    const folder = mkdtempSync(join(this.folder, "run-"));
    writeFileSync(join(folder, "in"), input);
    const files = [
      openSync(join(folder, "in"), "r"),
      openSync(join(folder, "out"), "w"),
      openSync(join(folder, "err"), "w"),
    ];
    const { status } = spawnSync("wine", [this.node, windowsPath(main), ...args], {
      cwd: this.work,
      env: { ...this.env, ...env },
      stdio: files,
      timeout: 180_000,
    });
    for (const file of files) closeSync(file);
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    const result = { status, stdout: read("out"), stderr: read("err") };
    rmSync(folder, { recursive: true });
    return result;
  }

  /** Starts geoferry. @param stdout the path of a file */
  start(args: readonly string[], stdout: string): ChildProcess {
    const file = openSync(stdout, "w");
    const child = spawn("wine", [this.node, windowsPath(main), ...args], {
      cwd: this.work,
      env: this.env,
      stdio: ["ignore", file, "ignore"],
    });
    closeSync(file);
    return child;
  }

  /** Ends all that runs in it. */
  stop(): void {
    spawnSync("wineserver", ["--kill"], { env: this.env, stdio: "ignore" });
  }
}
