import { dirname, resolve } from "node:path";
import { createSink, type HostSink, type SinkOptions } from "./create-sink.js";
import { commitAll, type Removal } from "./publish-outputs.js";
import type { StagedFile } from "./staged-file.js";
import { findCompanions, lstatOrNull, TemporaryNames } from "./temporary-names.js";

/** All outputs of one run, which are committed or aborted together. */
export class OutputSet {
  private readonly sinks: HostSink[] = [];
  private readonly removals: Removal[] = [];
  private readonly names = new Map<string, TemporaryNames>();

  private readonly temporaryNames = (folder: string): TemporaryNames => {
    const key = resolve(folder);
    const names = this.names.get(key) ?? new TemporaryNames();
    this.names.set(key, names);
    return names;
  };

  /** @param signal ends the wait for readers of named pipes */
  constructor(private readonly signal?: AbortSignal) {}

  /** @throws output-exists, output-failed, interrupted */
  async create(path: string, options: Omit<SinkOptions, "names" | "signal">): Promise<HostSink> {
    const signal = this.signal && { signal: this.signal };
    const sink = await createSink(path, { ...options, ...signal, names: this.temporaryNames });
    this.sinks.push(sink);
    return sink;
  }

  /**
   * Removes a file of an earlier run and its companions on commit.
   * @returns false for links, devices and pipes, which are kept
   */
  remove(path: string, companions: readonly string[] = []): boolean {
    if (!lstatOrNull(path)?.isFile()) return false;
    this.removals.push({
      paths: [path, ...findCompanions(path, companions)],
      names: this.temporaryNames(dirname(path)),
    });
    return true;
  }

  /** Writes and syncs all files, so that they can be read before `commit`. @throws output-failed */
  async prepare(): Promise<void> {
    for (const sink of this.sinks) if (!sink.isStream) await sink.prepare();
  }

  /**
   * @param last an irreversible step, such as the commit of a database; its failure undoes the renames
   * @param before called with the files before the first one is renamed
   * @throws output-failed, output-exists; then everything is as before
   */
  commit(last?: () => Promise<void>, before?: (files: readonly StagedFile[]) => void | Promise<void>): Promise<void> {
    return commitAll(this.sinks, this.removals, last, before);
  }

  /** Removes everything that was not committed. */
  async abort(): Promise<void> {
    await Promise.allSettled(this.sinks.map((sink) => sink.abort()));
  }
}
