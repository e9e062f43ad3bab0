/**
 * Messages name flags of the command line, since most of them are read there. For a program that calls the library they
 * are rewritten: `--source-crs EPSG:25832` becomes `sourceCrs: "EPSG:25832"`. The flags are those of
 * `geoferry convert`, in one table that the compiler holds against `ConvertRequest`.
 */
import { asGeoferryError, GeoferryError } from "../errors.js";
import type { Loss } from "../model/report.js";
import type { ConvertReport } from "../pipeline/report.js";
import type { ConvertRequest } from "../pipeline/request.js";

interface Option {
  readonly name: keyof ConvertRequest;
  /** How a value of the flag is written in TypeScript; `flag` is true or, with `no-`, false. */
  readonly takes: "text" | "number" | "flag" | "texts" | "members";
}

const option = (name: keyof ConvertRequest, takes: Option["takes"]): Option => ({ name, takes });

/** The flags whose advice a program follows with another option, by their names without `--`. */
export const optionOfFlag: Readonly<Record<string, Option>> = {
  from: option("from", "text"),
  to: option("to", "text"),
  layer: option("layers", "texts"),
  "layer-name": option("layerName", "text"),
  "source-crs": option("sourceCrs", "text"),
  "target-crs": option("targetCrs", "text"),
  reproject: option("reproject", "flag"),
  accuracy: option("accuracy", "number"),
  grid: option("grids", "texts"),
  select: option("select", "texts"),
  rename: option("rename", "members"),
  cast: option("cast", "members"),
  where: option("where", "text"),
  bbox: option("bbox", "text"),
  limit: option("limit", "number"),
  "geometry-type": option("geometryType", "text"),
  "make-valid": option("makeValid", "flag"),
  "swap-xy": option("swapXy", "flag"),
  "on-bad-geometry": option("onBadGeometry", "text"),
  in: option("readerOptions", "members"),
  out: option("writerOptions", "members"),
  rejects: option("rejects", "text"),
  "max-rejects": option("maxRejects", "text"),
  strict: option("strict", "flag"),
  "skip-errors": option("skipErrors", "flag"),
  append: option("append", "flag"),
  overwrite: option("overwrite", "flag"),
  "replace-layer": option("replaceLayer", "flag"),
  update: option("update", "flag"),
  "allow-empty": option("allowEmpty", "flag"),
  workers: option("workers", "number"),
  "max-input": option("maxInputBytes", "number"),
};

const flag =
  /(?<![\w-])--(no-)?([a-z][a-z-]*[a-z])(?:( )([A-Za-z_][\w.:-]*=[^\s,;]+|[A-Z]+:\d+|gdal:\w+|\d[\d.]*%?(?![\w-])))?/g;

const written: Readonly<Record<Option["takes"], (value: string) => string>> = {
  text: (value) => JSON.stringify(value),
  number: (value) => value,
  flag: (value) => value,
  texts: (value) => `[${JSON.stringify(value)}]`,
  members(value) {
    const at = value.indexOf("=");
    return at < 0 ? JSON.stringify(value) : `{ ${value.slice(0, at)}: ${JSON.stringify(value.slice(at + 1))} }`;
  },
};

/** A sentence with options of the library in place of flags; other flags stay. */
export function inOptions(sentence: string): string {
  return sentence.replace(flag, (whole, no?: string, name = "", space = "", value?: string) => {
    const known = Object.hasOwn(optionOfFlag, name) ? optionOfFlag[name] : undefined;
    if (!known) return whole;
    if (known.takes === "flag") return `${known.name}: ${no === undefined}${value === undefined ? "" : space + value}`;
    return value === undefined ? known.name : `${known.name}: ${written[known.takes](value)}`;
  });
}

/** The options that a sentence with flags speaks of. */
export function optionsIn(sentence: string): (keyof ConvertRequest)[] {
  const names = [...sentence.matchAll(flag)].flatMap(([, , name = ""]) =>
    Object.hasOwn(optionOfFlag, name) ? [optionOfFlag[name]!.name] : [],
  );
  return [...new Set(names)];
}

/**
 * An error as the library throws it: its message names options, and `details.options` lists those that it names, for
 * programs that act on them.
 */
export function libraryError(error: unknown): GeoferryError {
  const known = asGeoferryError(error);
  const { code, message, details } = known;
  if ("options" in details) return known;
  const renamed = typeof details.option === "string" ? { option: inOptions(details.option) } : {};
  return new GeoferryError(code, inOptions(message), { ...details, ...renamed, options: optionsIn(message) }, known);
}

/** Does something with errors in the words of the library. */
export async function inLibraryWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw libraryError(error);
  }
}

const reworded = (losses: readonly Loss[]): readonly Loss[] =>
  losses.map((loss) => ({ ...loss, example: inOptions(loss.example) }));

export const reportInOptions = <T extends Pick<ConvertReport, "losses" | "notices">>(report: T): T => ({
  ...report,
  losses: reworded(report.losses),
  notices: reworded(report.notices),
});
