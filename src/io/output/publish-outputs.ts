import { constants } from "node:fs";
import { link, open, rm, unlink, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { createError } from "../../errors.js";
import type { HostSink } from "./create-sink.js";
import type { OutputPart } from "./output-part.js";
import { rename } from "./rename.js";
import type { StagedFile } from "./staged-file.js";
import { isBeingReplaced, isSameFile, lstatOrNull, outputError, type TemporaryNames } from "./temporary-names.js";

/** The files of one output, all on the disk, and what they replace. */
export interface FileSet {
  /** What the person calls it. */
  readonly name: string;
  readonly main: string;
  readonly overwrite: boolean;
  readonly parts: readonly OutputPart[];
  /** What is there of an older output: the main file first. */
  readonly obsolete: readonly string[];
  readonly names: TemporaryNames;
}

const writtenMeanwhileError = (output: string, cause?: unknown) =>
  createError("output-failed", { output, reason: "another process is writing it" }, cause);

/** Files that go when the outputs come: an older output of the name, of which nothing is written again. */
export interface Removal {
  /** The main file first. */
  readonly paths: readonly string[];
  readonly names: TemporaryNames;
}

/** What file systems say that have no hard links. */
const noHardLinkCodes = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL", "EACCES"]);

const systemErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

/** Makes the names in a folder as durable as the files; where the system cannot, they are so soon enough. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/** `rm` looks twice at what it removes. */
async function unlinkIfExists(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (systemErrorCode(error) !== "ENOENT") throw error;
  });
}

/** A single file with nothing around it: another can take its place in one step, and no one ever finds none. */
const isSingleFile = ({ parts, obsolete, main }: FileSet): boolean =>
  parts.length === 1 && obsolete.every((path) => path === main);

/**
 * Puts the outputs of one run in one folder under their names.
 *
 * No mixed set is ever seen, wherever the process is killed: old main files step aside first, then their companions;
 * the new companions get their names next, and the main files last, at the very end the one that decides. Until it has
 * its name, what stepped aside is put back if anything fails, by this process or by the next that writes here.
 */
class Publication {
  private readonly undo: (() => Promise<void>)[] = [];
  private readonly markers: string[] = [];
  private readonly spent: string[] = [];
  /** The inodes of the files that have their names. */
  private readonly published = new Map<string, number | undefined>();
  private readonly sets: readonly FileSet[];
  /** Whether names have changed that what comes next counts on. */
  private changed: boolean;

  constructor(
    private readonly names: TemporaryNames,
    sets: readonly FileSet[],
    private readonly removals: readonly Removal[],
  ) {
    const decides = (set: FileSet) => Number(names.isCommitPoint(set.main));
    this.sets = [...sets].sort((a, b) => decides(b) - decides(a));
    // What tells the next run that a set is incomplete is its temporary main file; of one file nothing can be missing.
    this.changed = sets.length !== 1 || !sets.every(isSingleFile);
  }

  /** @throws output-failed, output-exists; `takeBack` is still to be called */
  async publish(): Promise<void> {
    for (const { parts } of this.sets) for (const part of parts) this.spent.push(part.path);
    // Without an output beside them nothing would tell the next run what they were: they go at the end.
    const gone = this.sets.length > 0 ? this.removals.flatMap(({ paths }) => paths) : [];
    for (const set of this.sets) if (!isSingleFile(set)) this.checkNotPublished(set);
    for (const set of this.sets) for (const path of set.obsolete.slice(0, 1)) await this.moveAside(path, set);
    for (const path of gone) await this.moveAside(path);
    await this.sync();
    for (const set of this.sets) for (const path of set.obsolete.slice(1)) await this.moveAside(path, set);
    for (const set of this.sets) for (const part of set.parts) if (!part.isMain) await this.rename(part, set);
    await this.sync();
    for (const set of this.sets.toReversed())
      for (const part of set.parts) if (part.isMain) await this.rename(part, set);
    await this.sync();
  }

  /** Makes everything as it was. */
  async rollBack(): Promise<void> {
    for (const step of this.undo.reverse()) await step().catch(() => {});
    for (const path of this.markers) await rm(path, { force: true }).catch(() => {});
  }

