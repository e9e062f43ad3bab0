/** A step whose target is files: only what has changed since it wrote them is converted. */
import { convertMany, type Decide, type Outcome } from "../pipeline/convert-many.js";
import type { ConvertRequest } from "../pipeline/request.js";
import { settingsHash } from "../sync/state.js";
import { isUnchanged, type Mark, marksOf, stampOf } from "./fingerprint.js";
import type { ConversionStep } from "./job.js";
import type { JobState, Written } from "./job-state.js";
import { errorReport, type ItemReport } from "./run-report.js";
import type { JobTools } from "./run-step.js";

/** @throws what `convertMany` throws before it begins */
export async function convertStep(step: ConversionStep, state: JobState, tools: JobTools): Promise<ItemReport[]> {
  const { host, dryRun } = tools;
  /** By output: what its sources were when they were read. */
  const sources = new Map<string, readonly Mark[] | null>();
  const decide: Decide = async (request) => {
    const settings = settingsOf(request);
    const { inputs, output } = request;
    const before = state.written(step.name, output);
    const isOurs = before !== null && before.files.length > 0 && before.files.every(isAsWeLeftIt);
    if (isOurs && before.sources !== null && before.settings === settings && !step.always) {
      const now = await marksOf(inputs, host.registry, host.signal, false);
      if (now !== null && (await isUnchanged(before.sources, now, host.signal))) return null;
    }
    sources.set(output, await marksOf(inputs, host.registry, host.signal, !dryRun));
    if (dryRun) return null;
    const { append, replaceLayer } = request;
    return isOurs && !append && !replaceLayer ? { ...request, overwrite: true } : request;
  };
  const keep = ({ output, report }: Outcome) => {
    if (!report || report.upToDate) return;
    const files = [...new Set(report.outputs.map(({ path }) => path))].map((path) => ({
      path,
      stamp: stampOf(path) ?? "",
    }));
    state.wrote(step.name, output, {
      settings: settingsOf({ ...step.request, inputs: report.inputs, output }),
      sources: sources.get(output) ?? null,
      files,
    });
  };
  const outcomes = await convertMany(step.request, host, keep, decide);
  return outcomes.map((outcome) => itemOf(outcome, dryRun && sources.has(outcome.output)));
}

/** Everything that the output depends on besides its sources. */
function settingsOf(request: ConvertRequest): string {
  const { workers: _, maxInputBytes: __, overwrite: ___, ...all } = request;
  return settingsHash(all);
}

const isAsWeLeftIt = ({ path, stamp }: Written["files"][number]): boolean => stampOf(path) === stamp;

/** @param isDue whether it would have been converted */
function itemOf({ input: source, output: target, report, error }: Outcome, isDue: boolean): ItemReport {
  if (error) return { source, target, result: "failed", counts: {}, error: errorReport(error) };
  if (report.upToDate) return { source, target, result: isDue ? "done" : "unchanged", counts: {}, error: null };
  const { read, written, rejected, gaps } = report;
  const result = rejected > 0 || gaps.length > 0 ? "rejects" : "done";
  return { source, target, result, counts: { read, written, rejected }, error: null };
}
