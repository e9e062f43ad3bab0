/** What can be typed where a value stands: of a flag, or an argument of a command. */
import { fieldTypes } from "../../model/field.js";
import type { Format } from "../../plugin/format.js";
import type { OptionTable } from "../../plugin/options.js";
import type { Registry } from "../../plugin/registry.js";
import { commands, subcommandNames } from "../command.js";
import type { FlagValueKind, Positional } from "../options/flag.js";
import { type Completion, type Completions, fileCompletions, noCompletions, withPrefix } from "./completions.js";

/** The rest of the line, as far as it says what a value can be. */
export interface CompletionContext {
  readonly registry: Registry;
  /** Arguments that are no flags, before the cursor and behind it. */
  readonly paths: readonly string[];
  /** Values of flags that are there already. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** The shell searches in all that is offered. */
  readonly mayOpenFiles: boolean;
  /** Milliseconds that opening a file may take. */
  readonly timeoutMs: number;
}

type Completer = (typed: string, around: CompletionContext) => Completions | Promise<Completions>;

const completeFormats =
  (fits: (format: Format) => boolean): Completer =>
  (_, { registry }) => ({
    offers: registry
      .all()
      .filter(fits)
      .map(({ id, label }) => ({ value: id, description: label })),
  });

/** The format that an option belongs to: the one that is named, or that of the first path, of the output of the last. */
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
  (typed, around) => {
    const format = findFormat(half, around);
    // Those of a family are asked of a library that takes long to load.
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

/** What a file on the line has, for the loading of which there is time. */
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
  around: CompletionContext,
  values: readonly string[],
): Promise<Completions> => {
  const [, field, value] = /^([^=]*)=(.*)$/s.exec(typed) ?? [];
  if (field !== undefined && value !== undefined)
    return withPrefix(`${field}=`, { offers: values.map((one) => ({ value: one })) });
  const fields = await completeFromFile("fields", around);
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
  layer: async (_, around) => ({ offers: await completeFromFile("layers", around) }),
  field: async (_, around) => ({ offers: await completeFromFile("fields", around) }),
  "field=name": (typed, around) => completeFieldPairs(typed, around, []),
  "field=type": (typed, around) => completeFieldPairs(typed, around, fieldTypes),
  // Only the service knows them, and nothing is sent unasked.
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

/** Words that can follow those of a group ("admin "), or begin a line (""). */
export const commandCompletions = (group: string): Completions => ({
  offers: subcommandNames(group).map((name) => ({
    value: name.slice(group.length),
    ...(commands[name] ? { description: commands[name].summary } : {}),
  })),
});

/** @param isList several may be given in one, with commas between them */
export async function valueCompletions(
  { accepts, isPath }: Pick<Positional, "accepts" | "isPath">,
  typed: string,
  isList: boolean,
  around: CompletionContext,
): Promise<Completions> {
  if (accepts === undefined) return isPath ? fileCompletions : noCompletions;
  if (typeof accepts === "object")
    return completeLastOfList(typed, isList, () => ({ offers: accepts.map((value) => ({ value })) }));
  return completeLastOfList(typed, isList && /^(layer|field)/.test(accepts), (part) =>
    completers[accepts](part, around),
  );
}

/** The names before the last comma stay, and are not offered again. */
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