  /** The outputs are there and whole: what cannot be tidied now is tidied by the next run, which looks at the main ones. */
  async cleanUp(): Promise<void> {
    const removed = this.sets.length > 0 ? [] : this.removals.flatMap(({ paths }) => paths);
    const spent = [...this.spent, ...this.markers, ...removed];
    const decides = (path: string) => this.names.belongsToCommitPoint(path);
    try {
      await Promise.all(spent.filter((path) => !decides(path)).map(unlinkIfExists));
      for (const path of spent) if (decides(path)) await unlinkIfExists(path);
    } catch {
      // Those of the main file stay, and tell that the rest can go.
    }
  }

  private async sync(): Promise<void> {
    if (!this.changed) return;
    this.changed = false;
    const paths = this.sets.flatMap((set) => [...set.parts.map((part) => part.finalPath), ...set.obsolete]);
    const removed = this.removals.flatMap((removal) => removal.paths);
    await Promise.all([...new Set([...paths, ...removed].map((path) => dirname(path)))].map(syncFolder));
  }

  /** Before anything is touched: what another process took aside from here tells that it is in the middle of this. */
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
      // What another process has put there since is not lost to an older file.
      if (lstatOrNull(path) && !isSameFile(aside, path) && !this.isOwn(path)) return;
      await rename(aside, path);
      // Two names of one file stay two.
      await rm(aside, { force: true });
    });
  }

  /** The next run must know what to put back where the name aside is too short to say it. */
  private async writeMarker(path: string): Promise<void> {
    const note = this.names.markerFor(path, "old");
    if (note === null) return;
    this.markers.push(note);
    await writeFile(note, basename(path), { flush: true });
  }

  /**
   * A second name for the temporary file, which tells the next run, should this one die, that the name is its own and
   * not another's. Where there are no hard links it is a plain rename, and a marker says that nothing had the name
   * before (where something had, it stepped aside).
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
    // Where one took the other's place, putting that back is one step, too.
    if (had && isSingleFile(set)) return;
    this.undo.push(async () => {
      if (this.isOwn(part.finalPath)) await rm(part.finalPath, { force: true });
    });
  }

  /** Whether a file is still the one that this run gave the name. */
  private isOwn(path: string): boolean {
    const inode = this.published.get(path);
    return inode !== undefined && inode === lstatOrNull(path)?.ino;
  }

  private async link(part: OutputPart, { overwrite }: FileSet, had: boolean): Promise<void> {
    // What was there has stepped aside: a file that is there now belongs to somebody else, and so may those around it.
    const taken = (cause?: unknown) =>
      overwrite
        ? writtenMeanwhileError(part.finalPath, cause)
        : createError("output-exists", { output: part.finalPath }, cause);
    try {
      await link(part.path, part.finalPath);
      return;
    } catch (error) {
      if (systemErrorCode(error) === "EEXIST") throw taken(error);
      if (!noHardLinkCodes.has(systemErrorCode(error))) throw error;
      if (lstatOrNull(part.finalPath)) throw taken();
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
  const names = new Set([...sets, ...removals].map((one) => one.names));
  return [...names].map(
    (of) =>
      new Publication(
        of,
        sets.filter((set) => set.names === of),
        removals.filter((removal) => removal.names === of),
      ),
  );
}

/** One file for another, or for none: one rename, before which nothing is seen and after which nothing is left. */
async function replaceSingleFile({ name, parts: [part] }: FileSet): Promise<void> {
  try {
    await rename(part!.path, part!.finalPath);
  } catch (error) {
    throw outputError(name, error);
  }
  await syncFolder(dirname(part!.finalPath));
}

/**
 * Commits the outputs of one run: all get their names, or all is as it was before.
 *
 * First every file is whole on the disk and every stream has its last byte, then the names are given.
 * @param last what cannot be taken back and is done when all outputs have their names; its failure undoes them
 * @param before told of the files before the first gets its name
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
    // Bytes in a stream cannot be taken back: they go when the disk has taken the rest.
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
