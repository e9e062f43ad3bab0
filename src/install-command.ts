import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Writes the command that adds a package and allows it to compile: npm 12, pnpm 10 and bun refuse that by default. */
type CommandWriter = (name: string, isGlobal: boolean) => string;

/** In a project, npm takes the permission from package.json only. */
const npm: CommandWriter = (name, isGlobal) =>
  isGlobal
    ? `npm install -g --allow-scripts=${name} ${name}`
    : `npm pkg set --json allowScripts.${name}=true && npm install ${name}`;
const pnpm: CommandWriter = (name, isGlobal) => `pnpm add ${isGlobal ? "-g " : ""}--allow-build=${name} ${name}`;
const yarn: CommandWriter = (name, isGlobal) => `yarn ${isGlobal ? "global " : ""}add ${name}`;
const bun: CommandWriter = (name, isGlobal) => `bun add ${isGlobal ? "-g " : ""}--trust ${name}`;

/** Lock files of a project. */
const lockFiles: readonly (readonly [file: string, command: CommandWriter])[] = [
  ["pnpm-lock.yaml", pnpm],
  ["yarn.lock", yarn],
  ["bun.lock", bun],
];

/** Folders of global installations. */
const globalFolders: readonly (readonly [pattern: RegExp, command: CommandWriter])[] = [
  [/\/pnpm\/(.*\/)?global\//, pnpm],
  [/\/\.bun\/install\/global\//, bun],
  [/\/yarn\/(.*\/)?global\//, yarn],
];

/**
 * The command that adds a package to this installation of geoferry, for messages: `npm install -g NAME` for a global
 * installation, `npm install NAME` in a project, the same of pnpm, yarn and bun, and both packages where npx runs it,
 * each with permission to compile.
 * @param path of a file of the installation
 */
export function installCommand(name: string, path: string = fileURLToPath(import.meta.url)): string {
  const parts = path.replaceAll("\\", "/").split("/node_modules/");
  if (parts.length === 1) return npm(name, false);
  const project = parts[0]!;
  if (project.includes("/_npx/")) return `npx --allow-scripts=${name} -p geoferry -p ${name} geoferry …`;
  const found = globalFolders.find(([pattern]) => pattern.test(`${project}/`));
  if (found) return found[1](name, true);
  const lock = lockFiles.find(([file]) => existsSync(join(project, file)));
  return lock ? lock[1](name, false) : npm(name, !existsSync(join(project, "package.json")));
}
