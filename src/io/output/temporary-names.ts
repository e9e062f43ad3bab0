import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import { findEntriesIgnoringCase } from "../input/folder-listing.js";
import { describeSystemError } from "../input/source.js";
import { shortHash } from "../short-hash.js";
import { isAbandoned, markPattern, newMark } from "./abandoned-files.js";

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
const maxStemBytes = 200;

const temporaryBase = (name: string): string => shortenName(name, maxStemBytes);

/** `.roads.dbf.1a2b3c4d-77-5e6f7a8b.tmp` */
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

const temporaryNamePattern = new RegExp(
  `^\\.(?<base>.+)\\.(?<mark>${markPattern})\\.(?<role>(?:main\\.)?(?:tmp|old|none))(?<journal>-journal|-wal|-shm)?(?<note>${originalNameSuffix})?$`,
);

/** Whether a file or folder has a temporary name of a run. */
export const isTemporaryName = (name: string): boolean => temporaryNamePattern.test(name);

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

interface AbandonedFile {
  readonly path: string;
  readonly finalPath: string;
  readonly role: TemporaryRole;
}

function restoreOriginal({ path, finalPath }: AbandonedFile): void {
  renameSync(path, finalPath);
  // If both names are links to one file, `rename` does nothing.
  rmSync(path, { force: true });
}

/** Finishes or undoes the set of a killed run, so that either the new or the previous files are complete. */
function recoverSet(files: readonly AbandonedFile[]): void {
  const withRole = (role: TemporaryRole) => files.filter((file) => file.role === role);
  const [main] = withRole("main.tmp");
  const oldMain = withRole("main.old");
  const published = main ? isSameFile(main.path, main.finalPath) : [...oldMain, ...withRole("main.none")].length > 0;
  if (main && !published) {
    for (const file of withRole("tmp")) if (isSameFile(file.path, file.finalPath)) rmSync(file.finalPath);
    for (const file of withRole("none")) rmSync(file.finalPath, { force: true });
  }
  // A main file that exists although this run did not publish it was written by another process: it is kept.
  const kept = (final: string) => oldMain.some((file) => isSameFile(file.path, final));
  const restore = main !== undefined && !published && (!lstatOrNull(main.finalPath) || kept(main.finalPath));
  for (const file of [...withRole("old"), ...oldMain]) {
    if (restore) restoreOriginal(file);
    // Without a temporary main file (a link may have put it elsewhere), the only copy of a file is kept.
    else if (main || published || lstatOrNull(file.finalPath)) rmSync(file.path);
  }
  const spent: readonly TemporaryRole[] = ["tmp", "none", "main.none", "main.tmp"];
  for (const role of spent) for (const file of withRole(role)) rmSync(file.path, { force: true });
}

/** Publishing a set takes less than this; files that were moved aside earlier belong to a killed run. */
const publishTimeoutMs = 60_000;

/** Whether another run has just moved the main file aside. */
export function isBeingReplaced(main: string): boolean {
  const name = temporaryBase(basename(main));
  const start = `.${name}.`;
  return readdirSync(dirname(main)).some((entry) => {
    if (!entry.startsWith(start)) return false;
    const { base, role, note } = temporaryNamePattern.exec(entry)?.groups ?? {};
    if (base !== name || note || (role !== "old" && role !== "main.old")) return false;
    const aside = lstatOrNull(join(dirname(main), entry));
    return aside !== null && Date.now() - aside.ctimeMs < publishTimeoutMs;
  });
}

const sweptAt = new Map<string, number>();
/** Minimum interval between recoveries of a folder, since many outputs may go into one. */
const sweepIntervalMs = 60_000;

/** Returns an empty text if another run has just removed the file. */
function readTextIfExists(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** The original names of shortened ones, from existing files and from files that store them. */
function originalNames(folder: string, entries: readonly string[]): Map<string, string> {
  const names = new Map(entries.map((entry) => [temporaryBase(entry), entry] as const));
  for (const entry of entries) {
    const { base, note } = temporaryNamePattern.exec(entry)?.groups ?? {};
    if (base === undefined || !note) continue;
    const name = readTextIfExists(join(folder, entry));
    // Ignores a stored name that does not match the shortened one.
    if (basename(name) === name && temporaryBase(name) === base) names.set(base, name);
  }
  return names;
}

/** Recovers the folder of a dataset that a killed run was writing or had moved aside. */
function recoverDatasetFolder(path: string, final: string, role: TemporaryRole): void {
  if (role === "main.old" && !lstatOrNull(final)) renameSync(path, final);
  else if (role === "main.old" || role === "main.tmp") rmSync(path, { recursive: true, force: true });
}

/**
 * Finishes or undoes what killed runs left in the folder.
 * @param deadPrefix see `isAbandoned`; with it, the folder is checked even if that was done recently
 */
export function recoverAbandonedOutputs(folder: string, deadPrefix?: string): void {
  const key = resolve(folder);
  if (deadPrefix === undefined && Date.now() - (sweptAt.get(key) ?? Number.NEGATIVE_INFINITY) < sweepIntervalMs) return;
  sweptAt.set(key, Date.now());
  const groups = new Map<string, AbandonedFile[]>();
  const notes: string[] = [];
  const entries = readdirSync(folder);
  let names: Map<string, string> | undefined;
  for (const entry of entries) {
    const { base, mark, role, journal, note } = temporaryNamePattern.exec(entry)?.groups ?? {};
    if (base === undefined || mark === undefined) continue;
    const path = join(folder, entry);
    const stat = lstatOrNull(path);
    if (stat?.isDirectory() && isAbandoned(mark, stat.mtimeMs, deadPrefix))
      recoverDatasetFolder(path, join(folder, base), role as TemporaryRole);
    if (!stat?.isFile() && !stat?.isSymbolicLink()) continue;
    if (!isAbandoned(mark, stat.mtimeMs, deadPrefix)) continue;
    if (journal) rmSync(path, { force: true });
    else if (note) notes.push(path);
    else {
      names ??= originalNames(folder, entries);
      const finalPath = join(folder, names.get(base) ?? base);
      groups.set(mark, [...(groups.get(mark) ?? []), { path, finalPath, role: role as TemporaryRole }]);
    }
  }
  for (const files of groups.values()) recoverSet(files);
  for (const path of notes) rmSync(path, { force: true });
}
