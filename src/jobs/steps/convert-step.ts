/** Runs a conversion step: converts only sources that have changed since their outputs were written. */
import { createError, GeoferryError } from "../../errors.js";
import { redact } from "../../io/redact.js";
import { separatorFor, toAbsolute } from "../../io/s3/bucket-address.js";
import { type ConfirmRequest, convertMany, type Outcome } from "../../pipeline/convert-many.js";
import type { ConvertRequest, Host } from "../../pipeline/request.js";
import { hashOfSettings } from "../../sync/state/map-state.js";
import type { ConversionStep, SyncStep } from "../job.js";
import { emptyFindings, type Findings, findRegressions } from "../report/findings.js";
import { type ErrorReport, emptyFindingLists, type ItemReport, toErrorReport } from "../report/run-report.js";
import type { DispatchContext } from "../run/dispatch-context.js";
import type { JobState, OutputRecord } from "../run/job-state.js";
import { type ConversionRecord, stampFiles, toConversionRecord, toFindings } from "./conversion-record.js";
import { isUnchanged, readStamp, type SourceStat, statSources } from "./source-stat.js";
import { listStaleOutputs } from "./stale-outputs.js";

export interface OutputResult {
  readonly input: string;
  readonly output: string;
  /** Null if the conversion failed. */
  readonly record: ConversionRecord | null;
  readonly error?: GeoferryError | ErrorReport;
  /** Digests of the sources, if a worker has read them. */
  readonly digests?: readonly (string | null)[];
  readonly worker?: string;
}

/** Decides which outputs are due and stores their records, for local and distributed runs. */
export interface OutputRecords {
  readonly decide: ConfirmRequest;
  save(finished: OutputResult): void;
  /** Settings and sources of an output that is due, and if it is appended to, the stamp of its file before. */
  describe(output: string): OutputRecord;
}

/**
 * @param finishedOutputs outputs of earlier attempts, which are skipped; this attempt adds its own
 * @param dependent a sync step that workers may start as soon as this one is done
 * @throws what `convertMany` throws before its first conversion
 */
