/** Reports outputs of earlier runs whose source no longer exists; they are kept. */
import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { isBucketAddress, toAbsolute } from "../../io/s3/bucket-address.js";
import { emptyFindings, type Finding, type Regression } from "../report/findings.js";
import type { ItemReport } from "../report/run-report.js";
import type { JobState, OutputRecord } from "../run/job-state.js";

/** @param written outputs of the current sources @param updatesState false in a dry run */
export function listStaleOutputs(
  step: string,
  written: readonly string[],
  state: JobState,
  updatesState: boolean,
): ItemReport[] {
  const known = new Set(written.map(toAbsolute));
  return state.outputs(step).flatMap(({ output, record }) => {
    if (known.has(output)) return [];
    if (!record.files.some(({ path }) => isBucketAddress(path) || existsSync(path))) {
      if (updatesState) state.deleteOutput(step, output);
      return [];
    }
    if (updatesState && !record.isStale) state.saveOutput(step, output, { ...record, isStale: true });
    return [itemOf(output, record)];
  });
}

function itemOf(output: string, { sources, isStale }: OutputRecord): ItemReport {
  const below = relative(process.cwd(), output);
  const target = isBucketAddress(output) || below.startsWith(`..${sep}`) ? output : below;
  const source = sources?.[0]?.name;
  const example = `${target}: its source${source === undefined ? "" : ` ${source}`} no longer exists; the output of an earlier run is kept`;
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
    regressions: isStale ? [] : [change],
  };
}
