/** `geoferry __complete`: what can follow on a command line, for the scripts in scripts.ts. */
import { commandNameIn, commands, type Flag, groups } from "../command.js";
import { openRegistry } from "../host.js";
import { capacityOf, flagsOf } from "../read-line.js";
import { answerFor, type Cursor, cursorOf } from "./answer.js";
import { behind, files, type Offer, type Offers } from "./offers.js";
import { commandOffers, type Surroundings, valueOffers } from "./values.js";

/** @param argv as the script of a shell gives them @returns the exit status */
export async function complete([shell = "", ...argv]: readonly string[]): Promise<number> {
  const cursor = cursorOf(shell, argv);
  const found = await offersAt(cursor);
  process.stdout.write(answerFor(shell, cursor, found));
  return 0;
}

/** Milliseconds: whoever pressed Tab does not wait longer for a large file. */
const usualPatience = 2000;

/** What can stand where the cursor is. Nothing that the line names is opened unless layers or fields are asked for. */
export async function offersAt(
  { words, current, shell }: Pick<Cursor, "words" | "current" | "shell">,
  patience = usualPatience,
): Promise<Offers> {
  const name = commandNameIn(words);
  if (name === null) return beforeCommand(words, current);
  const command = commands[name]!;
  const flags = flagsOf(command);
  const { given, paths, open, isOver } = read(words.slice(name.split(" ").length), flags);
  const plugins = given.get("plugin") ?? [];
  const registry = await openRegistry(plugins).catch(() => openRegistry([]));
  const around: Surroundings = { registry, paths, flags: given, searches: shell === "fish", patience };
  const ofFlag = (flag: Flag, typed: string) => valueOffers(withPath(flag), typed, flag.array === true, around);
  if (open !== null) return ofFlag(flags[open]!, current);
  const [, long, value] = /^--([^=]+)=(.*)$/s.exec(current) ?? [];
  if (!isOver && long !== undefined && value !== undefined)
    return flags[long]?.type === "string" ? behind(`--${long}=`, await ofFlag(flags[long], value)) : { offers: [] };
  if (!isOver && current.startsWith("-")) return { offers: flagOffers(flags, given) };
  const { name: positional, most } = capacityOf(command.usage);
  if (paths.length >= most) return { offers: [] };
  return valueOffers({ takes: "path", ...command.positionals[positional] }, current, false, around);
}

/** A flag whose value is a file, of this machine or anywhere. */
const withPath = (flag: Flag): Flag => (flag.onDisk && flag.takes === undefined ? { ...flag, takes: "path" } : flag);

function beforeCommand(words: readonly string[], current: string): Offers {
  if (current.startsWith("-")) return { offers: [{ value: "--help" }, { value: "--version" }] };
  const group = words.length === 0 ? "" : `${words.join(" ")} `;
  return words.length > 0 && !Object.hasOwn(groups, words.join(" ")) ? files : commandOffers(group);
}

interface Read {
  readonly given: ReadonlyMap<string, string[]>;
  readonly paths: readonly string[];
  /** The flag whose value comes next, or null. */
  readonly open: string | null;
  /** Behind `--`. */
  readonly isOver: boolean;
}

/** What the words before the cursor are. */
function read(words: readonly string[], flags: Readonly<Record<string, Flag>>): Read {
  const given = new Map<string, string[]>();
  const paths: string[] = [];
  let open: string | null = null;
  let isOver = false;
  const give = (name: string, value: string) => given.set(name, [...(given.get(name) ?? []), value]);
  for (const word of words) {
    const name = isOver ? undefined : flagIn(word, flags);
    if (open !== null) {
      give(open, word);
      open = null;
    } else if (isOver || !word.startsWith("-") || word === "-") paths.push(word);
    else if (word === "--") isOver = true;
    else if (name !== undefined) {
      const flag = flags[name]!;
      const at = word.startsWith("--") ? word.indexOf("=") : -1;
      if (flag.type === "string" && at < 0 && flag.bare === undefined) open = name;
      else give(name, at < 0 ? "" : word.slice(at + 1));
    }
  }
  return { given, paths, open, isOver };
}

function flagIn(word: string, flags: Readonly<Record<string, Flag>>): string | undefined {
  const long = /^--(?:no-)?([^=]+)/.exec(word)?.[1];
  if (long !== undefined) return Object.hasOwn(flags, long) ? long : undefined;
  return /^-[^-]/.test(word) ? Object.keys(flags).find((name) => flags[name]!.alias === word.at(-1)) : undefined;
}

/** The flags that can be given yet. */
function flagOffers(flags: Readonly<Record<string, Flag>>, given: ReadonlyMap<string, unknown>): Offer[] {
  const open = Object.entries(flags).filter(([name, { array }]) => array || !given.has(name));
  const offers = open.map(([name, { describe, default: standard }]) => ({
    value: standard === true ? `--no-${name}` : `--${name}`,
    what: describe,
  }));
  return [...offers, { value: "--help", what: "Print the help of this command" }];
}
