import type { KeyedRow } from "../../compare/feature-side.js";
import { createError } from "../../errors.js";
import type { ApplyRun } from "./apply-run.js";
import { readPage } from "./map-reread.js";
import { readPatiently } from "./pauses.js";

/** The deleted features of one page of the map, which one request reads back. */
export class DeletedOnPage {
  private page = Number.POSITIVE_INFINITY;
  private readonly ids = new Set<string>();

  /** Keeps the features of the first page only: deletes do not move what precedes them, nor what is left of the page. */
  add({ id, page }: Pick<KeyedRow, "id" | "page">): void {
    if (page > this.page) return;
    if (page < this.page) this.ids.clear();
    this.page = page;
    this.ids.add(id!);
  }

  /**
   * Reads the page back, and again after pauses while it still has one of the features: a service may answer from a copy
   * that lags behind. Ids are never reused, so another client cannot have created them again.
   * @throws deletes-not-applied, sync-interrupted; errors of `MapClient.page`
   */
  async check(run: ApplyRun): Promise<void> {
    if (this.ids.size === 0) return;
    const remaining = await readPatiently(
      run,
      () => this.findRemaining(run),
      ({ length }) => length === 0,
    );
    if (remaining.length === 0) return;
    run.counts.deleted = Math.max(0, run.counts.deleted - remaining.length);
    const { service, map } = run.header;
    throw createError("deletes-not-applied", { service, map, features: remaining.length, id: remaining[0]! });
  }

  private async findRemaining(run: ApplyRun): Promise<readonly string[]> {
    const features = await readPage(this.page, run);
    return features.flatMap(({ id }) => (this.ids.has(id) ? [id] : []));
  }
}
