/** The last step: deletes the features that the plan deletes and that are unchanged on the map. */

import type { KeyedRow } from "../../compare/feature-side.js";
import { splitIntoBatches } from "../../remote/client/split-into-batches.js";
import { pageSize, type RemoteKey } from "../../remote/wire.js";
import type { PlanAction } from "../plan/plan.js";
import type { ApplyRun } from "./apply-run.js";
import { forEachConcurrently } from "./batches.js";
import { DeletedOnPage } from "./check-deleted.js";
import { deleteBatch, readUntilGone, resolveDeletes, type UncertainDelete } from "./delete-batch.js";
import type { MapReread } from "./map-reread.js";

export interface DeleteResult {
  /** Entity tag of the map afterwards, if no other client can have changed it since; else null. */
  readonly etag: string | null;
  /** Features that were not deleted because their content has changed. */
  readonly changedCount: number;
}

/**
 * Pages to read per delete request when features are deleted in favor of kept ones and no precondition protects them.
 */
const pagesPerRequest = 10;

/**
 * Delete requests between two readings: one on maps of up to five full pages, as each page is read twice. On larger
 * maps, a reading costs more than it proves.
 */
const requestsPerReading = (features: number): number =>
  Math.max(1, Math.round((2 * Math.ceil((features + 1) / pageSize.max)) / pagesPerRequest));

/**
 * Deletes in batches by internal ids. If the service sends entity tags, requests run one at a time under the
 * precondition of the last tag, otherwise concurrently. Without a tag, deletes in favor of kept features alternate with
 * rereading the map, to detect another run that deletes the kept ones.
 * @param reading the map after all other steps
 * @throws map-changed, batches-not-accepted, write-refused, deletes-not-applied, sync-interrupted; errors of the client
 */
export async function deleteFeatures(run: ApplyRun, reading: MapReread): Promise<DeleteResult> {
  const refused = new Set<string>();
  let current = reading;
  try {
    for (let round = 0; ; ) {
      const pass = new DeletePass(run, current, refused);
      const { changedCount, etag } = await pass.execute();
      if (pass.uncertain.length === 0 && !pass.needsReread) {
        await pass.deletedOnPage.check(run);
        return { changedCount, etag };
      }
      if (pass.uncertain.length > 0 && round++ >= run.context.traffic.retries) throw run.createNotAcceptedError(round);
      const next = await readUntilGone(pass.uncertain, run);
      run.etagChain.resume(next.snapshot.etag);
      run.etagChain.startIfOff(next.snapshot.etag);
      if (current !== reading) await current[Symbol.asyncDispose]();
      current = next;
      const settled = await resolveDeletes(pass.uncertain, current, run);
      countDeleted(run, settled.deleted);
      for (const [id, reason] of settled.refused) {
        refused.add(id);
        run.recordDeleteRefusal(id, pass.uncertainKeys.get(id) ?? null, reason);
      }
      if (settled.deleted > 0 || pass.deleted > 0) round = 0;
    }
  } finally {
    if (current !== reading) await current[Symbol.asyncDispose]();
  }
}

function countDeleted(run: ApplyRun, deleted: number): void {
  run.counts.deleted += deleted;
  run.reportProgress("delete", run.counts.deleted, run.plan.counts.delete);
}

interface DeleteTarget {
  readonly id: string;
  readonly page: number;
  readonly key: RemoteKey | null;
  /** Whether another feature is kept instead. */
  readonly hasKeptFeature: boolean;
}

/** Executes the remaining deletes until a request is uncertain. */
class DeletePass {
  readonly uncertain: UncertainDelete[] = [];
  /** Keys of features in uncertain requests. */
  readonly uncertainKeys = new Map<string, RemoteKey | null>();
  deleted = 0;
  /** More deletes remain after the map has been read again. */
  needsReread = false;
  readonly deletedOnPage = new DeletedOnPage();
  private changedCount = 0;

  constructor(
    private readonly run: ApplyRun,
    private readonly reread: MapReread,
    private readonly refused: ReadonlySet<string>,
  ) {}

  async execute(): Promise<{ readonly changedCount: number; readonly etag: string | null }> {
    const { etagChain, context } = this.run;
    await forEachConcurrently(
      this.batchTargets(),
      etagChain.isActive ? 1 : context.traffic.concurrency,
      async (group) => {
        const outcome = await deleteBatch(
          group.map(({ id }) => id),
          this.run,
        );
        this.deleted += outcome.deleted;
        countDeleted(this.run, outcome.deleted);
        for (const target of group) this.deletedOnPage.add(target);
        if (outcome.uncertain.length > 0) for (const { id, key } of group) this.uncertainKeys.set(id, key);
        this.uncertain.push(...outcome.uncertain);
      },
    );
    return { changedCount: this.changedCount, etag: etagChain.etag };
  }

  private async *batchTargets(): AsyncGenerator<readonly DeleteTarget[]> {
    let requests = 0;
    for await (const group of splitIntoBatches(this.findTargets(), ({ id }) => id)) {
      this.run.throwIfAborted();
      if (this.uncertain.length > 0) return;
      if (!this.run.etagChain.isActive && group.some(({ hasKeptFeature }) => hasKeptFeature)) {
        this.needsReread = requests++ === requestsPerReading(this.reread.snapshot.features);
        if (this.needsReread) return;
      }
      yield group;
    }
  }

  /** The features to delete that are unchanged on the map. */
  private async *findTargets(): AsyncGenerator<readonly [DeleteTarget]> {
    for await (const action of this.run.plan.actions(["delete"])) {
      if (action.action !== "delete" || this.refused.has(action.id)) continue;
      const row = this.reread.findById(action.id);
      if (!row) continue;
      const isAsPlanned = row.digest === this.run.digestOf(action.before);
      if (isAsPlanned && this.isKeptFeatureUnchanged(action, row))
        yield [{ id: action.id, page: row.page, key: action.key, hasKeptFeature: action.stays !== undefined }];
      else this.changedCount += 1;
    }
  }

  /** Whether the feature kept instead still exists, and both are exactly unchanged. */
  private isKeptFeatureUnchanged(
    { stays }: Extract<PlanAction, { readonly action: "delete" }>,
    { exact }: KeyedRow,
  ): boolean {
    if (stays === undefined) return true;
    const row = this.reread.findById(stays.id);
    return row?.digest === stays.digest && row.exact === stays.exact && exact === stays.other;
  }
}
