/** Runs the examples of a page on a copy of the samples, and puts their output below them. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");

/** Lines that need a service, a queue or the network, or that do not end. */
const notRun =
  /# until Ctrl\+C|https?:|s3:|postgresql:|redis:|--map\b|\b(push|plan|apply|verify|restore|pull|dedupe|serve|worker|login|logout|maps|whoami|admin)\b|^npm |^npx /;

/** Lines of an output that are shown. */
const maxLines = 25;

function openSandbox() {
  const folder = mkdtempSync(join(tmpdir(), "geoferry-docs-"));
  const programs = mkdtempSync(join(tmpdir(), "geoferry-programs-"));
  cpSync(join(root, "samples"), join(folder, "samples"), { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "geoferry"), "dir");
  const main = join(root, "dist/src/cli/main.js");
  writeFileSync(join(programs, "geoferry"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 });
  const env = {
    ...process.env,
    XDG_STATE_HOME: join(programs, "state"),
    NO_COLOR: "1",
    PATH: `${programs}:${process.env.PATH}`,
  };
  return {
    run: (command) =>
      new Promise((resolve) =>
        execFile("bash", ["-c", `{ ${command}\n} 2>&1`], { cwd: folder, env, timeout: 60_000 }, (_, output) =>
          resolve(output.replaceAll(folder, "/srv/maps")),
        ),
      ),
    close() {
      for (const path of [folder, programs]) rmSync(path, { recursive: true, force: true });
    },
  };
}

function shorten(output) {
  const lines = output.trimEnd().split("\n");
  return lines.length <= maxLines
    ? lines.join("\n")
    : [...lines.slice(0, maxLines), `… ${lines.length - maxLines} more lines`].join("\n");
}

/** @returns the Markdown with a block of output below each `sh` block whose commands can be run here */
export async function addOutputs(markdown, path) {
  if (!/^(README|docs\/(converting|command-line|from-ogr2ogr|grids|where))\.md$/.test(path)) return markdown;
  let text = "";
  let at = 0;
  for (const block of markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)) {
    text += markdown.slice(at, block.index + block[0].length);
    at = block.index + block[0].length;
    const commands = block[1]
      .replaceAll("\\\n", " ")
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.startsWith("#"));
    const sandbox = openSandbox();
    const shown = [];
    try {
      for (const command of commands) {
        if (notRun.test(command)) continue;
        const output = await sandbox.run(command);
        shown.push(`$ ${command.replace(/\s+#.*$/, "")}\n${shorten(output)}`);
      }
    } finally {
      sandbox.close();
    }
    if (shown.length > 0) text += `\n\n::: details Output\n\`\`\`\`console\n${shown.join("\n")}\n\`\`\`\`\n:::\n`;
  }
  return text + markdown.slice(at);
}
