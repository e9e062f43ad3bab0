/** Completes values of flags and positionals. */
import { fieldTypes } from "../../model/field.js";
import type { Format } from "../../plugin/format.js";
import type { OptionTable } from "../../plugin/options.js";
import type { Registry } from "../../plugin/registry.js";
import { commands, subcommandNames } from "../command.js";
import type { FlagValueKind, Positional } from "../options/flag.js";
import { type Completion, type Completions, fileCompletions, noCompletions, withPrefix } from "./completions.js";

/** The parts of the line that completions depend on. */
export interface CompletionContext {
  readonly registry: Registry;
  /** Positional arguments. */
  readonly paths: readonly string[];
  /** Values of flags on the line. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** The shell filters completions itself, so all are offered. */
  readonly mayOpenFiles: boolean;
  /** Time limit for reading a file, in milliseconds. */
  readonly timeoutMs: number;
}

type Completer = (typed: string, context: CompletionContext) => Completions | Promise<Completions>;

const completeFormats =
  (fits: (format: Format) => boolean): Completer =>
  (_, { registry }) => ({
    offers: registry
      .all()
      .filter(fits)
      .map(({ id, label }) => ({ value: id, description: label })),
  });

/** The format of `--from` or `--to`, or of the input or output path. */
function findFormat(half: "reader" | "writer", { registry, paths, flags }: CompletionContext): Format | undefined {
  const named = flags.get(half === "reader" ? "from" : "to")?.at(-1);
  const path = half === "reader" ? paths[0] : paths.at(-1);
  const all = registry.all();
  if (named !== undefined) return all.find(({ id, extensions }) => id === named || extensions.includes(named));
  if (path === undefined) return undefined;
  return registry.findByAddress(path) ?? registry.findByExtension(path).find((format) => format[half]);
}

const completeOptions =
  (half: "reader" | "writer"): Completer =>
  (typed, context) => {
    const format = findFormat(half, context);
    // Options of GDAL formats come from a library that is slow to load.
    if (format === undefined || format.id.includes(":")) return noCompletions;
    const table: OptionTable = format[half]?.options ?? {};
    const [, key, value] = /^([^=]*)=(.*)$/s.exec(typed) ?? [];
    if (key === undefined || value === undefined)
      return {
        offers: Object.entries(table).map(([name, { help }]) => ({ value: `${name}=`, description: help })),
        nospace: true,
      };
    const spec = table[key];
    const values = spec?.type === "choice" ? spec.choices : spec?.type === "boolean" ? ["yes", "no"] : [];
    return withPrefix(`${key}=`, { offers: values.map((one) => ({ value: one })) });
  };

/** Layers or fields of the first file on the line. */
async function completeFromFile(
  what: "layers" | "fields",
  { registry, paths, flags, timeoutMs }: CompletionContext,
): Promise<Completion[]> {
  const { fieldCompletions, findFirstFile, layerCompletions } = await import("./dataset-completions.js");
  const path = findFirstFile(paths);
  if (path === undefined) return [];
  const dataset = { path, from: flags.get("from")?.at(-1), layers: flags.get("layer") ?? [], timeoutMs };
  return what === "layers" ? layerCompletions(dataset, registry) : fieldCompletions(dataset, registry);
}

const completeFieldPairs = async (
  typed: string,
  context: CompletionContext,
  values: readonly string[],
): Promise<Completions> => {
  const [, field, value] = /^([^=]*)=(.*)$/s.exec(typed) ?? [];
  if (field !== undefined && value !== undefined)
    return withPrefix(`${field}=`, { offers: values.map((one) => ({ value: one })) });
  const fields = await completeFromFile("fields", context);
  return { offers: fields.map(({ value: name, ...rest }) => ({ value: `${name}=`, ...rest })), nospace: true };
};

const completers: Readonly<Record<FlagValueKind, Completer>> = {
  "input-format": completeFormats(({ reader }) => reader !== undefined),
  "output-format": completeFormats(({ writer }) => writer !== undefined),
  format: completeFormats(() => true),
  "reader-option": completeOptions("reader"),
  "writer-option": completeOptions("writer"),
  crs: async (typed, { mayOpenFiles }) => {
    const { crsCompletions } = await import("./crs-completions.js");
    return crsCompletions(typed, mayOpenFiles);
  },
  layer: async (_, context) => ({ offers: await completeFromFile("layers", context) }),
  field: async (_, context) => ({ offers: await completeFromFile("fields", context) }),
  "field=name": (typed, context) => completeFieldPairs(typed, context, []),
  "field=type": (typed, context) => completeFieldPairs(typed, context, fieldTypes),
  // Completion sends no requests.
  map: () => noCompletions,
  profile: async () => {
    const { listProfileNames } = await import("./profiles.js");
    return { offers: (await listProfileNames()).map((value) => ({ value })) };
  },
  grid: async () => {
    const { publishedGrids } = await import("../../crs/grids/index.js");
    return { offers: [...publishedGrids()].map(({ name, areaName }) => ({ value: name, description: areaName })) };
  },
  command: (_, { paths }) => commandCompletions(paths.length === 0 ? "" : `${paths.join(" ")} `),
  path: () => fileCompletions,
};

/** Names of the commands of a group ("admin "), or of the top level (""). */
export const commandCompletions = (group: string): Completions => ({
  offers: subcommandNames(group).map((name) => ({
    value: name.slice(group.length),
    ...(commands[name] ? { description: commands[name].summary } : {}),
  })),
});

/** @param isList the value may be a comma-separated list */
export async function valueCompletions(
  { accepts, isPath }: Pick<Positional, "accepts" | "isPath">,
  typed: string,
  isList: boolean,
  context: CompletionContext,
): Promise<Completions> {
  if (accepts === undefined) return isPath ? fileCompletions : noCompletions;
  if (typeof accepts === "object")
    return completeLastOfList(typed, isList, () => ({ offers: accepts.map((value) => ({ value })) }));
  return completeLastOfList(typed, isList && /^(layer|field)/.test(accepts), (part) =>
    completers[accepts](part, context),
  );
}

/** Completes the part after the last comma, without values that the list already has. */
async function completeLastOfList(
  typed: string,
  isList: boolean,
  find: (typed: string) => Completions | Promise<Completions>,
): Promise<Completions> {
  const comma = isList ? typed.lastIndexOf(",") : -1;
  const before = typed.slice(0, comma + 1);
  const found = await find(typed.slice(comma + 1));
  const given = before.split(",");
  return withPrefix(before, { ...found, offers: found.offers.filter(({ value }) => !given.includes(value)) });
}
