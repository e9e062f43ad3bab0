/**
 * Options by the names that they have on the command line, in job files and in the library. Messages name flags, since
 * most are read on a command line; `inOptionWords` rewrites them for jobs and programs.
 */
import type { ConvertRequest } from "./request.js";

/** What an option is set to: a limit is `100` or `5%`, a list holds the words that it can be. */
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
  /** Key of a step of a job, or of the map that is its target; null where jobs do not have it. */
  readonly job: string | null;
  /** Null where the library does not have it. */
  readonly library: keyof ConvertRequest | null;
  readonly kind: OptionKind;
}

type Library = Exclude<keyof ConvertRequest, "inputs" | "output">;

const names = <L extends Library | null>(
  library: L,
  flag: string,
  kind: OptionKind,
  job: string | null,
): OptionNames & { readonly library: L } => ({ flag, job, library, kind });

/** Options of a conversion. The compiler holds the keys against the request. */
export const conversionOptions: Readonly<Record<Library, OptionNames>> = {
  from: names("from", "from", "text", "from"),
  to: names("to", "to", "text", "to"),
  layers: names("layers", "layer", "texts", "layer"),
  layerName: names("layerName", "layer-name", "text", "layerName"),
  sourceCrs: names("sourceCrs", "source-crs", "text", "sourceCrs"),
  targetCrs: names("targetCrs", "target-crs", "text", "targetCrs"),
  reproject: names("reproject", "reproject", "flag", "reproject"),
  accuracy: names("accuracy", "accuracy", "positive", "accuracy"),
  grids: names("grids", "grid", "texts", "grid"),
  select: names("select", "select", "texts", "select"),
  rename: names("rename", "rename", "members", "rename"),
  cast: names("cast", "cast", "members", "cast"),
  where: names("where", "where", "text", "where"),
  bbox: names("bbox", "bbox", "box", "bbox"),
  limit: names("limit", "limit", "count", "limit"),
  geometryType: names("geometryType", "geometry-type", "text", "geometryType"),
  makeValid: names("makeValid", "make-valid", "flag", "makeValid"),
  swapXy: names("swapXy", "swap-xy", "flag", "swapXy"),
  readerOptions: names("readerOptions", "in", "members", "in"),
  writerOptions: names("writerOptions", "out", "members", "out"),
  rejects: names("rejects", "rejects", "text", "rejects"),
  maxRejects: names("maxRejects", "max-rejects", "limit", "maxRejects"),
  onBadGeometry: names("onBadGeometry", "on-bad-geometry", ["null", "reject"], "onBadGeometry"),
  maxLosses: names("maxLosses", "max-losses", "limit", "maxLosses"),
  maxWithoutGeometry: names("maxWithoutGeometry", "max-without-geometry", "limit", "maxWithoutGeometry"),
  strict: names("strict", "strict", "flag", "strict"),
  skipErrors: names("skipErrors", "skip-errors", "flag", "skipErrors"),
  append: names("append", "append", "flag", "append"),
  overwrite: names("overwrite", "overwrite", "flag", "overwrite"),
  replaceLayer: names("replaceLayer", "replace-layer", "flag", "replaceLayer"),
  onNameClash: names("onNameClash", "on-name-clash", ["error", "number"], "onNameClash"),
  update: names("update", "update", "flag", null),
  allowEmpty: names("allowEmpty", "allow-empty", "flag", "allowEmpty"),
  workers: names("workers", "workers", "count", "workers"),
  maxInputBytes: names("maxInputBytes", "max-input", "count", "maxInput"),
};

/** Keys of a job's map that no conversion has. */
export const mapOptions: readonly OptionNames[] = [
  names(null, "mode", ["incremental", "full", "append"], "mode"),
  names(null, "remote-field", "text", "remoteField"),
  names(null, "match", ["id"], "match"),
  names(null, "scope", "text", "scope"),
  names(null, "precision", "count", "precision"),
  names(null, "replace-properties", "flag", "replaceProperties"),
  names(null, "keep-unmanaged", "flag", "keepUnmanaged"),
  names(null, "delete-unmanaged", "flag", "deleteUnmanaged"),
  names(null, "delete-excluded", "flag", "deleteExcluded"),
  names(null, "update-with", ["patch", "delete-create"], "updateWith"),
  names(null, "on-duplicate", ["first", "last"], "onDuplicate"),
  names(null, "on-missing-key", ["reject"], "onMissingKey"),
  names(null, "trust-pages", "flag", "trustPages"),
  names(null, "settle", "count", "settle"),
  names(null, "conflict-retries", "count", "conflictRetries"),
  names(null, "max-delete", "limit", "maxDelete"),
  names(null, "max-update", "limit", "maxUpdate"),
  names(null, "allow-null-geometry", "flag", "allowNullGeometry"),
  names(null, "backup", "text", "backup"),
];

/** Of requests to other machines: in a job they stand in `network`. */
export const networkNames: readonly OptionNames[] = [
  names(null, "connect-timeout", "count", "network.connectTimeout"),
  names(null, "timeout", "count", "network.timeout"),
  names(null, "minimum-rate", "count", "network.minimumRate"),
];

/** How a value of each kind is written. */
export type WrittenValues = Readonly<
  Record<"text" | "number" | "limit" | "texts", (value: string) => string> & {
    members: (name: string, value: string) => string;
  }
>;

const flag =
  /(?<![\w-])--(no-)?([a-z][a-z-]*[a-z])(?:( )([A-Za-z_][\w.:-]*=[^\s,;]+|[A-Z]+:\d+|gdal:\w+|\d[\d.]*%?(?![\w-])|[a-z]+(?:-[a-z]+)?(?![\w-])))?/g;

/** A whole command for a terminal: as far as the punctuation that ends it. */
const command = /\bgeoferry [a-z].*?(?=[;,.:)]+(?:\s|$)|$)/gms;

/** @param options by their flags @param nameOf the name to write @param written how values are */
export function inOptionWords(
  sentence: string,
  options: ReadonlyMap<string, OptionNames>,
  nameOf: (option: OptionNames) => string | null,
  written: WrittenValues,
): string {
  const rewritten = (part: string): string =>
    part.replace(flag, (whole, no: string | undefined, found: string, space = "", value?: string) => {
      const option = options.get(found);
      const name = option === undefined ? null : nameOf(option);
      if (option === undefined || name === null) return whole;
      const { kind } = option;
      const rest = value === undefined ? "" : space + value;
      if (kind === "flag") return `${name}: ${no === undefined}${rest}`;
      const text = value === undefined ? null : wordsFor(kind, value, written);
      return text === null ? `${name}${rest}` : `${name}: ${text}`;
    });
  let [text, from] = ["", 0];
  for (const { 0: whole, index } of sentence.matchAll(command)) {
    text += rewritten(sentence.slice(from, index)) + whole;
    from = index + whole.length;
  }
  return text + rewritten(sentence.slice(from));
}

/** A word that is no value of the option goes on with the sentence: null. */
function wordsFor(kind: OptionKind, value: string, written: WrittenValues): string | null {
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

/** The options that a sentence with flags speaks of outside of whole commands, each once. */
export function optionsIn(sentence: string, options: ReadonlyMap<string, OptionNames>): OptionNames[] {
  const found = [...sentence.replace(command, "").matchAll(flag)].flatMap(([, , name = ""]) => options.get(name) ?? []);
  return [...new Set(found)];
}

export const byFlag = (options: readonly OptionNames[]): ReadonlyMap<string, OptionNames> =>
  new Map(options.map((option) => [option.flag, option]));
