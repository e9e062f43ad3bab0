/**
 * Executes a plan: writes a backup of what will change, creates and updates features, reads the map again, and deletes
 * last, if nothing failed and every outcome is known. It can be interrupted anywhere: the next run reads the map and
 * plans again.
 */
import { createHash, randomUUID } from "node:crypto";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { BackupWriter, nullRecorder } from "../journal/backup-writer.js";
import { Journal, type JournalHeader } from "../journal/journal.js";
import { type JournaledRun, readJournal } from "../journal/journal-reader.js";
import { openRecreations } from "../journal/recreations.js";
import { forgetCreates, recordCreates, settleCreates } from "../journal/unconfirmed-creates.js";
import { isEmptyPlan, type OpenPlan, type SyncKey } from "../plan/plan.js";
import type { ApplyContext, ApplyReport, WithheldReason } from "./apply-context.js";
import { ApplyRun } from "./apply-run.js";
import { checkKeptFeatures } from "./check-kept-features.js";
import { checkUpdatesCurrent } from "./check-updates-current.js";
import { createFeatures } from "./create-features.js";
import { readWithoutDuplicates } from "./created-duplicates.js";
import { deleteFeatures } from "./delete-features.js";
import { EtagChain } from "./etag-chain.js";
import { FailuresFile } from "./failures-file.js";
import { KeptWrites } from "./kept-writes.js";
import type { MapReread } from "./map-reread.js";
import { readPatiently } from "./pauses.js";
import { checkRecreatable, recreateUpdatedFeatures, resumeRecreations } from "./recreate-updated-features.js";
import { replaceAllFeatures } from "./replace-all-features.js";
import { outcomeUnknownError } from "./resolve-unidentified.js";
import { updateFeatures } from "./update-features.js";

/**
 * @returns what was done, even if an error stopped it (`error`)
 * @throws recreate-by-id, backup-failed, output-failed if the backup or the journal cannot be written; then nothing was sent
 */
export async function applyPlan(plan: OpenPlan, context: ApplyContext): Promise<ApplyReport> {
  const { header } = plan;
  if (await openRecreations(context.stateFolder))
    throw createError("recreations-open", { service: header.service, map: header.map });
  if (!header.put) checkRecreatable(plan);
  const { update, delete: removed, create } = plan.counts;
  await using backup = await BackupWriter.create(plan, context.backupPath, new Date(), (done) =>
    context.onProgress?.({ step: "backup", done, total: update + removed + create }),
  );
  await context.onCheckpoint?.("backed-up");
  const { stateFolder } = context;
  const { journal, previousRun } = await openOrResumeJournal(plan, stateFolder);
  const mayCreate = create > 0 || (update > 0 && header.settings.updateWith === "delete-create");
  // Without a key, geoferry matches nothing with the map, so that no later run creates what it lacks.
  if (backup && mayCreate && header.key !== null) recordCreates(stateFolder, header, backup.path);
  // Without a key, nothing is matched, so concurrent writes do not matter.
  const etagChain = new EtagChain(header.key === null ? null : header.snapshot.etag);
  const report = await runSteps(plan, context, { journal, backup, etagChain }, (run) => executePlan(run, previousRun));
  if (backup && report.hasConflict) settleCreates(stateFolder, backup.path);
  return { ...report, backup: backup?.path ?? null };
}

/**
 * Recreates features that an interrupted run deleted in order to recreate them. Must run before the map is read for a
 * plan, and after all requests of that run have ended.
 * @returns null if there are none
 * @throws output-failed if the journal cannot be written; then nothing was sent
 */
export async function finishInterruptedUpdates(context: ApplyContext): Promise<ApplyReport | null> {
  const plan = await openRecreations(context.stateFolder);
  if (!plan) return null;
  const { journal } = await openOrResumeJournal(plan, context.stateFolder);
  return runSteps(plan, context, { journal, backup: null, etagChain: new EtagChain(null) }, async (run) => {
    await resumeRecreations(run);
    return { put: false, etag: null };
  });
}

