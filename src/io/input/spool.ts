import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { createError } from "../../errors.js";
import { makeFolders } from "../../make-folders.js";
import { isAbandoned, markPattern, newMark, removeOnExit } from "../output/abandoned-files.js";
import { BufferedFile } from "../output/buffered-file.js";
import { describeSystemError } from "./source.js";

const folderName = new RegExp(`^geoferry-(${markPattern})$`);
const sweptFolders = new Set<string>();

/** Removes the folders that killed runs of the same user left here. */
function removeAbandonedFolders(parent: string): void {
  if (sweptFolders.has(parent)) return;
  sweptFolders.add(parent);
  for (const entry of readdirSync(parent)) {
    const mark = folderName.exec(entry)?.[1];
    if (mark === undefined) continue;
    const path = join(parent, entry);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isDirectory() || (process.getuid && stat.uid !== process.getuid())) continue;
    if (isAbandoned(mark, stat.mtimeMs)) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * A private temporary folder (mode 0700) for stdin, downloads and zip entries. It is created on first use, and removed on
 * dispose and when the process exits. A caller that handles signals must dispose of it.
 */
export class Spool implements AsyncDisposable {
  private root: string | null = null;
  private folders = 0;
  private closed = false;
  private keepOnExit = (): void => {};

  /** @param parent by default the system's folder for temporary files */
  constructor(private readonly parent?: string) {}

  get isClosed(): boolean {
    return this.closed;
  }

  /** @throws output-failed if the folder for temporary files cannot be written */
  private get sharedFolder(): string {
    if (this.closed) throw createError("internal", { reason: "the spool is used after it was disposed" });
    if (this.root === null) {
      const parent = this.parent ?? tmpdir();
      const root = join(parent, `geoferry-${newMark()}`);
      try {
        removeAbandonedFolders(parent);
        mkdirSync(root, { mode: 0o700 });
      } catch (error) {
        throw spoolError(root, error);
      }
      this.root = root;
      this.keepOnExit = removeOnExit(root);
    }
    return this.root;
  }

  /** Returns the path for a file of this name in the spool; creates its folders, but not the file. */
  file(name: string): string {
    const root = this.sharedFolder;
    const path = resolve(root, name);
    if (!path.startsWith(root + sep) || name.includes("\0")) {
      throw createError("internal", { reason: `the spool file ${JSON.stringify(name)} would be outside the spool` });
    }
    try {
      makeFolders(dirname(path), 0o700);
    } catch (error) {
      throw spoolError(path, error);
    }
    return path;
  }

  /** Creates a new, empty folder. */
  folder(): string {
    this.folders += 1;
    return dirname(this.file(join(String(this.folders), "x")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    if (this.root === null) return;
    await rm(this.root, { recursive: true, force: true, maxRetries: 3 });
    this.keepOnExit();
    this.root = null;
  }
}

/** The error of a failed write to the spool, which names TMPDIR. */
export function spoolError(path: string, error: unknown): Error {
  const reason = `${describeSystemError(error)} (temporary files go to the folder that TMPDIR names)`;
  return createError("output-failed", { output: path, reason }, error);
}

/** Awaits work on a temporary file. @throws output-failed */
export async function withSpoolErrors<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw spoolError(path, error);
  }
}

export interface SpoolLimits {
  /** For messages. */
  readonly source: string;
  readonly maxBytes?: number;
  /** Called about once a megabyte, and at the end, with the bytes written so far. */
  readonly progress?: (done: number) => void;
}

/**
 * Writes a stream into a new file. Errors of the stream are rethrown unchanged; the file is removed on every error.
 * @throws input-too-large, output-failed
 */
export async function spoolStream(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  { source, maxBytes = Number.POSITIVE_INFINITY, progress }: SpoolLimits,
): Promise<number> {
  const file = await withSpoolErrors(path, BufferedFile.create(path, 0o600));
  try {
    let reported = 0;
    for await (const chunk of chunks) {
      if (file.size + chunk.length > maxBytes) {
        throw createError("input-too-large", { source, limit: maxBytes, option: "--max-input" });
      }
      await withSpoolErrors(path, file.write(chunk));
      if (file.size - reported >= 1 << 20) {
        reported = file.size;
        progress?.(reported);
      }
    }
    await withSpoolErrors(path, file.flush());
    await withSpoolErrors(path, file.close());
    progress?.(file.size);
    return file.size;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}
