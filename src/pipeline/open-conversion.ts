/** Opens everything that a conversion works with, and closes it afterwards. */
import { basename } from "node:path";
import { Spool } from "../io/input/spool.js";
import { OutputSet } from "../io/output/output-set.js";
import { type ConversionContext, ProgressTracker } from "./conversion-context.js";
import { chooseExecutor, startWorkersEarly } from "./execute/choose-executor.js";
import type { Executor } from "./execute/executor.js";
import { openAppendTarget, outputCrs } from "./input/append-target.js";
import { checkGeometryDeclared } from "./input/check-geometry.js";
import { openInputs } from "./input/open-inputs.js";
import { checkFieldCount } from "./plan/check-field-count.js";
import { openInPlaceUpdate, replacedLayerNames } from "./plan/in-place-update.js";
import type { PathPlan } from "./plan/path-plan.js";
import { type ChosenWriter, type OutputFile, planOutputs } from "./plan/plan-outputs.js";
import { parseThreshold } from "./plan/thresholds.js";
import { ReportBuilder, unservedPositionAdvice } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";
import { nullsBadGeometry, RejectsFile } from "./write/rejects-file.js";

type RunConversion<T> = (conversion: ConversionContext, files: readonly OutputFile[]) => Promise<T>;

/**
 * Calls `run` with the open inputs, the executor and the files to write; closes inputs and executor when it ends.
 * @throws errors of opening the inputs and of planning the output files, and what `run` throws
 */
export async function withOpenConversion<T>(
  request: ConvertRequest,
  host: Host,
  writer: ChosenWriter,
  pathPlan: PathPlan,
  sharedExecutor: Executor | undefined,
  run: RunConversion<T>,
): Promise<T> {
  await using earlyExecutor = sharedExecutor ? null : await startWorkersEarly(request, host, writer);
  await using spool = new Spool();
  const inPlaceUpdate = await openInPlaceUpdate(request, writer, host, spool);
  await using existing = await openAppendTarget(request, writer, host, spool);
  const reportBuilder = new ReportBuilder();
  const { onePointLines = false } = writer.capabilities;
  const checkFields = (source: string, count: number) => checkFieldCount(source, count, request, writer);
  await using inputs = await openInputs(
    request.inputs,
    {
      ...request,
      keepsBadGeometries: nullsBadGeometry(request, writer.capabilities),
      onePointLines,
      checkFieldCount: checkFields,
      executor: sharedExecutor ?? earlyExecutor ?? undefined,
    },
    host,
    spool,
  );
  for (const findings of [...(existing?.findings ?? []), ...inputs.findings]) reportBuilder.add(findings);
  if (host.inputLosses) reportBuilder.losses.merge(host.inputLosses.list());
  checkGeometryDeclared(inputs.layers, request);
  for (const { layer, source } of inputs.layers) checkFields(source.name, layer.fields?.length ?? 0);
  host.onLayers?.(
    inputs.layers.map(({ layer }) => layer),
    inputs.layers.map(({ reader }) => reader.id),
  );

  const layers = [...(existing?.layers ?? []), ...inputs.layers];
  const files = planOutputs(layers, request, writer);
  for (const file of files) pathPlan.addPart(file.path);
  noteRemovedLayers(await replacedLayerNames(request, writer, host, spool), files, request.output, reportBuilder);

  const available = sharedExecutor ?? earlyExecutor;
  await using ownExecutor = available ? null : await chooseExecutor(request, host, layers, writer);
  const outputs = new OutputSet(host.signal);
  const getAdvice = async () => unservedPositionAdvice(await reportBuilder.collectNotices());
  const maxRejects = parseThreshold("--max-rejects", request.maxRejects);
  const conversion: ConversionContext = {
    request,
    host,
    executor: available ?? ownExecutor!,
    writer,
    inputLayers: inputs.layers,
    targetCrs: await outputCrs(request, existing),
    inPlaceUpdate,
    pathPlan,
    outputs,
    rejectsFile: new RejectsFile(pathPlan.rejectsPath, maxRejects, outputs, getAdvice, host.rewriteMessage),
    reportBuilder,
    progress: new ProgressTracker(host.onProgress),
  };
  // Awaited here, since `await using` closes the inputs when the function returns.
  try {
    return await run(conversion, files);
  } finally {
    await conversion.executor.closeSource?.();
  }
}

/** Notes the layers of an existing file that `--overwrite` removes with it. */
function noteRemovedLayers(
  existing: readonly string[],
  files: readonly OutputFile[],
  output: string,
  { notices }: ReportBuilder,
): void {
  const written = new Set(files.flatMap(({ layers }) => layers.map(({ name }) => name.toLowerCase())));
  const removed = existing.filter((name) => !written.has(name.toLowerCase()));
  // The only layer of a file is replaced by what is written, even under another name.
  if (existing.length < 2 || removed.length === 0) return;
  const listed = `${removed.slice(0, 5).join(", ")}${removed.length > 5 ? " …" : ""}`;
  const example = `--overwrite replaces the whole file, whose other layers are gone: ${listed}; --replace-layer would have kept them`;
  notices.add("layers-removed", basename(output), undefined, removed.length, example);
}
