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
 * What a temporary file beside an output is for: `tmp` is new and gets the name, `old` had it, `none` says that nothing
 * had. Their names start with a dot, so that no glob takes them for inputs.
 */
export type TemporaryRole = `${"main." | ""}${"tmp" | "old" | "none"}`;

/** File systems take names of so many bytes. */
export const maxNameBytes = 255;

/** A name of at most `room` bytes: of a longer one the beginning, and a hash that tells it from others that begin so. */
export function shortenName(name: string, room: number): string {
  if (Buffer.byteLength(name) <= room) return name;
  const hash = shortHash(name);
  let start = Buffer.from(name)
    .subarray(0, room - hash.length - 1)
    .toString();
  // A character that was cut in two.
  while (Buffer.byteLength(start) > room - hash.length - 1 || start.endsWith("\uFFFD")) start = start.slice(0, -1);
  return `${start}~${hash}`;
}

/** What a mark, a role and the suffix of a journal leave, with some bytes to spare. */
const maxStemBytes = 200;

const temporaryBase = (name: string): string => shortenName(name, maxStemBytes);

/** `.roads.dbf.1a2b3c4d-77-5e6f7a8b.tmp` */
export function temporaryPath(final: string, mark: string, role: TemporaryRole): string {
  return join(dirname(final), `.${temporaryBase(basename(final))}.${mark}.${role}`);
}

/** Beside a temporary file whose name is shortened: a file that holds the whole one. */
const originalNameSuffix = "-name";

/**
 * The names of the temporary files that a run keeps in one folder. One of its main files decides: as long as it lacks its
 * name, all that has the run's mark is undone by whoever finds it.
 */
export class TemporaryNames {
  private readonly mark = newMark();
  private commitPoint: string | undefined;

  /** The first main file decides. */
  setCommitPoint(main: string): void {
    this.commitPoint ??= main;
  }

  isCommitPoint(final: string): boolean {
    return this.commitPoint === final;
  }

  nameFor(final: string, kind: "tmp" | "old" | "none"): string {
    return temporaryPath(final, this.mark, this.isCommitPoint(final) ? `main.${kind}` : kind);
  }

  /** Where the name of a temporary file does not tell that of the final one: the file that is to say it; else null. */
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

/** Files that SQLite may leave beside a temporary one. */
export const journalSuffixes = ["-journal", "-wal", "-shm"] as const;

const temporaryNamePattern = new RegExp(
  `^\\.(?<base>.+)\\.(?<mark>${markPattern})\\.(?<role>(?:main\\.)?(?:tmp|old|none))(?<journal>-journal|-wal|-shm)?(?<note>${originalNameSuffix})?$`,
);

/** Whether a file or folder of this name is one that a run keeps for itself while it writes. */
export const isTemporaryName = (name: string): boolean => temporaryNamePattern.test(name);

export const lstatOrNull = (path: string): Stats | null => lstatSync(path, { throwIfNoEntry: false }) ?? null;

export function isSameFile(one: string, other: string): boolean {
  const a = lstatSync(one, { throwIfNoEntry: false, bigint: true });
  const b = lstatSync(other, { throwIfNoEntry: false, bigint: true });
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** The path that a symbolic link finally stands for, be there a file or not; any other path as it is. */
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
  // Two names of one file stay two.
  rmSync(path, { force: true });
}

/** Puts right what a killed run left: its set is seen whole in the end, or the one before it is. */
function recoverSet(files: readonly AbandonedFile[]): void {
  const withRole = (role: TemporaryRole) => files.filter((file) => file.role === role);
  const [main] = withRole("main.tmp");
  const oldMain = withRole("main.old");
  const published = main ? isSameFile(main.path, main.finalPath) : [...oldMain, ...withRole("main.none")].length > 0;
  if (main && !published) {
    for (const file of withRole("tmp")) if (isSameFile(file.path, file.finalPath)) rmSync(file.finalPath);
    for (const file of withRole("none")) rmSync(file.finalPath, { force: true });
  }
  // A main file that is there in spite of it, and was not before, was put there by somebody since: it stays.
  const kept = (final: string) => oldMain.some((file) => isSameFile(file.path, final));
  const restore = main !== undefined && !published && (!lstatOrNull(main.finalPath) || kept(main.finalPath));
  for (const file of [...withRole("old"), ...oldMain]) {
    if (restore) restoreOriginal(file);
    // Without a word of the main file, which a link has put elsewhere, the only copy is not thrown away.
    else if (main || published || lstatOrNull(file.finalPath)) rmSync(file.path);
  }
  const spent: readonly TemporaryRole[] = ["tmp", "none", "main.none", "main.tmp"];
  for (const role of spent) for (const file of withRole(role)) rmSync(file.path, { force: true });
}

/** A set gets its names within this, in milliseconds; what stands aside for longer was left by a run that was killed. */
const publishTimeoutMs = 60_000;

/** Whether a main file has just stepped aside for another run. */
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
/** Many outputs go into one folder: it is not listed again for each. In milliseconds. */
const sweepIntervalMs = 60_000;

/** Nothing of a note that another run has just tidied away. */
function readTextIfExists(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** The whole names of files with temporary ones that are shortened: of those that are there, and what notes say. */
function originalNames(folder: string, entries: readonly string[]): Map<string, string> {
  const names = new Map(entries.map((entry) => [temporaryBase(entry), entry] as const));
  for (const entry of entries) {
    const { base, note } = temporaryNamePattern.exec(entry)?.groups ?? {};
    if (base === undefined || !note) continue;
    const name = readTextIfExists(join(folder, entry));
    // Only a note that fits its place is believed.
    if (basename(name) === name && temporaryBase(name) === base) names.set(base, name);
  }
  return names;
}

/** The folder of a dataset that a killed run was making, or had put aside for another that did not come. */
function recoverDatasetFolder(path: string, final: string, role: TemporaryRole): void {
  if (role === "main.old" && !lstatOrNull(final)) renameSync(path, final);
  else if (role === "main.old" || role === "main.tmp") rmSync(path, { recursive: true, force: true });
}

/**
 * Finishes or undoes what runs that were killed left in the folder.
 * @param gone see `isAbandoned`; the folder is then looked at however short ago that was done
 */
export function recoverAbandonedOutputs(folder: string, gone?: string): void {
  const key = resolve(folder);
  if (gone === undefined && Date.now() - (sweptAt.get(key) ?? Number.NEGATIVE_INFINITY) < sweepIntervalMs) return;
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
    if (stat?.isDirectory() && isAbandoned(mark, stat.mtimeMs, gone))
      recoverDatasetFolder(path, join(folder, base), role as TemporaryRole);
    if (!stat?.isFile() && !stat?.isSymbolicLink()) continue;
    if (!isAbandoned(mark, stat.mtimeMs, gone)) continue;
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
