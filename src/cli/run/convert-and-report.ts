import { convertMany } from "../../pipeline/convert-many.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import { openHost } from "../host.js";
import type { GridArguments } from "../options/grid-options.js";
import { ProgressDisplay } from "../output/progress.js";
import {
  exitStatusOf,
  isInterrupted,
  renderBatch,
  renderFailures,
  renderInterruption,
  renderLeftOut,
  renderOutcome,
} from "../output/render.js";
import type { MapInputArguments } from "./map-inputs.js";

/** @returns the exit status @throws usage */
export async function convertAndReport(
  request: ConvertRequest,
  args: MapInputArguments & GridArguments,
): Promise<number> {
  const display = new ProgressDisplay(process.stderr);
  const opened = await openHost(args, args.quiet || args.json ? undefined : display.update);
  const host = { ...opened, onLeftOut: (paths: readonly string[]) => renderLeftOut(paths, args) };
  const outcomes = await convertMany(request, host, (outcome) => {
    display.clear();
    // Failures are printed last, where they are visible.
    if (!outcome.error) renderOutcome(outcome, args);
  });
  renderFailures(request, outcomes, args);
  if (outcomes.some(isInterrupted)) renderInterruption(outcomes, args);
  else renderBatch(outcomes, args);
  return exitStatusOf(outcomes);
}
