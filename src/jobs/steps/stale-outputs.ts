/** Outputs that an earlier run of a step wrote and that no source becomes any more: they are left as they are, and reported. */
import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { isBucketAddress, toAbsolute } from "../../io/s3/bucket-address.js";
import { emptyFindings, type Finding, type Regression } from "../report/findings.js";
import type { ItemReport } from "../report/run-report.js";
import type { JobState, OutputRecord } from "../run/job-state.js";

/** @param written outputs of the step that this run knows of @param keeps false of a dry run, which notes nothing */
export function listStaleOutputs(
  step: string,
  written: readonly string[],
  state: JobState,
  keeps: boolean,
): ItemReport[] {
  const known = new Set(written.map(toAbsolute));
  return state.outputs(step).flatMap(({ output, readOutput }) => {
    if (known.has(output)) return [];
    if (!readOutput.files.some(({ path }) => isBucketAddress(path) || existsSync(path))) {
      if (keeps) state.deleteOutput(step, output);
      return [];
    }
    if (keeps && !readOutput.isStale) state.saveOutput(step, output, { ...readOutput, isStale: true });
    return [itemOf(output, readOutput)];
  });
}

function itemOf(output: string, { sources, isStale }: OutputRecord): ItemReport {
  const below = relative(process.cwd(), output);
  const target = isBucketAddress(output) || below.startsWith(`..${sep}`) ? output : below;
  const source = sources?.[0]?.name;
  const example = `${target}: no source becomes it any more${source === undefined ? "" : ` (it was ${source})`}; it is left as an earlier run wrote it`;
  const notice: Finding = { code: "stale-output", count: 1, example };
  const change: Regression = { what: "notice", code: "stale-output", before: null, now: 1, example };
  return {
    source: source ?? "no source",
    target,
    result: "unchanged",
    counts: {},
    error: null,
    ...emptyFindings,
    notices: [notice],
    changes: isStale ? [] : [change],
  };
}
