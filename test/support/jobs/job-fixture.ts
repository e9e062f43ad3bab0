/** A folder with job files, and `geoferry run` on them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach } from "vitest";
import type { RunReport } from "../../../src/jobs/report/run-report.js";
import { main } from "../command.js";
import { warmCommand } from "../warm-command.js";

export interface JobRunResult {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  /** Null if no report was written. */
  readonly report: RunReport & { readonly status: number };
}

export interface JobRunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly nodeFlags?: readonly string[];
  /** Path of another build of the command. */
  readonly program?: string;
  /** Receives the running process. */
  readonly watch?: (child: ChildProcess) => void;
}

/** Points in a row, as CSV. */
export const pointsCsv = (...names: readonly string[]): string =>
  `name,lon,lat\n${names.map((name, n) => `${name},${n},50`).join("\n")}\n`;

/** Create it at the top of a test file: each test gets a separate folder, and processes end with the test. */
export class JobFixture {
  folder = "";
  private readonly servers: Server[] = [];
  private readonly children: ChildProcess[] = [];

  constructor() {
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), "geoferry-run-"));
    });
    afterEach(() => {
      for (const child of this.children.splice(0)) child.kill("SIGKILL");
      for (const server of this.servers.splice(0)) server.close();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  readonly at = (name: string): string => join(this.folder, name);

  readonly put = (name: string, contents: string): void => writeFileSync(this.at(name), contents);

  /** Serves all requests with a handler. @returns host and port */
  readonly serve = async (answer: NonNullable<Parameters<typeof createServer>[1]>): Promise<string> => {
    const server = createServer(answer);
    this.servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  /** Serves x.csv with a handler, and 404 for all else. @returns host and port */
  readonly serveTable = (answer: Parameters<JobFixture["serve"]>[0]): Promise<string> =>
    this.serve((request, response) => {
      if (request.url === "/x.csv") answer(request, response);
      else response.writeHead(404).end();
    });

  /** Host and port without a listener. */
  async silence(): Promise<string> {
    const host = await this.serve(() => {});
    const server = this.servers.pop()!;
    server.close();
    await once(server, "close");
    return host;
  }

  /** Runs a job of the folder; its report and state are in the folder. */
  async run(
    job: string,
    flags: readonly string[],
    { env, nodeFlags = [], program = main, watch }: JobRunOptions,
  ): Promise<JobRunResult> {
    const report = this.at("report.json");
    rmSync(report, { force: true });
    const readReport = () => (existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : null);
    const args = ["run", this.at(job), "--report", report, ...flags];
    const environment = { ...process.env, NO_COLOR: "1", XDG_STATE_HOME: this.at("state"), ...env };
    const request = { args, cwd: tmpdir(), env: environment, input: "" };
    const needsProcess = watch !== undefined || nodeFlags.length > 0 || program !== main;
    if (!needsProcess && warmCommand.canRun(request)) {
      const { status, stderr } = await warmCommand.run(request);
      return { status, signal: null, stderr, report: readReport() };
    }
    const child = spawn(process.execPath, [...nodeFlags, program, ...args], { cwd: tmpdir(), env: environment });
    this.children.push(child);
    watch?.(child);
    child.stdout.resume();
    const ended = once(child, "close");
    const stderr = await text(child.stderr);
    const [status, signal] = (await ended) as [number | null, string | null];
    return { status, signal, stderr, report: readReport() };
  }
}
