/** The last step: features go that the plan deletes, and that the map still has as the plan says. */
import { createError } from "../../errors.js";
import { splitIntoBatches } from "../../remote/client/split-into-batches.js";
import { canonicalFeature, digestText } from "../../remote/snapshot/canonical-feature.js";
import type { KeyedRow } from "../../remote/snapshot/feature-side.js";
import { pageSize, type RemoteKey } from "../../remote/wire.js";
import type { PlanAction } from "../plan/plan.js";
import type { ApplyRun } from "./apply-run.js";
import { forEachConcurrently } from "./batches.js";
import { deleteBatch, resolveDeletes, type UncertainDelete } from "./delete-batch.js";
import { MapReread } from "./map-reread.js";

export interface DeleteResult {
  /** Of the map after it, where nobody else can have changed it; else null. */
  readonly etag: string | null;
  /** Features that were to go, and stay as they say something else by now. */
  readonly changedCount: number;
}

/** Pages that are read for one request to delete features for which others stay, where nothing makes it conditional. */
const pagesPerRequest = 10;

/**
 * Requests to delete between two readings: one on maps of up to five full pages, as each is read twice. On larger ones a
 * reading costs more than it proves.
 */
const requestsPerReading = (features: number): number =>
  Math.max(1, Math.round((2 * Math.ceil((features + 1) / pageSize.most)) / pagesPerRequest));

/**
 * Deletes in batches by internal ids: guarded by the entity tag of the map, one after the other, where the service gives
 * one; else several at once. Without a tag the map is read again between those that delete features for which others
 * stay, so that another run that deletes these is seen.
 * @param reading of the map after everything else was done
 * @throws map-changed, batches-not-accepted, write-refused, sync-interrupted; what the client throws
 */
export async function deleteFeatures(run: ApplyRun, reading: MapReread): Promise<DeleteResult> {
  const refused = new Set<string>();
  let now = reading;
  try {
    for (let round = 0; ; ) {
      const pass = new DeletePass(run, now, refused);
      const { changedCount, etag } = await pass.execute();
      if (pass.uncertain.length === 0 && !pass.needsReread) return { changedCount, etag };
      if (pass.uncertain.length > 0 && round++ >= run.context.traffic.retries)
        throw createError("batches-not-accepted", { service: run.header.service, map: run.header.map, tries: round });
      if (pass.uncertain.some(({ failed }) => failed === null)) await run.waitSettleTime();
      const next = await MapReread.read(run);
      run.etagChain.resume(next.snapshot.etag);
      if (now !== reading) await now[Symbol.asyncDispose]();
      now = next;
      const settled = await resolveDeletes(pass.uncertain, now, run);
      countDeleted(run, settled.deleted);
      for (const [id, reason] of settled.refused) {
        refused.add(id);
        run.recordDeleteRefusal(id, pass.uncertainKeys.get(id) ?? null, reason);
      }
      if (settled.deleted > 0 || pass.deleted > 0) round = 0;
    }
  } finally {
    if (now !== reading) await now[Symbol.asyncDispose]();
  }
}

function countDeleted(run: ApplyRun, deleted: number): void {
  run.counts.deleted += deleted;
  run.reportProgress("delete", run.counts.deleted, run.plan.counts.delete);
}

interface DeleteTarget {
  readonly id: string;
  readonly key: RemoteKey | null;
  /** Another feature stays for it. */
  readonly hasKeptFeature: boolean;
}

/** All deletes that are left to do, until one is unclear. */
class DeletePass {
  readonly uncertain: UncertainDelete[] = [];
  /** Of what is unclear. */
  readonly uncertainKeys = new Map<string, RemoteKey | null>();
  deleted = 0;
  /** More is left to do after the map was read again. */
  needsReread = false;
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

  /** What the map still has as the plan says. */
  private async *findTargets(): AsyncGenerator<readonly [DeleteTarget]> {
    for await (const action of this.run.plan.actions(["delete"])) {
      if (action.action !== "delete" || this.refused.has(action.id)) continue;
      const row = this.reread.findById(action.id);
      if (!row) continue;
      const isAsPlanned = row.digest === digestText(canonicalFeature(action.before, this.run.rounding));
      if (isAsPlanned && this.isKeptFeatureUnchanged(action, row))
        yield [{ id: action.id, key: action.key, hasKeptFeature: action.stays !== undefined }];
      else this.changedCount += 1;
    }
  }

  /** Whether the feature that stays for one that goes is there, and both say exactly what they said. */
  private isKeptFeatureUnchanged(
    { stays }: Extract<PlanAction, { readonly action: "delete" }>,
    { exact }: KeyedRow,
  ): boolean {
    if (stays === undefined) return true;
    const row = this.reread.findById(stays.id);
    return row?.digest === stays.digest && row.exact === stays.exact && exact === stays.other;
  }
}
