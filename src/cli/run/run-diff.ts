/** `geoferry diff`: compares two inputs and reports the differences. */
import { existsSync } from "node:fs";
import { type ChangesOutput, ChangesWriter } from "../../compare/changes/write-changes.js";
import { type CompareReport, compare } from "../../compare/compare.js";
import type { CompareRequest } from "../../compare/request.js";
import { createError } from "../../errors.js";
import { Spool } from "../../io/input/spool.js";
import type { Outcome } from "../../pipeline/convert-many.js";
import { expandInputs } from "../../pipeline/input/expand-inputs.js";
import { refuseInputAsOutput } from "../../pipeline/plan/path-plan.js";
import { type Host, omitUndefined } from "../../pipeline/request.js";
import { exitStatus, worstStatus } from "../exit.js";
import { openHost } from "../host.js";
import type { GridArguments } from "../options/grid-options.js";
import { DiffExamples, renderDiff, renderDiffChange, renderDiffLayer } from "../output/diff-report.js";
import { printNotice } from "../output/print.js";
import { ProgressDisplay } from "../output/progress.js";
import { exitStatusOf, renderOutcome } from "../output/render.js";
import { outputOf } from "../parse/arguments.js";
import { pairs } from "../parse/values.js";
import type { MapInputArguments } from "./map-inputs.js";

export interface DiffArguments extends MapInputArguments, GridArguments {
  readonly inputs: readonly string[];
  readonly key?: string;
  readonly match?: string;
  readonly precision?: string;
  readonly ignore?: readonly string[];
  readonly exitCode?: boolean;
  readonly output?: string;
  readonly html?: string;
  readonly to?: string;
  readonly out?: readonly string[];
  readonly targetCrs?: string;
  readonly overwrite?: boolean;
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

/** Checked before the comparison, which may take long. @throws output-exists, usage */
function checkOutputs({ output, html, overwrite, json }: DiffArguments): void {
  if (json && output !== undefined && outputOf(output) === "-")
    throw createError("usage", {
      reason: "both the changes (-o is -) and the records of --json would go to stdout: choose one",
    });
  for (const path of [output, html])
    if (path !== undefined && !overwrite && existsSync(path))
      throw createError("output-exists", { output: path, use: "plan" });
}

const outputRequestOf = (args: DiffArguments): ChangesOutput =>
  omitUndefined<ChangesOutput>({
    output: outputOf(args.output!),
    to: args.to,
    targetCrs: args.targetCrs,
    writerOptions: pairs("--out", args.out),
    overwrite: args.overwrite,
  });

/** The input that a folder or pattern has. @throws usage if it has several, input-missing */
async function findOnlyInput(given: string, from: string | undefined, host: Host): Promise<string> {
  const found = await expandInputs([given], host.registry, host.signal, from);
  if (found.length === 1) return found[0]!.address;
  const listed = `${found
    .slice(0, 3)
    .map(({ address }) => address)
    .join(", ")}${found.length > 3 ? " …" : ""}`;
  throw createError("usage", {
    reason: `${given} names ${found.length} inputs (${listed}), but diff compares one input with another: name one of them`,
  });
}

/** @returns the exit status */
export async function runDiff(given: CompareRequest, args: DiffArguments): Promise<number> {
  checkOutputs(args);
  const display = ProgressDisplay.of(args);
  const host = await openHost(args, display.callback);
  const request = {
    ...given,
    old: await findOnlyInput(given.old, given.from, host),
    new: await findOnlyInput(given.new, given.from, host),
  };
  for (const path of [args.output, args.html])
    if (path !== undefined) refuseInputAsOutput(path, [request.old, request.new], host.registry);
  await using spool = new Spool();
  using writer = args.output === undefined ? null : new ChangesWriter(outputRequestOf(args), host, spool);
  const page = args.html === undefined ? null : await openPage();
  const examples = new DiffExamples();
  const report = await compare(request, host, {
    onLayer(layer) {
      display.clear();
      renderDiffLayer(layer, args);
      writer?.events.onLayer(layer);
    },
    onChange(change, layer) {
      examples.add(change, layer);
      writer?.events.onChange(change, layer);
      page?.collector.add(change, layer);
      return renderDiffChange(change, layer, args);
    },
  });
  display.clear();
  renderDiff(report, examples, args);
  if (page) {
    await page.write(report, args.html!, args.overwrite ?? false);
    printNotice(args, `saved a page with both versions in ${args.html}`);
  }
  const statuses: number[] = [];
  if (writer) {
    const written = await writer.write();
    display.clear();
    const outcome: Outcome = { input: report.new, output: outputRequestOf(args).output, report: written };
    renderOutcome(outcome, args);
    statuses.push(exitStatusOf([outcome]));
  }
  if (report.rejected > 0 || report.skippedRanges.length > 0) statuses.push(exitStatus.rejected);
  // As for a plan, an incomplete comparison precedes its result.
  if (statuses.some((status) => status !== 0)) return worstStatus(statuses);
  return args.exitCode && report.differs ? exitStatus.differences : 0;
}

/** The code of the page is loaded only if it is asked for. */
async function openPage() {
  const [{ ChangeCollector }, { renderDiffPage }, { writeReport }] = await Promise.all([
    import("../diff-page/collect-changes.js"),
    import("../diff-page/page.js"),
    import("../output/self-contained-page.js"),
  ]);
  const collector = new ChangeCollector();
  return {
    collector,
    write: (report: CompareReport, path: string, overwrite: boolean) =>
      writeReport(renderDiffPage(report, collector.finish(report.layers.length > 1)), path, overwrite),
  };
}
