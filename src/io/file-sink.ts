import { constants, type Stats } from "node:fs";
import { link, mkdir, open, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fault, GeoferryError } from "../errors.js";
import type { SinkFile } from "../plugin/format.js";
import { BufferedFile } from "./buffered-file.js";
import { newMark, removeOnExit } from "./leftovers.js";
import type { HostSink, SinkOptions } from "./sink.js";
import { systemReason } from "./source.js";
import {
  companionsOf,
  journalSuffixes,
  lstatOrNull,
  stemOf,
  sweepFolder,
  temporaryPath,
  throughLinks,
} from "./target.js";

export function outputFailure(output: string, error: unknown): GeoferryError {
  return error instanceof GeoferryError
    ? error
    : fault("output-failed", { output, reason: systemReason(error) }, error);
}

/** What file systems say that have no hard links. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL", "EACCES"]);

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Makes the names in a folder as durable as the files; where the system cannot, they are so soon enough. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/** `rm` looks twice at what it removes. */
async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
}

function refuseFolder(output: string, path: string): void {
  if (lstatOrNull(path)?.isDirectory()) throw fault("output-failed", { output, reason: "it is a folder" });
}

class Part implements SinkFile {
  private readonly keep: () => void;
  private used = false;

  constructor(
    private readonly output: string,
    private readonly file: BufferedFile,
    readonly final: string,
    readonly isMain: boolean,
    private readonly replaced: Stats | null,
  ) {
    this.keep = removeOnExit(file.path);
  }

  get path(): string {
    return this.file.path;
  }

  get size(): number {
    return this.file.size;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.used = true;
    try {
      await this.file.write(bytes);
    } catch (error) {
      throw outputFailure(this.output, error);
    }
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    try {
      await this.file.patch(position, bytes);
    } catch (error) {
      throw error instanceof RangeError ? error : outputFailure(this.output, error);
    }
  }

  /** All bytes on the disk, with the owner and permissions of the file that it will replace. */
  async finish(): Promise<void> {
    await this.file.flush();
    // A library that was given the path may have put another file in this one's place.
    const own = this.used ? this.file.handle : await open(this.path, "r+");
    try {
      if (this.replaced) {
        const { uid, gid } = await own.stat();
        if (uid !== this.replaced.uid || gid !== this.replaced.gid) {
          await own.chown(this.replaced.uid, this.replaced.gid).catch(() => {});
        }
        await own.chmod(this.replaced.mode & 0o7777);
      }
      await own.sync();
    } finally {
      if (own !== this.file.handle) await own.close();
    }
    await this.file.close();
    this.keep();
  }

  async discard(): Promise<void> {
    await this.file.close().catch(() => {});
    for (const suffix of ["", ...journalSuffixes]) await rm(this.path + suffix, { force: true }).catch(() => {});
    this.keep();
  }
}

/**
 * A file, or a main file with companions, written to temporary names beside the final ones.
 *
 * One file replaces another by one rename. A set is published so that no mixed one is ever seen, wherever the process
 * is killed: the old main file steps aside first, then its companions; the new companions get their names next, and the
 * main file last. What stepped aside is put back if anything fails, by this process or by the next that writes here.
 */
export class FileSink implements HostSink {
  readonly update = null;
  private readonly mark = newMark();
  private readonly parts: Part[] = [];
  private readonly main: string;
  private madeFolder: string | undefined;
  private state: "open" | "committed" | "aborted" = "open";

  private constructor(
    readonly name: string,
    private readonly options: SinkOptions,
  ) {
    this.main = throughLinks(name);
  }

  /** @throws output-exists, output-failed */
  static async at(name: string, options: SinkOptions): Promise<FileSink> {
    try {
      const sink = new FileSink(name, options);
      const folder = dirname(sink.main);
      if (options.mkdirs) sink.madeFolder = await mkdir(folder, { recursive: true });
      const found = lstatOrNull(folder);
      if (!found) throw fault("output-failed", { output: name, reason: `there is no folder ${folder}` });
      for (const place of new Set([folder, dirname(name)])) sweepFolder(place);
      refuseFolder(name, sink.main);
      const present = [sink.main, ...sink.oldCompanions()].filter((path) => lstatOrNull(path));
      if (!options.overwrite && present[0] !== undefined) {
        throw fault("output-exists", { output: present[0] === sink.main ? name : present[0] });
      }
      return sink;
    } catch (error) {
      throw outputFailure(name, error);
    }
  }

  private oldCompanions(): string[] {
    const extensions = this.options.companions ?? [];
    return [...new Set([this.main, this.name].flatMap((path) => companionsOf(path, extensions)))];
  }

  /** A companion stands beside the main file, or where a link of its name points. */
  private finalOf(extension: string | undefined): string {
    if (extension === undefined) return this.main;
    const beside = (path: string) => join(dirname(path), `${stemOf(path)}.${extension}`);
    const given = beside(this.name);
    return lstatOrNull(given) ? throughLinks(given) : beside(this.main);
  }

