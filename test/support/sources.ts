import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.js";

/** Files that git tracks or would track, relative to the root, with `/`. */
export function projectFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  return listed.split("\0").filter((path) => path !== "");
}

/** The text of a file; empty if it is tracked but removed. */
export function textOf(path: string): string {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return "";
  }
}

export const isSource = (path: string): boolean => /^(src|plugins)\/.*\.(ts|mts|mjs|js)$/.test(path);
