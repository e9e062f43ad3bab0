/** `geoferry view`: reads the inputs, and shows them on a page. */
import { existsSync } from "node:fs";
import { createError, type GeoferryError } from "../../errors.js";
import { formatCount } from "../../format-count.js";
import { expandInputs } from "../../pipeline/input/expand-inputs.js";
import { refuseInputAsOutput } from "../../pipeline/plan/path-plan.js";
import { omitUndefined } from "../../pipeline/request.js";
import { serveView } from "../../view/server/serve-view.js";
import type { ViewRequest } from "../../view/spool/read-input.js";
import { type InputOutcome, View } from "../../view/view.js";
import type { ViewArguments } from "../commands/view.js";
import { exitStatus, worstStatus } from "../exit.js";
import { openHost } from "../host.js";
import { sourceRequestOf } from "../options/source-options.js";
import { printNotice } from "../output/print.js";
import { bytes, ProgressDisplay } from "../output/progress.js";
import { renderError, renderLeftOut, renderLosses, renderSkippedRanges } from "../output/render.js";
import { outputOf } from "../parse/arguments.js";
import { numberOf, portNumber } from "../parse/values.js";
import { interrupted } from "../signals.js";
import { viewFiles } from "../view-page/page.js";
import { openBrowser } from "./open-browser.js";

/** Megabytes of a page that `-o` writes. */
const defaultMaxSize = 10;
const minMaxSize = 0.5;

/** The file of a page; `-` for stdout, null without one. */
const outputIn = ({ output }: ViewArguments): string | null => (output === undefined ? null : outputOf(output));

/** Checked before anything is read, which may take long. @throws usage, option-invalid, output-exists */
function checkArguments(args: ViewArguments): number {
  const { basemap, overwrite, maxSize } = args;
  const output = outputIn(args);
  if (output === "-" && args.json)
    throw createError("usage", {
      reason: "both the page (-o is -) and the records of --json would go to stdout: choose one",
    });
  if (basemap !== undefined) checkBasemap(basemap);
  if (output !== null && output !== "-" && !overwrite && existsSync(output))
    throw createError("output-exists", { output, use: "plan" });
  const size = numberOf("--max-size", maxSize, minMaxSize, false) ?? defaultMaxSize;
  return size * 1e6;
}

/** @throws option-invalid */
function checkBasemap(value: string): void {
  const isTemplate = ["{z}", "{x}", "{y}"].every((part) => value.includes(part));
  const address = value.replaceAll(/[{}]/g, "");
  if (isTemplate && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return;
  const expected = "an http or https address with {z}, {x} and {y}: https://tiles.example.org/{z}/{x}/{y}.png";
  throw createError("option-invalid", { option: "--basemap", value, expected });
}

/** @returns the exit status */
export async function runView(args: ViewArguments): Promise<number> {
  const maxBytes = checkArguments(args);
  const port = portNumber("--port", args.port) ?? 0;
  const { rejects: _, ...request } = sourceRequestOf(args);
  const display = ProgressDisplay.of(args);
  const host = await openHost(args, display.callback);
  const inputs = await expandInputs(args.inputs, host.registry, host.signal, args.from, (paths) =>
    renderLeftOut(paths, args),
  );
  const output = outputIn(args);
  if (output !== null)
    refuseInputAsOutput(
      output,
      inputs.map(({ address }) => address),
      host.registry,
    );
  await using view = new View(omitUndefined<ViewRequest>(request), host);
  const statuses: number[] = [];
  const onInput = (outcome: InputOutcome) => {
    display.clear();
    statuses.push(reportInput(outcome, args, inputs.length > 1));
  };
  for (const { address, error } of inputs) {
    if (error) view.fail(address, error, onInput);
    else await view.read(address, onInput);
  }
  const status = worstStatus(statuses);
  if (view.layers.length === 0 && status !== 0) return status;
  const title = titleOf(view.inputs.map(({ input }) => input));
  if (output !== null) {
    const { writeViewFile } = await import("../view-page/write-file.js");
    const written = await writeViewFile(view, {
      title,
      path: output,
      maxBytes,
      overwrite: args.overwrite ?? false,
    });
    if (args.json)
      process.stdout.write(`${JSON.stringify({ type: "page", output, layers: view.layers.length, ...written })}\n`);
    for (const sentence of written.generalized) printNotice(args, sentence);
    printNotice(
      args,
      `saved a page with ${formatCount(view.layers.length, "layer")} in ${output === "-" ? "stdout" : output} (${bytes(written.bytes)})`,
    );
    return status;
  }
  await serveUntilInterrupted(view, title, port, args);
  return status;
}

async function serveUntilInterrupted(view: View, title: string, port: number, args: ViewArguments): Promise<void> {
  const files = viewFiles(view.info(title, args.basemap ?? null));
  const served = await serveView(view, files, port);
  if (args.json)
    process.stdout.write(`${JSON.stringify({ type: "view", url: served.url, layers: view.layers.length })}\n`);
  else process.stdout.write(`${served.url}\n`);
  printNotice(args, `showing ${formatCount(view.layers.length, "layer")} until Ctrl-C`);
  if (args.open !== false && !(await openBrowser(served.startUrl)))
    printNotice(args, "no browser could be opened; open the address above");
  if (!interrupted.aborted) await new Promise((resolve) => interrupted.addEventListener("abort", resolve));
  await served.close();
}

/** @returns the exit status of the input */
function reportInput(outcome: InputOutcome, args: ViewArguments, isOneOfMany: boolean): number {
  const { input, report, error } = outcome;
  if (error) return reportError(error, input, args, isOneOfMany);
  renderLosses(report.notices, report.losses, args);
  renderSkippedRanges(report.skippedRanges, args);
  if (report.rejected > 0)
    printNotice(
      args,
      `${input}: ${formatCount(report.rejected, "feature")} could not be read; the page has them with the reasons`,
    );
  return report.rejected > 0 || report.skippedRanges.length > 0 ? exitStatus.rejected : 0;
}

function reportError(error: GeoferryError, input: string, args: ViewArguments, isOneOfMany: boolean): number {
  renderError(error, args, { input }, isOneOfMany ? input : undefined);
  return exitStatus[error.kind];
}

/** The names of the first inputs. */
function titleOf(inputs: readonly string[]): string {
  const names = inputs.map((input) => input.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, ""));
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
