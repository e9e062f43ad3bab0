/**
 * The registry of all errors that geoferry reports. Each has a code for programs, a kind that determines the exit status,
 * and a message with what happened, where, and what to do next.
 */

import { bucketErrors } from "./errors/bucket-errors.js";
import { databaseErrors } from "./errors/database-errors.js";
import { defineError, type ErrorDefinition, type ErrorKind } from "./errors/define-error.js";
import { isDiskFull } from "./errors/disk-full.js";
import { findExhaustedResource } from "./errors/exhausted-resources.js";
import { featureServiceErrors } from "./errors/feature-service-errors.js";
import { adviseCoordinateOptions } from "./errors/format-reader-option.js";
import { jobErrors } from "./errors/job-errors.js";
import { remoteErrors } from "./errors/remote-errors.js";
import { serviceErrors } from "./errors/service-errors.js";
import { suggestName } from "./errors/suggest-name.js";
import { syncErrors } from "./errors/sync-errors.js";
import { verifyErrors } from "./errors/verify-errors.js";
import { escapeControlCharactersDeep } from "./escape-control-characters.js";
import { formatCount, groupDigits } from "./format-count.js";
import { nearestName } from "./nearest-name.js";

export type { ErrorKind };

/** A place in a source. `record` counts from 1; `byte` from 0. Inside a split, `record` and `line` are relative. */
export interface Place {
  readonly layer?: string;
  readonly record?: number;
  readonly line?: number;
  readonly byte?: number;
  readonly field?: string;
}

/** "record 12, line 14, byte 880" */
export function describePlace(place: Place | undefined): string {
  if (!place) return "";
  const words: string[] = [];
  if (place.layer !== undefined) words.push(`layer ${place.layer}`);
  if (place.record !== undefined) words.push(`record ${place.record}`);
  if (place.line !== undefined) words.push(`line ${place.line}`);
  if (place.field !== undefined) words.push(`field ${place.field}`);
  if (place.byte !== undefined) words.push(`byte ${place.byte}`);
  return words.join(", ");
}

const describeLocation = (source: string, place: Place | undefined): string => {
  const where = describePlace(place);
  return where ? `${source}, ${where}` : source;
};

const quoteName = (name: string): string => `"${name}"`;

const maxListedNames = 50;

const maxListedEntries = 10;

/** Advice for an unknown field or layer of a file. */
function suggestFieldName(name: string, known: readonly string[]): string {
  if (known.length === 0) return "";
  const more = known.length > maxListedNames ? ` and ${known.length - maxListedNames} more` : "";
  return suggestName(name, known, `it has ${known.slice(0, maxListedNames).map(quoteName).join(", ")}${more}`);
}

type SourceDetails = { readonly source: string };
type SourcePlaceDetails = SourceDetails & { readonly place?: Place; readonly reason: string };

