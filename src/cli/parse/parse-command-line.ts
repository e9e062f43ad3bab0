import { type Command, type CommonArguments, common, type Flag } from "../command.js";
import { camelCase } from "./camel-case.js";

type Value = string | boolean | readonly string[];

/** How many positional arguments a command takes, and their name. */
export interface PositionalCount {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

/** "convert <paths..>" takes one or more, "formats [name]" none or one. */
export function positionalCount(usage: string): PositionalCount {
  const [, open, name, many] = /^[a-z -]+ ([<[])([a-z]+)(\.\.)?[\]>]$/.exec(usage) ?? [];
  if (open === undefined || name === undefined) return { name: "", min: 0, max: 0 };
  return { name, min: open === "<" ? 1 : 0, max: many ? Number.POSITIVE_INFINITY : 1 };
}

/** The flags of a command, with those of every command. */
export const flagsOf = ({ options }: Pick<Command<CommonArguments>, "options">): Readonly<Record<string, Flag>> => ({
  ...common,
  ...options,
});

/**
 * The arguments of a command line, or null where it is wrong; `command-line-errors.ts` then says what is.
 * @param line without the words of the command, as `protectArguments` gives it, with what the environment adds
 */
export function parseCommandLine(line: readonly string[], command: Command<CommonArguments>): CommonArguments | null {
  const flags = flagsOf(command);
  const found: Record<string, Value> = {};
  for (const [name, flag] of Object.entries(flags))
    if (flag.default !== undefined) found[camelCase(name)] = flag.default;
  const tokens = tokenize(line, flags);
  if (tokens === null) return null;
  const given = new Map<string, Value[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    else if (token.kind === "option") {
      const negated = token.rawName.startsWith("--no-");
      if (negated && flags[token.name]!.type !== "boolean") return null;
      given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? !negated]);
    }
  }
  for (const [name, values] of given) {
    const { array, bareValue, type } = flags[name]!;
    if (values.length > 1 && !array && type === "string") return null;
    const set = bareValue === undefined ? values : values.map((value) => (value === "" ? bareValue : value));
    if (set.includes("")) return null;
    found[camelCase(name)] = array ? set.map(String) : set.at(-1)!;
  }
  if (Object.entries(flags).some(([name, { demandOption }]) => demandOption && !given.has(name))) return null;
  const { name, min, max } = positionalCount(command.usage);
  if (positionals.length < min || positionals.length > max) return null;
  const [first] = positionals;
  if (max > 1) found[name] = positionals;
  else if (first !== undefined) found[name] = first;
  return found;
}

/** Gives a flag that may stand without a value (`--trust-proxy`) the empty one, so that it does not take what follows. */
const withBareValues = (line: readonly string[], flags: Readonly<Record<string, Flag>>): string[] =>
  line.map((argument, at) => {
    const isBare = argument.startsWith("--") && flags[argument.slice(2)]?.bareValue !== undefined;
    return isBare && /^(-|$)/.test(line[at + 1] ?? "") ? `${argument}=` : argument;
  });

/** What a line is made of, or null where it has a flag that is unknown, lacks its value, or has one that it does not take. */
function tokenize(line: readonly string[], flags: Readonly<Record<string, Flag>>) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, alias }]) => [
      name,
      { type, multiple: true, ...(alias === undefined ? {} : { short: alias }) },
    ]),
  );
  try {
    // An import would bring all of node:util, which loads what only workers need.
    return process.getBuiltinModule("node:util").parseArgs({
      args: withBareValues(line, flags),
      options,
      allowPositionals: true,
      allowNegative: true,
      tokens: true,
    }).tokens;
  } catch {
    return null;
  }
}
