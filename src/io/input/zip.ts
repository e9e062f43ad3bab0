import { extname, join, posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { crc32, createInflateRaw } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { createError, GeoferryError } from "../../errors.js";
import type { Archive } from "../../plugin/format.js";
import { type InputOptions, isPlainArchive, type OpenedInput } from "./open-input.js";
import { FileSource, readHead } from "./source.js";
import { spoolStream } from "./spool.js";
import {
  decodeEntryName,
  foldCase,
  isHidden,
  isSymbolicLink,
  possibleStems,
  safePath,
  unpackedPath,
  withoutExtension,
} from "./zip-entry-names.js";

/** Limits against zip bombs. Deflate compresses at most 1032:1, and large real files do not come near it. */
export interface ZipLimits {
  /** Maximum total uncompressed size of an input in bytes; by default 64 GiB. */
  readonly totalBytes?: number;
  /** Maximum ratio of uncompressed size to zip size, checked from 10 MiB on; by default 1000. */
  readonly ratio?: number;
  /** Maximum number of entries; by default a million. */
  readonly entries?: number;
}

const defaultLimits: Required<ZipLimits> = { totalBytes: 64 * 2 ** 30, ratio: 1000, entries: 1_000_000 };
const ratioCheckFromBytes = 10 * 2 ** 20;

/** APPNOTE 4.4.5 */
const unsupportedMethods: Readonly<Record<number, string>> = {
  1: "shrink",
  6: "implode",
  9: "Deflate64",
  12: "bzip2",
  14: "LZMA",
  93: "Zstandard",
  95: "XZ",
  98: "PPMd",
  99: "AES encryption",
};

interface ZipEntry {
  /** Relative path with `/` that is safe to join to a folder. */
  readonly path: string;
  readonly entry: Entry;
}

/** The entries to unpack, and those of them that are inputs. */
interface SelectedEntries {
  readonly extract: readonly ZipEntry[];
  readonly members: readonly ZipEntry[];
  /** Entries that the main entry may link to. */
  readonly linked?: readonly ZipEntry[];
}

type MainArchive = Archive & Required<Pick<Archive, "findMain">>;

/** Converts an error of the zip library. */
function zipError(source: string, error: unknown): Error {
  if (error instanceof GeoferryError) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  if (/strong encryption/i.test(message)) {
    return createError(
      "unsupported",
      { source, reason: "the zip is encrypted; unpack it with its password first" },
      error,
    );
  }
  if (/multi-disk/i.test(message)) {
    return createError("unsupported", { source, reason: "the zip is one of several parts; join them first" }, error);
  }
  if (/End of central directory record signature not found/i.test(message)) {
    return createError("input-truncated", { source, reason: "the zip has no directory at its end" }, error);
  }
  const reason = code?.startsWith("Z_") ? `its compressed data is damaged (${message})` : message;
  return createError("input-corrupt", { source, reason: `the zip is damaged: ${reason}` }, error);
}

class ZipExtractor {
  private readonly limits: Required<ZipLimits>;
  private inflated = 0;

  constructor(
    private readonly options: InputOptions,
    private readonly name: string,
  ) {
    this.limits = { ...defaultLimits, ...options.zipLimits };
  }

  async open(source: FileSource, depth: number): Promise<OpenedInput[]> {
    let zip: ZipFile;
    try {
      zip = await openPromise(source.path, { lazyEntries: true, autoClose: false, decodeStrings: false });
    } catch (error) {
      throw zipError(source.name, error);
    }
    try {
      const found = await this.list(zip, source);
      const archive = this.options.archiveOf?.(source.name);
      const findMain = archive?.findMain;
      const chosen = findMain
        ? this.selectMain(found, { ...archive, findMain }, source)
        : this.selectEntries(found, source);
      this.checkLimits(chosen.extract, source);
      const root = this.options.spool.folder();
      const files = new Map<string, FileSource>();
      for (const each of chosen.extract) files.set(each.path, await this.extract(zip, each, root, source));
      const members = findMain
        ? this.datasetEntries(found, chosen, files, source)
        : await this.openMembers(chosen, files, depth);
      const own = new Set(chosen.extract.filter((each) => !chosen.linked?.includes(each)));
      const otherEntries = found.filter((each) => !own.has(each)).map(({ path }) => path);
      return members.map((member) => ({ ...member, otherEntries }));
    } catch (error) {
      if (this.options.signal.aborted) throw createError("interrupted", {}, error);
      throw zipError(source.name, error);
    } finally {
      zip.close();
    }
  }

  private async openMembers(
    { members }: SelectedEntries,
    files: ReadonlyMap<string, FileSource>,
    depth: number,
  ): Promise<OpenedInput[]> {
    const opened: OpenedInput[] = [];
    for (const { path } of members) {
      const file = files.get(path);
      if (file) opened.push(...(await this.openEntry(file, depth)));
    }
    return opened;
  }

  private async list(zip: ZipFile, source: FileSource): Promise<ZipEntry[]> {
    if (zip.entryCount > this.limits.entries) {
      throw createError("input-corrupt", {
        source: source.name,
        reason: `the zip has ${zip.entryCount} entries, and at most ${this.limits.entries} are allowed`,
      });
    }
    const found: ZipEntry[] = [];
    for await (const entry of zip.eachEntry()) {
      const name = decodeEntryName(entry);
      if (name.endsWith("/") || isHidden(name) || isSymbolicLink(entry)) continue;
      const path = safePath(name, source.name);
      if (path !== "") found.push({ path, entry });
    }
    if (found.length === 0)
      throw createError("input-corrupt", { source: source.name, reason: "the zip contains no files; get it again" });
    return found;
  }

  /** Selects the entries that are inputs, and their companions. */
  private selectEntries(found: readonly ZipEntry[], source: FileSource): SelectedEntries {
    const { isPrimary = () => true, isCompanion = () => false } = this.options;
    const paths = new Set(found.map(({ path }) => path.toLowerCase()));
    const describesAnother = (path: string) => {
      const other = withoutExtension(path);
      return extname(other) !== "" && paths.has(other.toLowerCase());
    };
    const candidates = found.filter(
      ({ path }) => (isPrimary(path) || extname(path).toLowerCase() === ".zip") && !describesAnother(path),
    );
    const leaders = new Set(
      candidates.filter(({ path }) => !isCompanion(path)).map(({ path }) => withoutExtension(path).toLowerCase()),
    );
    let members = candidates.filter(
      ({ path }) => !isCompanion(path) || !leaders.has(withoutExtension(path).toLowerCase()),
    );
    // No entry has a known extension: the content decides.
    if (members.length === 0) members = found.filter(({ path }) => !isCompanion(path) && !describesAnother(path));
    const stems = new Set(members.map(({ path }) => withoutExtension(path).toLowerCase()));
    const chosen = new Set(members);
    const extract = found.filter(
      (each) => chosen.has(each) || possibleStems(each.path).some((stem) => stems.has(stem)),
    );
    this.checkNameClashes(extract, source);
    return { extract, members };
  }

  /** Selects the main entry of a format's archive, entries with its stem, and entries that it may link to. */
  private selectMain(found: readonly ZipEntry[], archive: MainArchive, source: FileSource): SelectedEntries {
    const path = archive.findMain(found.map((each) => each.path));
    const member = found.find((each) => each.path === path);
    if (!member) {
      const reason = `the archive has no main file of a ${extname(source.name)}`;
      throw createError("input-corrupt", { source: source.name, reason });
    }
    const stem = withoutExtension(member.path).toLowerCase();
    const isLinked = (each: ZipEntry) => each !== member && archive.isLinked?.(each.path) === true;
    const extract = found.filter((each) => possibleStems(each.path).includes(stem) || isLinked(each));
    const linked = extract.filter(isLinked);
    this.checkNameClashes(extract, source);
    return { extract, members: [member], linked };
  }

  /** Returns the main entry as a source with the name of the archive: `places.kmz`, not `doc.kml`. */
  private datasetEntries(
    found: readonly ZipEntry[],
    { members, extract, linked }: SelectedEntries,
    files: ReadonlyMap<string, FileSource>,
    source: FileSource,
  ): OpenedInput[] {
    const { isPrimary = () => false, isCompanion = () => false } = this.options;
    const ignoredEntries = found
      .filter((each) => !extract.includes(each) && isPrimary(each.path) && !isCompanion(each.path))
      .map(({ path }) => path);
    const linkedFiles = new Map(linked?.map(({ path }) => [path, files.get(path)!.path]));
    const others = found
      .filter((each) => !extract.includes(each) && !isPrimary(each.path) && !isCompanion(each.path))
      .map(({ path }) => path);
    return members.map(({ path }) => {
      const file = FileSource.at(files.get(path)!.path, source.name);
      return {
        source: linked ? file.withEntries({ main: path, files: linkedFiles, others }) : file,
        ignoredEntries,
      };
    });
  }

  private checkNameClashes(entries: readonly ZipEntry[], source: FileSource): void {
    const folders = new Map<string, string>();
    for (const { path } of entries) {
      for (let at = posix.dirname(path); at !== "."; at = posix.dirname(at)) folders.set(foldCase(at), at);
    }
    const taken = new Map<string, string>();
    for (const { path } of entries) {
      const other = taken.get(foldCase(path)) ?? folders.get(foldCase(path));
      if (other !== undefined) {
        const reason = `the zip has two entries for the same file: "${other}" and "${path}"`;
        throw createError("input-corrupt", { source: source.name, reason });
      }
      taken.set(foldCase(path), path);
    }
  }

  /** Checks the declared sizes before anything is inflated; `extract` checks that entries do not exceed them. */
  private checkLimits(entries: readonly ZipEntry[], source: FileSource): void {
    const { totalBytes, ratio } = this.limits;
    const size = entries.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
    this.inflated += size;
    if (this.inflated > totalBytes) {
      throw createError("input-too-large", {
        source: this.name,
        limit: totalBytes,
        option: "zipLimits, or unpack it first",
      });
    }
    if (size > ratioCheckFromBytes && size > source.size * ratio) {
      const reason = `its entries would be ${Math.round(size / source.size)} times as large as the zip, which looks like an attack`;
      throw createError("input-corrupt", { source: source.name, reason });
    }
    for (const { path, entry } of entries) {
      const place = `${source.name}/${path}`;
      if (entry.isEncrypted()) {
        throw createError("unsupported", {
          source: place,
          reason: "the entry is encrypted; unpack it with its password first",
        });
      }
      const method = entry.compressionMethod;
      if (method !== 0 && method !== 8) {
        const reason = `the entry is compressed with ${unsupportedMethods[method] ?? `method ${method}`}; unpack the zip first`;
        throw createError("unsupported", { source: place, reason });
      }
    }
  }

  private async extract(
    zip: ZipFile,
    { path, entry }: ZipEntry,
    root: string,
    source: FileSource,
  ): Promise<FileSource> {
    const name = `${source.name}/${path}`;
    const target = this.options.spool.file(join(root, unpackedPath(path)));
    const damaged = (reason: string) => createError("input-corrupt", { source: name, reason });
    let size = 0;
    let checksum = 0;
    async function* checked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        size += chunk.length;
        if (size > entry.uncompressedSize) throw damaged("the entry is larger than the zip says");
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
    }
    let writing: Promise<unknown> | undefined;
    const write = (chunks: AsyncIterable<Buffer>) => {
      writing = spoolStream(checked(chunks), target, { source: name });
      return writing;
    };
    const { signal } = this.options;
    try {
      const raw = await zip.openReadStreamPromise(entry, { decodeFileData: false });
      if (entry.compressionMethod === 0) await pipeline(raw, write, { signal });
      else await pipeline(raw, createInflateRaw({ chunkSize: 1 << 18 }), write, { signal });
    } catch (error) {
      if (signal.aborted) throw createError("interrupted", {}, error);
      // The pipeline may first report the streams that it destroyed, and not the cause.
      const cause: unknown = await writing?.then(
        () => error,
        (reason: unknown) => reason,
      );
      throw zipError(name, cause instanceof GeoferryError ? cause : error);
    }
    if (size !== entry.uncompressedSize) throw damaged(`the entry has ${size} bytes, not ${entry.uncompressedSize}`);
    if (checksum !== entry.crc32) throw damaged("the entry is damaged: its checksum is wrong");
    return FileSource.at(target, name);
  }

  /** The file itself, or its inputs if it is a nested zip. */
  private async openEntry(source: FileSource, depth: number): Promise<OpenedInput[]> {
    const head = await readHead(source);
    if (!isPlainArchive(source, head, this.options)) return [{ source }];
    if (depth === 1) {
      throw createError("unsupported", {
        source: source.name,
        reason: "zips are nested more than twice; unpack the outer ones first",
      });
    }
    return this.open(source, depth + 1);
  }
}

/**
 * Unpacks the inputs of a zip and their companions into the spool, and returns the inputs.
 * @throws input-corrupt, input-truncated, input-too-large, unsupported, output-failed, interrupted
 */
export function openZip(source: FileSource, options: InputOptions): Promise<OpenedInput[]> {
  return new ZipExtractor(options, source.name).open(source, 0);
}
