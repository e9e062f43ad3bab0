/**
 * Makes a checkout ready before `npm test`: installs the packages of package-lock.json, compiles what is missing, and
 * builds. With the argument `demo` it then runs the demo, and compiles nothing that it can do without: no GDAL, and no
 * SQLite where Node has its own. For an older Node it downloads a newer one for the demo, which takes seconds.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { host, nodeBinary, nodeMajor } from "../src/build/node-binary.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const forDemo = process.argv[2] === "demo";
const started = Date.now();

const exists = (...path) => existsSync(join(root, "node_modules", ...path));

const say = (message) => console.error(`[${Math.round((Date.now() - started) / 1000)} s] ${message}`);

/** Runs npm, which prints nothing for long where its output is no terminal. */
async function run(message, args, { required = true } = {}) {
  say(`${message} …`);
  const shell = process.platform === "win32";
  const child = spawn("npm", args, { cwd: root, stdio: required ? "inherit" : "ignore", shell });
  const timer = setInterval(() => say(`${message.replace(/ \(.*/, "")}: still running`), 10_000);
  const [status] = await once(child, "exit");
  clearInterval(timer);
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
  await run("Installing packages (10 to 30 s)", ["ci", "--ignore-scripts", "--loglevel=error"]);
}
/** The Node that runs the demo. */
let node = process.execPath;
let hasSqlite = exists("better-sqlite3", "build", "Release", "better_sqlite3.node");
if (!hasSqlite && forDemo) hasSqlite = hasNodeSqlite();
if (!hasSqlite && forDemo) {
  say(`Downloading Node.js ${nodeMajor}, which has SQLite, for the demo (seconds; ${process.version} has none) …`);
  try {
    node = nodeBinary(host);
    hasSqlite = true;
  } catch {
    say("There is no such download for this system");
  }
}
if (!hasSqlite) {
  await run("Installing SQLite (seconds, or a minute where it must be compiled; Node 22.16 and later have their own)", [
    "rebuild",
    "better-sqlite3",
    "--loglevel=error",
  ]);
}
const hasGdalHeaders = () => spawnSync("gdal-config", ["--version"]).status === 0;
if (!forDemo && exists("gdal-async") && !exists("gdal-async", "lib", "binding") && hasGdalHeaders()) {
  await run("Compiling GDAL's driver (about two minutes)", ["rebuild", "gdal-async", "--loglevel=error"], {
    required: false,
  });
}
await run("Building", ["run", "--silent", "build"]);
if (forDemo) {
  say("Running the demo (half a minute) …");
  const { status } = spawnSync(node, ["samples/demo.mjs"], { cwd: root, stdio: "inherit" });
  process.exit(status ?? 1);
}
