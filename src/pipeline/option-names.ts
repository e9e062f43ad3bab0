/**
 * The names of each option on the command line, in job files and in the library. Messages name flags;
 * `rewriteOptionNames` replaces them for jobs and programs.
 */
import type { ConvertRequest } from "./request.js";

/** The type of an option's value: a limit is `100` or `5%`, an array lists the allowed words. */
export type OptionKind =
  | "text"
  | "flag"
  | "positive"
  | "count"
  | "texts"
  | "members"
  | "box"
  | "limit"
  | readonly string[];

export interface OptionNames {
  /** Without `--`. */
  readonly flag: string;
  /** Key in a step of a job or in its target map; null if jobs do not have the option. */
  readonly job: string | null;
  /** Null if the library does not have the option. */
  readonly library: keyof ConvertRequest | null;
  readonly kind: OptionKind;
}

type LibraryOption = Exclude<keyof ConvertRequest, "inputs" | "output" | "decrease">;

const defineOption = <L extends LibraryOption | null>(
  library: L,
  flag: string,
  kind: OptionKind,
  job: string | null,
): OptionNames & { readonly library: L } => ({ flag, job, library, kind });

/** Options of a conversion; the compiler checks that every member of the request has one. */
export const conversionOptions: Readonly<Record<LibraryOption, OptionNames>> = {
  from: defineOption("from", "from", "text", "from"),
  to: defineOption("to", "to", "text", "to"),
  layers: defineOption("layers", "layer", "texts", "layer"),
  layerName: defineOption("layerName", "layer-name", "text", "layerName"),
  sourceCrs: defineOption("sourceCrs", "source-crs", "text", "sourceCrs"),
  targetCrs: defineOption("targetCrs", "target-crs", "text", "targetCrs"),
  reproject: defineOption("reproject", "reproject", "flag", "reproject"),
  accuracy: defineOption("accuracy", "accuracy", "positive", "accuracy"),
  grids: defineOption("grids", "grid", "texts", "grid"),
  select: defineOption("select", "select", "texts", "select"),
  rename: defineOption("rename", "rename", "members", "rename"),
  cast: defineOption("cast", "cast", "members", "cast"),
  where: defineOption("where", "where", "text", "where"),
  bbox: defineOption("bbox", "bbox", "box", "bbox"),
  limit: defineOption("limit", "limit", "count", "limit"),
  geometryType: defineOption("geometryType", "geometry-type", "text", "geometryType"),
  makeValid: defineOption("makeValid", "make-valid", "flag", "makeValid"),
  swapXy: defineOption("swapXy", "swap-xy", "flag", "swapXy"),
  readerOptions: defineOption("readerOptions", "in", "members", "in"),
  writerOptions: defineOption("writerOptions", "out", "members", "out"),
  rejects: defineOption("rejects", "rejects", "text", "rejects"),
  maxRejects: defineOption("maxRejects", "max-rejects", "limit", "maxRejects"),
  onBadGeometry: defineOption("onBadGeometry", "on-bad-geometry", ["null", "reject"], "onBadGeometry"),
  maxLosses: defineOption("maxLosses", "max-losses", "limit", "maxLosses"),
  maxWithoutGeometry: defineOption("maxWithoutGeometry", "max-without-geometry", "limit", "maxWithoutGeometry"),
  strict: defineOption("strict", "strict", "flag", "strict"),
  verify: defineOption("verify", "verify", "flag", "verify"),
  skipErrors: defineOption("skipErrors", "skip-errors", "flag", "skipErrors"),
  append: defineOption("append", "append", "flag", "append"),
  overwrite: defineOption("overwrite", "overwrite", "flag", "overwrite"),
  replaceLayer: defineOption("replaceLayer", "replace-layer", "flag", "replaceLayer"),
  onNameClash: defineOption("onNameClash", "on-name-clash", ["error", "number"], "onNameClash"),
  ifNewer: defineOption("ifNewer", "if-newer", "flag", null),
  allowEmpty: defineOption("allowEmpty", "allow-empty", "flag", "allowEmpty"),
  workers: defineOption("workers", "workers", "count", "workers"),
  maxInputBytes: defineOption("maxInputBytes", "max-input", "count", "maxInput"),
};

