import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createError, GeoferryError } from "../../errors.js";
import type { Archive } from "../../plugin/format.js";
import { redactUrl } from "../redact.js";
import { describeSystemError, FileSource, isZip, readHead } from "./source.js";
import { type Spool, spoolStream } from "./spool.js";
import type { ZipLimits } from "./zip.js";

/** One file to be read, on disk, with its siblings beside it. */
export interface OpenedInput {
  readonly source: FileSource;
  /** The first 64 KiB, where they were looked at already. */
  readonly head?: Buffer;
  /** Inputs by their names that are in the same archive and were not taken. */
  readonly ignoredEntries?: readonly string[];
}

export interface InputOptions {
  readonly spool: Spool;
  readonly signal: AbortSignal;
  /** The most bytes that stdin or a download may have; no limit where absent. */
  readonly maxBytes?: number;
  /** Bytes spooled so far; `total` where the server tells it. */
  readonly progress?: (done: number, total: number | null) => void;
  /** Extensions of the files beside a download of this name that are fetched with it, where they are there. */
  readonly siblingsOf?: (name: string) => readonly string[];
  /** What a zip of this name is a file of, where it is no parcel of files: `.kmz`. */
  readonly archiveOf?: (name: string) => Archive | undefined;
  /** Whether a zip is itself a file of some format (`.xlsx`) and must not be unpacked. `head` is its first 64 KiB. */
  readonly keepZipped?: (source: FileSource, head: Buffer) => boolean;
  /** Whether a file with this name, taken from a zip, is an input; every file where absent. */
  readonly isPrimary?: (name: string) => boolean;
  /** Whether a file with this name may belong to an input beside it of the same stem. */
  readonly isCompanion?: (name: string) => boolean;
  /** Whether a folder of this name is one dataset. */
  readonly isDatasetFolder?: (path: string) => boolean;
  readonly zipLimits?: ZipLimits;
  /** What messages call files by their paths, where these are temporary. */
  readonly names?: ReadonlyMap<string, string>;
  /** What `-` stands for. */
  readonly stdin?: Readable;
}

async function spoolReadable(stream: Readable, name: string, file: string, options: InputOptions): Promise<FileSource> {
  const { signal, maxBytes, progress } = options;
  signal.throwIfAborted();
  addAbortSignal(signal, stream);
  const path = join(options.spool.folder(), file);
  try {
    await spoolStream(stream, path, {
      source: name,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(progress ? { progress: (done: number) => progress(done, null) } : {}),
    });
  } catch (error) {
    if (signal.aborted) throw createError("interrupted", {}, error);
    if (error instanceof GeoferryError) throw error;
    throw createError("input-unreadable", { source: name, reason: describeSystemError(error) }, error);
  }
  return FileSource.at(path, name);
}

/** A pipe (`<(…)` of a shell) can be read once, and not from any place: it is spooled. */
function isPipe(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFIFO() || stat.isCharacterDevice() || stat.isSocket());
}

async function resolveSource(address: string, options: InputOptions): Promise<FileSource> {
  if (address === "-") return spoolReadable(options.stdin ?? process.stdin, "stdin", "stdin", options);
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https") {
    const { download } = await import("../http/download.js");
    return download(address, options);
  }
  if (scheme === "s3") {
    const { fetchInput } = await import("../s3/s3-input.js");
    return fetchInput(address, options);
  }
  if (scheme === "file") {
    try {
      return FileSource.at(fileURLToPath(address));
    } catch (error) {
      if (error instanceof GeoferryError) throw error;
      throw createError("input-unreadable", { source: address, reason: describeSystemError(error) }, error);
    }
  }
  if (scheme !== undefined) {
    const reason = `addresses with ${scheme}: are not understood; download the file first`;
    throw createError("input-unreadable", { source: redactUrl(address), reason });
  }
  let pipe = false;
  try {
    pipe = isPipe(address);
  } catch {
    // FileSource says why it cannot be looked at.
  }
  if (pipe) return spoolReadable(createReadStream(address), address, "pipe", options);
  return FileSource.at(address, options.names?.get(address) ?? address, options.isDatasetFolder?.(address) ?? false);
}

/** Whether a file is a zip whose entries are read, and not the zip itself. `head` is its first 64 KiB. */
export function isPlainArchive(source: FileSource, head: Buffer, { archiveOf, keepZipped }: InputOptions): boolean {
  if (!isZip(head)) return false;
  return archiveOf?.(source.name)?.findMain !== undefined || !keepZipped?.(source, head);
}

/**
 * The files that an address stands for: a path, `-` for stdin, an http(s) or s3 address; of a zip, those of its entries
 * that are inputs. Everything but a plain path is spooled to disk first.
 * @throws input-missing, input-unreadable, input-download, input-too-large, input-truncated, input-corrupt,
 * input-changed, bucket-forbidden, bucket-unavailable, unsupported
 */
export async function openInput(address: string, options: InputOptions): Promise<OpenedInput[]> {
  const source = await resolveSource(address, options);
  if (source.isFolder) return [{ source }];
  const head = await readHead(source);
  if (!isPlainArchive(source, head, options)) return [{ source, head }];
  // What most inputs do not need is loaded when one does: it takes longer than a small conversion.
  const { openZip } = await import("./zip.js");
  return openZip(source, options);
}
