import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/** Whether this process can use chroot: Linux x64, as root. Required in CI. */
export function canChangeRoot(what: string): boolean {
  const can = process.platform === "linux" && process.arch === "x64" && process.getuid?.() === 0;
  if (!can && process.env.CI) throw new Error(`${what} needs Linux x64 and root, and CI must not leave its tests out`);
  if (!can) console.warn(`NOT TESTED: ${what}, which needs Linux x64 and root`);
  return can;
}

const pathOf = (program: string): string =>
  execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim();

/** Libraries of a binary, as listed by `ldd`. */
const librariesOf = (path: string): string[] =>
  [...spawnSync("ldd", [path], { encoding: "utf8" }).stdout.matchAll(/(\/\S+)/g)].map(([found]) => found);

function copyInto(root: string, path: string, target = path): void {
  mkdirSync(join(root, dirname(target)), { recursive: true });
  copyFileSync(path, join(root, target));
}

/**
 * Fills a folder with programs of this machine and their libraries, as a minimal root file system.
 * @param binaries files whose libraries are copied, too: path here → path there, or null to omit the file itself
 */
export function createMinimalRoot(
  root: string,
  programs: readonly string[],
  binaries: Readonly<Record<string, string | null>> = {},
): void {
  for (const folder of ["tmp", "home", "dev", "etc", "usr/bin", "usr/local/bin"])
    mkdirSync(join(root, folder), { recursive: true });
  symlinkSync("usr/bin", join(root, "bin"));
  for (const program of programs) {
    const path = pathOf(program);
    for (const file of [path, ...librariesOf(path)]) copyInto(root, file);
  }
  for (const [path, target] of Object.entries(binaries)) {
    for (const file of librariesOf(path)) copyInto(root, file);
    if (target !== null) copyInto(root, path, target);
  }
}
