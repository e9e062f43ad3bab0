/** A step whose target is files: only what has changed since it wrote them is converted. */
import { GeoferryError } from "../errors.js";
import { absolute, separatorOf } from "../io/s3-address.js";
import { tellable } from "../io/without-secrets.js";
import { convertMany, type Decide, type Outcome } from "../pipeline/convert-many.js";
import type { ConvertRequest, Host } from "../pipeline/request.js";
import { settingsHash } from "../sync/state.js";
import { type Converted, convertedOf, stampedFiles } from "./converted.js";
import { isUnchanged, type Mark, marksOf, stampAt } from "./fingerprint.js";
import type { ConversionStep, SynchronisationStep } from "./job.js";
import type { JobState, Written } from "./job-state.js";
import { type ErrorReport, errorReport, type ItemReport } from "./run-report.js";
import type { JobTools } from "./run-step.js";

/** What became of one output. */
export interface Finished {
  readonly input: string;
  readonly output: string;
  /** Null where it failed. */
  readonly converted: Converted | null;
  readonly error?: GeoferryError | ErrorReport;
  /** Digests of the sources, where somebody else has read them. */
  readonly digests?: readonly (string | null)[];
  readonly worker?: string;
}

/** What is decided and kept of the outputs of a step, wherever they are written. */
export interface Bookkeeping {
  readonly decide: Decide;
  keep(finished: Finished): void;
  /** What an output that is due depends on. */
  about(output: string): Omit<Written, "files">;
}

/**
 * @param settled the outputs that earlier tries have written, which stay as they are; those of this one are added
 * @param rider the step that workers may do as soon as this one is done
 * @throws what `convertMany` throws before it begins
 */
export async function convertStep(
  step: ConversionStep,
  state: JobState,
  tools: JobTools,
  settled: Set<string>,
  rider: SynchronisationStep | null,
): Promise<ItemReport[]> {
  const { dryRun } = tools;
  const handOut = dryRun ? undefined : tools.handOut;
  /** By output: what its sources were when they were read. */
  const sources = new Map<string, readonly Mark[] | null>();
  /** By output: of everything else that it depends on. */
  const settingsBy = new Map<string, string>();
  /** By output that is unchanged: features that could not be carried when it was written. */
  const standing = new Map<string, number>();
  /** Outputs whose files got their names, or nearly did. */
  const named = new Map<string, Written["files"]>();
  const about = (output: string) => ({ settings: settingsBy.get(output)!, sources: sources.get(output) ?? null });
  const host: Host = {
    ...tools.host,
    onCommit(output, files) {
      if (files.length === 0 || !settingsBy.has(output)) return;
      const stamped = stampedFiles(files);
      state.begin(step.name, output, { ...about(output), files: stamped });
      named.set(output, stamped);
    },
  };
  const decide: Decide = async (request) => {
    const { output, append, replaceLayer } = request;
    if (settled.has(output)) return null;
    const settings = settingsOf(request);
    const begun = state.begun(step.name, output);
    if (begun && (await areAsWeLeftThem(begun.files, host.signal))) state.wrote(step.name, output, begun);
    const before = state.written(step.name, output);
    if (before?.sources && before.settings === settings && !step.always && (await isWhole(before, request, host))) {
      const now = await sourcesOf(request, before.files, host, false);
      if (now !== null && (await isUnchanged(before.sources, now, host.signal))) {
        standing.set(output, before.rejected ?? 0);
        return null;
      }
    }
    settingsBy.set(output, settings);
    // Whoever reads them elsewhere takes their digests.
    sources.set(output, await sourcesOf(request, before?.files ?? [], host, !dryRun && !handOut));
    if (dryRun) return null;
    const isOurs = await isReplaceable([...(before?.files ?? []), ...(begun?.files ?? [])], output, host);
    return isOurs && !append && !replaceLayer ? { ...request, overwrite: true } : request;
  };
  const keep = ({ output, converted, digests }: Finished) => {
    if (!converted && named.has(output)) state.forgetBegun(step.name, output);
    if (!converted || converted.upToDate) return;
    settled.add(output);
    if (digests) sources.set(output, withDigests(sources.get(output) ?? null, digests));
    const { files, rejected } = converted;
    state.wrote(step.name, output, { ...about(output), files, ...(rejected > 0 && { rejected }) });
  };
  const asFound = (output: string) => ({
    isDue: dryRun && sources.has(output),
    standing: standing.get(output) ?? 0,
  });
  if (handOut) {
    const finished = await handOut.convert(step, host, { decide, keep, about }, rider);
    return finished.map((each) => itemOf(each, asFound(each.output), host));
  }
  const finishedOf = ({ input, output, report, error }: Outcome): Finished =>
    error
      ? { input, output, converted: null, error }
      : { input, output, converted: convertedOf(report, step.request, host.registry, named.get(output)) };
  const finished = new Map<Outcome, Finished>();
  const onOutcome = (outcome: Outcome) => {
    finished.set(outcome, finishedOf(outcome));
    keep(finished.get(outcome)!);
  };
  const outcomes = await convertMany(step.request, host, onOutcome, decide);
  return outcomes.map((outcome) => itemOf(finished.get(outcome)!, asFound(outcome.output), host));
}

