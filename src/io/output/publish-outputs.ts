import { constants } from "node:fs";
import { link, open, rm, unlink, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { createError } from "../../errors.js";
import type { HostSink } from "./create-sink.js";
import type { OutputPart } from "./output-part.js";
import { isBeingReplaced } from "./recover-outputs.js";
import { rename } from "./rename.js";
import type { StagedFile } from "./staged-file.js";
import { isSameFile, lstatOrNull, outputError, type TemporaryNames } from "./temporary-names.js";

/** The prepared files of one output, and the files that they replace. */
export interface FileSet {
  /** The output as in the request. */
  readonly name: string;
  readonly main: string;
  readonly overwrite: boolean;
  readonly parts: readonly OutputPart[];
  /** Existing files of an older output, the main file first. */
  readonly obsolete: readonly string[];
  readonly names: TemporaryNames;
}

const writtenMeanwhileError = (output: string, cause?: unknown) =>
  createError("output-failed", { output, reason: "another process is writing it" }, cause);

/** Files of an older output to remove on commit without replacement. */
export interface Removal {
  /** The main file first. */
  readonly paths: readonly string[];
  readonly names: TemporaryNames;
}

/** Error codes of file systems without hard links. */
const noHardLinkCodes = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL", "EACCES"]);

const systemErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

/** Syncs the entries of a folder, as far as the system supports it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/** Cheaper than `rm`, which calls `stat` first. */
async function unlinkIfExists(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (systemErrorCode(error) !== "ENOENT") throw error;
  });
}

/** Whether the output is one file without companions, which one rename can replace. */
const isSingleFile = ({ parts, obsolete, main }: FileSet): boolean =>
  parts.length === 1 && obsolete.every((path) => path === main);

/**
 * Renames the outputs of one run in one folder to their final names.
 *
 * Readers never see a mix of old and new files, even if the process is killed: first the old main files are moved aside,
 * then their companions; then the new companions are renamed, and the main files last. The very last main file is the
 * commit point: until it has its name, any failure restores the old files, by this process or by the next that writes here.
 */
class Publication {
  private readonly undo: (() => Promise<void>)[] = [];
  private readonly markers: string[] = [];
  private readonly spent: string[] = [];
  /** The inodes of the renamed files. */
  private readonly published = new Map<string, number | undefined>();
  private readonly sets: readonly FileSet[];
  /** Whether names have changed since the last sync of the folders. */
  private changed: boolean;

  constructor(
    private readonly names: TemporaryNames,
    sets: readonly FileSet[],
    private readonly removals: readonly Removal[],
  ) {
    const decides = (set: FileSet) => Number(names.isCommitPoint(set.main));
    this.sets = [...sets].sort((a, b) => decides(b) - decides(a));
    // The temporary main file marks a set as incomplete for the next run; a single file is never incomplete.
    this.changed = sets.length !== 1 || !sets.every(isSingleFile);
  }

  /** @throws output-failed, output-exists; the caller then calls `rollBack` */
  async publish(): Promise<void> {
    for (const { parts } of this.sets) for (const part of parts) this.spent.push(part.path);
    // Without an output, a later run could not recover files that were moved aside: `cleanUp` removes them instead.
    const removed = this.sets.length > 0 ? this.removals.flatMap(({ paths }) => paths) : [];
    for (const set of this.sets) if (!isSingleFile(set)) this.checkNotPublished(set);
    for (const set of this.sets) for (const path of set.obsolete.slice(0, 1)) await this.moveAside(path, set);
    for (const path of removed) await this.moveAside(path);
    await this.sync();
    for (const set of this.sets) for (const path of set.obsolete.slice(1)) await this.moveAside(path, set);
    for (const set of this.sets) for (const part of set.parts) if (!part.isMain) await this.rename(part, set);
    await this.sync();
    for (const set of this.sets.toReversed())
      for (const part of set.parts) if (part.isMain) await this.rename(part, set);
    await this.sync();
  }

  /** Restores the state before `publish`. */
  async rollBack(): Promise<void> {
    for (const step of this.undo.reverse()) await step().catch(() => {});
    for (const path of this.markers) await rm(path, { force: true }).catch(() => {});
  }

  /** Removes temporary files after the commit; what cannot be removed now is removed by the next run. */
  async cleanUp(): Promise<void> {
    const removed = this.sets.length > 0 ? [] : this.removals.flatMap(({ paths }) => paths);
    const spent = [...this.spent, ...this.markers, ...removed];
    const decides = (path: string) => this.names.belongsToCommitPoint(path);
    try {
      await Promise.all(spent.filter((path) => !decides(path)).map(unlinkIfExists));
      for (const path of spent) if (decides(path)) await unlinkIfExists(path);
    } catch {
      // The temporary files of the commit point remain, and show the next run that the rest can be removed.
    }
  }

  private async sync(): Promise<void> {
    if (!this.changed) return;
    this.changed = false;
    const paths = this.sets.flatMap((set) => [...set.parts.map((part) => part.finalPath), ...set.obsolete]);
    const removed = this.removals.flatMap((removal) => removal.paths);
    await Promise.all([...new Set([...paths, ...removed].map((path) => dirname(path)))].map(syncFolder));
  }

  /** Refuses to start while another process is replacing the same files. */
  private checkNotPublished({ main, obsolete }: FileSet): void {
    if (obsolete.length > 0 && isBeingReplaced(main)) throw writtenMeanwhileError(main);
  }

