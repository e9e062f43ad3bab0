/**
 * The journal of an application: a line of JSON before each request that writes, on the disk before the request leaves,
 * and one after it, which a loss of power may take: its batch is then in doubt, and the map says what became of it, as
 * it does of all that a crash leaves in doubt.
 */
import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { syncFolder } from "../../io/output/publish-outputs.js";
import type { RemoteKey } from "../../remote/wire.js";

export type WriteKind = "create" | "update" | "delete" | "put";

/** What a batch consists of. */
export interface JournalRequest {
  readonly kind: WriteKind;
  readonly features: number;
  /** Where features are known by a key, or by ids. */
  readonly keys?: readonly (RemoteKey | null)[];
  readonly ids?: readonly string[];
  /** Place of its first feature among all that are created, counted from 0, where nothing else tells them apart. */
  readonly first?: number;
  readonly idempotencyKey?: string;
}

export interface JournalHeader {
  /** Names the run; Idempotency-Keys begin with it. */
  readonly run: string;
  readonly service: string;
  readonly map: string;
  readonly mode: string;
  /** Of the source. */
  readonly fingerprint: string;
}

export type JournalLine =
  | ({ readonly line: "BEGIN"; readonly time: string } & JournalHeader)
  | ({ readonly line: "SENT"; readonly batch: number; readonly time: string } & JournalRequest)
  /** Nothing of the batch is in doubt any more. */
  | { readonly line: "ACK"; readonly batch: number; readonly outcome: string }
  | { readonly line: "END"; readonly time: string };

export const journalPath = (folder: string): string => join(folder, "journal.ndjson");

const journalError = (path: string, error: unknown) =>
  createError("output-failed", { output: path, reason: describeSystemError(error) }, error);

export class Journal implements AsyncDisposable {
  private readonly appendCommit = new GroupCommit(() => this.append());
  private readonly syncCommit = new GroupCommit(() => this.datasync());
  private buffer = "";
  private syncFailure: { readonly error: unknown } | null = null;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    readonly runId: string,
    private batchCount: number,
  ) {}

  /** A new journal in place of the last. @throws output-failed */
  static async begin(folder: string, beginning: JournalHeader): Promise<Journal> {
    const path = journalPath(folder);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const handle = await open(`${path}.new`, "w", 0o600);
      const journal = new Journal(path, handle, beginning.run, 0);
      await journal.write({ line: "BEGIN", time: new Date().toISOString(), ...beginning });
      await journal.sync();
      await rename(`${path}.new`, path);
      await syncFolder(folder);
      return journal;
    } catch (error) {
      throw journalError(path, error);
    }
  }

  /** Goes on with a journal that has no end. @param batches how many it has @throws output-failed */
  static async resume(folder: string, run: string, batches: number): Promise<Journal> {
    const path = journalPath(folder);
    try {
      const journal = new Journal(path, await open(path, "a", 0o600), run, batches);
      // What a crash cut short stays a line of its own.
      await journal.handle.appendFile("\n");
      return journal;
    } catch (error) {
      throw journalError(path, error);
    }
  }

  /** @returns the number of the batch */
  async recordSent(sent: JournalRequest): Promise<number> {
    const batch = this.batchCount++;
    await this.write({ line: "SENT", batch, time: new Date().toISOString(), ...sent });
    await this.sync();
    return batch;
  }

  acknowledge(batch: number, outcome: string): Promise<void> {
    return this.write({ line: "ACK", batch, outcome });
  }

  async end(): Promise<void> {
    await this.write({ line: "END", time: new Date().toISOString() });
    await this.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.appendCommit.waitForIdle();
    await this.syncCommit.waitForIdle();
    await this.handle.close();
  }

  /** None is torn by another: lines that come while others are written go there together, after them. */
  private write(line: JournalLine): Promise<void> {
    this.buffer += `${JSON.stringify(line)}\n`;
    return this.appendCommit.run().catch((error: unknown) => {
      throw journalError(this.path, error);
    });
  }

  private async append(): Promise<void> {
    const lines = this.buffer;
    this.buffer = "";
    try {
      await this.handle.appendFile(lines);
    } catch (error) {
      // What was cut short stays a line of its own.
      this.buffer = `\n${this.buffer}`;
      throw error;
    }
  }

  private async datasync(): Promise<void> {
    // A system tells once of what it could not write: asked again it says that all is there.
    if (this.syncFailure) throw this.syncFailure.error;
    try {
      await this.handle.datasync();
    } catch (error) {
      this.syncFailure = { error };
      throw error;
    }
  }

  private sync(): Promise<void> {
    return this.syncCommit.run().catch((error: unknown) => {
      throw journalError(this.path, error);
    });
  }
}

/** Work that is done for all together who ask for it while it is being done for others. */
class GroupCommit {
  private next: Promise<void> | null = null;
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves once it was done from beginning to end after this was called. */
  run(): Promise<void> {
    this.next ??= this.last = this.waitForIdle().then(() => {
      this.next = null;
      return this.work();
    });
    return this.next;
  }

  /** Resolves when nothing is under way, whatever came of it. */
  waitForIdle(): Promise<void> {
    return this.last.catch(() => {});
  }
}
