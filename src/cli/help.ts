/** The output of `--help`: examples, then the flags in groups. */
import { version } from "../version.js";
import {
  type Command,
  type CommonArguments,
  commandNameIn,
  commands,
  common,
  type Flag,
  groups,
  subcommandNames,
} from "./command.js";
import type { FlagValueKind } from "./options/flag.js";
import { columnsOf, type Paint, paintFor, wrapped } from "./output/terminal.js";
import { unknownCommand } from "./parse/command-line-errors.js";
import { positionalCount, positionalNames } from "./parse/parse-command-line.js";

export const versionText = `${version}\n`;

/** The commands, grouped for the overview. */
export const commandsByPurpose: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ["Files and databases:", ["convert", "info", "check", "diff", "formats", "grids"]],
  ["Maps of a service:", ["push", "plan", "apply", "delete", "pull", "verify", "restore", "dedupe", "maps"]],
  ["Access to a service:", ["login", "logout", "whoami"]],
  ["Scheduled jobs:", ["run", "worker"]],
  ["A service of your own:", ["serve", "admin"]],
  ["Help:", ["help", "completion"]],
];

const firstExamples: Command<CommonArguments>["examples"] = [
  ["convert roads.shp roads.geojson", "convert one file to WGS84"],
  ["convert 'in/*.shp' out/ --to geopackage --target-crs EPSG:25832", "convert and reproject many files"],
  ["info roads.shp", "show layers, fields and the coordinate reference system"],
  ["push places.gpkg --map 7c0e6a52-… --dry-run", "show what a sync would change on a map"],
];

/** Placeholders for values. */
const placeholders: Readonly<Record<FlagValueKind, string>> = {
  "input-format": "FORMAT",
  "output-format": "FORMAT",
  format: "FORMAT",
  "reader-option": "KEY=VALUE",
  "writer-option": "KEY=VALUE",
  crs: "CRS",
  layer: "NAME",
  field: "FIELD",
  "field=name": "OLD=NEW",
  "field=type": "FIELD=TYPE",
  map: "ID",
  profile: "NAME",
  grid: "NAME",
  command: "COMMAND",
  path: "PATH",
};

/** Longer lists of choices are only in the description. */
const maxChoicesLength = 32;

/** " SECONDS", "[=ADDRESS]", or nothing for a boolean flag. */
export function formatValuePlaceholder({ type, accepts, placeholder, bareValue }: Flag): string {
  if (type === "boolean") return "";
  const choices = typeof accepts === "object" ? accepts.join("|") : "";
  const word =
    placeholder ??
    (typeof accepts === "string"
      ? placeholders[accepts]
      : choices !== "" && choices.length <= maxChoicesLength
        ? choices
        : "VALUE");
  return bareValue === undefined ? ` ${word}` : `[=${word}]`;
}

/**
 * Formats the help of the command or group that the line names, or the overview.
 * @param line arguments, with or without flags
 * @throws usage for an unknown command
 */
export function formatHelp(line: readonly string[], stream: NodeJS.WriteStream): string {
  const words = line.filter((argument, at) => !argument.startsWith("-") && line[at - 1] !== "--color");
  const page = new HelpPage(columnsOf(stream, process.env), paintFor(stream));
  const name = commandNameIn(words);
  if (name !== null) return formatCommandHelp(page, name, commands[name]!);
  let group = "";
  for (const word of words) {
    if (!Object.hasOwn(groups, group + word)) throw unknownCommand(words);
    group += `${word} `;
  }
  return group === "" ? formatOverview(page) : formatGroupHelp(page, group.trimEnd());
}

/** Builds a help text that fits the width of the terminal. */
class HelpPage {
  private text = "";

  constructor(
    private readonly width: number,
    private readonly paint: Paint,
  ) {}

  paragraph(text: string): this {
    for (const line of wrapped(text, this.width)) this.text += `${line}\n`;
    return this.blankLine();
  }

  heading(text: string): this {
    this.text += `${this.paint("bold", text)}\n`;
    return this;
  }

  blankLine(): this {
    this.text += "\n";
    return this;
  }

  examples(list: Command<CommonArguments>["examples"]): this {
    if (list.length === 0) return this;
    this.heading("Examples:");
    for (const [line, what] of list) {
      this.text += `  ${this.paint("cyan", `geoferry ${line}`)}\n`;
      for (const part of wrapped(what, this.width - 6)) this.text += `      ${part}\n`;
    }
    return this.blankLine();
  }