/** Marks with the digests that somebody else has taken. */
export const withDigests = (
  marks: readonly Mark[] | null,
  digests: readonly (string | null)[],
): readonly Mark[] | null => marks?.map((mark, index) => ({ ...mark, digest: digests[index] ?? mark.digest })) ?? null;

/** Everything that the output depends on besides its sources. */
function settingsOf(request: ConvertRequest): string {
  const { workers: _, maxInputBytes: __, overwrite: ___, ...all } = request;
  return settingsHash(all);
}

/**
 * What the inputs are, and the grids that they are reprojected by; of those, which are large, times alone count.
 * @param written beside the inputs by the step itself: `roads.dbf` does not belong to `roads.csv`
 */
async function sourcesOf(
  { inputs, grids = [] }: ConvertRequest,
  written: Written["files"],
  { registry, signal }: Host,
  digests: boolean,
): Promise<Mark[] | null> {
  const marks = await marksOf(inputs, registry, signal, digests);
  const ofGrids = marks && (await marksOf(grids, registry, signal, false));
  const own = new Set(written.map(({ path }) => absolute(path)));
  return ofGrids && [...marks.filter(({ name }) => !own.has(absolute(name))), ...ofGrids];
}

/** Whether all files, or objects, are as they were left. */
export async function areAsWeLeftThem(files: Written["files"], signal: AbortSignal): Promise<boolean> {
  for (const { path, stamp } of files) if ((await stampAt(path, signal)) !== stamp) return false;
  return true;
}

/** Whether all that was written is there: as it was left, or, where others may add to it, at all. */
async function isWhole({ files }: Written, { append }: ConvertRequest, { registry, signal }: Host): Promise<boolean> {
  if (files.length === 0 || !append) return files.length > 0 && areAsWeLeftThem(files, signal);
  for (const { path } of files)
    if (registry.ofAddress(path) === undefined && (await stampAt(path, signal)) === null) return false;
  return true;
}

/** Whether nothing of what is there is somebody else's. @param files with all stamps that they may have */
async function isReplaceable(files: Written["files"], output: string, { signal }: Host): Promise<boolean> {
  if (files.length === 0) return false;
  const main = absolute(output);
  const now = new Map<string, string | null>();
  for (const path of [output, ...files.map(({ path }) => path)]) now.set(path, await stampAt(path, signal));
  const own = new Set(files.filter(({ path, stamp }) => now.get(path) === stamp).map(({ path }) => path));
  const isOwn = (path: string) => own.has(path) || now.get(path) === null;
  const stamp = now.get(output)!;
  const isKnown = files.some(
    (file) => file.stamp === stamp || absolute(file.path).startsWith(main + separatorOf(output)),
  );
  return own.size > 0 && (stamp === null || isKnown) && files.every(({ path }) => isOwn(path));
}

/** What was found of an output that was not converted. */
interface AsFound {
  /** It would have been, but for the dry run. */
  readonly isDue: boolean;
  /** Features that could not be carried when it was written, and are told of as long as they are not. */
  readonly standing: number;
}

function itemOf(
  { input: source, output, converted, error, worker }: Finished,
  { isDue, standing }: AsFound,
  { registry }: Host,
): ItemReport {
  const item = { source, target: tellable(output, registry), ...(worker === undefined ? {} : { worker }) };
  if (!converted) {
    const told = error instanceof GeoferryError ? errorReport(error) : error!;
    return { ...item, result: "failed", counts: {}, error: told };
  }
  if (converted.upToDate && standing > 0)
    return { ...item, result: "rejects", counts: { rejected: standing }, error: null };
  if (converted.upToDate) return { ...item, result: isDue ? "done" : "unchanged", counts: {}, error: null };
  const { read, written, rejected, gaps } = converted;
  const result = rejected > 0 || gaps > 0 ? "rejects" : "done";
  return { ...item, result, counts: { read, written, rejected }, error: null };
}
