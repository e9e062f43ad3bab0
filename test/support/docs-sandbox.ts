import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, samples } from "./command.js";

/** A fenced block of a Markdown page. */
export interface CodeBlock {
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** The text after the fence: "sh no-run". */
  readonly info: string;
  readonly text: string;
}

export function parseCodeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  for (const match of markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const line = markdown.slice(0, match.index).split("\n").length;
    blocks.push({ line, info: match[1]!.trim(), text: match[2]! });
  }
  return blocks;
}

export interface CommandOutput {
  readonly command: string;
  readonly status: number;
  readonly output: string;
}

/** A folder with a copy of the samples, in which `geoferry` is the built command, as a reader of the docs has it. */
export class DocsSandbox {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-desk-"));
  private readonly programs = mkdtempSync(join(tmpdir(), "geoferry-programs-"));
  private status = 0;

  /** @param variables additional environment variables */
  constructor(private readonly variables: NodeJS.ProcessEnv = {}) {
    cpSync(samples, join(this.folder, "samples"), { recursive: true });
    // A sample plugin and the library example import geoferry as an installed package.
    mkdirSync(join(this.folder, "node_modules", "@types"), { recursive: true });
    symlinkSync(root, join(this.folder, "node_modules", "geoferry"), "dir");
    symlinkSync(join(root, "node_modules/@types/node"), join(this.folder, "node_modules/@types/node"), "dir");
    const main = join(root, "dist/src/cli/main.js");
    writeFileSync(join(this.programs, "geoferry"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
      mode: 0o755,
    });
  }

  /** Runs a shell line; `$?` is the status of the previous line. The output combines stdout and stderr. */
  async run(command: string): Promise<CommandOutput> {
    const script = `(exit ${this.status})\n{ ${command}\n} 2>&1`;
    const env = {
      ...process.env,
      ...this.variables,
      XDG_STATE_HOME: join(this.programs, "state"),
      NO_COLOR: "1",
      PATH: `${this.programs}:${process.env.PATH}`,
    };
    const ran = await new Promise<CommandOutput>((resolve) => {
      execFile("bash", ["-c", script], { cwd: this.folder, env, timeout: 60_000 }, (error, output) => {
        const status = error ? (typeof error.code === "number" ? error.code : 1) : 0;
        resolve({ command, status, output });
      });
    });
    this.status = ran.status;
    return ran;
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.programs, { recursive: true, force: true });
  }
}
