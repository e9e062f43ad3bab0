/** Converts the option lists of GDAL's drivers to option tables. */
import type { OptionSpec, OptionTable } from "../../../src/plugin/index.js";
import type { DriverInfo } from "../process/protocol.js";
import { tableGeometries } from "../write/table-geometry.js";
import { tableDrivers } from "./capabilities.js";

const xmlEntities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const decodeEntities = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => xmlEntities[name]!)
    .replace(/\s+/g, " ")
    .trim();

function parseAttributes(text: string): Map<string, string> {
  const found = text.matchAll(/([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
  return new Map(
    [...found].map(([, name, double, single]) => [name!.toLowerCase(), decodeEntities(double ?? single ?? "")]),
  );
}

function createOptionSpec(attributes: ReadonlyMap<string, string>, values: readonly string[]): OptionSpec {
  const standard = attributes.get("default");
  const description = attributes.get("description") || "An option of GDAL without a description";
  const help = standard === undefined || standard === "" ? description : `${description} [${standard}]`;
  const bound = (name: "min" | "max") => {
    const value = Number(attributes.get(name) ?? Number.NaN);
    return Number.isFinite(value) ? { [name]: value } : {};
  };
  switch (attributes.get("type")?.toLowerCase()) {
    case "boolean":
      return { type: "boolean", help };
    case "int":
    case "integer":
    case "unsigned int":
      return { type: "integer", ...bound("min"), ...bound("max"), help };
    case "float":
    case "double":
      return { type: "number", ...bound("min"), ...bound("max"), help };
    default:
      return values.length > 0 ? { type: "choice", choices: values, help } : { type: "text", help };
  }
}

/** The vector options of a list. Omits defaults, which GDAL applies itself. */
export function parseOptionList(xml: string): OptionTable {
  const table: Record<string, OptionSpec> = {};
  for (const [, opening, , content = ""] of xml.matchAll(/<Option\b([^>]*?)(\/>|>([\s\S]*?)<\/Option>)/gi)) {
    const attributes = parseAttributes(opening ?? "");
    const name = attributes.get("name");
    if (name === undefined || attributes.get("scope") === "raster") continue;
    const inner = content.matchAll(/<Value\b[^>]*>([\s\S]*?)<\/Value>/gi);
    table[name] = createOptionSpec(
      attributes,
      [...new Set([...inner].map(([, value]) => decodeEntities(value ?? "")))].filter(Boolean),
    );
  }
  return table;
}

/** Options added to GDAL's, in lower case; GDAL's are in upper case. */
export const memoryOption = {
  memory: {
    type: "integer",
    default: 2048,
    min: 64,
    help: "Memory limit of GDAL, in mebibytes",
  },
} as const satisfies OptionTable;

export const readOptions = {
  ...memoryOption,
  ids: {
    type: "choice",
    choices: ["auto", "yes", "no"],
    default: "auto",
    help: "Feature ids: where the file keeps them, always (GDAL numbers the features then), or never",
  },
} as const satisfies OptionTable;

export const createReadOptions = (facts: DriverInfo): OptionTable => ({
  ...parseOptionList(facts.openOptions),
  ...readOptions,
});

const tableOptions = {
  geometry: {
    type: "choice",
    choices: tableGeometries,
    default: "auto",
    help: "auto: columns lon and lat (x and y when projected) if all are points, else a WKT column; none leaves geometries out",
  },
} as const satisfies OptionTable;

export const createWriteOptions = (facts: DriverInfo): OptionTable => ({
  ...parseOptionList(facts.datasetOptions),
  ...parseOptionList(facts.layerOptions),
  ...memoryOption,
  ...(tableDrivers.has(facts.name) ? tableOptions : {}),
});

const optionText = (value: unknown): string => (typeof value === "boolean" ? (value ? "YES" : "NO") : String(value));

/** `NAME=value` for each given option that is in the list. */
export function toGdalOptions(xml: string, options: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(parseOptionList(xml)).flatMap((name) => {
    const value = Object.hasOwn(options, name) ? options[name] : undefined;
    return value === undefined ? [] : [`${name}=${optionText(value)}`];
  });
}
