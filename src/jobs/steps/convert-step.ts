/** A step whose target is files: only what has changed since it wrote them is converted. */
import { GeoferryError } from "../../errors.js";
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

/** What became of one output. */
export interface OutputResult {
  readonly input: string;
  readonly output: string;
  /** Null where it failed. */
  readonly record: ConversionRecord | null;
  readonly error?: GeoferryError | ErrorReport;
  /** Digests of the sources, where somebody else has read them. */
  readonly digests?: readonly (string | null)[];
  readonly worker?: string;
}

/** What is decided and kept of the outputs of a step, wherever they are written. */
export interface OutputRecords {
  readonly decide: ConfirmRequest;
  save(finished: OutputResult): void;
  /** What an output that is due depends on. */
  describe(output: string): Omit<OutputRecord, "files">;
}

/**
 * @param settled the outputs that earlier tries have written, which stay as they are; those of this one are added
 * @param rider the step that workers may do as soon as this one is done
 * @throws what `convertMany` throws before it begins
 */
export async function convertStep(
  step: ConversionStep,
  state: JobState,
  tools: DispatchContext,
  settled: Set<string>,
  rider: SyncStep | null,
): Promise<ItemReport[]> {
  const { dryRun } = tools;
  const handOut = dryRun ? undefined : tools.distributedRun;
  /** By output: what its sources were when they were read. */
  const sources = new Map<string, readonly SourceStat[] | null>();
  /** By output: of everything else that it depends on. */
  const settingsBy = new Map<string, string>();
  /** By output: how it was last written, and whether it is unchanged since. */
  const before = new Map<string, { readonly last: OutputRecord; readonly isStanding: boolean }>();
  /** Outputs whose files got their names, or nearly did. */
  const named = new Map<string, OutputRecord["files"]>();
  const describe = (output: string) => ({ settings: settingsBy.get(output)!, sources: sources.get(output) ?? null });
  const host: Host = {
    ...tools.host,
    onCommit(output, files, report) {
      if (files.length === 0 || !settingsBy.has(output)) return;
      const stamped = stampFiles(files);
      state.savePendingCommit(step.name, output, { ...describe(output), files: stamped, findings: toFindings(report) });
      named.set(output, stamped);
    },
  };
  const decide: ConfirmRequest = async (request) => {
    const { output, append, replaceLayer } = request;
    if (settled.has(output)) return null;
    const settings = settingsOf(request);
    const begun = state.readPendingCommit(step.name, output);
    if (begun && (await areUnmodified(begun.files, host.signal))) state.saveOutput(step.name, output, begun);
    const last = state.readOutput(step.name, output);
    if (last) before.set(output, { last, isStanding: false });
    if (last?.sources && last.settings === settings && !step.always && (await isComplete(last, request, host))) {
      const now = await sourcesOf(request, last.files, host, false);
      if (now !== null && (await isUnchanged(last.sources, now, host.signal))) {
        before.set(output, { last, isStanding: true });
        if (last.isStale) state.saveOutput(step.name, output, clearStaleFlag(last));
        return null;
      }
    }
    settingsBy.set(output, settings);
    // Whoever reads them elsewhere takes their digests.
    sources.set(output, await sourcesOf(request, last?.files ?? [], host, !dryRun && !handOut));
    if (dryRun) return null;
    const isOurs = await isReplaceable([...(last?.files ?? []), ...(begun?.files ?? [])], output, host);
    return isOurs && !append && !replaceLayer ? { ...request, overwrite: true } : request;
  };
  const save = ({ output, record, digests }: OutputResult) => {
    if (!record && named.has(output)) state.deletePendingCommit(step.name, output);
    if (!record || record.upToDate) return;
    settled.add(output);
    if (digests) sources.set(output, addDigests(sources.get(output) ?? null, digests));
    const { files, findings } = record;
    state.saveOutput(step.name, output, { ...describe(output), files, findings });
  };
  const asFound = (output: string): OutputState => {
    const { last: lastRecord = null, isStanding: isCurrent = false } = before.get(output) ?? {};
    return { isDue: dryRun && sources.has(output), isCurrent, lastRecord };
  };
  const withLeft = (items: ItemReport[], finished: readonly OutputResult[]): ItemReport[] => {
    // Of a folder that cannot be listed it is unknown which sources are gone.
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
  if (handOut) {
    const finished = await handOut.convert(step, host, { decide, save, describe }, rider);
    return withLeft(
      finished.map((each) => itemOf(each, asFound(each.output), host)),
      finished,
    );
  }
  const finishedOf = ({ input, output, report, error }: Outcome): OutputResult =>
    error
      ? { input, output, record: null, error }
      : { input, output, record: toConversionRecord(report, step.request, host.registry, named.get(output)) };
  const finished = new Map<Outcome, OutputResult>();
  const onOutcome = (outcome: Outcome) => {
    finished.set(outcome, finishedOf(outcome));
    save(finished.get(outcome)!);
  };
  const outcomes = await convertMany(step.request, host, onOutcome, decide);
  const items = outcomes.map((outcome) => itemOf(finished.get(outcome)!, asFound(outcome.output), host));
  return withLeft(items, [...finished.values()]);
}

/** Of an output that a source becomes again. */
const clearStaleFlag = ({ isStale: _, ...written }: OutputRecord): OutputRecord => written;

/** Marks with the digests that somebody else has taken. */
export const addDigests = (
  marks: readonly SourceStat[] | null,
  digests: readonly (string | null)[],
): readonly SourceStat[] | null =>
  marks?.map((mark, index) => ({ ...mark, digest: digests[index] ?? mark.digest })) ?? null;

/** Everything that the output depends on besides its sources. */
function settingsOf(request: ConvertRequest): string {
  const { workers: _, maxInputBytes: __, overwrite: ___, ...all } = request;
  return hashOfSettings(all);
}

/**
 * What the inputs are, and the grids that they are reprojected by; of those, which are large, times alone count.
 * @param written beside the inputs by the step itself: `roads.dbf` does not belong to `roads.csv`
 */
async function sourcesOf(
  { inputs, grids = [] }: ConvertRequest,
  written: OutputRecord["files"],
  { registry, signal }: Host,
  digests: boolean,
): Promise<SourceStat[] | null> {
  const marks = await statSources(inputs, registry, signal, digests);
  const ofGrids = marks && (await statSources(grids, registry, signal, false));
  const own = new Set(written.map(({ path }) => toAbsolute(path)));
  return ofGrids && [...marks.filter(({ name }) => !own.has(toAbsolute(name))), ...ofGrids];
}

/** Whether all files, or objects, are as they were left. */
export async function areUnmodified(files: OutputRecord["files"], signal: AbortSignal): Promise<boolean> {
  for (const { path, stamp } of files) if ((await readStamp(path, signal)) !== stamp) return false;
  return true;
}

/** Whether all that was written is there: as it was left, or, where others may add to it, at all. */
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

/** Whether nothing of what is there is somebody else's. @param files with all stamps that they may have */
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

/** What is known of an output besides what came of it. */
interface OutputState {
  /** It would have been, but for the dry run. */
  readonly isDue: boolean;
  /** It is as it was left: what was found then stands. */
  readonly isCurrent: boolean;
  /** How it was last written; null of one that is new. */
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
    const told = error instanceof GeoferryError ? toErrorReport(error) : error!;
    return { ...item, result: "failed", counts: {}, error: told };
  }
  if (record.upToDate) {
    if (!isCurrent || lastRecord === null) return { ...item, result: isDue ? "done" : "unchanged", counts: {} };
    const stood = foundOf(lastRecord);
    const { counts, ...lists } = stood;
    const { rejected = 0, withoutGeometry = 0 } = counts;
    const standing = { ...(rejected > 0 && { rejected }), ...(withoutGeometry > 0 && { withoutGeometry }) };
    return { ...item, ...lists, result: isPartial(stood) ? "rejects" : "unchanged", counts: standing };
  }
  const { findings } = record;
  const { counts, ...lists } = findings;
  const changes = findRegressions(lastRecord?.findings ?? null, findings);
  return { ...item, ...lists, changes, result: isPartial(findings) ? "rejects" : "done", counts };
}

/** Whether some of what the sources have is not in the output. */
const isPartial = ({ counts: { rejected = 0 }, gaps }: Findings): boolean => rejected > 0 || gaps.length > 0;

/** What was found when an output was written. An earlier geoferry kept no more than the number of rejects. */
const foundOf = ({ findings, rejected = 0 }: OutputRecord): Findings =>
  findings ?? { counts: { ...(rejected > 0 && { rejected }) }, ...emptyFindings };
