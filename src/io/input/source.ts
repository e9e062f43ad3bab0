import { readdirSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { createError } from "../../errors.js";
import type { ArchiveEntries, Source, SourceFile } from "../../plugin/format.js";
import { findEntriesIgnoringCase } from "./folder-listing.js";
import type { PartialFileSpec } from "./partial-source.js";

/** Plain data from which another thread creates the same source. */
export interface SourceSpec {
  readonly name: string;
  readonly path: string;
  /** Whether the path is an address of a format, such as a database. */
  readonly isAddress?: true;
  /** Whether the source is a folder that is one dataset. */
  readonly isFolder?: boolean;
  /** Set if the source is the main file of an archive. */
  readonly entries?: UnpackedEntries;
  /** Set if only parts of a remote file are downloaded, to `path`. */
  readonly partial?: PartialFileSpec;
}

/** The unpacked entries of an archive, as plain data. */
export interface UnpackedEntries {
  /** The path of the main file in the archive. */
  readonly main: string;
  /** The paths on disk of the other entries, by their paths in the archive. */
  readonly files: ReadonlyMap<string, string>;
  /** The paths in the archive of the entries that were not unpacked. */
  readonly others: readonly string[];
}

/** A source that another thread can create from its `spec`. */
export interface HostSource extends Source {
  readonly spec: SourceSpec;
}

/** Describes a system error for messages: "permission denied". */
export function describeSystemError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: "there is no such file or folder",
    EACCES: "permission denied",
    EPERM: "not permitted",
    EISDIR: "it is a folder",
    ENOTDIR: "a part of its path is not a folder",
    ENOSPC: "the disk is full",
    EDQUOT: "the disk quota is used up",
    EROFS: "the file system is read-only",
    EMFILE: "too many open files; raise their limit (ulimit -n)",
    ENFILE: "too many open files on the whole system",
    ENOMEM: "not enough memory",
    ENAMETOOLONG: "its name is too long",
    EFBIG: "the file system does not support files of this size",
    ETXTBSY: "it is a program that is running",
    EBUSY: "it is in use",
    ELOOP: "its symbolic links form a loop",
    EIO: "input/output error",
  };
  return (code && known[code]) ?? message;
}

class DiskFile implements SourceFile {
  constructor(
    private readonly handle: FileHandle,
    private readonly name: string,
    readonly size: number,
  ) {}

  async read(position: number, length: number, into?: Uint8Array): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position));
    const buffer = into ? Buffer.from(into.buffer, into.byteOffset, wanted) : Buffer.allocUnsafeSlow(wanted);
    let filled = 0;
    while (filled < wanted) {
      try {
        const { bytesRead } = await this.handle.read(buffer, filled, wanted - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      } catch (error) {
        throw createError("input-unreadable", { source: this.name, reason: describeSystemError(error) }, error);
      }
    }
    return filled === wanted ? buffer : buffer.subarray(0, filled);
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Total size of the files in a folder in bytes. */
function folderSize(path: string): number {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + (statSync(join(path, entry.name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** A file on disk and its siblings, or a folder that is one dataset. */
export class FileSource implements HostSource {
  private constructor(
    readonly name: string,
    readonly path: string,
    readonly size: number,
    readonly isFolder: boolean = false,
    private readonly entryFiles?: UnpackedEntries,
  ) {}

  /** Returns the same file as the main file of an archive. */
  withEntries(files: UnpackedEntries): FileSource {
    return new FileSource(this.name, this.path, this.size, this.isFolder, files);
  }

  get entries(): ArchiveEntries | undefined {
    const { entryFiles: known } = this;
    return (
      known && {
        main: known.main,
        paths: [...known.files.keys()],
        otherPaths: known.others,
        getSource: (path) => FileSource.at(known.files.get(path) ?? path, `${this.name}/${path}`),
      }
    );
  }

  /**
   * @param allowsFolder whether the path may be a folder
   * @throws input-missing, input-unreadable
   */
  static at(path: string, name: string = path, allowsFolder: boolean = false): FileSource {
    try {
      const stat = statSync(path);
      if (!stat.isDirectory()) return new FileSource(name, path, stat.size);
      if (!allowsFolder) throw createError("input-unreadable", { source: name, reason: "it is a folder" });
      return new FileSource(name, path, folderSize(path), true);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT")
        throw createError("input-missing", { source: name }, error);
      if ((error as NodeJS.ErrnoException).syscall) {
        throw createError("input-unreadable", { source: name, reason: describeSystemError(error) }, error);
      }
      throw error;
    }
  }

  get spec(): SourceSpec {
    const { name, path, isFolder, entryFiles: entries } = this;
    return { name, path, ...(isFolder && { isFolder }), ...(entries && { entries }) };
  }

  findSibling(extension: string): Source | null {
    const folder = dirname(this.path);
    const stem = basename(this.path, extname(this.path));
    const wanted = `${stem}.${extension}`;
    let entries: readonly string[];
    try {
      entries = findEntriesIgnoringCase(folder, [wanted]);
    } catch {
      // Without permission to list the folder, only the exact name can be found.
      entries = statSync(join(folder, wanted), { throwIfNoEntry: false }) ? [wanted] : [];
    }
    const found = entries.find((entry) => entry === wanted) ?? entries[0];
    if (found === undefined) return null;
    const path = join(folder, found);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null;
    const name = this.name.slice(0, this.name.length - basename(this.path).length) + found;
    return FileSource.at(path, this.name.endsWith(basename(this.path)) ? name : found);
  }

  async open(): Promise<SourceFile> {
    try {
      return new DiskFile(await open(this.path, "r"), this.name, this.size);
    } catch (error) {
      throw createError("input-unreadable", { source: this.name, reason: describeSystemError(error) }, error);
    }
  }
}

/** A database, by an address of its format. */
export class AddressSource implements HostSource {
  readonly size = 0;

  constructor(readonly path: string) {}

  get name(): string {
    return this.path;
  }

  get spec(): SourceSpec {
    return { name: this.name, path: this.path, isAddress: true };
  }

  findSibling(): null {
    return null;
  }

  async open(): Promise<SourceFile> {
    throw createError("internal", { reason: `${this.name} is an address, and has no bytes to read` });
  }
}

const headLength = 1 << 16;

/** The first 64 KiB of a file. @throws input-unreadable */
export async function readHead(source: Source): Promise<Buffer> {
  const file = await source.open();
  try {
    return await file.read(0, headLength);
  } finally {
    await file.close();
  }
}

/** Checks for "PK\x03\x04", the first local header, or "PK\x05\x06" of an empty zip (APPNOTE 4.3.7, 4.3.16). */
export function isZip(head: Buffer): boolean {
  const signature = head.length >= 4 ? head.readUInt32LE(0) : 0;
  return signature === 0x04034b50 || signature === 0x06054b50;
}
