import { credentialCommands, mapCommands, userCommands } from "./commands/admin.js";
import { applyCommand } from "./commands/apply.js";
import { checkCommand } from "./commands/check.js";
import { completionCommand } from "./commands/completion.js";
import { convertCommand } from "./commands/convert.js";
import { dedupeCommand } from "./commands/dedupe.js";
import { deleteCommand } from "./commands/delete.js";
import { diffCommand } from "./commands/diff.js";
import { formatsCommand } from "./commands/formats.js";
import { gridCommands } from "./commands/grids.js";
import { helpCommand } from "./commands/help.js";
import { infoCommand } from "./commands/info.js";
import { loginCommand } from "./commands/login.js";
import { logoutCommand } from "./commands/logout.js";
import { mapsCommand } from "./commands/maps.js";
import { planCommand } from "./commands/plan.js";
import { pullCommand } from "./commands/pull.js";
import { pushCommand } from "./commands/push.js";
import { restoreCommand } from "./commands/restore.js";
import { runCommand } from "./commands/run.js";
import { serveCommand } from "./commands/serve.js";
import { verifyCommand } from "./commands/verify.js";
import { viewCommand } from "./commands/view.js";
import { whoamiCommand } from "./commands/whoami.js";
import { workerCommand } from "./commands/worker.js";
import type { Flag, Positional } from "./options/flag.js";
import { progressModes } from "./output/progress-modes.js";
import { colorModes } from "./output/terminal.js";

export type { Flag };

/** A command: its help, its flags, and its implementation. */
export interface Command<A> {
  /** Name and positionals, "<…>" if required: "convert <paths..>", "admin user add <email>", "formats [name]". */
  readonly usage: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, Flag>>;
  readonly positionals: Readonly<Record<string, Positional>>;
  readonly examples: readonly (readonly [command: string, what: string])[];
  run(args: A): Promise<number>;
}

export interface CommonArguments {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color?: string;
  readonly progress?: string;
  readonly plugin?: readonly string[];
}

export interface ParsedCommand {
  readonly command: Command<CommonArguments>;
  readonly args: CommonArguments;
}

/** Global flags. */
export const common = {
  plugin: {
    type: "string",
    array: true,
    accepts: "path",
    placeholder: "PACKAGE|FILE",
    describe: "Load formats from an npm package or a file",
    requiresArg: true,
  },
  json: { type: "boolean", describe: "Print machine-readable records on stdout" },
  quiet: { type: "boolean", alias: "q", describe: "Print errors only" },
  verbose: { type: "boolean", alias: "v", describe: "Print stack traces of internal errors" },
  color: {
    type: "string",
    requiresArg: true,
    accepts: colorModes,
    describe: "Colors: auto (if the terminal supports them), always or never",
    defaultDescription: "auto",
  },
  progress: {
    type: "string",
    requiresArg: true,
    accepts: progressModes,
    describe:
      "Progress of long runs on stderr: auto (a line on a terminal, else one per minute), json (a record per second) or none",
    defaultDescription: "auto",
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** The commands by name, in the order of the help. No name is a prefix of another. */
export const commands: Readonly<Record<string, Command<CommonArguments>>> = {
  convert: convertCommand,
  info: infoCommand,
  check: checkCommand,
  view: viewCommand,
  diff: diffCommand,
  formats: formatsCommand,
  ...gridCommands,
  push: pushCommand,
  plan: planCommand,
  apply: applyCommand,
  delete: deleteCommand,
  pull: pullCommand,
  verify: verifyCommand,
  restore: restoreCommand,
  dedupe: dedupeCommand,
  login: loginCommand,
  logout: logoutCommand,
  whoami: whoamiCommand,
  maps: mapsCommand,
  run: runCommand,
  worker: workerCommand,
  serve: serveCommand,
  ...userCommands,
  ...mapCommands,
  ...credentialCommands,
  help: helpCommand,
  completion: completionCommand,
};

/** Groups of commands with a common first word. */
export const groups: Readonly<Record<string, string>> = {
  grids: "Find and download the shift grids that make reprojections more accurate",
  admin: "Manage the accounts, maps and credentials of a service without a browser, also while it runs",
  "admin user": "Manage accounts",
  "admin map": "Manage maps",
  "admin credential": "Manage the client ids and secrets that programs use to get access tokens",
};

/** The name of the command that a line starts with, or null. */
export function commandNameIn(line: readonly string[]): string | null {
  return Object.keys(commands).find((name) => name.split(" ").every((word, i) => line[i] === word)) ?? null;
}

/** Names of the commands and groups directly below a group ("admin ", or "" for the top level). */
export function subcommandNames(group: string): string[] {
  const names = Object.keys(commands).filter((name) => name.startsWith(group));
  return [...new Set(names.map((name) => group + name.slice(group.length).split(" ", 1)[0]))];
}
