import { convertMany, type Outcome } from "../../pipeline/convert-many.js";
import type { ConvertRequest, Host } from "../../pipeline/request.js";
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
import type { ProtocolRecorder } from "../protocol/protocol-recorder.js";
import type { MapInputArguments } from "./map-inputs.js";

/** @returns the exit status @throws usage */
export async function convertAndReport(
  request: ConvertRequest,
  args: MapInputArguments & GridArguments & { readonly report?: string },
): Promise<number> {
  const { report: protocolPath } = args;
  if (protocolPath !== undefined)
    await (await import("../protocol/write-protocol.js")).checkProtocolPath(protocolPath, request);
  const display = ProgressDisplay.of(args);
  const opened = await openHost(args, display.callback);
  const shown = { ...opened, onLeftOut: (paths: readonly string[]) => renderLeftOut(paths, args) };
  const recorder =
    protocolPath === undefined ? null : new (await import("../protocol/protocol-recorder.js")).ProtocolRecorder();
  const host = recorder?.watch(shown) ?? shown;
  const outcomes = await convertMany(request, host, (outcome) => {
    display.clear();
    // Failures are printed last, where they are visible.
    if (!outcome.error) renderOutcome(outcome, args);
  });
  renderFailures(request, outcomes, args);
  if (outcomes.some(isInterrupted)) renderInterruption(outcomes, args);
  else renderBatch(outcomes, args);
  const status = exitStatusOf(outcomes);
  if (protocolPath !== undefined && recorder)
    await fileProtocol(protocolPath, request, outcomes, status, recorder, host);
  return status;
}

/** Writes the protocol of the conversions. @throws report-failed */
async function fileProtocol(
  path: string,
  request: ConvertRequest,
  outcomes: readonly Outcome[],
  status: number,
  recorder: ProtocolRecorder,
  host: Host,
): Promise<void> {
  const { createProtocol, toProtocolConversion } = await import("../protocol/protocol.js");
  const { writeProtocol } = await import("../protocol/write-protocol.js");
  const conversions = [];
  for (const outcome of outcomes)
    conversions.push(toProtocolConversion(outcome, await recorder.filesOf(outcome, host)));
  const times = { started: recorder.started, finished: new Date() };
  await writeProtocol(path, createProtocol(request, times, status, conversions));
}
