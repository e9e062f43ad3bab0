/**
 * Builds the key index of a large map when a field is used for the first time: in batches, between other writes.
 * Waiting requests fail with a retry hint after a time limit, and building continues.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../http/problems.js";
import type { WriteOutcome, WriteRequest } from "./contract.js";
import type { EvictedField } from "./key-fields.js";

/** Keys are read up to `seq` `read`, of `total`. */
export interface KeyIndexProgress {
  readonly read: number;
  readonly total: number;
}

/** Nothing was applied: a batch of keys was read, and more remain. */
export interface KeyIndexPending extends KeyIndexProgress, EvictedField {
  readonly kind: "reading-keys";
}

/** Progress of a build, for log and metrics. If it ends with `read` below `total`, the next request continues it. */
export interface KeyIndexEvent extends KeyIndexProgress {
  readonly map: string;
  /** Number of features since the last event. */
  readonly features: number;
  readonly isFinished: boolean;
}

export interface KeyIndexSettings {
  /** Maximum number of features per transaction, which delays other writes. */
  readonly batchSize: number;
  /** Maximum time that a request waits for the build, in milliseconds. */
  readonly maxWaitMs: number;
  /** Whether this process builds in the background; otherwise each repeated request reads one batch. */
  readonly isExclusive: boolean;
}

/** Below 30 seconds, after which many clients and proxies time out. */
export const defaultKeyIndexWaitMs = 20_000;
/** Maximum value of Retry-After, in seconds. */
const maxRetryAfterSeconds = 30;

type OutcomeKind = { readonly kind: WriteOutcome["kind"] };
/** Reads a batch of keys in its own transaction; returns null once all are read, or if there is nothing to read. */
export type IndexNextBatch = (map: string, field: string) => Promise<KeyIndexProgress | null>;

interface RunningBuild extends KeyIndexProgress {
  readonly ended: Promise<void>;
  /** Estimated milliseconds until the end. */
  readonly remaining: number;
}

export class KeyIndexBuilder {
  private readonly running = new Map<string, RunningBuild>();
  private closing = false;
  /** The last batch that waits for its turn: writes never wait for more than one batch, even if many indexes are built. */
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly reading: Pick<KeyIndexSettings, "maxWaitMs" | "isExclusive">,
    private readonly indexNextBatch: IndexNextBatch,
    private readonly onEvent: (event: KeyIndexEvent) => void = () => {},
  ) {}

  /**
   * Runs a write, and repeats it once the keys that it matches by are indexed.
   * @throws the problem reading-keys after `maxWaitMs`; nothing was applied then
   */
  async write<O extends OutcomeKind>(
    { map, remoteField }: Pick<WriteRequest, "map" | "remoteField">,
    attempt: () => Promise<O | KeyIndexPending>,
  ): Promise<O> {
    const end = performance.now() + this.reading.maxWaitMs;
    const name = JSON.stringify([map, remoteField]);
    let dropped: EvictedField = {};
    for (;;) {
      await this.waitForBuilds(name, end);
      const outcome = await attempt();
      if (!isPending(outcome)) return outcome.kind === "done" ? Object.assign(outcome, dropped) : outcome;
      if (outcome.droppedField !== undefined) dropped = { droppedField: outcome.droppedField };
      if (this.reading.isExclusive && !this.closing) this.start(name, map, remoteField!, outcome);
      // Also reached if the build was stopped: another field may have evicted this one.
      if (performance.now() >= end)
        throw keyIndexBuildingProblem(outcome, Math.ceil((this.running.get(name)?.remaining ?? 0) / 1000));
    }
  }

  /** Waits for a build in progress. */
  private async waitForBuilds(name: string, end: number): Promise<void> {
    const { ended } = this.running.get(name) ?? {};
    if (!ended) return;
    const over = new AbortController();
    const late = sleep(Math.max(0, end - performance.now()), undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([ended, late]);
    over.abort();
    const found = this.running.get(name);
    if (found) throw keyIndexBuildingProblem(found, Math.ceil(found.remaining / 1000));
  }

  private start(name: string, map: string, field: string, first: KeyIndexProgress): void {
    if (this.running.has(name)) return;
    const started = performance.now();
    let last: KeyIndexProgress = first;
    const report = (progress: KeyIndexProgress) => {
      const remaining =
        ((performance.now() - started) * (progress.total - progress.read)) / (progress.read - first.read || 1);
      this.running.set(name, { read: progress.read, total: progress.total, ended, remaining });
      this.onEvent({
        map,
        read: progress.read,
        total: progress.total,
        features: progress.read - last.read,
        isFinished: false,
      });
      last = progress;
    };
    /** Returns whether the build completed. */
    const buildAll = async (): Promise<boolean> => {
      while (!this.closing) {
        const progress = await this.inTurn(() => this.indexNextBatch(map, field));
        if (!progress) return true;
        report(progress);
      }
      return false;
    };
    const ended = buildAll()
      // The next request continues the build, and reports the error.
      .catch(() => false)
      .then((whole) => {
        this.running.delete(name);
        const read = whole ? last.total : last.read;
        this.onEvent({ map, read, total: last.total, features: read - last.read, isFinished: true });
      });
    report(first);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.lastTurn.then(work);
    this.lastTurn = result.catch(() => {});
    return result;
  }

  /** Stops after the current batch; the keys read so far are kept. */
  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.running.values()].map(({ ended }) => ended));
  }
}

const isPending = (outcome: { readonly kind: string }): outcome is KeyIndexPending => outcome.kind === "reading-keys";

const keyIndexBuildingProblem = ({ read, total }: KeyIndexProgress, seconds: number) =>
  problem(
    "reading-keys",
    { percent: Math.min(99, Math.floor((100 * read) / total)) },
    { headers: { "retry-after": String(Math.min(maxRetryAfterSeconds, Math.max(1, seconds))) } },
  );