export const errorDefinitions = {
  internal: defineError<{ reason: string }>(
    "internal",
    (e) => `internal error: ${e.reason}. This is a bug in geoferry; run again with -v for the stack`,
  ),
  usage: defineError<{ reason: string }>("usage", (e) => e.reason),
  interrupted: defineError<object>("interrupted", () => "interrupted; nothing was written"),
  "output-closed": defineError<{ output: string }>(
    "closed",
    (e) => `${e.output}: the reader closed the pipe; the rest was not written`,
  ),

  /** `known`: set if the source is a folder without files of these extensions. */
  "input-missing": defineError<SourceDetails & { known?: readonly string[] }>("input", ({ source, known }) => {
    if (known !== undefined)
      return `${source}: no file in this folder has an extension that geoferry knows (${known.map((each) => `.${each}`).join(", ")}); name the files by a pattern, such as '${source.replace(/\/+$/, "")}/*.txt', and their format with --from`;
    return /[*?[\]{}]/.test(source)
      ? `${source}: no file matches this pattern; ** matches nested folders: 'in/**/*.shp'`
      : `${source}: there is no such file or folder`;
  }),
  "input-unreadable": defineError<SourceDetails & { reason: string }>(
    "input",
    (e) => `${e.source}: cannot be read: ${e.reason}`,
  ),
  "input-empty": defineError<SourceDetails>(
    "input",
    (e) => `${e.source}: the file is empty; download or copy it again, or leave it out`,
  ),
  /**
   * `entries`: files of a zip without a known format; `notZip`: a file with the extension of a zip but other contents;
   * `named`: a file with the extension of another format but contents of none.
   */
  "input-unrecognized": defineError<
    SourceDetails & {
      known: readonly string[];
      entries?: readonly string[];
      notZip?: { extension: string; begins: string };
      named?: { extension: string; label: string; begins: string };
    }
  >("input", ({ source, known, entries, notZip, named }) => {
    if (notZip)
      return `${source}: has the extension .${notZip.extension}, but is not a zip: it begins with "${notZip.begins}"; get it again, or give it the extension of what it is`;
    if (entries) {
      const more = entries.length > maxListedEntries ? ` and ${entries.length - maxListedEntries} more` : "";
      return `${source}: has no file of a format that geoferry knows; it has ${entries.slice(0, maxListedEntries).join(", ")}${more}; unpack the file that is meant and name its format with --from, if it is one of these: ${known.join(", ")}`;
    }
    if (named)
      return `${source}: has the extension ${named.extension} of ${named.label}, but its content is in no format that geoferry knows: it begins with "${named.begins}"; get it again, or name its format with --from, if it is one of these: ${known.join(", ")}`;
    return `${source}: not a format that geoferry knows (${known.join(", ")}); name it with --from if it is one of these`;
  }),
  "input-ambiguous": defineError<SourceDetails & { formats: readonly string[] }>(
    "usage",
    (e) =>
      `${e.source}: could be ${e.formats.join(" or ")}; say which with ${e.formats.map((f) => `--from ${f}`).join(" or ")}`,
  ),
  /** `canSkip`: as for `input-truncated`. */
  "input-corrupt": defineError<SourcePlaceDetails & { canSkip?: boolean }>(
    "input",
    (e) =>
      `${describeLocation(e.source, e.place)}: ${e.reason}${e.canSkip ? "; correct it, or read past it with --skip-errors" : ""}`,
  ),
  /** `canSkip`: `--skip-errors` would skip the damage. */
  "input-truncated": defineError<SourcePlaceDetails & { canSkip?: boolean }>(
    "input",
    (e) =>
      `${describeLocation(e.source, e.place)}: the file ends early: ${e.reason}; get the whole file${e.canSkip ? ", or read what is there with --skip-errors" : ""}`,
  ),
  /** `found`: what the file has in place of `wanted`. */
  "input-not-understood": defineError<SourceDetails & { format: string; wanted: string; found: readonly string[] }>(
    "input",
    (e) =>
      `${e.source}: read as ${e.format}, nothing in it was understood: it has ${e.wanted}, but ${e.found.slice(0, 5).join(", ")}; check what the file is, and name its format with --from if it is another`,
  ),
  "input-too-large": defineError<SourceDetails & { limit: number; option: string }>(
    "input",
    (e) => `${e.source}: larger than the limit of ${e.limit} bytes; raise it with ${e.option}`,
  ),
  "input-download": defineError<SourceDetails & { reason: string }>(
    "input",
    (e) => `${e.source}: cannot be downloaded: ${e.reason}`,
  ),
  "input-unavailable": defineError<SourceDetails & { reason: string }>(
    "unavailable",
    (e) => `${e.source}: cannot be downloaded now: ${e.reason}; try again later`,
  ),
  "input-forbidden": defineError<SourceDetails & { reason: string }>(
    "authentication",
    (e) =>
      `${e.source}: cannot be downloaded: ${e.reason}; check that the address may be read without a login, or put user and password into it: https://user:password@host/`,
  ),
  "layer-missing": defineError<SourceDetails & { layer: string; layers: readonly string[] }>(
    "input",
    (e) => `${e.source}: has no layer "${e.layer}"${suggestFieldName(e.layer, e.layers)}`,
  ),
  /** `asValue`: the name is in a position where a string is more likely. */
  "field-missing": defineError<SourceDetails & { field: string; fields: readonly string[]; asValue?: boolean }>(
    "input",
    (e) => {
      const text = e.asValue ? `; text stands in single quotes: '${e.field.replaceAll("'", "''")}'` : "";
      return `${e.source}: has no field "${e.field}"${text}${suggestFieldName(e.field, e.fields)}`;
    },
  ),
  "geometry-missing": defineError<
    SourceDetails & {
      option: string;
      candidates: readonly (readonly [x: string, y: string, order?: "order-unknown"])[];
      fields: readonly string[];
      /** Why the first feature with coordinates has no geometry; null if none has coordinates. */
      reason: string | null;
      /** Columns of coordinates that have formulas without results. */
      uncalculated?: readonly string[];
    }
  >("input", (e) => {
    if (e.reason !== null) {
      const remedy = e.option === "--swap-xy" ? "omit --swap-xy" : `is ${e.option} right? Another system may fit`;
      return `${e.source}: ${e.option} is given, but no feature has a valid geometry: ${e.reason}; ${remedy}`;
    }
    const bare = `${e.option} is given, but no feature has a geometry`;
    if (e.uncalculated && e.uncalculated.length > 0) {
      const [subject, verb] =
        e.uncalculated.length === 1 ? ["the coordinate column", "has"] : ["the coordinate columns", "have"];
      const names = e.uncalculated.map(quoteName).join(" and ");
      return `${e.source}: ${bare}: ${subject} ${names} ${verb} formulas without results; open the file in a spreadsheet program and save it to calculate them`;
    }
    const pairs = e.candidates.map(
      ([x, y, order]) => `"${x}" and "${y}" look like coordinates: ${adviseCoordinateOptions(x, y, order)}`,
    );
    const listed = e.fields.slice(0, maxListedNames).map(quoteName).join(", ");
    const more = e.fields.length > maxListedNames ? ` and ${e.fields.length - maxListedNames} more` : "";
    const columns = `name the columns of the coordinates with --in x=COLUMN --in y=COLUMN, or that of WKT with --in geometry=COLUMN; there are ${listed}${more}`;
    const isUnnamed = e.fields.filter((name) => /^field_\d+$/.test(name)).length * 2 >= e.fields.length;
    const lower =
      isUnnamed && e.fields.length > 1
        ? ["if the column names are in a lower row, --in skip-lines=1 (or more) skips the rows above it"]
        : [];
    const remedy = pairs.length > 0 ? [...pairs] : e.fields.length > 0 ? [columns, ...lower] : [];
    return `${e.source}: ${[bare, ...remedy, `omit ${e.option} if there are no coordinates`].join("; ")}`;
  }),

  "features-rejected": defineError<{ layer: string; rejected: number; reason: string }>(
    "rejected",
    (e) =>
      `layer ${e.layer}: ${e.rejected === 1 ? "1 feature was rejected" : `${e.rejected} features were rejected`}, the first since ${e.reason}; the option onReject of open takes each of them`,
  ),

  "format-unknown": defineError<{ format: string; known: readonly string[] }>(
    "usage",
    (e) => `no format "${e.format}"${suggestName(e.format, e.known, `known are ${e.known.join(", ")}`)}`,
  ),
  "format-cannot-read": defineError<{ format: string }>(
    "unsupported",
    (e) => `${e.format} can be written but not read; geoferry formats shows which can`,
  ),
  "format-cannot-write": defineError<{ format: string }>(
    "unsupported",
    (e) => `${e.format} can be read but not written; geoferry formats shows which can`,
  ),
  /** `extension`: of the output, unknown to all writers; `readable`: a read-only format with this extension. */
  "format-undecided": defineError<{
    output: string;
    known: readonly string[];
    extension?: string;
    extensions?: readonly string[];
    readable?: string;
  }>("usage", ({ output, known, extension, extensions = [], readable }) => {
    const named = `--to (${known.join(", ")})`;
    if (extension === undefined) {
      const isFile = output !== "-" && !/[/\\]$/.test(output);
      return `${output === "-" ? "stdout" : output}: which format? ${isFile ? `Give it an extension, or name the format with ${named}` : `Name it with ${named}`}`;
    }
    if (readable !== undefined)
      return `${output}: the extension .${extension} is that of ${readable}, which can be read but not written; choose another, or name a format with ${named}`;
    const nearest = nearestName(extension, extensions);
    const meant = nearest === null ? "" : `; did you mean .${nearest}?`;
    return `${output}: the extension .${extension} is not known${meant === "" ? "; name" : `${meant} Or name`} the format with ${named}; geoferry formats lists the extensions`;
  }),
  "option-unknown": defineError<{ option: string; format: string; known: readonly string[] }>("usage", (e) => {
    const listed = e.known.length > 0 ? `it has ${e.known.join(", ")}` : "it has none";
    return `${e.format} has no option "${e.option}"${suggestName(e.option, e.known, listed)}`;
  }),
  "option-invalid": defineError<{ option: string; value: string; expected: string }>(
    "usage",
    (e) => `option ${e.option}: "${e.value}" is not ${e.expected}`,
  ),
  "plugin-invalid": defineError<{ plugin: string; reason: string }>("usage", (e) => `plugin ${e.plugin}: ${e.reason}`),
  /** `install`: the command that installs the package. */
  "sqlite-unavailable": defineError<{ install: string }>(
    "unsupported",
    (e) =>
      `SQLite is not available here: use Node.js 22.16 or later, which includes it, or run "${e.install}", which compiles if there is no binary for this system (with Python, make and g++)`,
  ),
  unsupported: defineError<SourcePlaceDetails>(
    "unsupported",
    (e) => `${describeLocation(e.source, e.place)}: ${e.reason}`,
  ),
  lossy: defineError<{ losses: readonly string[] }>(
    "unsupported",
    (e) =>
      `--strict: the target cannot hold everything: ${e.losses.join("; ")}; without --strict that is reported and left out`,
  ),

  /** `position`: the first position that is not longitude and latitude. */
  "crs-missing": defineError<
    SourceDetails & {
      place?: Place;
      reason: string;
      position?: readonly [x: number, y: number];
      /** Whether the source is the output that features are added to, which `--source-crs` does not describe. */
      isOutput?: boolean;
      /** The system of the existing features that others are appended to. */
      existing?: string;
    }
  >(
    "input",
    (e) =>
      `${describeLocation(e.source, e.place)}: declares no coordinate reference system, and ${e.reason}; ${
        e.isOutput
          ? "--no-reproject adds coordinates unchanged"
          : e.existing
            ? `--source-crs ${e.existing} says that they are in this system, too; without --no-reproject, longitude and latitude are reprojected to it`
            : "name it with --source-crs, or copy the coordinates unchanged with --no-reproject"
      }`,
  ),
  "crs-unknown": defineError<{ text: string; reason?: string }>(
    "input",
    (e) =>
      `"${e.text}" is not a coordinate reference system that geoferry knows${e.reason ? `: ${e.reason}` : ""}; name a known one, such as EPSG:25832, with --source-crs`,
  ),
  "crs-option-invalid": defineError<{ option: string; text: string; reason?: string }>(
    "usage",
    (e) =>
      `${e.option}: "${e.text}" is not a coordinate reference system that geoferry knows${e.reason ? `: ${e.reason}` : ""}; name one like EPSG:25832`,
  ),
  "crs-no-operation": defineError<{ from: string; to: string; reason: string; better?: readonly object[] }>(
    "unsupported",
    (e) => `no transformation from ${e.from} to ${e.to} that is accurate enough: ${e.reason}`,
  ),
  "grid-missing": defineError<SourceDetails>(
    "input",
    (e) => `${e.source}: there is no such grid file or folder of grids; --grid and GEOFERRY_GRIDS name them`,
  ),
  "grid-invalid": defineError<SourcePlaceDetails>(
    "input",
    (e) =>
      `${describeLocation(e.source, e.place)}: cannot be used as a shift grid: ${e.reason}; get the file again, or leave it out`,
  ),
  "grid-unknown": defineError<{ grid: string; known: readonly string[] }>(
    "usage",
    (e) => `PROJ publishes no shift grid "${e.grid}"${suggestName(e.grid, e.known, "geoferry grids list shows all")}`,
  ),
  "grid-checksum-mismatch": defineError<SourcePlaceDetails>(
    "input",
    (e) =>
      `${e.source}: is not the grid that PROJ publishes under this name: ${e.reason}; it was not kept: try again, or name another server with --grid-endpoint`,
  ),
  "crs-not-writable": defineError<{ format: string; crs: string }>(
    "unsupported",
    (e) =>
      `${e.format} cannot hold coordinates in ${e.crs}; choose another format (CSV holds any), or omit the option that names the system: --target-crs, or --source-crs with --no-reproject`,
  ),

  "expression-invalid": defineError<{ expression: string; column: number; reason: string }>(
    "usage",
    (e) => `--where: ${e.reason} at column ${e.column} of: ${e.expression}`,
  ),

  "output-exists": defineError<{ output: string; use?: "output" | "rejects" | "plan" }>("usage", (e) => {
    if (e.use === "plan") return `${e.output}: exists already; use --overwrite to replace it`;
    if (e.use === "rejects")
      return `${e.output}: exists already, and the rejects would go there; name another file with --rejects, or remove it`;
    return `${e.output}: exists already; use --overwrite to replace it or --append to add to it`;
  }),
  "output-collision": defineError<{ output: string; inputs: readonly string[]; remedy?: string }>(
    "usage",
    (e) =>
      `${e.output}: ${e.inputs.join(" and ")} would both be written there; ${e.remedy === undefined ? "" : `${e.remedy}, or `}convert them into different folders`,
  ),
  "output-is-address": defineError<{ output: string }>(
    "usage",
    (e) =>
      `${e.output}: is an address, and outputs are local files and folders, s3://BUCKET/KEY and tables of PostGIS; write a file and upload that; a file of such a name is written ./NAME`,
  ),
  "append-encoding-unknown": defineError<{ output: string }>(
    "usage",
    (e) =>
      `${e.output}: the file does not name its encoding, which is not UTF-8, and appending would rewrite its text; convert it into a new file with --in encoding=NAME first, then append to that`,
  ),
  "append-header-unknown": defineError<{ output: string }>(
    "usage",
    (e) =>
      `${e.output}: the first row could be data or the names of the columns, and appending would write names above it; convert it into a new file, with --in header=no if it is data, or with --in header=yes --rename OLD=NEW if it is names that are all numbers, then append to that`,
  ),
  "append-would-remove": defineError<{ output: string; what: string }>(
    "usage",
    (e) =>
      `${e.output}: the file has ${e.what}, which appending would remove; convert it into a new file, and append to that`,
  ),
  "output-is-input": defineError<{ output: string }>(
    "usage",
    (e) => `${e.output}: is read and written in one run; write to another name`,
  ),
  "output-failed": defineError<{ output: string; reason: string }>(
    "output",
    (e) => `${e.output}: cannot be written: ${e.reason}; nothing is left behind`,
  ),
  "report-failed": defineError<{ path: string; reason: string }>(
    "output",
    (e) => `${e.path}: the report cannot be written: ${e.reason}; what was written before it is complete and stays`,
  ),
  "working-disk-full": defineError<{ path: string | null }>(
    "output",
    (e) =>
      `${e.path ?? "a file of this run"}: cannot be written, because its disk is full: temporary files go to the folder that TMPDIR names, those of a sync also to its state folder (--state); free disk space or choose other folders, then run the same command again`,
  ),
  "resources-exhausted": defineError<{ reason: string; remedy: string }>(
    "output",
    (e) => `the system refuses what this run needs: ${e.reason}; ${e.remedy}, then run the same command again`,
  ),
  "stdout-failed": defineError<{ reason: string }>(
    "output",
    (e) => `stdout: the records cannot be written there: ${e.reason}; files that were written before are complete`,
  ),
  ...verifyErrors,
  "output-locked": defineError<{ output: string }>(
    "locked",
    (e) => `${e.output}: another program is writing to it; try again when it has finished; nothing was changed`,
  ),
  "foreign-key-violation": defineError<{ output: string; table: string; reason: string }>(
    "output",
    (e) =>
      `${e.output}: a foreign key of the table "${e.table}" would be broken: ${e.reason}; carry the features with the ids that are referred to, or change those rows first; nothing was changed`,
  ),
  "rows-not-taken": defineError<{ output: string; table: string; sent: number; taken: number }>(
    "output",
    (e) =>
      `${e.output}: the table "${e.table}" took ${groupDigits(e.taken)} of ${formatCount(e.sent, "row")}: a trigger or a rule of the table ${e.taken < e.sent ? "drops or redirects" : "adds"} rows; leave out the features that it does not take (--where), or disable it; nothing was changed`,
  ),
  "output-too-large": defineError<{ output: string; limit: string; remedy: string }>(
    "output",
    (e) => `${e.output}: would grow beyond ${e.limit}; ${e.remedy}; nothing is left behind`,
  ),
  "output-not-stream": defineError<{ format: string }>(
    "usage",
    (e) => `${e.format} is more than one file or is not written sequentially, so it cannot go to stdout; name a file`,
  ),

  ...serviceErrors,

  "guard-empty": defineError<{ output: string }>(
    "guard",
    (e) =>
      `${e.output}: the input is empty, but the file to be overwritten is not; to replace it anyway, use --allow-empty`,
  ),
  "guard-rejects": defineError<{
    rejected: number;
    limit: string;
    advice: readonly string[];
    /** Where the first of them is, and its reason. */
    source?: string;
    place?: Place;
    reason?: string;
  }>(
    "guard",
    (e) =>
      `stopped: ${e.rejected} ${e.rejected === 1 ? "feature" : "features"} could not be carried, more than --max-rejects ${e.limit} allows${e.source === undefined ? "" : `: ${describeLocation(e.source, e.place)}: ${e.reason}${e.rejected > 1 ? ", and others" : ""}`}; nothing was written; with a higher limit they go to a rejects file with their reasons, and geoferry check INPUT shows what is wrong with an input${e.advice.map((line) => `; ${line}`).join("")}`,
  ),
  "guard-losses": defineError<{ count: number; limit: string; examples: readonly string[] }>(
    "guard",
    (e) =>
      `stopped: the target cannot hold ${formatCount(e.count, "value")}, more than --max-losses ${e.limit} allows: ${e.examples.join(", ")}; nothing was written; allow more, or leave such fields out with --select`,
  ),
  "guard-decrease": defineError<{ read: number; before: number; limit: string }>(
    "guard",
    (e) =>
      `stopped: ${formatCount(e.read, "feature")} ${e.read === 1 ? "was" : "were"} read, but ${groupDigits(e.before)} in the last run, a greater decrease than maxDecrease ${e.limit} allows; nothing was written; check whether the source is complete, or increase maxDecrease for one run`,
  ),
  "guard-without-geometry": defineError<{ count: number; limit: string }>(
    "guard",
    (e) =>
      `stopped: ${formatCount(e.count, "feature")} would have no geometry, more than --max-without-geometry ${e.limit} allows; nothing was written; geoferry check INPUT shows what is wrong with an input, and a higher limit accepts them`,
  ),
  ...bucketErrors,
  ...databaseErrors,
  ...featureServiceErrors,
  ...remoteErrors,
  ...syncErrors,
  ...jobErrors,
} as const satisfies Record<string, ErrorDefinition<never>>;