export async function convertStep(
  step: ConversionStep,
  state: JobState,
  context: DispatchContext,
  finishedOutputs: Set<string>,
  dependent: SyncStep | null,
): Promise<ItemReport[]> {
  const { dryRun } = context;
  const distributedRun = dryRun ? undefined : context.distributedRun;
  /** By output: its sources at the time they were read. */
  const sources = new Map<string, readonly SourceStat[] | null>();
  /** By output: hash of its settings. */
  const settingsBy = new Map<string, string>();
  /** By output: the record of the previous run, and whether the output is still current. */
  const previous = new Map<string, { readonly last: OutputRecord; readonly isCurrent: boolean }>();
  /** Files of outputs that were committed or were about to be. */
  const committed = new Map<string, OutputRecord["files"]>();
  /** By output that is appended to: its file before the append. */
  const filesBefore = new Map<string, OutputRecord["files"]>();
  const describe = (output: string) => ({
    settings: settingsBy.get(output)!,
    sources: sources.get(output) ?? null,
    files: filesBefore.get(output) ?? [],
  });
  const host: Host = {
    ...context.host,
    onCommit(output, files, report) {
      if (files.length === 0 || !settingsBy.has(output)) return;
      const stamped = stampFiles(files);
      state.savePendingCommit(step.name, output, { ...describe(output), files: stamped, findings: toFindings(report) });
      committed.set(output, stamped);
    },
  };
  const decide: ConfirmRequest = async (request) => {
    const { output, append, replaceLayer } = request;
    if (finishedOutputs.has(output)) return null;
    const settings = settingsOf(request);
    const pending = state.readPendingCommit(step.name, output);
    if (pending && (await areUnmodified(pending.files, host.signal))) state.saveOutput(step.name, output, pending);
    if (append && !dryRun) {
      await checkDispatched(state, step.name, output, host.signal, distributedRun !== undefined);
      if (host.registry.findByAddress(output) === undefined)
        filesBefore.set(output, [{ path: output, stamp: (await readStamp(output, host.signal)) ?? noStamp }]);
    }
    const last = state.readOutput(step.name, output);
    if (last) previous.set(output, { last, isCurrent: false });
    if (last?.sources && last.settings === settings && !step.always && (await isComplete(last, request, host))) {
      const now = await sourcesOf(request, last.files, host, false);
      if (now !== null && (await isUnchanged(last.sources, now, host.signal))) {
        previous.set(output, { last, isCurrent: true });
        if (last.isStale) state.saveOutput(step.name, output, clearStaleFlag(last));
        return null;
      }
    }
    settingsBy.set(output, settings);
    // In a distributed run the worker computes the digests.
    sources.set(output, await sourcesOf(request, last?.files ?? [], host, !dryRun && !distributedRun));
    if (dryRun) return null;
    const isOurs = await isReplaceable([...(last?.files ?? []), ...(pending?.files ?? [])], output, host);
    const before = last?.settings === settings ? last.findings?.counts.read : undefined;
    return {
      ...request,
      ...(isOurs && !append && !replaceLayer && { overwrite: true }),
      ...(step.maxDecrease !== null && before !== undefined && { decrease: { max: step.maxDecrease, before } }),
    };
  };
  const save = ({ output, record, digests }: OutputResult) => {
    if (!record && committed.has(output)) state.deletePendingCommit(step.name, output);
    if (!record || record.upToDate) return;
    finishedOutputs.add(output);
    if (digests) sources.set(output, addDigests(sources.get(output) ?? null, digests));
    const { files, findings } = record;
    state.saveOutput(step.name, output, { ...describe(output), files, findings });
  };
  const stateOf = (output: string): OutputState => {
    const { last: lastRecord = null, isCurrent = false } = previous.get(output) ?? {};
    return { isDue: dryRun && sources.has(output), isCurrent, lastRecord };
  };
  const withStaleOutputs = (items: ItemReport[], finished: readonly OutputResult[]): ItemReport[] => {
    // If the folder cannot be listed, it is unknown which sources are gone.
    const isUnlisted = finished.some(({ output, record }) => !record && output === step.request.output);
    return isUnlisted
      ? items
      : [
          ...items,
          ...listStaleOutputs(
            step.name,
            finished.map(({ output }) => output),
            state,
            !dryRun,
          ),
        ];
  };
  if (distributedRun) {
    const finished = await distributedRun.convert(step, host, { decide, save, describe }, dependent);
    return withStaleOutputs(
      finished.map((each) => itemOf(each, stateOf(each.output), host)),
      finished,
    );
  }
  const finishedOf = ({ input, output, report, error }: Outcome): OutputResult =>
    error
      ? { input, output, record: null, error }
      : { input, output, record: toConversionRecord(report, step.request, host.registry, committed.get(output)) };
  const finished = new Map<Outcome, OutputResult>();
  const onOutcome = (outcome: Outcome) => {
    finished.set(outcome, finishedOf(outcome));
    save(finished.get(outcome)!);
  };
  const outcomes = await convertMany(step.request, host, onOutcome, decide);
  const items = outcomes.map((outcome) => itemOf(finished.get(outcome)!, stateOf(outcome.output), host));
  return withStaleOutputs(items, [...finished.values()]);
}

/** Stamp of a file that does not exist. */
const noStamp = "";

/**
 * Refuses, once, to append to a file whose append by a worker has no known outcome, since no run has read its result.
 * @param hasQueue whether this run has looked for the result: then the worker has not written if the file is as before;
 *   without the queue, a worker may still append
 * @throws append-outcome-unknown
 */
async function checkDispatched(
  state: JobState,
  step: string,
  output: string,
  signal: AbortSignal,
  hasQueue: boolean,
): Promise<void> {
  const dispatched = state.readDispatched(step, output);
  if (dispatched === null || dispatched.isReported) return;
  const stamps = await Promise.all(dispatched.files.map(({ path }) => readStamp(path, signal)));
  if (hasQueue && dispatched.files.every(({ stamp }, index) => stamp === (stamps[index] ?? noStamp))) return;
  // The record stays: a later run with the queue may find the result.
  state.saveDispatched(step, [{ output, record: { ...dispatched, isReported: true } }]);
  throw createError("append-outcome-unknown", { output, hasQueue });
}

const clearStaleFlag = ({ isStale: _, ...written }: OutputRecord): OutputRecord => written;

/** Adds the digests that a worker has computed. */
export const addDigests = (
  stats: readonly SourceStat[] | null,
  digests: readonly (string | null)[],
): readonly SourceStat[] | null =>
  stats?.map((mark, index) => ({ ...mark, digest: digests[index] ?? mark.digest })) ?? null;

/** Hash of everything except sources that the output depends on. */
function settingsOf(request: ConvertRequest): string {
  const { workers: _, maxInputBytes: __, overwrite: ___, ...all } = request;
  return hashOfSettings(all);
}

/**
 * State of the inputs and of the grids. Grids are large, so their times suffice.
 * @param written files of the step itself, which are not sources even if they are next to one: `roads.dbf`, `roads.csv`
 */
