import yargs, { type Argv } from "yargs";
import { fault } from "../errors.js";
import { nearestName } from "../nearest-name.js";
import { version } from "../version.js";
import { type Command, type CommonArguments, commandNameIn, commands, common, type Flag, groups } from "./command.js";

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
      throw error ?? fault("usage", { reason: explain(message, parser.parsed, line) });
    });
  declare(parser, "", (command, args) => {
    asked = { command, args: settled(args, { ...common, ...command.options }) };
  });
  await parser.parseAsync();
  return asked;
}

type Call = (command: Command<CommonArguments>, args: Readonly<Record<string, unknown>>) => void;

/** Tells the parser what can follow the words of a group: commands, and groups with theirs. */
function declare(parser: Argv, group: string, call: Call): void {
  for (const name of following(group)) {
    const command = commands[name];
    if (command === undefined) {
      parser.command(name.slice(group.length), groups[name]!, (inner) => {
        inner.usage(`$0 ${name} COMMAND ...\n\n${groups[name]}.`);
        declare(inner, `${name} `, call);
        return inner.demandCommand(1, `${name} what? See geoferry ${name} --help`);
      });
    } else {
      parser.command(
        command.usage.slice(group.length),
        command.summary,
        (inner) => {
          for (const [name, options] of Object.entries(command.positionals)) inner.positional(name, options);
          return inner.options(command.options).example(command.examples.map(([line, what]) => [`$0 ${line}`, what]));
        },
        (args) => call(command, args),
      );
    }
  }
}

/** Names of the commands and groups that begin with the words of a group ("admin ", or "" for all) and one word more. */
function following(group: string): string[] {
  const names = Object.keys(commands).filter((name) => name.startsWith(group));
  return [...new Set(names.map((name) => group + name.slice(group.length).split(" ", 1)[0]))];
}

/**
 * The arguments without what the parser makes of odd ones: an array where a flag of one value is given twice, and an
 * empty text for `--rejects=`.
 * @throws usage
 */
function settled(args: Readonly<Record<string, unknown>>, flags: Readonly<Record<string, Flag>>): CommonArguments {
  const result = { ...args };
  for (const [name, { type, array, bare }] of Object.entries(flags)) {
    const value = args[name];
    if (type !== "string" || array) continue;
    if (Array.isArray(value))
      throw fault("usage", { reason: `--${name} is given ${value.length} times (${value.join(", ")}): choose one` });
    if (value !== "") continue;
    if (bare === undefined)
      throw fault("usage", { reason: `--${name} is given without a value; give one, or leave it away` });
    result[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = bare;
  }
  return result;
}

/** yargs takes the quotes off `--select='"a,b"'`, but not where the value is an argument of its own. */
function keepQuotes(line: readonly string[], flags: Readonly<Record<string, Flag>>): string[] {
  return line.flatMap((argument) => {
    const [, name = "", value = ""] = /^--([a-z-]+)=(["'].*)$/s.exec(argument) ?? [];
    return flags[name]?.type === "string" ? [`--${name}`, value] : [argument];
  });
}

/** What a flag that is not known was meant to be: a mistyped one, or the name of a file; null where nobody can tell. */
function explainFlag(line: readonly string[], name: string): string | null {
  const flags: Readonly<Record<string, Flag>> = { ...common, ...commands[name]!.options };
  const letters = new Set(Object.values(flags).flatMap(({ alias }) => alias ?? []));
  for (const argument of line.slice(1)) {
    const [, flag] = /^--(?:no-)?([^=]+)/.exec(argument) ?? [];
    const nearest = flag === undefined || Object.hasOwn(flags, flag) ? null : nearestName(flag, Object.keys(flags));
    if (nearest !== null) return `no flag --${flag}; did you mean --${nearest}? See geoferry ${name} --help`;
    const [, cluster] = /^-([^-].+)$/s.exec(argument) ?? [];
    if (cluster !== undefined && ![...cluster].every((letter) => letters.has(letter)))
      return `${argument}: no such flags; if it is the name of a file, begin it with ./ or put -- before it`;
  }
  return null;
}

/** What yargs found wrong, with what would be right: it takes an unknown command for one argument too many. */
function explain(message: string, parsed: { argv: { _?: unknown[] } } | false, line: readonly string[]): string {
  const name = commandNameIn(line);
  if (message.startsWith("Not enough non-option arguments") && name !== null)
    return `${name} of what? See geoferry ${name} --help`;
  const [, missing] = /^Missing required arguments?: (.+)$/.exec(message) ?? [];
  if (missing !== undefined && name !== null)
    return `${name} needs ${missing.replace(/[a-z][a-z-]*/g, "--$&")}; see geoferry ${name} --help`;
  const words = parsed ? (parsed.argv._ ?? []).map(String) : [];
  if (!message.startsWith("Unknown argument") || words.length === 0) return message;
  const called = commandNameIn(words);
  if (called !== null) return explainFlag(line, called) ?? `${message}; see geoferry ${called} --help`;
  return unknownCommand(words) ?? message;
}

/** Says which commands there are instead of one that is not. */
function unknownCommand(words: readonly string[]): string | null {
  let group = "";
  while (Object.hasOwn(groups, group + words[0])) {
    group += `${words[0]} `;
    words = words.slice(1);
  }
  const [word] = words;
  if (word === undefined) return null;
  const names = following(group);
  const listed = names.join(", ");
  const nearest = nearestName(
    word,
    names.map((name) => name.slice(group.length)),
  );
  if (nearest !== null) return `no command "${group}${word}"; did you mean ${group}${nearest}? There are ${listed}`;
  return `no command "${group}${word}"; there are ${listed}`;
}