  async create(extension?: string): Promise<SinkFile> {
    try {
      const final = this.finalOf(extension);
      if (this.state !== "open" || this.parts.some((part) => part.final === final)) {
        throw fault("internal", { reason: `${final} cannot be created now or again` });
      }
      refuseFolder(final, final);
      const replaced = lstatOrNull(final);
      if (replaced && !this.options.overwrite) throw fault("output-exists", { output: final });
      const isMain = extension === undefined;
      const temporary = this.temporary(final, "tmp");
      // Never more open than the file to be replaced, and always writable by the path.
      const mode = replaced ? (replaced.mode & 0o777) | 0o600 : 0o666;
      const file = await BufferedFile.create(temporary, mode).catch(async (error: unknown) => {
        if (codeOf(error) !== "ENOENT" || !this.options.mkdirs) throw error;
        // Another output of the run took the folder away with its own failure.
        await mkdir(dirname(final), { recursive: true });
        return BufferedFile.create(temporary, mode);
      });
      const part = new Part(this.name, file, final, isMain, replaced);
      this.parts.push(part);
      return part;
    } catch (error) {
      throw outputFailure(this.name, error);
    }
  }

  async commit(): Promise<void> {
    if (this.state !== "open") throw fault("internal", { reason: `${this.name} was ${this.state} before` });
    try {
      await Promise.all(this.parts.map((part) => part.finish()));
      await this.publish();
      this.state = "committed";
    } catch (error) {
      await this.abort();
      throw outputFailure(this.name, error);
    }
  }

  private async publish(): Promise<void> {
    const ordered = [...this.parts].sort((a, b) => Number(a.isMain) - Number(b.isMain));
    const written = new Set(ordered.map((part) => part.final));
    const companions = this.oldCompanions().filter((path) => !written.has(throughLinks(path)));
    const old = new Set([this.main, ...companions, ...written].filter((path) => lstatOrNull(path)));
    const [first] = ordered;
    if (!first) return;
    for (const path of old) refuseFolder(path, path);
    const stale = [...old].filter((path) => !written.has(path));
    if (!this.options.overwrite && old.size > 0) throw fault("output-exists", { output: [...old][0] ?? this.name });
    if (this.options.overwrite && ordered.length === 1 && stale.length === 0) {
      await rename(first.path, first.final);
      await syncFolder(dirname(first.final));
      return;
    }
    await this.exchange(ordered, [...old]);
  }

  /** `ordered` has the main file last, `old` has it first. */
  private async exchange(ordered: readonly Part[], old: readonly string[]): Promise<void> {
    const folders = [...new Set([...ordered.map((part) => part.final), ...old].map((path) => dirname(path)))];
    const sync = () => Promise.all(folders.map(syncFolder));
    const spent = ordered.map((part) => part.path);
    const undo: (() => Promise<void>)[] = [];
    const markers: string[] = [];
    try {
      for (const [index, path] of old.entries()) {
        const aside = this.temporary(path, "old");
        await rename(path, aside);
        spent.push(aside);
        undo.push(() => rename(aside, path));
        if (index === 0) await sync();
      }
      for (const part of ordered) {
        if (part.isMain && ordered.length > 1) await sync();
        await this.giveName(part, old.includes(part.final) ? null : markers);
        undo.push(() => rm(part.final, { force: true }));
      }
      await sync();
    } catch (error) {
      for (const step of undo.reverse()) await step().catch(() => {});
      for (const path of markers) await rm(path, { force: true }).catch(() => {});
      throw error;
    }
    // The outputs are there and whole: what cannot be tidied now is tidied by the next run, which looks at the main ones.
    spent.push(...markers);
    try {
      await Promise.all(spent.filter((path) => !this.isOfMain(path)).map(unlinkIfThere));
      for (const path of spent) if (this.isOfMain(path)) await unlinkIfThere(path);
    } catch {
      // Those of the main file stay, and tell that the rest can go.
    }
  }

  private temporary(final: string, kind: "tmp" | "old" | "none"): string {
    return temporaryPath(final, this.mark, final === this.main ? `main.${kind}` : kind);
  }

  private isOfMain(temporary: string): boolean {
    return (["tmp", "old", "none"] as const).some((kind) => temporary === this.temporary(this.main, kind));
  }

  /**
   * A second name for the temporary file, which tells the next run, should this one die, that the name is its own and
   * not another's. Where there are no hard links it is a plain rename, and a marker says that nothing had the name
   * before (where something had, it stepped aside).
   */
  private async giveName(part: Part, markers: string[] | null): Promise<void> {
    try {
      await link(part.path, part.final);
      return;
    } catch (error) {
      const code = codeOf(error) ?? "";
      if (code === "EEXIST" && !this.options.overwrite) throw fault("output-exists", { output: part.final }, error);
      if (code !== "EEXIST" && !withoutLinks.has(code)) throw error;
      if (!this.options.overwrite && lstatOrNull(part.final)) throw fault("output-exists", { output: part.final });
    }
    if (markers) {
      const marker = this.temporary(part.final, "none");
      markers.push(marker);
      await writeFile(marker, "");
    }
    await rename(part.path, part.final);
  }

  async abort(): Promise<void> {
    if (this.state !== "open") return;
    this.state = "aborted";
    for (const part of this.parts) await part.discard();
    if (this.madeFolder === undefined) return;
    for (let folder = dirname(this.main); folder.length >= this.madeFolder.length; folder = dirname(folder)) {
      if (
        !(await rmdir(folder)
          .then(() => true)
          .catch(() => false))
      )
        return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }
}
