import { credentialCommands, mapCommands, userCommands } from "./commands/admin.js";
import { applyCommand } from "./commands/apply.js";
import { checkCommand } from "./commands/check.js";
import { convertCommand } from "./commands/convert.js";
import { deleteCommand } from "./commands/delete.js";
import { formatsCommand } from "./commands/formats.js";
import { gridCommands } from "./commands/grids.js";
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
import { whoamiCommand } from "./commands/whoami.js";
import { workerCommand } from "./commands/worker.js";

/** What a command's file gives: its place in the help and what it does. */
export interface Command<A> {
  /** Its name, then what it takes, as yargs writes it: "convert <paths..>", "admin user add <email>". */
  readonly usage: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, Flag>>;
  readonly positionals: Readonly<Record<string, Positional>>;
  readonly examples: readonly (readonly [command: string, what: string])[];
  run(args: A): Promise<number>;
}

/** A flag; its value is text or, where `array`, all the texts given. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly array?: boolean;
  readonly requiresArg?: boolean;
  /** Its value where it is given without one. */
  readonly bare?: string;
  readonly alias?: string;
  readonly default?: boolean;
  readonly describe: string;
  readonly defaultDescription?: string;
  readonly demandOption?: boolean;
  /** Its value names files or folders of this machine, and no address. */
  readonly onDisk?: true;
  /** The heading that it stands under in the help of a command with many flags. */
  readonly group?: string;
}

/** The flags under a heading of their own. */
export function grouped<T extends Readonly<Record<string, Flag>>>(group: string, flags: T): T {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])) as T;
}

export interface Positional {
  readonly type: "string";
  readonly array?: boolean;
  readonly describe: string;
  readonly demandOption?: boolean;
  /** Its value names files or folders of this machine, and no address. */
  readonly onDisk?: true;
}

/** What every command takes. */
export interface CommonArguments {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly plugin?: readonly string[];
}

/** The flags of every command. */
export const common = {
  plugin: { type: "string", array: true, describe: "Load formats from an npm package or a file", requiresArg: true },
  json: { type: "boolean", describe: "Print records for programs on stdout" },
  quiet: { type: "boolean", alias: "q", describe: "Print errors only" },
  verbose: { type: "boolean", alias: "v", describe: "Print stacks of internal errors" },
} as const satisfies Readonly<Record<string, Flag>>;

/** The commands by the words that call them, in the order of the help. None begins with the words of another. */
export const commands: Readonly<Record<string, Command<CommonArguments>>> = {
  convert: convertCommand,
  info: infoCommand,
  check: checkCommand,
  formats: formatsCommand,
  ...gridCommands,
  push: pushCommand,
  plan: planCommand,
  apply: applyCommand,
  delete: deleteCommand,
  pull: pullCommand,
  verify: verifyCommand,
  restore: restoreCommand,
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
};

/** What the words say that several commands begin with. */
export const groups: Readonly<Record<string, string>> = {
  grids: "Find and download the shift grids that make reprojections more accurate",
  admin: "Manage the accounts, maps and credentials of a service without a browser, also while it runs",
  "admin user": "Accounts of people",
  "admin map": "Maps",
  "admin credential": "Client ids and secrets, with which programs get their access tokens",
};

/** The words at the beginning of a line that call a command, or null where it calls none. */
export function commandNameIn(line: readonly string[]): string | null {
  return Object.keys(commands).find((name) => name.split(" ").every((word, i) => line[i] === word)) ?? null;
}
