/**
 * How the keys of a large map are read where a field is named for the first time: in steps, between other writes. The
 * requests that wait for them are sent away in time, and the reading goes on without them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../http/problems.js";
import type { WriteOutcome, WriteRequest } from "./contract.js";
import type { EvictedField } from "./key-fields.js";

/** Up to which `seq` keys are read, and to which they have to be. */
export interface KeyIndexProgress {
  readonly read: number;
  readonly total: number;
}

/** Nothing of the request is done: the keys of some more features were read, and there are others. */
export interface KeyIndexPending extends KeyIndexProgress, EvictedField {
  readonly kind: "reading-keys";
}

/** What is told of a reading, for log and metrics. Where it ended before `read` was `of`, the next request goes on. */
export interface KeyIndexEvent extends KeyIndexProgress {
  readonly map: string;
  /** How many features' keys were read since the last news. */
  readonly features: number;
  readonly isFinished: boolean;
}

export interface KeyIndexSettings {
  /** Features whose keys are read in one transaction, at most: what other writes wait for. */
  readonly batchSize: number;
  /** Milliseconds that a request waits for it, before it is told to come again. */
  readonly maxWaitMs: number;
  /** Whether it goes on between requests; else each request that comes again does one more step. */
  readonly isExclusive: boolean;
}

/** Below the half minute after which many clients and proxies give up. */
export const defaultKeyIndexWaitMs = 20_000;
/** Seconds after which a request comes again, at most. */
const maxRetryAfterSeconds = 30;

type OutcomeKind = { readonly kind: WriteOutcome["kind"] };
/** Reads the keys of some more features in a transaction of its own; null once all are read, or nothing is left to read. */
export type IndexNextBatch = (map: string, field: string) => Promise<KeyIndexProgress | null>;

interface RunningBuild extends KeyIndexProgress {
  readonly ended: Promise<void>;
  /** Milliseconds that are left, as far as it can be told. */
  readonly remaining: number;
}

export class KeyIndexBuilder {
  private readonly running = new Map<string, RunningBuild>();
  private closing = false;

  constructor(
    private readonly reading: Pick<KeyIndexSettings, "maxWaitMs" | "isExclusive">,
    private readonly indexNextBatch: IndexNextBatch,
    private readonly onEvent: (news: KeyIndexEvent) => void = () => {},
  ) {}

  /**
   * Asks, and again once the keys are read that the request matches by.
   * @throws reading-keys of the service's problems once it has taken `patience`; nothing of the request is done then
   */
  async write<O extends OutcomeKind>(
    { map, remoteField }: Pick<WriteRequest, "map" | "remoteField">,
    ask: () => Promise<O | KeyIndexPending>,
  ): Promise<O> {
    const end = performance.now() + this.reading.maxWaitMs;
    const name = JSON.stringify([map, remoteField]);
    let dropped: EvictedField = {};
    for (;;) {
      await this.waitForBuilds(name, end);
      const outcome = await ask();
      if (!isPending(outcome)) return outcome.kind === "done" ? Object.assign(outcome, dropped) : outcome;
      if (outcome.droppedField !== undefined) dropped = { droppedField: outcome.droppedField };
      if (this.reading.isExclusive && !this.closing) this.start(name, map, remoteField!, outcome);
      // Also where a reading ends without an end: others may have taken the field's place meanwhile.
      if (performance.now() >= end)
        throw keyIndexBuildingProblem(outcome, Math.ceil((this.running.get(name)?.remaining ?? 0) / 1000));
    }
  }

  /** Waits for the reading that is under way, if there is one. */
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
    const note = (progress: KeyIndexProgress) => {
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
    /** Whether it came to the end. */
    const all = async (): Promise<boolean> => {
      while (!this.closing) {
        const progress = await this.indexNextBatch(map, field);
        if (!progress) return true;
        note(progress);
      }
      return false;
    };
    const ended = all()
      // What is not read is asked for by the next request, which is told what is wrong.
      .catch(() => false)
      .then((whole) => {
        this.running.delete(name);
        const read = whole ? last.total : last.read;
        this.onEvent({ map, read, total: last.total, features: read - last.read, isFinished: true });
      });
    note(first);
  }

  /** Ends after the step that is under way; what was read stays. */
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
