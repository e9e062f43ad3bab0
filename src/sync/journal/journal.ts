/**
 * The journal of applying a plan, in lines of JSON. A line is flushed to disk before each write request is sent, and
 * another is written after it. A power loss may lose the second line; the batch is then uncertain, and the map itself
 * determines the outcome, as after any crash.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { syncFolder } from "../../io/output/publish-outputs.js";
import { rename } from "../../io/output/rename.js";
import { makeFolders } from "../../make-folders.js";
import type { RemoteKey } from "../../remote/wire.js";

export type WriteKind = "create" | "update" | "delete" | "put";

/** The content of a batch. */
export interface JournalRequest {
  readonly kind: WriteKind;
  readonly features: number;
  /** Keys or ids of the features, if they have any. */
  readonly keys?: readonly (RemoteKey | null)[];
  readonly ids?: readonly string[];
  /** Index of the first feature among all creates, from 0, if features have no key. */
  readonly first?: number;
  /** `BaselineEntry.name` of each, if features are matched by the ids that the service gives them. */
  readonly names?: readonly string[];
  readonly idempotencyKey?: string;
}

export interface JournalHeader {
  /** Id of the run. */
  readonly run: string;
  readonly service: string;
  readonly map: string;
  readonly mode: string;
  /** Fingerprint of the source. */
  readonly fingerprint: string;
}

export type JournalLine =
  | ({ readonly line: "BEGIN"; readonly time: string } & JournalHeader)
  | ({ readonly line: "SENT"; readonly batch: number; readonly time: string } & JournalRequest)
  /** The batch is settled. */
  | { readonly line: "ACK"; readonly batch: number; readonly outcome: string }
  | { readonly line: "END"; readonly time: string };

/**
 * @param plan names a plan that only its own journal can continue (`JournalHeader.mode`, `fingerprint`), so that no other run
 * replaces it; null for the journal of all others
 */
export const journalPath = (folder: string, plan: string | null = null): string =>
  join(folder, plan === null ? "journal.ndjson" : `journal-${plan}.ndjson`);

const journalError = (path: string, error: unknown, isUnderWay: boolean) =>
  createError("journal-failed", { journal: path, reason: describeSystemError(error), isUnderWay }, error);

export class Journal implements AsyncDisposable {
  private readonly appendCommit = new GroupCommit(() => this.append());
  private readonly syncCommit = new GroupCommit(() => this.datasync());
  private buffer = "";
  /** Whether a request is recorded, which may have been sent. */
  private hasRecorded: boolean;
  private syncFailure: { readonly error: unknown } | null = null;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private batchCount: number,
    /** Whether it is the journal of one plan only. */
    private readonly isOwn: boolean,
  ) {
    this.hasRecorded = batchCount > 0;
  }

  /** Replaces the last journal with a new one. @throws journal-failed */
  static async begin(folder: string, header: JournalHeader, plan: string | null = null): Promise<Journal> {
    const path = journalPath(folder, plan);
    try {
      makeFolders(folder, 0o700);
      const handle = await open(`${path}.new`, "w", 0o600);
      const journal = new Journal(path, handle, 0, plan !== null);
      await journal.write({ line: "BEGIN", time: new Date().toISOString(), ...header });
      await journal.sync();
      await rename(`${path}.new`, path);
      await syncFolder(folder);
      return journal;
    } catch (error) {
      throw journalError(path, error, false);
    }
  }

  /** Resumes a journal without an end. @param batches number of batches in it @throws journal-failed */
  static async resume(folder: string, batches: number, plan: string | null = null): Promise<Journal> {
    const path = journalPath(folder, plan);
    try {
      const journal = new Journal(path, await open(path, "a", 0o600), batches, plan !== null);
      // Separates a line that a crash truncated.
      await journal.handle.appendFile("\n");
      return journal;
    } catch (error) {
      throw journalError(path, error, false);
    }
  }

  /** @returns the number of the batch */
  async recordSent(sent: JournalRequest): Promise<number> {
    const batch = this.batchCount++;
    await this.write({ line: "SENT", batch, time: new Date().toISOString(), ...sent });
    await this.sync();
    this.hasRecorded = true;
    return batch;
  }

  acknowledge(batch: number, outcome: string): Promise<void> {
    return this.write({ line: "ACK", batch, outcome });
  }

  async end(): Promise<void> {
    await this.write({ line: "END", time: new Date().toISOString() });
    await this.sync();
    // Nothing replaces it.
    if (this.isOwn) await rm(this.path, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.appendCommit.waitForIdle();
    await this.syncCommit.waitForIdle();
    await this.handle.close();
  }

  /** Writes lines without interleaving: lines that arrive during a write are written together after it. */
  private write(line: JournalLine): Promise<void> {
    this.buffer += `${JSON.stringify(line)}\n`;
    return this.appendCommit.run().catch((error: unknown) => {
      throw journalError(this.path, error, this.hasRecorded);
    });
  }

  private async append(): Promise<void> {
    const lines = this.buffer;
    this.buffer = "";
    try {
      await this.handle.appendFile(lines);
    } catch (error) {
      // Separates a truncated line from the next.
      this.buffer = `\n${this.buffer}`;
      throw error;
    }
  }

  private async datasync(): Promise<void> {
    // An operating system reports a failed flush only once; a repeated call would report success.
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
      throw journalError(this.path, error, this.hasRecorded);
    });
  }
}

/** Combines calls that arrive while the work is running into a single next run. */
class GroupCommit {
  private next: Promise<void> | null = null;
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves after a complete run of the work that started after this call. */
  run(): Promise<void> {
    this.next ??= this.last = this.waitForIdle().then(() => {
      this.next = null;
      return this.work();
    });
    return this.next;
  }

  /** Resolves when no run is in progress, regardless of failures. */
  waitForIdle(): Promise<void> {
    return this.last.catch(() => {});
  }
}