/** Options of a job's map that conversions do not have. */
export const mapOptions: readonly OptionNames[] = [
  defineOption(null, "mode", ["incremental", "full", "append"], "mode"),
  defineOption(null, "remote-field", "text", "remoteField"),
  defineOption(null, "match", ["id"], "match"),
  defineOption(null, "scope", "text", "scope"),
  defineOption(null, "precision", "count", "precision"),
  defineOption(null, "replace-properties", "flag", "replaceProperties"),
  defineOption(null, "keep-unmanaged", "flag", "keepUnmanaged"),
  defineOption(null, "delete-unmanaged", "flag", "deleteUnmanaged"),
  defineOption(null, "delete-excluded", "flag", "deleteExcluded"),
  defineOption(null, "update-with", ["patch", "delete-create"], "updateWith"),
  defineOption(null, "on-duplicate", ["first", "last"], "onDuplicate"),
  defineOption(null, "on-missing-key", ["reject"], "onMissingKey"),
  defineOption(null, "single-read", "flag", "singleRead"),
  defineOption(null, "settle-time", "count", "settleTime"),
  defineOption(null, "conflict-retries", "count", "conflictRetries"),
  defineOption(null, "max-delete", "limit", "maxDelete"),
  defineOption(null, "max-update", "limit", "maxUpdate"),
  defineOption(null, "allow-null-geometry", "flag", "allowNullGeometry"),
  defineOption(null, "backup", "text", "backup"),
];

/** Options of network requests; in a job they are members of `network`. */
export const networkOptions: readonly OptionNames[] = [
  defineOption(null, "connect-timeout", "count", "network.connectTimeout"),
  defineOption(null, "timeout", "count", "network.timeout"),
  defineOption(null, "minimum-rate", "count", "network.minimumRate"),
];

/** Formats a value of each kind. */
export type ValueFormats = Readonly<
  Record<"text" | "number" | "limit" | "texts", (value: string) => string> & {
    members: (name: string, value: string) => string;
  }
>;

const flagPattern =
  /(?<![\w-])--(no-)?([a-z][a-z-]*[a-z])(?:( )([A-Za-z_][\w.:-]*=[^\s,;]+|[A-Z]+:\d+|gdal:\w+|\d[\d.]*%?(?![\w-])|[a-z]+(?:-[a-z]+)?(?![\w-])))?/g;

/** A complete command for a terminal, up to the punctuation that ends it. */
const commandPattern = /\bgeoferry [a-z].*?(?=[;,.:)]+(?:\s|$)|$)/gms;

/**
 * Replaces flags in a sentence, except in complete commands.
 * @param options by flag
 * @param nameOf returns the name to write, or null to keep the flag
 */
export function rewriteOptionNames(
  sentence: string,
  options: ReadonlyMap<string, OptionNames>,
  nameOf: (option: OptionNames) => string | null,
  written: ValueFormats,
): string {
  const rewritten = (part: string): string =>
    part.replace(flagPattern, (whole, no: string | undefined, found: string, space = "", value?: string) => {
      const option = options.get(found);
      const name = option === undefined ? null : nameOf(option);
      if (option === undefined || name === null) return whole;
      const { kind } = option;
      const rest = value === undefined ? "" : space + value;
      if (kind === "flag") return `${name}: ${no === undefined}${rest}`;
      const text = value === undefined ? null : formatOptionValue(kind, value, written);
      return text === null ? `${name}${rest}` : `${name}: ${text}`;
    });
  let [text, from] = ["", 0];
  for (const { 0: whole, index } of sentence.matchAll(commandPattern)) {
    text += rewritten(sentence.slice(from, index)) + whole;
    from = index + whole.length;
  }
  return joinMembers(text + rewritten(sentence.slice(from)));
}

/** Joins the members of one option: `in: { x: a } in: { y: b }` would repeat its key. */
function joinMembers(sentence: string): string {
  const joined = sentence.replace(/\b(\w+): \{ ([^{}]*) \} \1: \{ ([^{}]*) \}/g, "$1: { $2, $3 }");
  return joined === sentence ? sentence : joinMembers(joined);
}

/** Null if the word is not a value of the option but continues the sentence. */
function formatOptionValue(kind: OptionKind, value: string, written: ValueFormats): string | null {
  if (typeof kind !== "string") return kind.includes(value) ? written.text(value) : null;
  if (/^[a-z]+(?:-[a-z]+)?$/.test(value)) return null;
  if (kind === "members") {
    const at = value.indexOf("=");
    return at < 0 ? written.text(value) : written.members(value.slice(0, at), value.slice(at + 1));
  }
  if (kind === "texts") return written.texts(value);
  if (kind === "limit") return written.limit(value);
  return kind === "count" || kind === "positive" ? written.number(value) : written.text(value);
}

/** The options whose flags a sentence mentions outside complete commands, each once. */
export function findOptions(sentence: string, options: ReadonlyMap<string, OptionNames>): OptionNames[] {
  const found = [...sentence.replace(commandPattern, "").matchAll(flagPattern)].flatMap(
    ([, , name = ""]) => options.get(name) ?? [],
  );
  return [...new Set(found)];
}

export const indexByFlag = (options: readonly OptionNames[]): ReadonlyMap<string, OptionNames> =>
  new Map(options.map((option) => [option.flag, option]));
