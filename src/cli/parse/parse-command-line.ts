import { type Command, type CommonArguments, common, type Flag } from "../command.js";
import { camelCase } from "./camel-case.js";

type Value = string | boolean | readonly string[];

/** Name and number of the positionals of a command. */
export interface PositionalCount {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

/** Parses a usage: "convert <paths..>" takes one or more positionals, "formats [name]" at most one. */
export function positionalCount(usage: string): PositionalCount {
  const [, open, name, many] = /^[a-z -]+ ([<[])([a-z]+)(\.\.)?[\]>]$/.exec(usage) ?? [];
  if (open === undefined || name === undefined) return { name: "", min: 0, max: 0 };
  return { name, min: open === "<" ? 1 : 0, max: many ? Number.POSITIVE_INFINITY : 1 };
}

/** "INPUT... OUTPUT": the leading capitalized words of the description of the positionals. */
export function positionalNames({
  usage,
  positionals,
}: Pick<Command<CommonArguments>, "usage" | "positionals">): string {
  const { name } = positionalCount(usage);
  const [words] = /^[A-Z]\S*(?: [A-Z]\S*)*/.exec(positionals[name]?.describe ?? "") ?? [name.toUpperCase()];
  return words.replace(/[,:]$/, "");
}

/** The flags of a command, including global flags. */
export const flagsOf = ({ options }: Pick<Command<CommonArguments>, "options">): Readonly<Record<string, Flag>> => ({
  ...common,
  ...options,
});

/**
 * Parses the arguments of a command. Returns null for an invalid line, which `command-line-errors.ts` explains.
 * @param line without the command name, from `protectArguments` and `withEnvironment`
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

/** Adds an empty value to flags with an optional value (`--trust-proxy`), so that they do not consume the next argument. */
const withBareValues = (line: readonly string[], flags: Readonly<Record<string, Flag>>): string[] =>
  line.map((argument, at) => {
    const isBare = argument.startsWith("--") && flags[argument.slice(2)]?.bareValue !== undefined;
    return isBare && /^(-|$)/.test(line[at + 1] ?? "") ? `${argument}=` : argument;
  });

/** Splits a line into tokens; null for unknown flags, missing values, and values of boolean flags. */
function tokenize(line: readonly string[], flags: Readonly<Record<string, Flag>>) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, alias }]) => [
      name,
      { type, multiple: true, ...(alias === undefined ? {} : { short: alias }) },
    ]),
  );
  try {
    // Importing node:util is slower, since it loads modules that only workers need.
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