  /** Two columns; a description starts below its term if the term is too long. */
  list(rows: readonly (readonly [term: string, what: string])[]): this {
    const longest = Math.max(0, ...rows.map(([term]) => term.length));
    const column = Math.min(longest, 28, Math.floor(this.width * 0.35)) + 4;
    for (const [term, what] of rows) {
      const lines = wrapped(what, this.width - column);
      const fits = term.length + 4 <= column;
      const first = fits ? (lines.shift() ?? "") : "";
      const lead =
        first === ""
          ? `  ${this.paint("cyan", term)}`
          : `  ${this.paint("cyan", term)}${" ".repeat(column - term.length - 2)}`;
      this.text += `${lead}${first}\n`;
      for (const line of lines) this.text += `${" ".repeat(column)}${line}\n`;
    }
    return this.blankLine();
  }

  toString(): string {
    return `${this.text.trimEnd()}\n`;
  }
}

function formatOverview(page: HelpPage): string {
  page.paragraph("geoferry COMMAND ...: convert and sync geographic features between files, databases and maps.");
  page.examples(firstExamples);
  const known = new Set(commandsByPurpose.flatMap(([, names]) => names));
  const others = subcommandNames("").filter((name) => !known.has(name));
  const all = others.length === 0 ? commandsByPurpose : [...commandsByPurpose, ["More:", others] as const];
  for (const [heading, names] of all)
    page.heading(heading).list(names.map((name) => [name, findSummary(name).replace(/: .*/, "")]));
  page.heading("Global flags:").list(toFlagRows({ ...common, ...builtInFlags }));
  return page
    .paragraph("Run geoferry help COMMAND or geoferry COMMAND --help for the flags of a command and more examples.")
    .toString();
}

function formatGroupHelp(page: HelpPage, group: string): string {
  page.paragraph(`geoferry ${group} COMMAND ...: ${lowercaseFirst(groups[group]!)}.`);
  const names = subcommandNames(`${group} `);
  page.examples(names.flatMap((name) => commands[name]?.examples.slice(0, 1) ?? []));
  page.heading("Commands:").list(names.map((name) => [name, findSummary(name).replace(/: .*/, "")]));
  return page.paragraph(`Run geoferry ${group} COMMAND --help for the flags of a command.`).toString();
}

function formatCommandHelp(page: HelpPage, name: string, command: Command<CommonArguments>): string {
  page
    .paragraph(`geoferry ${name}${formatArguments(command)}${formatRequiredFlags(command.options)}`)
    .paragraph(`${command.summary}.`);
  page.examples(command.examples);
  for (const [heading, flags] of groupFlags(command.options)) page.heading(heading).list(toFlagRows(flags));
  page.heading("Global flags:").list(toFlagRows({ ...common, ...builtInFlags }));
  return page.toString();
}

const lowercaseFirst = (text: string): string => text[0]!.toLowerCase() + text.slice(1);

const findSummary = (name: string): string => groups[name] ?? commands[name]!.summary;

function formatArguments(command: Command<CommonArguments>): string {
  const { name, min } = positionalCount(command.usage);
  if (name === "") return "";
  const words = positionalNames(command);
  return min > 0 ? ` ${words}` : ` [${words}]`;
}

const formatRequiredFlags = (flags: Readonly<Record<string, Flag>>): string =>
  Object.entries(flags)
    .map(([name, flag]) => (flag.demandOption ? ` --${name}${formatValuePlaceholder(flag)}` : ""))
    .join("");

const builtInFlags: Readonly<Record<string, Flag>> = {
  help: { type: "boolean", alias: "h", describe: "Print this help" },
  version: { type: "boolean", describe: "Print the version" },
};

/** Groups flags by heading in order of appearance; flags without a heading come first. */
function groupFlags(flags: Readonly<Record<string, Flag>>): [heading: string, Record<string, Flag>][] {
  const found = new Map<string, Record<string, Flag>>();
  const withFirst = Object.entries(flags).sort(
    ([, a], [, b]) => Number(b.group === undefined) - Number(a.group === undefined),
  );
  for (const [name, flag] of withFirst) {
    const heading = flag.group ?? "Flags:";
    found.set(heading, { ...found.get(heading), [name]: flag });
  }
  return [...found];
}

function toFlagRows(flags: Readonly<Record<string, Flag>>): [term: string, what: string][] {
  return Object.entries(flags).map(([name, flag]) => {
    const letter = flag.alias === undefined ? "" : `-${flag.alias}, `;
    const term = flag.default === true ? `--no-${name}` : `${letter}--${name}${formatValuePlaceholder(flag)}`;
    const facts = [
      ...(flag.demandOption ? ["required"] : []),
      ...(flag.array ? ["repeatable"] : []),
      ...(flag.defaultDescription === undefined ? [] : [`default: ${flag.defaultDescription}`]),
    ];
    return [term, facts.length === 0 ? flag.describe : `${flag.describe} (${facts.join("; ")})`];
  });
}
