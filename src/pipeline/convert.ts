/** The story of a conversion: open, decide, scan where needed, write, check, commit. */
import { fault } from "../errors.js";
import { OutputSet } from "../io/output-set.js";
import { isBucketAddress } from "../io/s3-address.js";
import { Spool } from "../io/spool.js";
import { tellable } from "../io/without-secrets.js";
import { traced } from "../tracing/span.js";
import { checkFieldCount } from "./check-field-count.js";
import { checkRequest } from "./check-request.js";
import { chooseExecutor, startEarly } from "./choose-executor.js";
import { Meter } from "./conversion.js";
import type { Executor } from "./executor.js";
import { isUpToDate, openExisting, outputCrs } from "./existing.js";
import { checkGeometryDeclared, checkGeometryFound } from "./geometry-missing.js";
import { openInputs } from "./inputs.js";
import { guardLimits, parseLimit } from "./limits.js";
import { chooseWriter, outputName, planOutputs } from "./outputs.js";
import { type Claims, PathPlan, replaces } from "./paths.js";
import { keepsRows, RejectsFile } from "./rejects.js";
import {
  adviceOf,
  type ConvertReport,
  describeGap,
  describeKept,
  describeLoss,
  Gathered,
  nothingToDo,
} from "./report.js";
import type { ConvertRequest, Host } from "./request.js";
import { Run } from "./run.js";
import { openUpdate, updatesInPlace } from "./update.js";
import { withZoneAdvice } from "./zone-advice.js";

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
  claims: Claims = new Set(),
): Promise<ConvertReport> {
  const attributes = { "geoferry.output": tellable(asked.output, host.registry) };
  return traced("convert", { attributes }, async (span) => {
    const report = await convertWhole(asked, host, shared, claims).catch(async (error: unknown) => {
      throw await withZoneAdvice(error);
    });
    const { read, written, rejected, upToDate } = report;
    span.set({ "geoferry.read": read, "geoferry.written": written, "geoferry.rejected": rejected });
    span.set({ "geoferry.up_to_date": upToDate });
    return report;
  });
}

async function convertWhole(
  asked: ConvertRequest,
  host: Host,
  shared: Executor | undefined,
  claims: Claims,
): Promise<ConvertReport> {
  if (isBucketAddress(asked.output) || isBucketAddress(asked.rejects ?? "")) {
    const { convertIntoBucket } = await import("./bucket-output.js");
    return convertIntoBucket(asked, host, claims, (inside, within, own) => convert(inside, within, shared, own));
  }
  const writer = chooseWriter(asked, host);
  await checkRequest(asked, host);
  const request = { ...asked, output: outputName(asked.output, writer.format) };
  const paths = new PathPlan(request, {
    format: writer.format,
    registry: host.registry,
    replaces: replaces(request, writer.accepts.layers),
    changes: request.append === true || updatesInPlace(request, writer),
    claims,
    stem: writer.stem,
    ...(host.standsAt ? { standsAt: host.standsAt } : {}),
  });
  if (request.update && isUpToDate(request.output, request.inputs)) return nothingToDo(request);

  await using early = shared ? null : await startEarly(request, host, writer);
  await using spool = new Spool();
  const update = await openUpdate(request, writer, host, spool);
  await using existing = await openExisting(request, writer, host, spool);
  const gathered = new Gathered();
  const { shortLines = false } = writer.accepts;
  const checkFields = (source: string, count: number) => checkFieldCount(source, count, request, writer);
  await using inputs = await openInputs(
    request.inputs,
    {
      ...request,
      keepsRows: keepsRows(request, writer.accepts),
      shortLines,
      checkFields,
      executor: shared ?? early ?? undefined,
    },
    host,
    spool,
  );
  for (const found of inputs.findings) gathered.add(found);
  checkGeometryDeclared(inputs.layers, request);
  for (const { layer, source } of inputs.layers) checkFields(source.name, layer.fields?.length ?? 0);
  host.onLayers?.(inputs.layers.map((open) => open.layer));
  const layers = [...(existing?.layers ?? []), ...inputs.layers];
  const files = planOutputs(layers, request, writer);
  for (const file of files) paths.addPart(file.path);

  const owned = (shared ?? early) ? undefined : await chooseExecutor(request, host, layers, writer);
  const executor = shared ?? early ?? owned!;
  const outputs = new OutputSet();
  const limit = parseLimit("--max-rejects", request.maxRejects);
  const advice = async () => adviceOf(await gathered.allNotices());
  const rejects = new RejectsFile(paths.rejects, limit, outputs, advice, host.words);
  const target = await outputCrs(request, existing);
  const meter = new Meter(host.onProgress);
  const run = new Run({ request, host, executor, writer, target, update, paths, outputs, rejects, gathered, meter });
  try {
    for (const file of await run.plan(files)) await run.write(file);
    await gathered.checkServed();
    await rejects.check(gathered.read);
    checkGeometryFound(inputs.layers, gathered.located, request, gathered.notices.list());
    const losses = gathered.losses.list();
    const { gaps } = gathered;
    if (request.strict && losses.length + gaps.length + rejects.kept > 0)
      throw fault("lossy", {
        losses: [...gaps.map(describeGap), ...losses.map(describeLoss), ...describeKept(rejects)],
      });
    guardLimits(request, gathered);
    run.settle();
    const rejected = rejects.settle();
    const reports = run.reports();
    const written = reports.reduce((sum, output) => sum + output.features, 0);
    const report: ConvertReport = {
      inputs: request.inputs,
      outputs: reports,
      read: gathered.read,
      written,
      rejected: rejects.count,
      kept: rejects.kept,
      withoutGeometry: gathered.withoutGeometry,
      gaps,
      losses,
      notices: await gathered.allNotices(),
      operations: await gathered.operations(),
      rejects: rejected,
      upToDate: false,
    };
    await run.commit(report);
    return report;
  } catch (error) {
    await run.abort();
    if (host.signal.aborted) throw fault("interrupted", {}, error);
    throw error;
  } finally {
    await owned?.[Symbol.asyncDispose]();
  }
}
