import { type Command, type CommonArguments, common, type Flag } from "./command.js";

type Value = string | boolean | readonly string[];

/** `--target-crs` is `targetCrs` in the arguments of a command. */
export const camelCase = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** "convert <paths..>" takes one or more, "formats [name]" none or one. */
function capacity(usage: string): readonly [name: string, least: number, most: number] {
  const [, open, name, many] = /^[a-z -]+ ([<[])([a-z]+)(\.\.)?[\]>]$/.exec(usage) ?? [];
  if (open === undefined || name === undefined) return ["", 0, 0];
  return [name, open === "<" ? 1 : 0, many ? Number.POSITIVE_INFINITY : 1];
}

/**
 * The arguments of a command line that leaves no question, as the large parser would give them, or null for every other:
 * mistakes, `--help`, and whatever people write that can be meant in more than one way. Loading that parser takes longer
 * than converting a small file.
 *
 * @param line without the words of the command, with what the environment adds
 */
export function readPlainLine(line: readonly string[], command: Command<CommonArguments>): CommonArguments | null {
  const flags: Readonly<Record<string, Flag>> = { ...common, ...command.options };
  const found: Record<string, Value> = {};
  for (const [name, flag] of Object.entries(flags))
    if (flag.default !== undefined) found[camelCase(name)] = flag.default;
  const tokens = tokensOf(line, flags);
  if (tokens === null) return null;
  const given = new Map<string, Value[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "option-terminator") return null;
    if (token.kind === "positional") positionals.push(token.value);
    else {
      const negated = token.rawName.startsWith("--no-");
      if (negated && flags[token.name]!.type !== "boolean") return null;
      given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? !negated]);
    }
  }
  for (const [name, values] of given) {
    const [first] = values;
    const { array } = flags[name]!;
    if (first === undefined || values.includes("") || (values.length > 1 && !array)) return null;
    found[camelCase(name)] = array ? values.map(String) : first;
  }
  if (Object.entries(flags).some(([name, { demandOption }]) => demandOption && !given.has(name))) return null;
  const [name, least, most] = capacity(command.usage);
  if (positionals.length < least || positionals.length > most || positionals.some(isOdd)) return null;
  const [first] = positionals;
  if (most > 1) found[name] = positionals;
  else if (first !== undefined) found[name] = first;
  return found;
}

/** What yargs takes for a word of its own, or for the value of the flag before it. */
const isOdd = (positional: string): boolean => /^(|true|false|help|completion)$/.test(positional);

function tokensOf(line: readonly string[], flags: Readonly<Record<string, Flag>>) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, alias }]) => [
      name,
      { type, multiple: true, ...(alias === undefined ? {} : { short: alias }) },
    ]),
  );
  try {
    // An import would bring all of node:util, which loads what only workers need.
    return process
      .getBuiltinModule("node:util")
      .parseArgs({ args: [...line], options, allowPositionals: true, allowNegative: true, tokens: true }).tokens;
  } catch {
    return null;
  }
}
