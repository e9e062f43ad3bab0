/**
 * Writes the type declarations of the package: those that its entry points refer to, and no others. Fails where one of
 * them needs the types of a package that is not installed with geoferry.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import manifest from "../../package.json" with { type: "json" };

const root = dirname(dirname(import.meta.dirname));
const compiled = spawnSync(
  process.execPath,
  [join(root, "node_modules/typescript/bin/tsc"), "-p", "src/build/tsconfig.json"],
  {
    cwd: root,
    stdio: "inherit",
  },
);
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const installed = new Set([manifest.name, ...Object.keys(manifest.dependencies)]);
const needed = new Set();
const foreign = [];

function follow(path) {
  if (needed.has(path)) return;
  needed.add(path);
  const text = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  for (const [, target] of text.matchAll(/(?:\bfrom|\bimport\(|^import)\s*"([\w@.#/-]+)"/gm)) {
    const name = /^(@[^/]+\/)?[^/]+/.exec(target)[0];
    if (target.startsWith(".")) follow(join(dirname(path), target.replace(/\.js$/, ".d.ts")));
    else if (!target.startsWith("node:") && !installed.has(name)) foreign.push(`${relative(root, path)}: ${target}`);
  }
}
for (const entry of Object.values(manifest.exports)) if (entry.types) follow(join(root, entry.types));

if (foreign.length > 0) {
  console.error(`Public types refer to packages that users do not have:\n${foreign.join("\n")}`);
  process.exit(1);
}
for (const name of readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" })) {
  const path = join(root, "dist", name);
  if (name.endsWith(".d.ts") && !needed.has(path)) rmSync(path);
}
removeEmptyFolders(join(root, "dist"));

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}