async function sourcesOf(
  { inputs, grids = [] }: ConvertRequest,
  written: OutputRecord["files"],
  { registry, signal }: Host,
  digests: boolean,
): Promise<SourceStat[] | null> {
  const stats = await statSources(inputs, registry, signal, digests);
  const gridStats = stats && (await statSources(grids, registry, signal, false));
  const own = new Set(written.map(({ path }) => toAbsolute(path)));
  return gridStats && [...stats.filter(({ name }) => !own.has(toAbsolute(name))), ...gridStats];
}

/** Whether all files or objects still have their stamps. */
export async function areUnmodified(files: OutputRecord["files"], signal: AbortSignal): Promise<boolean> {
  for (const { path, stamp } of files) if ((await readStamp(path, signal)) !== stamp) return false;
  return true;
}

/** Whether all output files are unmodified; files that are appended to only need to exist. */
async function isComplete(
  { files }: OutputRecord,
  { append }: ConvertRequest,
  { registry, signal }: Host,
): Promise<boolean> {
  if (files.length === 0 || !append) return files.length > 0 && areUnmodified(files, signal);
  for (const { path } of files)
    if (registry.findByAddress(path) === undefined && (await readStamp(path, signal)) === null) return false;
  return true;
}

/** Whether the step wrote everything that would be replaced. @param files with all stamps that they may have */
async function isReplaceable(files: OutputRecord["files"], output: string, { signal }: Host): Promise<boolean> {
  if (files.length === 0) return false;
  const main = toAbsolute(output);
  const now = new Map<string, string | null>();
  for (const path of [output, ...files.map(({ path }) => path)]) now.set(path, await readStamp(path, signal));
  const own = new Set(files.filter(({ path, stamp }) => now.get(path) === stamp).map(({ path }) => path));
  const isOwn = (path: string) => own.has(path) || now.get(path) === null;
  const stamp = now.get(output)!;
  const isKnown = files.some(
    (file) => file.stamp === stamp || toAbsolute(file.path).startsWith(main + separatorFor(output)),
  );
  return own.size > 0 && (stamp === null || isKnown) && files.every(({ path }) => isOwn(path));
}

interface OutputState {
  /** A dry run would have converted it. */
  readonly isDue: boolean;
  /** It is unchanged, so the findings of its record apply. */
  readonly isCurrent: boolean;
  /** Record of the previous run; null for a new output. */
  readonly lastRecord: OutputRecord | null;
}

function itemOf(
  { input: source, output, record, error, worker }: OutputResult,
  { isDue, isCurrent, lastRecord }: OutputState,
  { registry }: Host,
): ItemReport {
  const item = {
    source,
    target: redact(output, registry),
    error: null,
    ...emptyFindingLists,
    ...(worker === undefined ? {} : { worker }),
  };
  if (!record) {
    const report = error instanceof GeoferryError ? toErrorReport(error) : error!;
    return { ...item, result: "failed", counts: {}, error: explainExisting(report, output, lastRecord) };
  }
  if (record.upToDate) {
    if (!isCurrent || lastRecord === null) return { ...item, result: isDue ? "done" : "unchanged", counts: {} };
    const earlier = findingsOf(lastRecord);
    const { counts, fields: _, extent: __, formats: ___, ...lists } = earlier;
    const { rejected = 0, withoutGeometry = 0 } = counts;
    const counted = { ...(rejected > 0 && { rejected }), ...(withoutGeometry > 0 && { withoutGeometry }) };
    return { ...item, ...lists, result: isPartial(earlier) ? "rejects" : "unchanged", counts: counted };
  }
  const { findings } = record;
  const { counts, fields: _, extent: __, formats: ___, ...lists } = findings;
  const regressions = findRegressions(lastRecord?.findings ?? null, findings);
  return { ...item, ...lists, regressions, result: isPartial(findings) ? "rejects" : "done", counts };
}

/** Adds why a file that the job wrote is not replaced: only an unmodified one is. */
function explainExisting(error: ErrorReport, output: string, lastRecord: OutputRecord | null): ErrorReport {
  const main = toAbsolute(output);
  const isWritten = lastRecord?.files.some(({ path }) => toAbsolute(path) === main) ?? false;
  if (error.code !== "output-exists" || !isWritten) return error;
  return { ...error, message: `${error.message}; the output was changed after the job wrote it` };
}

/** Whether some source features are missing in the output. */
const isPartial = ({ counts: { rejected = 0 }, skippedRanges }: Findings): boolean =>
  rejected > 0 || skippedRanges.length > 0;

/** Records of earlier versions contain only the number of rejected features. */
const findingsOf = ({ findings, rejected = 0 }: OutputRecord): Findings =>
  findings ?? { counts: { ...(rejected > 0 && { rejected }) }, ...emptyFindings };
