/** The story of a conversion: open, decide, scan where needed, write, check, commit. */
import { createError } from "../errors.js";
import { Spool } from "../io/input/spool.js";
import { OutputSet } from "../io/output/output-set.js";
import { redact } from "../io/redact.js";
import { isBucketAddress } from "../io/s3/bucket-address.js";
import { withSpan } from "../tracing/span.js";
import { ProgressTracker } from "./conversion-context.js";
import { ConversionRun } from "./conversion-run.js";
import { chooseExecutor, startWorkersEarly } from "./execute/choose-executor.js";
import type { Executor } from "./execute/executor.js";
import { isUpToDate, openAppendTarget, outputCrs } from "./input/append-target.js";
import { checkGeometryDeclared, checkGeometryFound } from "./input/check-geometry.js";
import { openInputs } from "./input/open-inputs.js";
import { checkFieldCount } from "./plan/check-field-count.js";
import { checkRequest } from "./plan/check-request.js";
import { isUpdatedInPlace, openInPlaceUpdate } from "./plan/in-place-update.js";
import { mayReplaceOutputs, type OutputReservations, PathPlan } from "./plan/path-plan.js";
import { chooseWriter, outputName, planOutputs } from "./plan/plan-outputs.js";
import { withUtmZoneAdvice } from "./plan/suggest-utm-zone.js";
import { enforceThresholds, parseThreshold } from "./plan/thresholds.js";
import {
  type ConvertReport,
  describeKept,
  describeLoss,
  describeSkippedRange,
  ReportBuilder,
  unservedPositionAdvice,
  upToDateReport,
} from "./report.js";
import type { ConvertRequest, Host } from "./request.js";
import { nullsBadGeometry, RejectsFile } from "./write/rejects-file.js";

/**
 * Converts the inputs into one output, which appears whole or not at all.
 * @param shared where to run, for several conversions at once; made for this one alone where absent
 * @param claims the outputs of all of them, lest two write one
 * @throws GeoferryError of every kind but "rejected": rejected features are in the report
 */
export function convert(
  asked: ConvertRequest,
  host: Host,
  shared?: Executor,
  claims: OutputReservations = new Set(),
): Promise<ConvertReport> {
  const attributes = { "geoferry.output": redact(asked.output, host.registry) };
  return withSpan("convert", { attributes }, async (span) => {
    const report = await runConversion(asked, host, shared, claims).catch(async (error: unknown) => {
      throw await withUtmZoneAdvice(error);
    });
    const { read, written, rejected, upToDate } = report;
    span.set({ "geoferry.read": read, "geoferry.written": written, "geoferry.rejected": rejected });
    span.set({ "geoferry.up_to_date": upToDate });
    return report;
  });
}

async function runConversion(
  asked: ConvertRequest,
  host: Host,
  shared: Executor | undefined,
  reservations: OutputReservations,
): Promise<ConvertReport> {
  if (isBucketAddress(asked.output) || isBucketAddress(asked.rejects ?? "")) {
    const { convertToBucket } = await import("./write/convert-to-bucket.js");
    return convertToBucket(asked, host, reservations, (inside, within, own) => convert(inside, within, shared, own));
  }
  const writer = chooseWriter(asked, host);
  await checkRequest(asked, host);
  const request = { ...asked, output: outputName(asked.output, writer.format) };
  const pathPlan = new PathPlan(request, {
    format: writer.format,
    registry: host.registry,
    mayReplace: mayReplaceOutputs(request, writer.capabilities.layers),
    changesInPlace: request.append === true || isUpdatedInPlace(request, writer),
    reservations,
    fileStem: writer.fileStem,
    ...(host.originalPath ? { originalPath: host.originalPath } : {}),
  });
  if (request.ifNewer && isUpToDate(request.output, request.inputs)) return upToDateReport(request);

  await using early = shared ? null : await startWorkersEarly(request, host, writer);
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
      executor: shared ?? early ?? undefined,
    },
    host,
    spool,
  );
  for (const found of inputs.findings) reportBuilder.add(found);
  checkGeometryDeclared(inputs.layers, request);
  for (const { layer, source } of inputs.layers) checkFields(source.name, layer.fields?.length ?? 0);
  host.onLayers?.(inputs.layers.map((open) => open.layer));
  const layers = [...(existing?.layers ?? []), ...inputs.layers];
  const files = planOutputs(layers, request, writer);
  for (const file of files) pathPlan.addPart(file.path);

  const owned = (shared ?? early) ? undefined : await chooseExecutor(request, host, layers, writer);
  const executor = shared ?? early ?? owned!;
  const outputs = new OutputSet();
  const limit = parseThreshold("--max-rejects", request.maxRejects);
  const advice = async () => unservedPositionAdvice(await reportBuilder.collectNotices());
  const rejectsFile = new RejectsFile(pathPlan.rejectsPath, limit, outputs, advice, host.rewriteMessage);
  const targetCrs = await outputCrs(request, existing);
  const progress = new ProgressTracker(host.onProgress);
  const run = new ConversionRun({
    request,
    host,
    executor,
    writer,
    targetCrs,
    inPlaceUpdate,
    pathPlan,
    outputs,
    rejectsFile,
    reportBuilder,
    progress,
  });
  try {
    for (const file of await run.plan(files)) await run.write(file);
    await reportBuilder.checkAnyTransformed();
    await rejectsFile.checkShare(reportBuilder.read);
    checkGeometryFound(inputs.layers, reportBuilder.geometryCounts, request, reportBuilder.notices.list());
    const losses = reportBuilder.losses.list();
    const { skippedRanges } = reportBuilder;
    if (request.strict && losses.length + skippedRanges.length + rejectsFile.kept > 0)
      throw createError("lossy", {
        losses: [...skippedRanges.map(describeSkippedRange), ...losses.map(describeLoss), ...describeKept(rejectsFile)],
      });
    enforceThresholds(request, reportBuilder);
    run.finish();
    const rejected = rejectsFile.close();
    const reports = run.reports();
    const written = reports.reduce((sum, output) => sum + output.features, 0);
    const report: ConvertReport = {
      inputs: request.inputs,
      outputs: reports,
      read: reportBuilder.read,
      written,
      rejected: rejectsFile.count,
      kept: rejectsFile.kept,
      withoutGeometry: reportBuilder.withoutGeometry,
      skippedRanges,
      losses,
      notices: await reportBuilder.collectNotices(),
      operations: await reportBuilder.summarizeOperations(),
      rejects: rejected,
      upToDate: false,
    };
    await run.commit(report);
    return report;
  } catch (error) {
    await run.abort();
    if (host.signal.aborted) throw createError("interrupted", {}, error);
    throw error;
  } finally {
    await owned?.[Symbol.asyncDispose]();
  }
}
