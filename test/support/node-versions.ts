import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The path of another version of Node.js, installed once from the npm package with its binary into the temporary folder
 * of the machine. Null, with a warning, if it is not available; a failure in CI.
 */
export async function nodeVersion(major: 20 | 22 | 24, platform = "linux-x64"): Promise<string | null> {
  if (platform === "linux-x64" && process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const folder = join(tmpdir(), `geoferry-test-node-${major}${platform === "linux-x64" ? "" : `-${platform}`}`);
  const binary = platform.startsWith("win") ? "node.exe" : "node";
  const path = join(folder, "node_modules", "node-binary", "bin", binary);
  if (existsSync(path)) return path;
  try {
    if (process.platform !== "linux" || process.arch !== "x64") throw new Error("only on Linux x64");
    const own = `${folder}-${process.pid}`;
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "package.json"), "{}");
    const name = `node-binary@npm:node-${platform}@${major}`;
    // The package states its platform, which Wine is and npm is not.
    execFileSync("npm", ["install", "--ignore-scripts", "--force", name], { cwd: own, stdio: "pipe" });
    try {
      renameSync(own, folder);
    } catch (error) {
      // Another test was faster.
      rmSync(own, { recursive: true });
      if (!existsSync(path)) throw error;
    }
    return path;
  } catch (error) {
    if (process.env.CI) throw error;
    console.warn(
      `NOT TESTED: Node ${major} for ${platform} cannot be installed (${(error as Error).message.split("\n")[0]})`,
    );
    return null;
  }
}
