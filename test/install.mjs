/**
 * Makes a checkout ready before `npm test` and `npm run demo`: installs the packages of package-lock.json, compiles what
 * is missing, and builds. The argument `demo` skips GDAL's driver, and SQLite's too where Node has its own: compiling
 * them takes minutes.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const forDemo = process.argv[2] === "demo";
const started = Date.now();

const exists = (...path) => existsSync(join(root, "node_modules", ...path));

function run(message, args, { required = true } = {}) {
  const seconds = Math.round((Date.now() - started) / 1000);
  console.error(`[${seconds} s] ${message}`);
  const shell = process.platform === "win32";
  const { status } = spawnSync("npm", args, { cwd: root, stdio: required ? "inherit" : "ignore", shell });
  if (status !== 0 && required) process.exit(status ?? 1);
}

/** Whether Node has SQLite with what geoferry needs (22.16). */
function hasNodeSqlite() {
  process.removeAllListeners("warning");
  try {
    return "setReturnArrays" in createRequire(import.meta.url)("node:sqlite").StatementSync.prototype;
  } catch {
    return false;
  }
}

if (!exists("typescript", "package.json") || !exists("rolldown", "package.json")) {
  run("Installing packages (10 to 30 s) …", ["ci", "--ignore-scripts", "--loglevel=error"]);
}
if (!exists("better-sqlite3", "build", "Release", "better_sqlite3.node") && !(forDemo && hasNodeSqlite())) {
  run("Installing SQLite (seconds, or a minute where it must be compiled; Node 22.16 and later have their own) …", [
    "rebuild",
    "better-sqlite3",
    "--loglevel=error",
  ]);
}
const hasGdalHeaders = () => spawnSync("gdal-config", ["--version"]).status === 0;
if (!forDemo && exists("gdal-async") && !exists("gdal-async", "lib", "binding") && hasGdalHeaders()) {
  run("Compiling GDAL's driver (about two minutes) …", ["rebuild", "gdal-async", "--loglevel=error"], {
    required: false,
  });
}
run("Building …", ["run", "--silent", "build"]);
