/** The command line: parses, runs one command, turns what happened into text and an exit status. */
import { createRequire } from "node:module";
import yargs from "yargs";
import { asGeoferryError, fault, type GeoferryError } from "../errors.js";
import { protectArguments, withEnvironment } from "./arguments.js";
import { type CheckArguments, checkCommand } from "./commands/check.js";
import { type ConvertArguments, convertCommand } from "./commands/convert.js";
import { type FormatsArguments, formatsCommand } from "./commands/formats.js";
import { type InfoArguments, infoCommand } from "./commands/info.js";
import { exitStatus } from "./exit.js";
import { interrupted } from "./signals.js";

/** What a command's file gives: its place in the help and what it does, loaded when it runs. */
export interface Command<A> {
  readonly usage: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, import("yargs").Options>>;
  readonly positionals: Readonly<Record<string, import("yargs").PositionalOptions>>;
  readonly examples: readonly (readonly [command: string, what: string])[];
  run(args: A): Promise<number>;
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
} as const;

/**
 * Runs the command line `argv` (without node and script).
 * @returns the exit status
 */
export async function run(argv: readonly string[]): Promise<number> {
  let status = 0;
  const { version } = createRequire(import.meta.url)("geoferry/package.json") as { version: string };
  const commands = [convertCommand, infoCommand, checkCommand, formatsCommand];
  const asked = commands.find((command) => command.usage.split(" ")[0] === argv[0]);
  const options = asked ? { ...common, ...asked.options } : {};
  const parser = yargs(withEnvironment(protectArguments(argv), options, process.env))
    .scriptName("geoferry")
    .usage("$0 COMMAND ...\n\nCarries geographic features between files and maps.")
    .version(version)
    .parserConfiguration({ "greedy-arrays": false, "camel-case-expansion": true, "parse-positional-numbers": false })
    .options(common)
    .strict()
    .demandCommand(1, "which command? See geoferry --help")
    .completion("completion", "Print a script that completes commands in bash or zsh")
    .wrap(Math.min(110, process.stderr.columns ?? 100))
    .showHelpOnFail(false)
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? fault("usage", { reason: explain(message, parser.parsed, names) });
    });
  const names: string[] = [];
  const add = <A>(command: Command<A>) => {
    names.push(command.usage.split(" ")[0]!);
    parser.command(
      command.usage,
      command.summary,
      (builder) => {
        for (const [name, options] of Object.entries(command.positionals)) builder.positional(name, options);
        return builder.options(command.options).example(command.examples.map(([line, what]) => [`$0 ${line}`, what]));
      },
      async (args) => {
        status = await command.run(args as unknown as A);
      },
    );
  };
  add<ConvertArguments>(convertCommand);
  add<InfoArguments>(infoCommand);
  add<CheckArguments>(checkCommand);
  add<FormatsArguments>(formatsCommand);
  try {
    await parser.parseAsync();
    return status;
  } catch (error) {
    return reportError(error, argv);
  }
}

/** What yargs found wrong, with what would be right: it takes an unknown command for one argument too many. */
function explain(message: string, parsed: { argv: { _?: unknown[] } } | false, names: readonly string[]): string {
  const command = parsed ? parsed.argv._?.[0] : undefined;
  if (!message.startsWith("Unknown argument") || command === undefined) return message;
  if (names.includes(String(command))) return `${message}; see geoferry ${command} --help`;
  return `no command "${command}"; there are ${names.join(", ")}`;
}

/** Prints an error for people on stderr and, with `--json`, for programs on stdout. */
export function reportError(thrown: unknown, argv: readonly string[]): number {
  // yargs throws errors of its own for what a person typed wrong.
  const isUsage = thrown instanceof Error && thrown.name === "YError";
  const error = interrupted.aborted
    ? fault("interrupted", {}, thrown)
    : isUsage
      ? fault("usage", { reason: thrown.message })
      : asGeoferryError(thrown);
  const status = exitStatus[error.kind];
  process.stderr.write(`geoferry: ${error.message}\n`);
  if (argv.includes("--json")) process.stdout.write(`${JSON.stringify(errorRecord(error))}\n`);
  const wantsStack = argv.includes("-v") || argv.includes("--verbose");
  if (wantsStack) process.stderr.write(`${(error.cause as Error | undefined)?.stack ?? error.stack}\n`);
  return status;
}

export function errorRecord(error: GeoferryError): Record<string, unknown> {
  return { type: "error", code: error.code, exit: exitStatus[error.kind], message: error.message };
}