  private async moveAside(path: string, set?: FileSet): Promise<void> {
    this.changed = true;
    const aside = this.names.nameFor(path, "old");
    try {
      await this.writeMarker(path);
      const linked = set !== undefined && isSingleFile(set) && (await linkIfPossible(path, aside));
      if (!linked) await rename(path, aside);
    } catch (error) {
      throw outputError(set?.name ?? path, error);
    }
    this.spent.push(aside);
    this.undo.push(async () => {
      // Do not overwrite a file that another process has written since.
      if (lstatOrNull(path) && !isSameFile(aside, path) && !this.isOwn(path)) return;
      await rename(aside, path);
      // If both names are links to one file, `rename` does nothing.
      await rm(aside, { force: true });
    });
  }

  /** Stores the original name if it does not fit into the temporary name, so that the next run can restore it. */
  private async writeMarker(path: string): Promise<void> {
    const note = this.names.markerFor(path, "old");
    if (note === null) return;
    this.markers.push(note);
    await writeFile(note, basename(path), { flush: true });
  }

  /**
   * Hard-links the temporary file to its final name: if this run is killed, the next one sees that the final name belongs
   * to it. Without hard links, renames the file; a marker records that no file had the name before.
   */
  private async rename(part: OutputPart, set: FileSet): Promise<void> {
    this.changed = true;
    const had = set.obsolete.includes(part.finalPath);
    try {
      if (had && isSingleFile(set)) await rename(part.path, part.finalPath);
      else await this.link(part, set, had);
    } catch (error) {
      throw outputError(set.name, error);
    }
    this.published.set(part.finalPath, lstatOrNull(part.finalPath)?.ino);
    // If the file replaced another one, restoring the old file replaces it again.
    if (had && isSingleFile(set)) return;
    this.undo.push(async () => {
      if (this.isOwn(part.finalPath)) await rm(part.finalPath, { force: true });
    });
  }

  /** Whether the file is the one that this run put there. */
  private isOwn(path: string): boolean {
    const inode = this.published.get(path);
    return inode !== undefined && inode === lstatOrNull(path)?.ino;
  }

  private async link(part: OutputPart, { overwrite }: FileSet, had: boolean): Promise<void> {
    // The old file was moved aside: an existing file now belongs to another process.
    const takenError = (cause?: unknown) =>
      overwrite
        ? writtenMeanwhileError(part.finalPath, cause)
        : createError("output-exists", { output: part.finalPath }, cause);
    try {
      await link(part.path, part.finalPath);
      return;
    } catch (error) {
      if (systemErrorCode(error) === "EEXIST") throw takenError(error);
      if (!noHardLinkCodes.has(systemErrorCode(error))) throw error;
      if (lstatOrNull(part.finalPath)) throw takenError();
    }
    if (!had) {
      const marker = this.names.nameFor(part.finalPath, "none");
      this.markers.push(marker);
      await writeFile(marker, "");
    }
    await rename(part.path, part.finalPath);
  }
}

async function linkIfPossible(path: string, other: string): Promise<boolean> {
  try {
    await link(path, other);
    return true;
  } catch (error) {
    if (noHardLinkCodes.has(systemErrorCode(error))) return false;
    throw error;
  }
}

function groupByFolder(sets: readonly FileSet[], removals: readonly Removal[]): Publication[] {
  const allNames = new Set([...sets, ...removals].map(({ names }) => names));
  return [...allNames].map(
    (names) =>
      new Publication(
        names,
        sets.filter((set) => set.names === names),
        removals.filter((removal) => removal.names === names),
      ),
  );
}

/** Replaces or creates a single file with one rename. */
async function replaceSingleFile({ name, parts: [part] }: FileSet): Promise<void> {
  try {
    await rename(part!.path, part!.finalPath);
  } catch (error) {
    throw outputError(name, error);
  }
  await syncFolder(dirname(part!.finalPath));
}

/**
 * Commits the outputs of one run: all get their final names, or everything stays as before. First every file is synced and
 * every stream is flushed, then the files are renamed.
 * @param last an irreversible step that runs after the renames; its failure undoes them
 * @param before called with the files before the first one is renamed
 * @throws output-failed, output-exists
 */
export async function commitAll(
  sinks: readonly HostSink[],
  removals: readonly Removal[] = [],
  last?: () => Promise<void>,
  before?: (files: readonly StagedFile[]) => void | Promise<void>,
): Promise<void> {
  let publications: Publication[] = [];
  try {
    // Bytes in a stream cannot be undone: streams are flushed after all files are on disk.
    const streams = sinks.filter((sink) => sink.isStream);
    for (const sink of sinks) if (!sink.isStream) await sink.prepare();
    const sets = sinks.flatMap((sink) => sink.files() ?? []).filter((set) => set.parts.length > 0);
    for (const sink of streams) await sink.prepare();
    const folders = sinks.filter((sink) => sink.publish);
    for (const { parts } of sets) for (const part of parts) part.release();
    await before?.(sets.flatMap(({ parts }) => parts));
    const [first] = sets;
    if (
      first?.overwrite &&
      sets.length === 1 &&
      removals.length === 0 &&
      !last &&
      folders.length === 0 &&
      isSingleFile(first)
    ) {
      await replaceSingleFile(first);
    } else {
      publications = groupByFolder(sets, removals);
      for (const publication of publications) await publication.publish();
      for (const folder of folders) await folder.publish!();
      await last?.();
    }
  } catch (error) {
    for (const sink of sinks.toReversed()) await sink.rollBack?.();
    for (const publication of publications.toReversed()) await publication.rollBack();
    await Promise.allSettled(sinks.map((sink) => sink.abort()));
    throw error;
  }
  for (const sink of sinks) await sink.published();
  for (const publication of publications) await publication.cleanUp();
}
