import { createWriteStream, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { createError } from "../../errors.js";
import type { InPlaceTarget, Sink } from "../../plugin/format.js";
import { writeNamedPipe } from "../named-pipe.js";
import { FileSink } from "./file-sink.js";
import type { FileSet } from "./publish-outputs.js";
import { StreamSink } from "./stream-sink.js";
import { outputError, type TemporaryNames } from "./temporary-names.js";

/** The host's interface of a sink. Disposing of a sink that was not committed aborts it. */
export interface HostSink extends Sink, AsyncDisposable {
  /** Whether written bytes cannot be undone. */
  readonly isStream: boolean;
  /** Writes and syncs all bytes, once; only the renames are missing. @throws output-failed */
  prepare(): Promise<void>;
  /** The prepared files and the files that they replace; null for streams and folders. @throws output-failed, output-exists */
  files(): FileSet | null;
  /** For folders: renames the folder after all files were renamed. @throws output-failed, output-exists */
  publish?(): Promise<void>;
  /** Undoes a complete or partial `publish`. */
  rollBack?(): Promise<void>;
  /** Called after the commit: cleans up what was replaced. */
  published(): void | Promise<void>;
  /** Gives everything its final name durably. @throws output-failed, output-exists; then everything is removed */
  commit(): Promise<void>;
  /** Removes everything; does nothing after a commit. */
  abort(): Promise<void>;
}

export interface SinkOptions {
  /** Whether existing files may be replaced. */
  readonly overwrite: boolean;
  /** Set if an existing file, or the database of an address, is changed in place. */
  readonly update?: InPlaceTarget & { readonly isAddress?: boolean };
  /** Whether the output is a folder that is one dataset. */
  readonly folder?: boolean;
  /** Pack the main file, which gets the name `main` in it, and its companions into one zip. */
  readonly zip?: { readonly main: string };
  /**
   * Extensions of files that readers take for companions of this output, such as `["shx", "dbf", "sbn", "qix",
   * "shp.xml"]`. Existing ones are removed when the output is replaced; otherwise they make it fail with `output-exists`.
   */
  readonly companions?: readonly string[];
  /** Modification time of zip entries. */
  readonly now?: Date;
  /** Returns the temporary names for a folder, shared by outputs that are committed together. */
  readonly names?: (folder: string) => TemporaryNames;
  /** Name of the format, for messages. */
  readonly format?: string;
  /** Ends the wait for a reader of a named pipe. */
  readonly signal?: AbortSignal;
  /** Replaces `process.stdout`. */
  readonly stdout?: Writable;
}

const stdoutDevices = new Set(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]);

/** Whether the path is stdout, a pipe or device, which must be written to and not replaced by a file. */
export function isStream(path: string): boolean {
  if (path === "-") return true;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

async function openStream(path: string, { signal }: SinkOptions): Promise<Writable> {
  if (!statSync(path).isFIFO()) return createWriteStream(path);
  try {
    return await writeNamedPipe(path, signal);
  } catch (error) {
    throw signal?.aborted ? createError("interrupted", {}, error) : outputError(path, error);
  }
}

/**
 * Creates the sink of an output: a file with its companions, a zip of them, a folder, or `-` for stdout. Except for
 * streams, nothing appears under the final name before the commit. Missing parent folders are created, and removed again
 * if nothing is written.
 * @throws output-exists, output-failed, interrupted
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
    // `FileSink.at` reports the error.
  }
  if (stream) return new StreamSink(path, await openStream(path, options), options);
  if (!options.zip) return FileSink.at(path, options);
  const { ZipSink } = await import("./zip-sink.js");
  return ZipSink.at(path, options.zip.main, options);
}