interface ApplyResources {
  readonly journal: Journal;
  readonly backup: BackupWriter | null;
  readonly etagChain: EtagChain;
}

/** Runs the steps within a journal, and reports what was done, even after an error. */
async function runSteps(
  plan: OpenPlan,
  context: ApplyContext,
  { journal, backup, etagChain }: ApplyResources,
  steps: (run: ApplyRun) => Promise<AppliedState>,
): Promise<ApplyReport> {
  const failures = new FailuresFile(context.rejectsFile);
  const run = new ApplyRun(plan, context, journal, failures, backup ?? nullRecorder, etagChain);
  let stopError: GeoferryError | null = null;
  let done: AppliedState = { put: false, etag: null };
  try {
    done = await steps(run);
    await backup?.end();
    await journal.end();
    await run.reachCheckpoint("ended");
  } catch (error) {
    stopError = toStopError(error, run);
    withholdDeletes(run, "stopped");
  } finally {
    await journal[Symbol.asyncDispose]();
  }
  const rejects = await failures.flush().catch((error: unknown) => {
    stopError ??= asGeoferryError(error);
    return null;
  });
  return {
    ...run.counts,
    ...done,
    reportedCreates: run.reportedCreates,
    ...(run.removedDuplicates > 0 && { twins: run.removedDuplicates }),
    withheld: run.withheld,
    hasConflict: run.etagChain.isLost,
    hasWritten: run.hasWritten || run.counts.created + run.counts.updated + run.counts.deleted > 0,
    backup: null,
    rejects,
    refused: run.refused,
    notices: run.notices,
    error: stopError ?? finalError(run, rejects),
  };
}

/** Converts the error that stopped the run; any interruption becomes sync-interrupted. */
function toStopError(error: unknown, run: ApplyRun): GeoferryError {
  const known = asGeoferryError(error);
  return known.kind === "interrupted" ? run.createInterruptedError(known) : known;
}

type AppliedState = Pick<ApplyReport, "put" | "etag">;

async function executePlan(run: ApplyRun, previousRun: JournaledRun | null): Promise<AppliedState> {
  const { header, counts } = run.plan;
  if (isEmptyPlan(counts)) return { put: false, etag: header.snapshot.etag };
  if (header.put) {
    const result = await replaceAllFeatures(run);
    if (result.kind === "done") {
      await using reading = result.reread;
      const kept = await KeptWrites.compare(run, reading, { put: true, etag: result.etag });
      await acceptWrites(run, kept, await recordReading(run, reading));
      return { put: true, etag: reading.snapshot.etag };
    }
    run.notices.push(`${result.reason}: features are created, updated and deleted instead`);
  }
  checkRecreatable(run.plan);
  await checkUpdatesCurrent(run);
  await createFeatures(run, previousRun);
  await (header.settings.updateWith === "patch" ? updateFeatures(run) : recreateUpdatedFeatures(run));
  if (header.key === null) return { put: false, etag: null };
  const { reading: read, kept } = await readAfterWrites(run);
  await using reading = read;
  const areCreatesMatched = await recordReading(run, reading);
  if (run.duplicatesError) throw run.duplicatesError;
  await acceptWrites(run, kept, areCreatesMatched);
  if (!checkDeletesAllowed(run)) return { put: false, etag: reading.snapshot.etag };
  run.etagChain.resume(reading.snapshot.etag);
  run.etagChain.startIfOff(reading.snapshot.etag);
  const { changedCount, etag } = await deleteFeatures(run, reading);
  if (changedCount > 0) run.withheld = { deletes: changedCount, why: "changed" };
  else if (!run.etagChain.isActive) await checkKeptFeatures(run);
  return { put: false, etag };
}

