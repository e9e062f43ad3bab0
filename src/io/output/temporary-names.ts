import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import { findEntriesIgnoringCase } from "../input/folder-listing.js";
import { describeSystemError } from "../input/source.js";
import { shortHash } from "../short-hash.js";
import { markPattern, newMark } from "./abandoned-files.js";

/**
 * The role of a temporary file beside an output: `tmp` is the new file, `old` the previous file that was moved aside, and
 * `none` marks that there was no previous file. `main.` marks the commit point. The names start with a dot, so that globs
 * do not match them.
 */
export type TemporaryRole = `${"main." | ""}${"tmp" | "old" | "none"}`;

/** Maximum length of a file name in bytes on common file systems. */
export const maxNameBytes = 255;

/** Shortens a name to at most `maxBytes` bytes: its beginning and a hash of the whole name. */
export function shortenName(name: string, maxBytes: number): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const hash = shortHash(name);
  let start = Buffer.from(name)
    .subarray(0, maxBytes - hash.length - 1)
    .toString();
  // Removes a character that was cut in two.
  while (Buffer.byteLength(start) > maxBytes - hash.length - 1 || start.endsWith("\uFFFD")) start = start.slice(0, -1);
  return `${start}~${hash}`;
}

/** Leaves room for a mark, a role and the suffix of a journal. */
const maxStemBytes = 190;

export const temporaryBase = (name: string): string => shortenName(name, maxStemBytes);

/** `.roads.dbf.1a2b3c4d-77-9c0d1e2f-5e6f7a8b.tmp` */
export function temporaryPath(final: string, mark: string, role: TemporaryRole): string {
  return join(dirname(final), `.${temporaryBase(basename(final))}.${mark}.${role}`);
}

/** Suffix of the file that stores the original name of a shortened one. */
const originalNameSuffix = "-name";

/**
 * The temporary names of one run in one folder. One main file is the commit point: as long as it does not have its final
 * name, the next run undoes everything with the mark of this run.
 */
export class TemporaryNames {
  private readonly mark = newMark();
  private commitPoint: string | undefined;

  /** Only the first call has an effect. */
  setCommitPoint(main: string): void {
    this.commitPoint ??= main;
  }

  isCommitPoint(final: string): boolean {
    return this.commitPoint === final;
  }

  nameFor(final: string, kind: "tmp" | "old" | "none"): string {
    return temporaryPath(final, this.mark, this.isCommitPoint(final) ? `main.${kind}` : kind);
  }

  /** The file that stores the original name if the temporary name is shortened; else null. */
  markerFor(final: string, kind: "old"): string | null {
    const name = basename(final);
    return temporaryBase(name) === name ? null : this.nameFor(final, kind) + originalNameSuffix;
  }

  belongsToCommitPoint(temporary: string): boolean {
    const main = this.commitPoint;
    return (
      main !== undefined && (["tmp", "old", "none"] as const).some((kind) => temporary === this.nameFor(main, kind))
    );
  }
}

export function outputError(output: string, error: unknown): GeoferryError {
  return error instanceof GeoferryError
    ? error
    : createError("output-failed", { output, reason: describeSystemError(error) }, error);
}

/** Suffixes of files that SQLite may leave beside a database. */
export const journalSuffixes = ["-journal", "-wal", "-shm"] as const;

/** The parts of a temporary name. */
export const temporaryNamePattern = new RegExp(
  `^\\.(?<base>.+)\\.(?<mark>${markPattern})\\.(?<role>(?:main\\.)?(?:tmp|old|none))(?<journal>-journal|-wal|-shm)?(?<note>${originalNameSuffix})?$`,
  // File names may contain line breaks.
  "s",
);

const appendLockPattern = /^\..+\.append-lock$/s;

/** The lock of runs that append to the file. */
export const appendLockPath = (final: string): string =>
  join(dirname(final), `.${temporaryBase(basename(final))}.append-lock`);

export const isAppendLock = (name: string): boolean => appendLockPattern.test(name);

/** Whether a file or folder has a temporary name of a run. */
export const isTemporaryName = (name: string): boolean => temporaryNamePattern.test(name) || isAppendLock(name);

export const lstatOrNull = (path: string): Stats | null => lstatSync(path, { throwIfNoEntry: false }) ?? null;

export function isSameFile(one: string, other: string): boolean {
  const a = lstatSync(one, { throwIfNoEntry: false, bigint: true });
  const b = lstatSync(other, { throwIfNoEntry: false, bigint: true });
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Resolves symbolic links, also if the target does not exist; other paths are returned unchanged. */
export function resolveSymlinks(path: string): string {
  let at = path;
  for (let hops = 0; hops < 40 && lstatOrNull(at)?.isSymbolicLink(); hops += 1) {
    at = resolve(realpathSync(dirname(at)), readlinkSync(at));
  }
  return at;
}

/** `roads` of `out/roads.shp`; of `out/roads.shp.zip` too. */
export function outputStem(path: string): string {
  const base = basename(path);
  const outer = base.slice(0, base.length - extname(base).length);
  return extname(base).toLowerCase() === ".zip" ? outer.slice(0, outer.length - extname(outer).length) : outer;
}

/** Files beside `path` that have its stem and one of the extensions, in any case: `roads.sbn`, `roads.shp.xml`. */
export function findCompanions(path: string, extensions: readonly string[]): string[] {
  if (extensions.length === 0) return [];
  const folder = dirname(path);
  const start = `${outputStem(path)}.`;
  const names = extensions.map((extension) => `${start}${extension}`);
  return findEntriesIgnoringCase(folder, names)
    .filter((entry) => entry.startsWith(start))
    .map((entry) => join(folder, entry))
    .filter((companion) => companion !== path && !statSync(companion, { throwIfNoEntry: false })?.isDirectory());
}
