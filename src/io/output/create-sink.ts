import { createWriteStream, statSync } from "node:fs";
import type { Writable } from "node:stream";
import type { InPlaceTarget, Sink } from "../../plugin/format.js";
import { FileSink } from "./file-sink.js";
import type { FileSet } from "./publish-outputs.js";
import { StreamSink } from "./stream-sink.js";
import type { TemporaryNames } from "./temporary-names.js";

/** A sink as the host has it. Disposing one that was not committed aborts it. */
export interface HostSink extends Sink, AsyncDisposable {
  /** What is written cannot be taken back. */
  readonly isStream: boolean;
  /** All bytes on the disk, or with the system: only the names are missing. @throws output-failed */
  prepare(): Promise<void>;
  /** What is prepared and what it replaces; null of a stream. @throws output-failed, output-exists */
  files(): FileSet | null;
  /** Of a folder: gives it its name, after all files have theirs. @throws output-failed, output-exists */
  publish?(): Promise<void>;
  /** Undoes `publish`, as far as it came. */
  rollBack?(): Promise<void>;
  /** It has its name: nothing is to be removed any more but what it replaced. */
  published(): void | Promise<void>;
  /** Puts everything under its final name, on the disk. @throws output-failed, output-exists, with nothing left behind */
  commit(): Promise<void>;
  /** Removes everything. After a commit it does nothing. */
  abort(): Promise<void>;
}

export interface SinkOptions {
  /** Whether what is there may be replaced. */
  readonly overwrite: boolean;
  /** The file that is there is changed in place, or what is behind an address. */
  readonly update?: InPlaceTarget & { readonly isAddress?: boolean };
  /** It is a folder that is one dataset. */
  readonly folder?: boolean;
  /** Pack the main file, which gets the name `main` in it, and its companions into one zip. */
  readonly zip?: { readonly main: string };
  /**
   * Extensions of files that a reader would take for companions of this output: those left from an older one go when
   * it is replaced, and stand in the way of a new one. `["shx", "dbf", "sbn", "qix", "shp.xml"]`
   */
  readonly companions?: readonly string[];
  /** The time that the entries of a zip carry. */
  readonly now?: Date;
  /** The names of temporary files in a folder, shared by outputs that are committed together; its own where absent. */
  readonly names?: (folder: string) => TemporaryNames;
  /** What the writer is called, for messages. */
  readonly format?: string;
  /** What `-` stands for. */
  readonly stdout?: Writable;
}

const stdoutDevices = new Set(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]);

/** A pipe or device must not be replaced by a file: it is written to. */
function isStream(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

/**
 * Where an output goes: a file with its companions, a zip of them, or `-` for stdout. Nothing is seen under its name
 * before the commit, except on a stream. Folders that lead to it are made where they are missing, and removed again
 * where nothing is written.
 * @throws output-exists, output-failed
 */
export async function createSink(path: string, options: SinkOptions): Promise<HostSink> {
  if (options.update) {
    const { UpdateSink } = await import("./update-sink.js");
    return new UpdateSink(path, options.update);
  }
  if (options.folder) {
    const { FolderSink } = await import("./folder-sink.js");
    return FolderSink.at(path, options);
  }
  if (path === "-" || stdoutDevices.has(path))
    return new StreamSink("stdout", options.stdout ?? process.stdout, options);
  let stream = false;
  try {
    stream = isStream(path);
  } catch {
    // FileSink says why the place cannot be looked at.
  }
  if (stream) return new StreamSink(path, createWriteStream(path), options);
  if (!options.zip) return FileSink.at(path, options);
  const { ZipSink } = await import("./zip-sink.js");
  return ZipSink.at(path, options.zip.main, options);
}
