import { createReadStream, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createError, GeoferryError } from "../../errors.js";
import type { Archive } from "../../plugin/format.js";
import { readNamedPipe } from "../named-pipe.js";
import { awaitReplacedInput } from "../output/recover-outputs.js";
import { redactUrl } from "../redact.js";
import { describeSystemError, FileSource, type HostSource, isZip, readHead } from "./source.js";
import { type Spool, spoolStream } from "./spool.js";
import type { ZipLimits } from "./zip.js";

/** An input file on disk, with its sibling files beside it; or a remote one of which parts are downloaded. */
export interface OpenedInput {
  readonly source: HostSource;
  /** The first 64 KiB, if they were already read. */
  readonly head?: Buffer;
  /** Other entries of the same archive that could be inputs but are not read. */
  readonly ignoredEntries?: readonly string[];
  /** All entries of the archive that are no files of the dataset itself. */
  readonly otherEntries?: readonly string[];
}

export interface InputOptions {
  readonly spool: Spool;
  readonly signal: AbortSignal;
  /** Maximum size of stdin or a download in bytes; by default unlimited. */
  readonly maxBytes?: number;
  /** Called with the bytes spooled so far, and the total if the server announces it. */
  readonly progress?: (done: number, total: number | null) => void;
  /** Extensions of sibling files that are downloaded together with a file of this name if they exist. */
  readonly siblingsOf?: (name: string) => readonly string[];
  /** The archive format of a zip with this name, such as `.kmz`; undefined for an ordinary zip of files. */
  readonly archiveOf?: (name: string) => Archive | undefined;
  /** Whether a zip is itself a file of a format (`.xlsx`) and must not be unpacked. @param head its first 64 KiB */
  readonly keepZipped?: (source: FileSource, head: Buffer) => boolean;
  /** Whether an entry of a zip with this name is an input; by default every entry. */
  readonly isPrimary?: (name: string) => boolean;
  /** Whether a file with this name may belong to an input beside it of the same stem. */
  readonly isCompanion?: (name: string) => boolean;
  /** Whether a folder of this name is one dataset. */
  readonly isDatasetFolder?: (path: string) => boolean;
  /**
   * Whether of a remote file with this name only parts are needed, which its format can read; by default, files are
   * downloaded as a whole.
   */
  readonly needsParts?: (name: string) => boolean;
  /** Whether a file that begins with `head` is of a format that reads parts. */
  readonly canReadParts?: (source: HostSource, head: Buffer) => Promise<boolean>;
  readonly zipLimits?: ZipLimits;
  /** Names of temporary files for messages, by path. */
  readonly names?: ReadonlyMap<string, string>;
  /** Replaces `process.stdin`. */
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

/** Undefined if there is no such file, or if it cannot be looked up, which `FileSource.at` reports. */
function statIfPossible(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A pipe (`<(…)` of a shell) or device can be read only once and must be spooled. */
const isPipe = (stat: Stats): boolean => stat.isFIFO() || stat.isCharacterDevice() || stat.isSocket();

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
    const reason = `addresses with ${scheme}: are not supported; download the file first`;
    throw createError("input-unreadable", { source: redactUrl(address), reason });
  }
  const stat = statIfPossible(address);
  if (stat && isPipe(stat)) {
    const stream = stat.isFIFO() ? await readNamedPipe(address) : createReadStream(address);
    return spoolReadable(stream, address, "pipe", options);
  }
  if (!stat) await awaitReplacedInput(address);
  return FileSource.at(address, options.names?.get(address) ?? address, options.isDatasetFolder?.(address) ?? false);
}

/** Bytes of the head of a file of which only parts are downloaded. */
const partialHeadBytes = 1 << 12;

/** Opens a remote file whose format reads parts of it; null if it is to be downloaded as a whole. */
async function openParts(address: string, options: InputOptions): Promise<OpenedInput | null> {
  const scheme = /^(https?|s3):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined || !options.needsParts?.(address.replace(/[?#].*$/, ""))) return null;
  const { openRanges } =
    scheme === "s3" ? await import("../s3/fetch-range.js") : await import("../http/fetch-range.js");
  const source = await openRanges(address, options);
  if (source === null) return null;
  const file = await source.open();
  const head = await file.read(0, partialHeadBytes).finally(() => file.close());
  return (await options.canReadParts?.(source, head)) ? { source, head } : null;
}

/** Whether a file is a zip whose entries are inputs. @param head its first 64 KiB */
export function isPlainArchive(source: FileSource, head: Buffer, { archiveOf, keepZipped }: InputOptions): boolean {
  if (!isZip(head)) return false;
  return archiveOf?.(source.name)?.findMain !== undefined || !keepZipped?.(source, head);
}

/**
 * Opens the files of an input: a path, `-` for stdin, an http(s) or s3 address; for a zip, those of its entries that are
 * inputs. Everything but a plain path is spooled to disk first.
 * @throws input-missing, input-unreadable, input-download, input-too-large, input-truncated, input-corrupt,
 * input-changed, bucket-forbidden, bucket-unavailable, unsupported
 */
export async function openInput(address: string, options: InputOptions): Promise<OpenedInput[]> {
  const partial = await openParts(address, options);
  if (partial) return [partial];
  const source = await resolveSource(address, options);
  if (source.isFolder) return [{ source }];
  const head = await readHead(source);
  if (!isPlainArchive(source, head, options)) return [{ source, head }];
  // Loaded only for zips, since loading takes longer than a small conversion.
  const { openZip } = await import("./zip.js");
  return openZip(source, options);
}
