/** Runs commands of the documentation as its readers do: in a folder with the samples, with `geoferry` on the path. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");

/** The fenced blocks of a Markdown page. */
export function parseCodeBlocks(markdown) {
  const blocks = [];
  for (const match of markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const line = markdown.slice(0, match.index).split("\n").length;
    const end = match.index + match[0].length;
    blocks.push({ line, end, info: match[1].trim(), text: match[2] });
  }
  return blocks;
}

/** The commands of a `sh` block: lines without comments, with continued lines joined. */
export const commandsOf = (text) =>
  text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));

/** A folder with a copy of the samples, in which `geoferry` is the built command. */
export class DocsSandbox {
  folder = mkdtempSync(join(tmpdir(), "geoferry-docs-"));
  #programs = mkdtempSync(join(tmpdir(), "geoferry-programs-"));
  #variables;
  #status = 0;

  constructor(variables = {}) {
    this.#variables = variables;
    cpSync(join(root, "samples"), join(this.folder, "samples"), { recursive: true });
    // A sample plugin and the library example import geoferry as an installed package.
    mkdirSync(join(this.folder, "node_modules", "@types"), { recursive: true });
    symlinkSync(root, join(this.folder, "node_modules", "geoferry"), "dir");
    symlinkSync(join(root, "node_modules/@types/node"), join(this.folder, "node_modules/@types/node"), "dir");
    const main = join(root, "dist/src/cli/main.js");
    writeFileSync(join(this.#programs, "geoferry"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
      mode: 0o755,
    });
  }

  async run(command) {
    const script = `(exit ${this.#status})\n{ ${command}\n} 2>&1`;
    const env = {
      ...process.env,
      ...this.#variables,
      XDG_STATE_HOME: join(this.#programs, "state"),
      NO_COLOR: "1",
      PATH: `${this.#programs}:${process.env.PATH}`,
    };
    const ran = await new Promise((resolve) => {
      execFile("bash", ["-c", script], { cwd: this.folder, env, timeout: 60_000 }, (error, output) => {
        const status = error ? (typeof error.code === "number" ? error.code : 1) : 0;
        resolve({ command, status, output });
      });
    });
    this.#status = ran.status;
    return ran;
  }

  read(name) {
    return readFileSync(join(this.folder, name), "utf8");
  }

  remove() {
    for (const path of [this.folder, this.#programs]) rmSync(path, { recursive: true, force: true });
  }
}
