/** Detects whether local inputs change while they are read. */
import { type BigIntStats, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import { findCompanions } from "../output/temporary-names.js";

/** Files of other programs that mark a dataset as open, such as those of file geodatabases. */
const lockFilePattern = /\.lock$/i;
/** Journals of an open database come and go without a change of its content; GDAL writes the schema of GML beside it. */
const derivedFilePattern = /(-(shm|wal|journal)|\bgfs)$/i;

/**
 * Size and modification time of the local files among inputs, of the files beside them that belong to them, and of files
 * in folders that are one dataset. A file that is replaced or rewritten while threads open and read it would otherwise
 * result in features of two versions, or in a part of them.
 */
export class InputFileStates {
  private readonly before: ReadonlyMap<string, string>;

  /**
   * Call it before anything is read.
   * @param siblingsOf extensions of the files beside one of this name that its reader may open
   */
  constructor(
    private readonly inputs: readonly string[],
    private readonly siblingsOf: (path: string) => readonly string[],
    private readonly names: ReadonlyMap<string, string> = new Map(),
  ) {
    this.before = this.read();
  }

  /** @throws input-changed */
  checkUnchanged(): void {
    const changed = this.findChanged();
    if (changed !== null) throw this.changedError(changed);
  }

  /** Returns input-changed in place of an error about the content of inputs that have changed, else the error. */
  explain(error: unknown): unknown {
    if (!(error instanceof GeoferryError) || (error.kind !== "input" && error.kind !== "guard")) return error;
    const changed = this.findChanged();
    return changed === null ? error : this.changedError(changed, error);
  }

  private changedError(path: string, cause?: unknown): GeoferryError {
    return createError("input-changed", { source: this.names.get(path) ?? path }, cause);
  }

  private findChanged(): string | null {
    const now = this.read();
    // Files that appear are not compared: a reader may write an index.
    for (const [path, state] of this.before) if (now.get(path) !== state) return path;
    return null;
  }

  private read(): ReadonlyMap<string, string> {
    const states = new Map<string, string>();
    for (const path of this.inputs.flatMap((input) => this.listFiles(input))) {
      const stat = statFile(path);
      // Files that the system computes have no size, and a new time at any moment.
      if (stat?.isFile() && stat.size > 0n) states.set(path, `${stat.size} ${stat.mtimeNs}`);
    }
    return states;
  }

  private listFiles(input: string): string[] {
    try {
      const stat = statFile(input);
      if (!stat) return [];
      if (stat.isDirectory())
        return readdirSync(input)
          .filter((name) => !lockFilePattern.test(name))
          .map((name) => join(input, name));
      const extensions = this.siblingsOf(input).filter((extension) => !derivedFilePattern.test(extension));
      return [input, ...findCompanions(input, extensions)];
    } catch {
      // Opening the input reports the error.
      return [];
    }
  }
}

const statFile = (path: string): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });
