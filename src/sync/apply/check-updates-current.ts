import type { ApplyRun } from "./apply-run.js";
import { MapReread, readPage } from "./map-reread.js";
import type { Update } from "./patch-semantics.js";

/** Pages that are read one by one; for more, the whole map is read. */
const maxPages = 200;

/**
 * Checks, before the first write without a precondition, that no other client has changed or deleted the features to
 * update since the plan was made: an update sends the whole feature. If entity tags protect the writes, nothing is read.
 * @throws map-changed, sync-interrupted; errors of reading the map
 */
export async function checkUpdatesCurrent(run: ApplyRun): Promise<void> {
  const { counts, header } = run.plan;
  // A map that changes with each reading is never as it was.
  if (counts.update === 0 || header.settings.singleRead) return;
  let found: Promise<ReadonlySet<number>> | null = null;
  const findPagesOnce = () => {
    found ??= findPages(run);
    return found;
  };
  if (await run.isProtectedByTags(async () => (await findPagesOnce()).size)) return;
  const pages = await findPagesOnce();
  if (pages.size <= maxPages && (await arePagesCurrent(pages, run))) return;
  await using reading = await MapReread.read(run);
  for await (const update of readUpdates(run))
    if (reading.findById(update.id)?.digest !== run.digestOf(update.before)) throw run.createConflictError();
}

/** Pages that had the features to update; not all if they are more than are read one by one. */
async function findPages(run: ApplyRun): Promise<ReadonlySet<number>> {
  const pages = new Set<number>();
  for await (const { page } of readUpdates(run)) if (pages.add(page).size > maxPages) break;
  return pages;
}

/** @returns false if only a reading of the whole map can tell */
async function arePagesCurrent(pages: ReadonlySet<number>, run: ApplyRun): Promise<boolean> {
  const digests = new Map<string, string>();
  for (const page of pages) for (const [id, digest] of await readDigests(page, run)) digests.set(id, digest);
  for await (const update of readUpdates(run)) {
    const digest = digests.get(update.id);
    if (digest === undefined) return false;
    if (digest !== run.digestOf(update.before)) throw run.createConflictError();
  }
  return true;
}

async function readDigests(page: number, run: ApplyRun): Promise<readonly (readonly [string, string])[]> {
  run.throwIfAborted();
  const features = await readPage(page, run);
  return features.map((feature) => [feature.id, run.digestOf(feature)]);
}

async function* readUpdates(run: ApplyRun): AsyncGenerator<Update> {
  for await (const action of run.plan.actions(["update"])) if (action.action === "update") yield action;
}
