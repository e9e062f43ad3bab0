/** Outputs that an earlier run of a step wrote and that no source becomes any more: they are left as they are, and reported. */
import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { absolute, isBucketAddress } from "../io/s3-address.js";
import { type Change, type Finding, noFindings } from "./findings.js";
import type { JobState, Written } from "./job-state.js";
import type { ItemReport } from "./run-report.js";

/** @param written outputs of the step that this run knows of @param keeps false of a dry run, which notes nothing */
export function outputsLeft(step: string, written: readonly string[], state: JobState, keeps: boolean): ItemReport[] {
  const known = new Set(written.map(absolute));
  return state.outputs(step).flatMap(({ output, written }) => {
    if (known.has(output)) return [];
    if (!written.files.some(({ path }) => isBucketAddress(path) || existsSync(path))) {
      if (keeps) state.forgetWritten(step, output);
      return [];
    }
    if (keeps && !written.isLeft) state.wrote(step, output, { ...written, isLeft: true });
    return [itemOf(output, written)];
  });
}

function itemOf(output: string, { sources, isLeft }: Written): ItemReport {
  const below = relative(process.cwd(), output);
  const target = isBucketAddress(output) || below.startsWith(`..${sep}`) ? output : below;
  const source = sources?.[0]?.name;
  const example = `${target}: no source becomes it any more${source === undefined ? "" : ` (it was ${source})`}; it is left as an earlier run wrote it`;
  const notice: Finding = { code: "output-left", count: 1, example };
  const change: Change = { what: "notice", code: "output-left", before: null, now: 1, example };
  return {
    source: source ?? "no source",
    target,
    result: "unchanged",
    counts: {},
    error: null,
    ...noFindings,
    notices: [notice],
    changes: isLeft ? [] : [change],
  };
}
