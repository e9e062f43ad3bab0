import { GeoferryError } from "../../errors.js";
import type { Format } from "../../plugin/format.js";
import type { OptionTable } from "../../plugin/options.js";
import type { Command, CommonArguments } from "../command.js";
import { openRegistry } from "../host.js";

export interface FormatsArguments extends CommonArguments {
  readonly name?: string;
}

function describeOptions(title: string, table: OptionTable): string[] {
  const lines = Object.entries(table).map(([name, spec]) => {
    const values = spec.type === "choice" ? spec.choices.join("|") : spec.type;
    const standard = spec.default === undefined ? "" : ` [${String(spec.default)}]`;
    return `  ${`${name}=${values}`.padEnd(32)} ${spec.help}${standard}`;
  });
  return lines.length > 0 ? [title, ...lines] : [];
}

export function describeFormat(format: Format): string {
  const writer = format.writer;
  return `${[
    `${format.id}: ${format.label}`,
    format.addresses
      ? `  addresses   ${format.addresses.syntax}`
      : `  extensions  ${format.extensions.map((extension) => `.${extension}`).join(" ")}`,
    `  reads       ${format.reader ? "yes" : "no"}`,
    `  writes      ${writer ? "yes" : "no"}`,
    ...(format.reader ? describeOptions("reader options (--in)", format.reader.options) : []),
    ...(writer ? describeOptions("writer options (--out)", writer.options) : []),
  ].join("\n")}\n`;
}

const toRecord = (format: Format) => ({
  type: "format",
  id: format.id,
  label: format.label,
  extensions: format.extensions,
  ...(format.addresses ? { addresses: format.addresses.syntax } : {}),
  reads: format.reader !== undefined,
  writes: format.writer !== undefined,
  readerOptions: listOptions(format.reader),
  writerOptions: listOptions(format.writer),
});

/** Empty for formats that are not installed. */
function listOptions(half: Format["reader"] | Format["writer"]): OptionTable {
  try {
    return half?.options ?? {};
  } catch (error) {
    if (error instanceof GeoferryError) return {};
    throw error;
  }
}

/** Adds the installed members of format families, or prints how to install them. */
function expandFamilies(formats: readonly Format[], { quiet }: FormatsArguments): Format[] {
  const all = new Map(formats.map((format) => [format.id, format]));
  for (const { id, family } of formats) {
    if (!family) continue;
    const { formats: members, unavailable } = family.list();
    for (const member of members) all.set(member.id, member);
    if (unavailable === null) {
      const there = new Set(members.map((member) => member.id));
      for (const key of all.keys()) if (key.startsWith(`${id}:`) && !there.has(key)) all.delete(key);
    } else if (!quiet) process.stderr.write(`${id}: ${unavailable}\n`);
  }
  return [...all.values()];
}

const idColumnWidth = (formats: readonly Format[]): number => Math.max(12, ...formats.map(({ id }) => id.length));

export const formatsCommand: Command<FormatsArguments> = {
  usage: "formats [name]",
  summary: "List the formats with read and write support, or the options of one",
  positionals: { name: { type: "string", describe: "FORMAT whose options are shown", accepts: "format" } },
  options: {},
  examples: [
    ["formats", "list all formats"],
    ["formats csv", "show the options of CSV"],
  ],
  async run(args) {
    const registry = await openRegistry(args.plugin ?? []);
    const formats = args.name === undefined ? expandFamilies(registry.all(), args) : [registry.get(args.name)];
    const isOfFamily = ({ id }: Format) => id.includes(":");
    const widths = [true, false].map((member) => idColumnWidth(formats.filter((one) => isOfFamily(one) === member)));
    for (const format of formats) {
      if (args.json) process.stdout.write(`${JSON.stringify(toRecord(format))}\n`);
      else if (args.name !== undefined) process.stdout.write(describeFormat(format));
      else {
        const abilities = [format.reader ? "reads" : "", format.writer ? "writes" : ""]
          .filter((word) => word !== "")
          .join(", ");
        const names = format.addresses?.syntax ?? format.extensions.map((extension) => `.${extension}`).join(" ");
        const named = names === "" ? "" : ` (${names})`;
        const width = widths[isOfFamily(format) ? 0 : 1]!;
        process.stdout.write(`${format.id.padEnd(width)} ${abilities.padEnd(14)} ${format.label}${named}\n`);
      }
    }
    return 0;
  },
};
