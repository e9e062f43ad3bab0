import { dirname, join } from "node:path";
import { createError } from "../../errors.js";
import { makeFolders } from "../../make-folders.js";
import type { SinkFile } from "../../plugin/format.js";
import { describeSystemError } from "../input/source.js";
import { BufferedFile } from "./buffered-file.js";
import type { HostSink, SinkOptions } from "./create-sink.js";
import { createFolder } from "./created-folders.js";
import { OutputPart } from "./output-part.js";
import { commitAll, type FileSet } from "./publish-outputs.js";
import { recoverOutput } from "./recover-outputs.js";
import {
  findCompanions,
  lstatOrNull,
  outputError,
  outputStem,
  resolveSymlinks,
  TemporaryNames,
} from "./temporary-names.js";

const systemErrorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

function refuseExistingFolder(output: string, path: string): void {
  if (lstatOrNull(path)?.isDirectory()) throw createError("output-failed", { output, reason: "it is a folder" });
}

/** A file, or a main file with companions, written under temporary names beside the final ones. */
export class FileSink implements HostSink {
  readonly inPlaceTarget = null;
  readonly isStream = false;
  private readonly parts: OutputPart[] = [];
  private readonly main: string;
  private readonly names: TemporaryNames;
  private releaseFolder = () => {};
  private state: "open" | "prepared" | "committed" | "aborted" = "open";

  private constructor(
    readonly name: string,
    private readonly options: SinkOptions,
  ) {
    this.main = resolveSymlinks(name);
    if (lstatOrNull(this.main)?.isSymbolicLink())
      throw createError("output-failed", { output: name, reason: describeSystemError({ code: "ELOOP" }) });
    this.names = options.names?.(dirname(this.main)) ?? new TemporaryNames();
  }

  /** @throws output-exists, output-failed */
  static async at(name: string, options: SinkOptions): Promise<FileSink> {
    let sink: FileSink | undefined;
    try {
      sink = new FileSink(name, options);
      const folder = dirname(sink.main);
      sink.releaseFolder = createFolder(folder);
      recoverOutput(name, false);
      refuseExistingFolder(name, sink.main);
      const present = [sink.main, ...sink.oldCompanions()].filter((path) => lstatOrNull(path));
      if (!options.overwrite && present[0] !== undefined) {
        throw createError("output-exists", { output: present[0] === sink.main ? name : present[0] });
      }
      return sink;
    } catch (error) {
      sink?.releaseFolder();
      throw outputError(name, error);
    }
  }

  get replacedPath(): string | null {
    return this.options.overwrite && lstatOrNull(this.main) ? this.main : null;
  }

  private oldCompanions(): string[] {
    const extensions = this.options.companions ?? [];
    return [...new Set([this.main, this.name].flatMap((path) => findCompanions(path, extensions)))];
  }

  /** The path of a companion: beside the main file, or the target of an existing link with its name. */
  private finalPath(extension: string | undefined): string {
    if (extension === undefined) return this.main;
    const beside = (path: string) => join(dirname(path), `${outputStem(path)}.${extension}`);
    const given = beside(this.name);
    return lstatOrNull(given) ? resolveSymlinks(given) : beside(this.main);
  }

  async create(extension?: string): Promise<SinkFile> {
    try {
      const final = this.finalPath(extension);
      if (this.state !== "open" || this.parts.some((part) => part.finalPath === final)) {
        throw createError("internal", { reason: `${final} was already created, or the output is complete` });
      }
      refuseExistingFolder(final, final);
      const replaced = lstatOrNull(final);
      if (replaced && !this.options.overwrite) throw createError("output-exists", { output: final });
      const isMain = extension === undefined;
      if (isMain) this.names.setCommitPoint(final);
      const temporary = this.names.nameFor(final, "tmp");
      // Never more open than the file to be replaced, and always writable by the path.
      const mode = replaced ? (replaced.mode & 0o777) | 0o600 : 0o666;
      const file = await BufferedFile.create(temporary, mode).catch(async (error: unknown) => {
        if (systemErrorCode(error) !== "ENOENT") throw error;
        // Another process has removed the empty folder after its own failure.
        makeFolders(dirname(final));
        return BufferedFile.create(temporary, mode);
      });
      const part = new OutputPart(this.name, file, final, isMain, replaced);
      this.parts.push(part);
      return part;
    } catch (error) {
      throw outputError(this.name, error);
    }
  }

  async prepare(): Promise<void> {
    if (this.state === "prepared") return;
    if (this.state !== "open") throw createError("internal", { reason: `${this.name} was ${this.state} before` });
    this.state = "prepared";
    try {
      await Promise.all(this.parts.map((part) => part.finish()));
    } catch (error) {
      throw outputError(this.name, error);
    }
  }

  files(): FileSet {
    const written = new Set(this.parts.map((part) => part.finalPath));
    const companions = this.oldCompanions().filter((path) => !written.has(resolveSymlinks(path)));
    const old = [...new Set([this.main, ...companions, ...written])].filter((path) => lstatOrNull(path));
    for (const path of old) refuseExistingFolder(path, path);
    const { name, main, names, parts } = this;
    const { overwrite } = this.options;
    if (!overwrite && old.length > 0) throw createError("output-exists", { output: old[0] ?? name });
    return { name, main, names, parts, overwrite, obsolete: parts.length > 0 ? old : [] };
  }

  published(): void {
    this.state = "committed";
    this.releaseFolder();
  }

  commit(): Promise<void> {
    return commitAll([this]);
  }

  async abort(): Promise<void> {
    if (this.state === "committed" || this.state === "aborted") return;
    this.state = "aborted";
    for (const part of this.parts) await part.discard();
    this.releaseFolder();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }
}