/** @returns whether later runs can match all created features */
const recordReading = async ({ context, creationRecorder }: ApplyRun, reading: MapReread): Promise<boolean> =>
  (await context.onMapReread?.(reading, creationRecorder)) ?? true;

/** @throws writes-not-kept or map-changed if the map does not show what was written */
async function acceptWrites(run: ApplyRun, kept: KeptWrites, areCreatesMatched: boolean): Promise<void> {
  if (!kept.isComplete) throw await kept.fail();
  const { stateFolder, backupPath } = run.context;
  // The record lets the next run match them, or stop it from creating them again.
  if (areCreatesMatched) forgetCreates(stateFolder, backupPath);
  else settleCreates(stateFolder, backupPath);
  if (kept.notice !== null) run.notices.push(kept.notice);
}

/**
 * Reads the map after the creates and updates, and again after pauses if it does not show them: a service may answer from a
 * copy that lags behind.
 */
async function readAfterWrites(run: ApplyRun): Promise<{ readonly reading: MapReread; readonly kept: KeptWrites }> {
  const sent = { put: false, etag: run.etagChain.etag };
  return readPatiently(
    run,
    async () => {
      const reading = await readWithoutDuplicates(run);
      return { reading, kept: await disposeOnError(reading, () => KeptWrites.compare(run, reading, sent)) };
    },
    ({ reading, kept }) =>
      kept.isComplete || run.duplicatesError !== null || run.etagChain.isLast(reading.snapshot.etag),
    ({ reading }) => reading[Symbol.asyncDispose](),
  );
}

async function disposeOnError<T>(reading: MapReread, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    await reading[Symbol.asyncDispose]();
    throw error;
  }
}

/** Skips deletes after a failure: the failed feature may replace one that would be deleted. */
function checkDeletesAllowed(run: ApplyRun): boolean {
  if (run.plan.counts.delete === 0) return false;
  if (run.counts.unknown > 0) withholdDeletes(run, "unknown");
  else if (run.counts.failed > 0) withholdDeletes(run, "failed");
  return run.withheld === null;
}

function withholdDeletes(run: ApplyRun, why: WithheldReason): void {
  const deletes = run.plan.counts.delete - run.counts.deleted;
  if (deletes > 0) run.withheld ??= { deletes, why };
}

function finalError(run: ApplyRun, rejects: string | null): GeoferryError | null {
  if (run.counts.unknown > 0) return outcomeUnknownError(run, rejects ?? "");
  const { service, map } = run.header;
  return run.withheld?.why === "changed" ? createError("map-changed", { service, map }) : null;
}

/**
 * Starts a new journal, or resumes the last one if a run of the same plan was interrupted while it created features
 * without a key: only the journal knows which of them are on the map.
 */
async function openOrResumeJournal(
  { header }: OpenPlan,
  folder: string,
): Promise<{ readonly journal: Journal; readonly previousRun: JournaledRun | null }> {
  const { service, map, mode, source } = header;
  const journalHeader: JournalHeader = { run: randomUUID(), service, map, mode, fingerprint: source.fingerprint };
  const isRepeatable = header.key?.by === "property" || header.comparesCreates === true;
  const plan = ownJournal(journalHeader, header.key);
  const previousRun = isRepeatable ? null : await readJournal(folder, plan);
  const isSame =
    previousRun && !previousRun.isEnded && previousRun.mode === mode && previousRun.fingerprint === source.fingerprint;
  return isSame && previousRun.service === service && previousRun.map === map
    ? { journal: await Journal.resume(folder, previousRun.batches, plan), previousRun }
    : { journal: await Journal.begin(folder, journalHeader, plan), previousRun: null };
}

/** The name of a journal for a plan whose features nothing identifies, which no other run may replace; null otherwise. */
const ownJournal = ({ mode, fingerprint }: JournalHeader, key: SyncKey | null): string | null =>
  key === null ? createHash("sha256").update(`${mode} ${fingerprint}`).digest("hex").slice(0, 12) : null;
