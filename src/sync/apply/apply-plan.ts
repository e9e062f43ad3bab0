/**
 * Carries out a plan: a backup of what will change or go, creates, updates, the map read again, and deletes last, where
 * nothing failed and nothing is unknown. It can be cut off anywhere: the next run reads the map and plans again.
 */
import { randomUUID } from "node:crypto";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { BackupWriter, nullRecorder } from "../journal/backup-writer.js";
import { Journal, type JournalHeader } from "../journal/journal.js";
import { type JournaledRun, readJournal } from "../journal/journal-reader.js";
import { openRecreations } from "../journal/recreations.js";
import { isEmptyPlan, type OpenPlan } from "../plan/plan.js";
import type { ApplyContext, ApplyReport, WithheldReason } from "./apply-context.js";
import { ApplyRun } from "./apply-run.js";
import { checkKeptFeatures } from "./check-kept-features.js";
import { createFeatures } from "./create-features.js";
import { readWithoutDuplicates } from "./created-duplicates.js";
import { deleteFeatures } from "./delete-features.js";
import { EtagChain } from "./etag-chain.js";
import { FailuresFile } from "./failures-file.js";
import { recreateUpdatedFeatures, resumeRecreations } from "./recreate-updated-features.js";
import { replaceAllFeatures } from "./replace-all-features.js";
import { outcomeUnknownError } from "./resolve-unidentified.js";
import { updateFeatures } from "./update-features.js";

/**
 * @returns what was done, also where it was stopped before its end (`ending`)
 * @throws backup-failed, output-failed where the backup or the journal cannot be written: then nothing was sent
 */
export async function applyPlan(plan: OpenPlan, tools: ApplyContext): Promise<ApplyReport> {
  const { header } = plan;
  if (await openRecreations(tools.stateFolder))
    throw createError("recreations-open", { service: header.service, map: header.map });
  const { update, delete: removed, create } = plan.counts;
  await using backup = await BackupWriter.create(plan, tools.backupPath, new Date(), (done) =>
    tools.onProgress?.({ step: "backup", done, total: update + removed + create }),
  );
  await tools.onCheckpoint?.("backed-up");
  const { journal, past } = await openOrResumeJournal(plan, tools.stateFolder);
  // Where nothing is matched, what others write is no business of the run.
  const etagChain = new EtagChain(header.key === null ? null : header.snapshot.etag);
  const report = await runSteps(plan, tools, { journal, backup, etagChain }, (run) => executePlan(run, past));
  return { ...report, backup: backup?.path ?? null };
}

/**
 * Creates what a run that died had deleted to create it anew. To be done before the map is read for a plan, and when
 * nothing of that run is under way any more.
 * @returns null where there is nothing of the kind
 * @throws output-failed where the journal cannot be written: then nothing was sent
 */
export async function finishInterruptedUpdates(tools: ApplyContext): Promise<ApplyReport | null> {
  const plan = await openRecreations(tools.stateFolder);
  if (!plan) return null;
  const { journal } = await openOrResumeJournal(plan, tools.stateFolder);
  return runSteps(plan, tools, { journal, backup: null, etagChain: new EtagChain(null) }, async (run) => {
    await resumeRecreations(run);
    return { put: false, etag: null };
  });
}

interface ApplyResources {
  readonly journal: Journal;
  readonly backup: BackupWriter | null;
  readonly etagChain: EtagChain;
}

/** Runs the steps within a journal, and tells what was done, however they end. */
async function runSteps(
  plan: OpenPlan,
  tools: ApplyContext,
  { journal, backup, etagChain }: ApplyResources,
  steps: (run: ApplyRun) => Promise<AppliedState>,
): Promise<ApplyReport> {
  const failures = new FailuresFile(tools.rejectsPath);
  const run = new ApplyRun(plan, tools, journal, failures, backup ?? nullRecorder, etagChain);
  let ending: GeoferryError | null = null;
  let done: AppliedState = { put: false, etag: null };
  try {
    done = await steps(run);
    await backup?.end();
    await journal.end();
    await run.reachCheckpoint("ended");
  } catch (error) {
    ending = toStopError(error, run);
    withholdDeletes(run, "stopped");
  } finally {
    await journal[Symbol.asyncDispose]();
  }
  const rejects = await failures.flush().catch((error: unknown) => {
    ending ??= asGeoferryError(error);
    return null;
  });
  return {
    ...run.counts,
    ...done,
    ...(run.removedDuplicates > 0 && { twins: run.removedDuplicates }),
    withheld: run.withheld,
    hasConflict: run.etagChain.isLost,
    hasWritten: run.hasWritten,
    backup: null,
    rejects,
    refused: run.refused,
    notices: run.notices,
    error: ending ?? finalError(run, rejects),
  };
}

/** What ended it; of an interruption, that what was sent until then stays, wherever it was noticed. */
function toStopError(error: unknown, run: ApplyRun): GeoferryError {
  const known = asGeoferryError(error);
  return known.kind === "interrupted" ? run.createInterruptedError(known) : known;
}

type AppliedState = Pick<ApplyReport, "put" | "etag">;

async function executePlan(run: ApplyRun, past: JournaledRun | null): Promise<AppliedState> {
  const { header, counts } = run.plan;
  if (isEmptyPlan(counts)) return { put: false, etag: header.snapshot.etag };
  if (header.put) {
    const result = await replaceAllFeatures(run);
    if (result.kind === "done") {
      await using reading = result.reread;
      await run.context.onMapReread?.(reading, run.creationRecorder);
      return { put: true, etag: reading.snapshot.etag };
    }
    run.notices.push(`${result.reason}: features are created, updated and deleted instead`);
  }
  await createFeatures(run, past);
  await (header.settings.updateWith === "patch" ? updateFeatures(run) : recreateUpdatedFeatures(run));
  if (header.key === null) return { put: false, etag: null };
  await using reading = await readWithoutDuplicates(run);
  await run.context.onMapReread?.(reading, run.creationRecorder);
  if (run.duplicatesError) throw run.duplicatesError;
  if (!checkDeletesAllowed(run)) return { put: false, etag: reading.snapshot.etag };
  run.etagChain.resume(reading.snapshot.etag);
  run.etagChain.startIfOff(reading.snapshot.etag);
  const { changedCount, etag } = await deleteFeatures(run, reading);
  if (changedCount > 0) run.withheld = { deletes: changedCount, why: "changed" };
  else if (!run.etagChain.isActive) await checkKeptFeatures(run);
  return { put: false, etag };
}

/** Nothing is deleted after a failure: what failed may be what a feature that goes is replaced by. */
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
 * A new journal; or the last one, where it is of a run of the same plan that was cut off while it created features that
 * nothing identifies: only the journal knows which of them the map has.
 */
async function openOrResumeJournal(
  { header }: OpenPlan,
  folder: string,
): Promise<{ readonly journal: Journal; readonly past: JournaledRun | null }> {
  const { service, map, mode, source } = header;
  const beginning: JournalHeader = { run: randomUUID(), service, map, mode, fingerprint: source.fingerprint };
  const past = header.key?.by === "property" ? null : await readJournal(folder);
  const isSame = past && !past.isEnded && past.mode === mode && past.fingerprint === source.fingerprint;
  return isSame && past.service === service && past.map === map
    ? { journal: await Journal.resume(folder, past.run, past.batches), past }
    : { journal: await Journal.begin(folder, beginning), past: null };
}
