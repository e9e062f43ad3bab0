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
/** Since pnpm 11, packages installed globally find each other only if one command installs them, with a comma. */
const pnpmGroup: CommandWriter = (name) => `pnpm add -g --allow-build=${name} geoferry,${name}`;
const yarn: CommandWriter = (name, isGlobal) => `yarn ${isGlobal ? "global " : ""}add ${name}`;
const bun: CommandWriter = (name, isGlobal) => `bun add ${isGlobal ? "-g " : ""}--trust ${name}`;

/** Lock files of a project. */
const lockFiles: readonly (readonly [file: string, command: CommandWriter])[] = [
  ["pnpm-lock.yaml", pnpm],
  ["yarn.lock", yarn],
  ["bun.lock", bun],
];

/** Folders of global installations; since pnpm 11, packages are in a store that projects may use too. */
const globalFolders: readonly (readonly [pattern: RegExp, command: CommandWriter])[] = [
  [/\/global\/v\d+\/[^/]+\/$/, pnpmGroup],
  [/\/pnpm\/(.*\/)?global\/|\/global\/\d+\/\.pnpm\//, pnpm],
  [/\/\.bun\/install\/global\//, bun],
  [/\/yarn\/(.*\/)?global\//, yarn],
];

/** The store of pnpm 11 and later, from which installations are linked. */
const sharedStore = /\/store\/v\d+\/links\//;

const partsOf = (path: string): readonly string[] => path.replaceAll("\\", "/").split("/node_modules/");

/**
 * The command that adds a package to this installation of geoferry, for messages: `npm install -g NAME` for a global
 * installation, `npm install NAME` in a project, the same of pnpm, yarn and bun, and both packages where npx runs it,
 * each with permission to compile.
 * @param path of a file of the installation
 * @param program that Node.js runs, by the path on its command line
 */
export function installCommand(
  name: string,
  path: string = fileURLToPath(import.meta.url),
  program: string = process.argv[1] ?? "",
): string {
  const parts = partsOf(path);
  if (parts.length === 1) return npm(name, false);
  const isShared = sharedStore.test(path.replaceAll("\\", "/"));
  const project = isShared ? partsOf(program)[0]! : parts[0]!;
  if (project.includes("/_npx/")) return `npx --allow-scripts=${name} -p geoferry -p ${name} geoferry …`;
  const found = globalFolders.find(([pattern]) => pattern.test(`${project}/`));
  if (found) return found[1](name, true);
  // Plug'n'Play keeps packages in archives, or unplugged, in its own folder.
  if (project.includes("/.yarn/")) return yarn(name, false);
  if (isShared) return pnpm(name, false);
  const lock = lockFiles.find(([file]) => existsSync(join(project, file)));
  return lock ? lock[1](name, false) : npm(name, !existsSync(join(project, "package.json")));
}
