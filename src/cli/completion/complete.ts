/** `geoferry __complete`: computes completions for the shell scripts of scripts.ts. */
import { commandNameIn, commands, type Flag, groups } from "../command.js";
import { openRegistry } from "../host.js";
import { flagsOf, positionalCount } from "../parse/parse-command-line.js";
import { type Completion, type Completions, fileCompletions, withPrefix } from "./completions.js";
import { type Cursor, parseCursor, renderCompletions } from "./shell-protocol.js";
import { type CompletionContext, commandCompletions, valueCompletions } from "./value-completions.js";

/** @param argv as passed by the shell script @returns the exit status */
export async function complete([shell = "", ...argv]: readonly string[]): Promise<number> {
  const cursor = parseCursor(shell, argv);
  const found = await completionsAt(cursor);
  process.stdout.write(renderCompletions(shell, cursor, found));
  return 0;
}

/** Time limit for reading a file after Tab was pressed. */
const defaultTimeoutMs = 2000;

/** Completions at the cursor. Opens files only to complete layers and fields. */
export async function completionsAt(
  { words, current, shell }: Pick<Cursor, "words" | "current" | "shell">,
  timeoutMs = defaultTimeoutMs,
): Promise<Completions> {
  const name = commandNameIn(words);
  if (name === null) return completeCommandName(words, current);
  const command = commands[name]!;
  const flags = flagsOf(command);
  const { given, paths, openFlag, afterSeparator } = parseWords(words.slice(name.split(" ").length), flags);
  const plugins = given.get("plugin") ?? [];
  const registry = await openRegistry(plugins).catch(() => openRegistry([]));
  const context: CompletionContext = { registry, paths, flags: given, mayOpenFiles: shell === "fish", timeoutMs };
  const completeFlag = (flag: Flag, typed: string) =>
    valueCompletions(defaultToPath(flag), typed, flag.array === true, context);
  if (openFlag !== null) return completeFlag(flags[openFlag]!, current);
  const [, long, value] = /^--([^=]+)=(.*)$/s.exec(current) ?? [];
  if (!afterSeparator && long !== undefined && value !== undefined)
    return flags[long]?.type === "string"
      ? withPrefix(`--${long}=`, await completeFlag(flags[long], value))
      : { offers: [] };
  if (!afterSeparator && current.startsWith("-")) return { offers: flagCompletions(flags, given) };
  const { name: positional, max } = positionalCount(command.usage);
  if (paths.length >= max) return { offers: [] };
  return valueCompletions({ accepts: "path", ...command.positionals[positional] }, current, false, context);
}

/** Completes values of path flags as paths. */
const defaultToPath = (flag: Flag): Flag =>
  flag.isPath && flag.accepts === undefined ? { ...flag, accepts: "path" } : flag;

function completeCommandName(words: readonly string[], current: string): Completions {
  if (current.startsWith("-")) return { offers: [{ value: "--help" }, { value: "--version" }] };
  const group = words.length === 0 ? "" : `${words.join(" ")} `;
  return words.length > 0 && !Object.hasOwn(groups, words.join(" ")) ? fileCompletions : commandCompletions(group);
}

interface ParsedWords {
  readonly given: ReadonlyMap<string, string[]>;
  readonly paths: readonly string[];
  /** The flag whose value is next, or null. */
  readonly openFlag: string | null;
  /** After `--`. */
  readonly afterSeparator: boolean;
}

/** Splits the words before the cursor into flags and paths. */
function parseWords(words: readonly string[], flags: Readonly<Record<string, Flag>>): ParsedWords {
  const given = new Map<string, string[]>();
  const paths: string[] = [];
  let openFlag: string | null = null;
  let afterSeparator = false;
  const give = (name: string, value: string) => given.set(name, [...(given.get(name) ?? []), value]);
  for (const word of words) {
    const name = afterSeparator ? undefined : findFlag(word, flags);
    if (openFlag !== null) {
      give(openFlag, word);
      openFlag = null;
    } else if (afterSeparator || !word.startsWith("-") || word === "-") paths.push(word);
    else if (word === "--") afterSeparator = true;
    else if (name !== undefined) {
      const flag = flags[name]!;
      const at = word.startsWith("--") ? word.indexOf("=") : -1;
      if (flag.type === "string" && at < 0 && flag.bareValue === undefined) openFlag = name;
      else give(name, at < 0 ? "" : word.slice(at + 1));
    }
  }
  return { given, paths, openFlag, afterSeparator };
}

function findFlag(word: string, flags: Readonly<Record<string, Flag>>): string | undefined {
  const long = /^--(?:no-)?([^=]+)/.exec(word)?.[1];
  if (long !== undefined) return Object.hasOwn(flags, long) ? long : undefined;
  return /^-[^-]/.test(word) ? Object.keys(flags).find((name) => flags[name]!.alias === word.at(-1)) : undefined;
}

/** The flags that the line does not have yet, and repeatable ones. */
function flagCompletions(flags: Readonly<Record<string, Flag>>, given: ReadonlyMap<string, unknown>): Completion[] {
  const open = Object.entries(flags).filter(([name, { array }]) => array || !given.has(name));
  const offers = open.map(([name, { describe, default: standard }]) => ({
    value: standard === true ? `--no-${name}` : `--${name}`,
    description: describe,
  }));
  return [...offers, { value: "--help", description: "Print the help of this command" }];
}
