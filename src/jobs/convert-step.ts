/** A step whose target is files: only what has changed since it wrote them is converted. */
import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import { tellable } from "../io/without-secrets.js";
import { convertMany, type Decide, type Outcome } from "../pipeline/convert-many.js";
import type { ConvertRequest, Host } from "../pipeline/request.js";
import { settingsHash } from "../sync/state.js";
import { filesWritten, isUnchanged, type Mark, marksOf, outputStampOf } from "./fingerprint.js";
import type { ConversionStep } from "./job.js";
import type { JobState, Written } from "./job-state.js";
import { errorReport, type ItemReport } from "./run-report.js";
import type { JobTools } from "./run-step.js";

/**
 * @param settled the outputs that earlier tries have written, which stay as they are; those of this one are added
 * @throws what `convertMany` throws before it begins
 */
export async function convertStep(
  step: ConversionStep,
  state: JobState,
  tools: JobTools,
  settled: Set<string>,
): Promise<ItemReport[]> {
  const { dryRun } = tools;
  /** By output: what its sources were when they were read. */
  const sources = new Map<string, readonly Mark[] | null>();
  /** By output: of everything else that it depends on. */
  const settingsBy = new Map<string, string>();
  /** Outputs whose files got their names, or nearly did. */
  const named = new Set<string>();
  const about = (output: string, files: Written["files"]): Written => ({
    settings: settingsBy.get(output)!,
    sources: sources.get(output) ?? null,
    files,
  });
  const host: Host = {
    ...tools.host,
    onCommit(output, files) {
      const stamped = files.map(({ path, final }) => ({ path: final, stamp: outputStampOf(path) ?? "" }));
      if (files.length === 0 || !settingsBy.has(output)) return;
      state.begin(step.name, output, about(output, stamped));
      named.add(output);
    },
  };
  const decide: Decide = async (request) => {
    const { output, append, replaceLayer } = request;
    if (settled.has(output)) return null;
    const settings = settingsOf(request);
    const begun = state.begun(step.name, output);
    if (begun?.files.every(isAsWeLeftIt)) state.wrote(step.name, output, begun);
    const before = state.written(step.name, output);
    if (before?.sources && before.settings === settings && !step.always && isWhole(before, request, host)) {
      const now = await sourcesOf(request, before.files, host, false);
      if (now !== null && (await isUnchanged(before.sources, now, host.signal))) return null;
    }
    settingsBy.set(output, settings);
    sources.set(output, await sourcesOf(request, before?.files ?? [], host, !dryRun));
    if (dryRun) return null;
    const isOurs = isReplaceable([...(before?.files ?? []), ...(begun?.files ?? [])], output);
    return isOurs && !append && !replaceLayer ? { ...request, overwrite: true } : request;
  };
  const keep = ({ output, report }: Outcome) => {
    if (!report && named.has(output)) state.forgetBegun(step.name, output);
    if (!report || report.upToDate) return;
    settled.add(output);
    const mains = [...new Set(report.outputs.map(({ path }) => path))];
    const { append } = step.request;
    // What others add to is known by its name.
    const paths = append ? mains : mains.flatMap((path) => filesWritten(path, host.registry));
    const files = paths.map((path) => ({ path, stamp: outputStampOf(path) ?? "" }));
    state.wrote(step.name, output, about(output, files));
  };
  const outcomes = await convertMany(step.request, host, keep, decide);
  return outcomes.map((outcome) => itemOf(outcome, dryRun && sources.has(outcome.output), host));
}

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
  const own = new Set(written.map(({ path }) => resolve(path)));
  return ofGrids && [...marks.filter(({ name }) => !own.has(resolve(name))), ...ofGrids];
}

const isAsWeLeftIt = ({ path, stamp }: Written["files"][number]): boolean => outputStampOf(path) === stamp;

/** Whether all that was written is there: as it was left, or, where others may add to it, at all. */
function isWhole({ files }: Written, { append }: ConvertRequest, { registry }: Host): boolean {
  const isThere = (path: string) => registry.ofAddress(path) !== undefined || existsSync(path);
  return files.length > 0 && files.every((file) => (append ? isThere(file.path) : isAsWeLeftIt(file)));
}

/** Whether nothing of what is there is somebody else's. @param files with all stamps that they may have */
function isReplaceable(files: Written["files"], output: string): boolean {
  const main = resolve(output);
  const own = new Set(files.filter(isAsWeLeftIt).map(({ path }) => path));
  const isOwn = (path: string) => own.has(path) || !existsSync(path);
  const stamp = outputStampOf(output);
  const isKnown = files.some((file) => file.stamp === stamp || resolve(file.path).startsWith(main + sep));
  return own.size > 0 && (stamp === null || isKnown) && files.every(({ path }) => isOwn(path));
}

/** @param isDue whether it would have been converted */
function itemOf(outcome: Outcome, isDue: boolean, { registry }: Host): ItemReport {
  const { input: source, output, report, error } = outcome;
  const target = tellable(output, registry);
  if (error) return { source, target, result: "failed", counts: {}, error: errorReport(error) };
  if (report.upToDate) return { source, target, result: isDue ? "done" : "unchanged", counts: {}, error: null };
  const { read, written, rejected, gaps } = report;
  const result = rejected > 0 || gaps.length > 0 ? "rejects" : "done";
  return { source, target, result, counts: { read, written, rejected }, error: null };
}
