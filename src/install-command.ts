import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Lock files of a project, and the commands that add a package to it. */
const lockFiles: readonly (readonly [file: string, command: string])[] = [
  ["pnpm-lock.yaml", "pnpm add"],
  ["yarn.lock", "yarn add"],
  ["bun.lock", "bun add"],
];

/** Folders of global installations, and the commands that add a package there. */
const globalFolders: readonly (readonly [pattern: RegExp, command: string])[] = [
  [/\/pnpm\/(.*\/)?global\//, "pnpm add -g"],
  [/\/\.bun\/install\/global\//, "bun add -g"],
  [/\/yarn\/(.*\/)?global\//, "yarn global add"],
];

/**
 * The command that adds a package to this installation of geoferry, for messages: `npm install -g NAME` for a global
 * installation, `npm install NAME` in a project, the same of pnpm, yarn and bun, and both packages where npx runs it.
 * @param path of a file of the installation
 */
export function installCommand(name: string, path: string = fileURLToPath(import.meta.url)): string {
  const parts = path.replaceAll("\\", "/").split("/node_modules/");
  if (parts.length > 1 && parts[0]!.includes("/_npx/")) return `npx -p geoferry -p ${name} geoferry …`;
  const command = parts.length > 1 ? commandFor(parts[0]!) : "npm install";
  return `${command} ${name}`;
}

function commandFor(project: string): string {
  const found = globalFolders.find(([pattern]) => pattern.test(`${project}/`));
  if (found) return found[1];
  const lock = lockFiles.find(([file]) => existsSync(join(project, file)));
  if (lock) return lock[1];
  return existsSync(join(project, "package.json")) ? "npm install" : "npm install -g";
}
