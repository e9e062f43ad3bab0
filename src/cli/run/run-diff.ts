/** `geoferry diff`: compares two inputs and reports the differences. */
import { compare } from "../../compare/compare.js";
import type { CompareRequest } from "../../compare/request.js";
import { exitStatus } from "../exit.js";
import { openHost } from "../host.js";
import type { GridArguments } from "../options/grid-options.js";
import { DiffExamples, renderDiff, renderDiffChange, renderDiffLayer } from "../output/diff-report.js";
import { ProgressDisplay } from "../output/progress.js";
import type { MapInputArguments } from "./map-inputs.js";

export interface DiffArguments extends MapInputArguments, GridArguments {
  readonly inputs: readonly string[];
  readonly key?: string;
  readonly match?: string;
  readonly precision?: string;
  readonly ignore?: readonly string[];
  readonly exitCode?: boolean;
  readonly from?: string;
  readonly layer?: readonly string[];
  readonly sourceCrs?: string;
  readonly where?: string;
  readonly swapXy?: boolean;
  readonly in?: readonly string[];
  readonly oldFrom?: string;
  readonly newFrom?: string;
  readonly oldLayer?: readonly string[];
  readonly newLayer?: readonly string[];
  readonly oldSourceCrs?: string;
  readonly newSourceCrs?: string;
  readonly oldWhere?: string;
  readonly newWhere?: string;
  readonly oldIn?: readonly string[];
  readonly newIn?: readonly string[];
  readonly accuracy?: string;
  readonly grid?: readonly string[];
  readonly skipErrors?: boolean;
  readonly workers?: string;
  readonly maxInput?: string;
}

/** @returns the exit status */
export async function runDiff(request: CompareRequest, args: DiffArguments): Promise<number> {
  const display = new ProgressDisplay(process.stderr);
  const host = await openHost(args, args.quiet || args.json ? undefined : display.update);
  const examples = new DiffExamples();
  const report = await compare(request, host, {
    onLayer: (layer) => {
      display.clear();
      renderDiffLayer(layer, args);
    },
    onChange: (change, layer) => {
      examples.add(change, layer);
      return renderDiffChange(change, layer, args);
    },
  });
  display.clear();
  renderDiff(report, examples, args);
  if (report.rejected > 0 || report.skippedRanges.length > 0) return exitStatus.rejected;
  return args.exitCode && report.differs ? exitStatus.differences : 0;
}
