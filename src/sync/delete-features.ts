/** The last step: features go that the plan deletes, and that the map still has as the plan says. */
import { fault } from "../errors.js";
import { batches } from "../remote/batches.js";
import { canonicalFeature, digestOf } from "../remote/canonical.js";
import type { RemoteKey } from "../remote/wire.js";
import { concurrently } from "./apply-batches.js";
import type { ApplyRun } from "./apply-run.js";
import { deleteBatch, settleDeletes, type UnclearDelete } from "./delete-batch.js";
import type { PlanAction } from "./plan.js";
import { Reading } from "./settle-reading.js";

export interface DeletedFeatures {
  /** Of the map after it, where nobody else can have changed it; else null. */
  readonly etag: string | null;
  /** Features that were to go, and stay as they say something else by now. */
  readonly changed: number;
}

/**
 * Deletes in batches by internal ids: guarded by the entity tag of the map, one after the other, where the service gives
 * one; else several at once.
 * @param reading of the map after everything else was done
 * @throws map-changed, batches-not-taken, write-refused, sync-interrupted; what the client throws
 */
export async function deleteFeatures(run: ApplyRun, reading: Reading): Promise<DeletedFeatures> {
  const refused = new Set<string>();
  let now = reading;
  try {
    for (let round = 0; ; ) {
      const pass = new DeletePass(run, now, refused);
      const { changed, etag } = await pass.carryOut();
      if (pass.unclear.length === 0) return { changed, etag };
      if (round++ >= run.tools.traffic.retries)
        throw fault("batches-not-taken", { service: run.header.service, map: run.header.map, tries: round });
      if (pass.unclear.some(({ failed }) => failed === null)) await run.quiet();
      const next = await Reading.take(run);
      run.chain.resume(next.snapshot.etag);
      if (now !== reading) await now[Symbol.asyncDispose]();
      now = next;
      const settled = await settleDeletes(pass.unclear, now, run);
      count(run, settled.deleted);
      for (const [id, reason] of settled.refused) {
        refused.add(id);
        run.refuseDelete(id, pass.keys.get(id) ?? null, reason);
      }
      if (settled.deleted > 0 || pass.deleted > 0) round = 0;
    }
  } finally {
    if (now !== reading) await now[Symbol.asyncDispose]();
  }
}

function count(run: ApplyRun, deleted: number): void {
  run.counts.deleted += deleted;
  run.tell("delete", run.counts.deleted, run.plan.counts.delete);
}

interface Doomed {
  readonly id: string;
  readonly key: RemoteKey | null;
}

/** All deletes that are left to do, until one is unclear. */
class DeletePass {
  readonly unclear: UnclearDelete[] = [];
  /** Of what is unclear. */
  readonly keys = new Map<string, RemoteKey | null>();
  deleted = 0;
  private changed = 0;

  constructor(
    private readonly run: ApplyRun,
    private readonly reading: Reading,
    private readonly refused: ReadonlySet<string>,
  ) {}

  async carryOut(): Promise<{ readonly changed: number; readonly etag: string | null }> {
    const { chain, tools } = this.run;
    await concurrently(this.groups(), chain.isOn ? 1 : tools.traffic.concurrency, async (group) => {
      const outcome = await deleteBatch(
        group.map(({ id }) => id),
        this.run,
      );
      this.deleted += outcome.deleted;
      count(this.run, outcome.deleted);
      if (outcome.unclear.length > 0) for (const { id, key } of group) this.keys.set(id, key);
      this.unclear.push(...outcome.unclear);
    });
    return { changed: this.changed, etag: chain.etag };
  }

  private async *groups(): AsyncGenerator<readonly Doomed[]> {
    for await (const group of batches(this.doomed(), ({ id }) => id)) {
      this.run.stopIfAsked();
      if (this.unclear.length > 0) return;
      yield group;
    }
  }

  /** What the map still has as the plan says. */
  private async *doomed(): AsyncGenerator<readonly [Doomed]> {
    for await (const action of this.run.plan.actions(["delete"])) {
      if (action.action !== "delete" || this.refused.has(action.id)) continue;
      const row = this.reading.rowById(action.id);
      if (!row) continue;
      const isAsPlanned = row.digest === digestOf(canonicalFeature(action.before, this.run.rounding));
      if (isAsPlanned && this.isReplaced(action)) yield [action];
      else this.changed += 1;
    }
  }

  /** Whether the feature that stays for one that goes is there, and says what it said. */
  private isReplaced({ stays }: Extract<PlanAction, { readonly action: "delete" }>): boolean {
    return stays === undefined || this.reading.rowById(stays.id)?.digest === stays.digest;
  }
}
