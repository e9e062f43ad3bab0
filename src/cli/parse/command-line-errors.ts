/** Explains invalid command lines and suggests corrections. */

import { existsSync } from "node:fs";
import { quoteForShell } from "../../errors/shell-quote.js";
import { createError, type GeoferryError } from "../../errors.js";
import { nearestName } from "../../nearest-name.js";
import { commands, common, type Flag, groups, subcommandNames } from "../command.js";
import { isFlag } from "./arguments.js";
import { foreignAt, synonymOf } from "./other-tools.js";
import { flagsOf, positionalCount, positionalNames } from "./parse-command-line.js";

type Flags = Readonly<Record<string, Flag>>;
type UsageLine = { readonly usage: string; readonly positionals: object };

const usage = (reason: string): GeoferryError => createError("usage", { reason });

/**
 * Explains why `parseCommandLine` refuses a line.
 * @param name of the command
 * @param line the arguments after the name, from `protectArguments` and `withEnvironment`
 * @param typed the arguments without those of the environment
 */
export function explainMistake(name: string, line: readonly string[], typed = line): GeoferryError {
  const command = commands[name]!;
  const flags = flagsOf(command);
  const see = `see geoferry ${name} --help`;
  const foreign = translateForeignFlags(name, typed, flags);
  if (foreign !== null) return usage(foreign);
  const { positionals, given, mistake } = parsePrefix(line, flags, command);
  if (mistake !== null) {
    if (mistake.endsWith("before it")) return usage(mistake);
    return usage(mistake.endsWith("?") ? `${mistake} ${capital(see)}` : `${mistake}; ${see}`);
  }
  for (const [flag, values] of given) {
    const { array, type } = flags[flag]!;
    if (values.includes("")) return usage(`--${flag} has no value; add one, or remove the flag`);
    if (type === "string" && !array && values.length > 1)
      return usage(`--${flag} is given ${values.length} times (${values.join(", ")}): choose one`);
  }
  const { min, max } = positionalCount(command.usage);
  if (positionals.length < min) return usage(`${name} needs ${positionalNames(command)}; ${see}`);
  if (positionals.length > max) {
    const takes = max === 0 ? "takes no arguments" : `takes one ${positionalNames(command)}`;
    return usage(`${name} ${takes}, but ${quoted(positionals[max]!)} was also given; ${see}`);
  }
  const missing = Object.entries(flags).filter(([flag, { demandOption }]) => demandOption && !given.has(flag));
  return usage(`${name} needs ${missing.map(([flag]) => `--${flag}`).join(" and ")}; ${see}`);
}

const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1);

interface ParsedPrefix {
  readonly positionals: string[];
  readonly given: ReadonlyMap<string, string[]>;
  /** The error of the first invalid argument, or null. */
  readonly mistake: string | null;
}

