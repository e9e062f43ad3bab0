import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { root } from "./command.js";

/** Changes with each file that `npm pack` may put into the package. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    const found = statSync(path);
    hash.update(`${path} ${found.size} ${found.mtimeMs}\n`);
    if (found.isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name));
  };
  for (const name of ["package.json", ...manifest.files]) add(join(root, name));
  return hash.digest("hex").slice(0, 16);
}

/**
 * The path of the package as `npm pack` makes it of the existing build. It is made once for all test files, in the
 * temporary folder of the machine, where the next build of this checkout replaces it.
 */
export function packedPackage(): string {
  const checkout = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), `geoferry-test-package-${checkout}`);
  const own = join(folder, fingerprint());
  const path = join(own, `geoferry-${manifest.version}.tgz`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const older = readdirSync(folder).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const made = mkdtempSync(join(folder, "made-"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", made], { cwd: root, stdio: "pipe" });
  try {
    renameSync(made, own);
  } catch (error) {
    // Another test was faster.
    rmSync(made, { recursive: true });
    if (!existsSync(path)) throw error;
  }
  for (const name of older)
    if (join(folder, name) !== own) rmSync(join(folder, name), { recursive: true, force: true });
  return path;
}
