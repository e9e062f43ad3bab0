import { createRequire } from "node:module";
import yargs from "yargs";
import { fault } from "../errors.js";
import { nearestName } from "../nearest-name.js";
import { type Command, type CommonArguments, commands, common, type Flag } from "./command.js";

/** A command and what it was given. */
export interface Asked {
  readonly command: Command<CommonArguments>;
  readonly args: CommonArguments;
}

/**
 * Reads any command line, and answers those that ask for help, the version or a completion.
 * @returns null where that was all
 * @throws usage
 */
export async function readFullLine(line: readonly string[]): Promise<Asked | null> {
  let asked: Asked | null = null;
  const { version } = createRequire(import.meta.url)("geoferry/package.json") as { version: string };
  const names = Object.keys(commands);
  const all = Object.values(commands);
  const parser = yargs(keepQuotes(line, Object.assign({}, common, ...all.map((command) => command.options))))
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
      const flags = Object.assign({}, common, all[names.indexOf(line[0] ?? "")]?.options);
      throw error ?? fault("usage", { reason: explain(message, parser.parsed, names, line, flags) });
    });
  for (const command of all) {
    parser.command(
      command.usage,
      command.summary,
      (builder) => {
        for (const [name, options] of Object.entries(command.positionals)) builder.positional(name, options);
        return builder.options(command.options).example(command.examples.map(([line, what]) => [`$0 ${line}`, what]));
      },
      (args) => {
        checkSingle(args, { ...common, ...command.options });
        asked = { command, args: args as CommonArguments };
      },
    );
  }
  await parser.parseAsync();
  return asked;
}

/** yargs gives an array where a flag of one value is given twice, and an empty text for `--rejects=`. @throws usage */
function checkSingle(args: Readonly<Record<string, unknown>>, flags: Readonly<Record<string, Flag>>): void {
  for (const [name, { type, array }] of Object.entries(flags)) {
    const value = args[name];
    if (type !== "string" || array) continue;
    if (Array.isArray(value))
      throw fault("usage", { reason: `--${name} is given ${value.length} times (${value.join(", ")}): choose one` });
    if (value === "")
      throw fault("usage", { reason: `--${name} is given without a value; give one, or leave it away` });
  }
}

/** yargs takes the quotes off `--select='"a,b"'`, but not where the value is an argument of its own. */
function keepQuotes(line: readonly string[], flags: Readonly<Record<string, Flag>>): string[] {
  return line.flatMap((argument) => {
    const [, name = "", value = ""] = /^--([a-z-]+)=(["'].*)$/s.exec(argument) ?? [];
    return flags[name]?.type === "string" ? [`--${name}`, value] : [argument];
  });
}

/** What a flag that is not known was meant to be: a mistyped one, or the name of a file; null where nobody can tell. */
function explainFlag(line: readonly string[], flags: Readonly<Record<string, Flag>>): string | null {
  const letters = new Set(Object.values(flags).flatMap(({ alias }) => alias ?? []));
  for (const argument of line.slice(1)) {
    const [, name] = /^--(?:no-)?([^=]+)/.exec(argument) ?? [];
    const nearest = name === undefined || Object.hasOwn(flags, name) ? null : nearestName(name, Object.keys(flags));
    if (nearest !== null) return `no flag --${name}; did you mean --${nearest}? See geoferry ${line[0]} --help`;
    const [, cluster] = /^-([^-].+)$/s.exec(argument) ?? [];
    if (cluster !== undefined && ![...cluster].every((letter) => letters.has(letter)))
      return `${argument}: no such flags; if it is the name of a file, begin it with ./ or put -- before it`;
  }
  return null;
}

/** What yargs found wrong, with what would be right: it takes an unknown command for one argument too many. */
function explain(
  message: string,
  parsed: { argv: { _?: unknown[] } } | false,
  names: readonly string[],
  line: readonly string[],
  flags: Readonly<Record<string, Flag>>,
): string {
  const [first] = line;
  if (message.startsWith("Not enough non-option arguments") && first !== undefined && names.includes(first))
    return `${first} of what? See geoferry ${first} --help`;
  const command = parsed ? parsed.argv._?.[0] : undefined;
  if (!message.startsWith("Unknown argument") || command === undefined) return message;
  if (names.includes(String(command))) return explainFlag(line, flags) ?? `${message}; see geoferry ${command} --help`;
  const nearest = nearestName(String(command), names);
  if (nearest !== null) return `no command "${command}"; did you mean ${nearest}? There are ${names.join(", ")}`;
  return `no command "${command}"; there are ${names.join(", ")}`;
}