/** Parses arguments up to the first invalid one. */
function parsePrefix(line: readonly string[], flags: Flags, command: UsageLine): ParsedPrefix {
  const positionals: string[] = [];
  const given = new Map<string, string[]>();
  for (let at = 0; at < line.length; at++) {
    const argument = line[at]!;
    const [, no, name, value] = /^--(no-)?([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
    if (name === undefined) {
      const cluster = /^-(.+)$/s.exec(argument)?.[1];
      if (cluster === undefined) positionals.push(argument);
      else {
        const mistake = clusterMistake(argument, cluster, flags);
        if (mistake !== null) return { positionals, given, mistake };
        const flag = flagOfLetter(cluster.at(-1)!, flags);
        if (flag !== undefined && flags[flag]!.type === "string") given.set(flag, [line[++at] ?? ""]);
      }
      continue;
    }
    const flag = Object.hasOwn(flags, name) ? flags[name]! : undefined;
    if (!flag) return { positionals, given, mistake: unknownFlag(`${no ?? ""}${name}`, name, flags, command) };
    const mistake = valueMistake(name, flags, no !== undefined, value, line[at + 1]);
    if (mistake !== null) return { positionals, given, mistake };
    const taken =
      flag.type === "boolean" ? "true" : (value ?? (flag.bareValue === undefined ? line[++at] : flag.bareValue)) || "";
    given.set(name, [...(given.get(name) ?? []), taken || (flag.bareValue ?? "")]);
  }
  return { positionals, given, mistake: null };
}

function unknownFlag(typed: string, name: string, flags: Flags, { usage: line, positionals }: UsageLine): string {
  if (Object.hasOwn(positionals, typed)) {
    const command = line.replace(/ [[<].*$/, "");
    return `no flag --${typed}: it is an argument here, geoferry ${command} ${typed.toUpperCase()}`;
  }
  const nearest = nearestName(name, Object.keys(flags)) ?? synonymOf(name, flags);
  if (nearest !== null) return `no flag --${typed}; did you mean --${nearest}?`;
  return `no flag --${typed}`;
}

function valueMistake(
  name: string,
  flags: Flags,
  isNegated: boolean,
  value: string | undefined,
  next: string | undefined,
): string | null {
  const { type, bareValue } = flags[name]!;
  if (type === "boolean") {
    if (value === undefined) return null;
    return `--${isNegated ? "no-" : ""}${name} takes no value: remove ${quoted(`=${value}`)}, or write --no-${name} for the opposite`;
  }
  if (isNegated) return `no flag --no-${name}: --${name} takes a value; remove the flag to not set it`;
  if (value !== undefined || bareValue !== undefined) return null;
  if (next !== undefined && !isFlag(next)) return null;
  const isKnownFlag = next === undefined || Object.hasOwn(flags, next.replace(/^-+(no-)?|=.*$/gs, ""));
  return isKnownFlag
    ? `--${name} has no value; add one, or remove the flag`
    : `--${name} has no value; write a value that starts with a dash as --${name}=${quoteForShell(next)}`;
}

const flagOfLetter = (letter: string, flags: Flags): string | undefined =>
  Object.keys(flags).find((name) => flags[name]!.alias === letter);

function clusterMistake(argument: string, cluster: string, flags: Flags): string | null {
  const word = cluster.replace(/=.*$/s, "");
  if (word.length > 1 && Object.hasOwn(flags, word)) return `no flag ${argument}: it has two dashes here, --${cluster}`;
  if ([...cluster].every((letter) => flagOfLetter(letter, flags) !== undefined)) return null;
  return cluster.length === 1
    ? `no flag ${argument}`
    : `${argument}: no such flags; for a file with this name, write ./${argument} or put -- before it`;
}

const quoted = (text: string): string => `"${text}"`;

/** Explains flags of other tools and suggests the equivalent command; null if the line has none. */
function translateForeignFlags(name: string, line: readonly string[], flags: Flags): string | null {
  const explanations: string[] = [];
  const positionals: string[] = [];
  const rest: string[] = [];
  let isWhole = true;
  for (let at = 0; at < line.length; at++) {
    const argument = line[at]!;
    const own = /^--(?:no-)?([^=]+)/.exec(argument)?.[1] ?? flagOfLetter(argument.slice(1), flags);
    const foreign = own !== undefined && Object.hasOwn(flags, own) ? null : foreignAt(line, at);
    if (foreign !== null) {
      explanations.push(`${foreign.text} ${foreign.explanation}`);
      isWhole &&= foreign.replacement !== null;
      const here = foreign.replacement ?? [];
      (here[0] !== undefined && isFlag(here[0]) ? rest : positionals).push(...here);
      at += foreign.length - 1;
    } else if (!isFlag(argument)) positionals.push(argument);
    else {
      rest.push(argument);
      const takesNext = own !== undefined && flags[own]?.type === "string" && !argument.includes("=");
      if (takesNext && at + 1 < line.length) rest.push(line[++at]!);
    }
  }
  if (explanations.length === 0) return null;
  // Do not suggest a command that has other errors.
  isWhole &&= rest.every((argument) => !/^-/.test(argument) || isKnown(argument, flags));
  const explained = [...new Set(explanations)].join("; ");
  if (!isWhole) return `${explained}; see geoferry ${name} --help`;
  const { paths, explanations: order } =
    name === "convert" ? inputsFirst(positionals) : { paths: positionals, explanations: "" };
  const meant = ["geoferry", name, ...paths, ...withoutRedundantFlags(rest)].map(quoteForShell).join(" ");
  return `${explained}${order}. Try: ${meant}`;
}

const isKnown = (argument: string, flags: Flags): boolean => {
  const name = /^--(?:no-)?([^=]+)/.exec(argument)?.[1];
  return name === undefined ? flagOfLetter(argument.slice(1), flags) !== undefined : Object.hasOwn(flags, name);
};

/** Removes duplicates: `-update -append` of ogr2ogr is one flag here. */
const withoutRedundantFlags = (rest: readonly string[]): string[] =>
  rest.filter((argument, at) => !/^--(append|overwrite|no-reproject)$/.test(argument) || rest.indexOf(argument) === at);

/**
 * Reorders paths in the order of ogr2ogr, with the output first and layers last. If both exist, either could be the
 * output, and a suggestion that is followed must not overwrite the input: it then has no names.
 */
function inputsFirst(paths: readonly string[]): { readonly paths: readonly string[]; readonly explanations: string } {
  const [output, input, ...layers] = paths;
  if (output === undefined || input === undefined || !existsSync(input)) return { paths, explanations: "" };
  if (existsSync(output)) return { paths: ["INPUT", "OUTPUT"], explanations: "; INPUT comes before OUTPUT here" };
  if (layers.some((layer) => existsSync(layer))) return { paths, explanations: "" };
  const chosen = layers.length === 0 ? [] : ["--layer", layers.join(",")];
  return { paths: [input, output, ...chosen], explanations: "; INPUT comes before OUTPUT here" };
}

/** Explains a line that names no command. */
export function unknownCommand(line: readonly string[]): GeoferryError {
  const words = line.filter((argument) => !isFlag(argument));
  let group = "";
  while (Object.hasOwn(groups, group + words[0])) group += `${words.shift()} `;
  const [word] = words;
  if (word === undefined && group !== "") return usage(`${group}needs a command; see geoferry ${group}--help`);
  if (group === "") {
    const meant = suggestConvert(line);
    if (meant !== null) return usage(meant);
  }
  if (word === undefined) {
    const flags = { ...common, help: {}, version: {} };
    const typed = line
      .map((argument) => /^--([^=]+)/.exec(argument)?.[1])
      .find((flag) => flag && !Object.hasOwn(flags, flag));
    const nearest = typed === undefined ? null : nearestName(typed, Object.keys(flags));
    if (nearest !== null) return usage(`no flag --${typed}; did you mean --${nearest}?`);
    return usage("no command given; see geoferry --help");
  }
  const names = subcommandNames(group);
  const nearest = nearestName(
    word,
    names.map((name) => name.slice(group.length)),
  );
  const listed = names.join(", ");
  if (nearest !== null)
    return usage(`no command "${group}${word}"; did you mean ${group}${nearest}? Commands: ${listed}`);
  return usage(`no command "${group}${word}"; commands: ${listed}`);
}

/** Suggests `convert` for files without a command. */
function suggestConvert(line: readonly string[]): string | null {
  const foreign = translateForeignFlags("convert", line, flagsOf(commands.convert!));
  if (foreign !== null) return `no command given; use convert to convert files; ${foreign}`;
  const [first] = line;
  const isFile = first !== undefined && !isFlag(first) && (/[./\\]/.test(first) || existsSync(first));
  if (!isFile) return null;
  const meant = ["geoferry", "convert", ...line].map(quoteForShell).join(" ");
  return `no command "${first}"; to convert files: ${line.length > 1 ? meant : `${meant} OUTPUT`}`;
}