export type ErrorCode = keyof typeof errorDefinitions;
type ErrorDetails<C extends ErrorCode> = Parameters<(typeof errorDefinitions)[C]["message"]>[0];

/** The error class of geoferry; `message` is complete and safe to print. */
export class GeoferryError extends Error {
  override readonly name = "GeoferryError";
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: object, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.kind = errorDefinitions[code].kind;
    this.details = details as Record<string, unknown>;
  }
}

/**
 * Creates an error of the registry: `throw createError("input-missing", { source })`. Control characters of the details
 * are escaped in the message.
 */
export function createError<C extends ErrorCode>(code: C, details: ErrorDetails<C>, cause?: unknown): GeoferryError {
  const message = (errorDefinitions[code].message as (details: ErrorDetails<C>) => string)(
    escapeControlCharactersDeep(details),
  );
  return new GeoferryError(code, message, details, cause);
}

/** An error in a form that survives structured cloning, which keeps neither class nor getters. */
export interface PlainError {
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly stack?: string;
}

export function toPlainError(error: unknown): PlainError {
  const known = error instanceof GeoferryError ? error : systemError(error);
  if (known) return { code: known.code, message: known.message, details: known.details, stack: known.stack };
  const message = error instanceof Error ? error.message : String(error);
  return { code: null, message, details: {}, stack: error instanceof Error ? error.stack : undefined };
}

export function fromPlainError(plain: PlainError): Error {
  const error =
    plain.code === null ? new Error(plain.message) : new GeoferryError(plain.code, plain.message, plain.details);
  if (plain.stack !== undefined) error.stack = plain.stack;
  return error;
}

/** The error of the registry for a system error that may come from anywhere; undefined for other errors. */
function systemError(error: unknown): GeoferryError | undefined {
  const { code, path = null }: { code?: unknown; path?: string | null } = Object(error);
  if (isDiskFull(code)) return createError("working-disk-full", { path }, error);
  const exhausted = findExhaustedResource(error);
  return exhausted && createError("resources-exhausted", exhausted, error);
}

/** Converts a thrown value to an error of the registry; other values become `internal`. */
export function asGeoferryError(error: unknown): GeoferryError {
  const known = error instanceof GeoferryError ? error : systemError(error);
  if (known) return known;
  const reason = error instanceof Error ? error.message : String(error);
  return createError("internal", { reason }, error);
}
