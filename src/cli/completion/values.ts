/** What can be typed where a value stands: of a flag, or an argument of a command. */
import { fieldTypes } from "../../model/field.js";
import type { Format } from "../../plugin/format.js";
import type { OptionTable } from "../../plugin/options.js";
import type { Registry } from "../../plugin/registry.js";
import { commands, following } from "../command.js";
import type { Positional, ValueKind } from "../flag.js";
import { behind, files, none, type Offer, type Offers } from "./offers.js";

/** The rest of the line, as far as it says what a value can be. */
export interface Surroundings {
  readonly registry: Registry;
  /** Arguments that are no flags, before the cursor and behind it. */
  readonly paths: readonly string[];
  /** Values of flags that are there already. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** The shell searches in all that is offered. */
  readonly searches: boolean;
  /** Milliseconds that opening a file may take. */
  readonly patience: number;
}

type Find = (typed: string, around: Surroundings) => Offers | Promise<Offers>;

const formatOffers =
  (fits: (format: Format) => boolean): Find =>
  (_, { registry }) => ({
    offers: registry
      .all()
      .filter(fits)
      .map(({ id, label }) => ({ value: id, what: label })),
  });

/** The format that an option belongs to: the one that is named, or that of the first path, of the output of the last. */
function formatFor(half: "reader" | "writer", { registry, paths, flags }: Surroundings): Format | undefined {
  const named = flags.get(half === "reader" ? "from" : "to")?.at(-1);
  const path = half === "reader" ? paths[0] : paths.at(-1);
  const all = registry.all();
  if (named !== undefined) return all.find(({ id, extensions }) => id === named || extensions.includes(named));
  if (path === undefined) return undefined;
  return registry.ofAddress(path) ?? registry.byExtension(path).find((format) => format[half]);
}

const optionOffers =
  (half: "reader" | "writer"): Find =>
  (typed, around) => {
    const format = formatFor(half, around);
    // Those of a family are asked of a library that takes long to load.
    if (format === undefined || format.id.includes(":")) return none;
    const table: OptionTable = format[half]?.options ?? {};
    const [, key, value] = /^([^=]*)=(.*)$/s.exec(typed) ?? [];
    if (key === undefined || value === undefined)
      return {
        offers: Object.entries(table).map(([name, { help }]) => ({ value: `${name}=`, what: help })),
        nospace: true,
      };
    const spec = table[key];
    const values = spec?.type === "choice" ? spec.choices : spec?.type === "boolean" ? ["yes", "no"] : [];
    return behind(`${key}=`, { offers: values.map((one) => ({ value: one })) });
  };

/** What a file on the line has, for the loading of which there is time. */
async function ofFile(what: "layers" | "fields", { registry, paths, flags, patience }: Surroundings): Promise<Offer[]> {
  const { fieldOffers, firstFile, layerOffers } = await import("./datasets.js");
  const path = firstFile(paths);
  if (path === undefined) return [];
  const dataset = { path, from: flags.get("from")?.at(-1), layers: flags.get("layer") ?? [], patience };
  return what === "layers" ? layerOffers(dataset, registry) : fieldOffers(dataset, registry);
}

const fieldPairs = async (typed: string, around: Surroundings, values: readonly string[]): Promise<Offers> => {
  const [, field, value] = /^([^=]*)=(.*)$/s.exec(typed) ?? [];
  if (field !== undefined && value !== undefined)
    return behind(`${field}=`, { offers: values.map((one) => ({ value: one })) });
  const fields = await ofFile("fields", around);
  return { offers: fields.map(({ value: name, ...rest }) => ({ value: `${name}=`, ...rest })), nospace: true };
};

const finders: Readonly<Record<ValueKind, Find>> = {
  "input-format": formatOffers(({ reader }) => reader !== undefined),
  "output-format": formatOffers(({ writer }) => writer !== undefined),
  format: formatOffers(() => true),
  "reader-option": optionOffers("reader"),
  "writer-option": optionOffers("writer"),
  crs: async (typed, { searches }) => {
    const { crsOffers } = await import("./crs-names.js");
    return crsOffers(typed, searches);
  },
  layer: async (_, around) => ({ offers: await ofFile("layers", around) }),
  field: async (_, around) => ({ offers: await ofFile("fields", around) }),
  "field=name": (typed, around) => fieldPairs(typed, around, []),
  "field=type": (typed, around) => fieldPairs(typed, around, fieldTypes),
  // Only the service knows them, and nothing is sent unasked.
  map: () => none,
  profile: async () => {
    const { profileNames } = await import("./profiles.js");
    return { offers: (await profileNames()).map((value) => ({ value })) };
  },
  grid: async () => {
    const { publishedGrids } = await import("../../crs/grids.js");
    return { offers: [...publishedGrids()].map(({ name, areaName }) => ({ value: name, what: areaName })) };
  },
  command: (_, { paths }) => commandOffers(paths.length === 0 ? "" : `${paths.join(" ")} `),
  path: () => files,
};

/** Words that can follow those of a group ("admin "), or begin a line (""). */
export const commandOffers = (group: string): Offers => ({
  offers: following(group).map((name) => ({
    value: name.slice(group.length),
    ...(commands[name] ? { what: commands[name].summary } : {}),
  })),
});

/** @param isList several may be given in one, with commas between them */
export async function valueOffers(
  { takes, onDisk }: Pick<Positional, "takes" | "onDisk">,
  typed: string,
  isList: boolean,
  around: Surroundings,
): Promise<Offers> {
  if (takes === undefined) return onDisk ? files : none;
  if (typeof takes === "object") return listed(typed, isList, () => ({ offers: takes.map((value) => ({ value })) }));
  return listed(typed, isList && /^(layer|field)/.test(takes), (part) => finders[takes](part, around));
}

/** The names before the last comma stay, and are not offered again. */
async function listed(
  typed: string,
  isList: boolean,
  find: (typed: string) => Offers | Promise<Offers>,
): Promise<Offers> {
  const comma = isList ? typed.lastIndexOf(",") : -1;
  const before = typed.slice(0, comma + 1);
  const found = await find(typed.slice(comma + 1));
  const given = before.split(",");
  return behind(before, { ...found, offers: found.offers.filter(({ value }) => !given.includes(value)) });
}
