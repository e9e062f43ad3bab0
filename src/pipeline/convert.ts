/** One conversion: choose the writer, check the request, open the inputs, plan, write, check the guards, commit. */
import { createError } from "../errors.js";
import { InputFileStates } from "../io/input/file-states.js";
import { AppendLock, awaitAppends } from "../io/output/append-lock.js";
import { recoverOutput } from "../io/output/recover-outputs.js";
import { redact } from "../io/redact.js";
import { isBucketAddress } from "../io/s3/bucket-address.js";
import { withSpan } from "../tracing/span.js";
import { ConversionRun } from "./conversion-run.js";
import type { Executor } from "./execute/executor.js";
import { isUpToDate } from "./input/append-target.js";
import { withOpenConversion } from "./open-conversion.js";
import { checkRequest } from "./plan/check-request.js";
import { checkVerifiable } from "./plan/check-verify.js";
import { isUpdatedInPlace } from "./plan/in-place-update.js";
import { type OutputReservations, planPaths } from "./plan/path-plan.js";
import { chooseWriter, outputName } from "./plan/plan-outputs.js";
import { withUtmZoneAdvice } from "./plan/suggest-utm-zone.js";
import { type ConvertReport, upToDateReport } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";
import { checkGuards } from "./write/check-guards.js";

/**
 * Converts the inputs into one output, which appears complete or not at all.
 * @param sharedExecutor runs several conversions; without it, the conversion creates its own executor
 * @param reservations the output paths of all conversions of the run, so that no two write the same file
 * @throws GeoferryError of every kind but "rejected": rejected features are in the report
 */
export function convert(
  request: ConvertRequest,
  host: Host,
  sharedExecutor?: Executor,
  reservations: OutputReservations = new Set(),
): Promise<ConvertReport> {
  const attributes = { "geoferry.output": redact(request.output, host.registry) };
  return withSpan("convert", { attributes }, async (span) => {
    const report = await convertInSpan(request, host, sharedExecutor, reservations).catch(async (error: unknown) => {
      throw await withUtmZoneAdvice(error);
    });
    const { read, written, rejected, upToDate } = report;
    span.set({ "geoferry.read": read, "geoferry.written": written, "geoferry.rejected": rejected });
    span.set({ "geoferry.up_to_date": upToDate });
    return report;
  });
}

async function convertInSpan(
  given: ConvertRequest,
  host: Host,
  sharedExecutor: Executor | undefined,
  reservations: OutputReservations,
): Promise<ConvertReport> {
  if (isBucketAddress(given.output) || isBucketAddress(given.rejects ?? "")) {
    const { convertToBucket } = await import("./write/convert-to-bucket.js");
    return convertToBucket(given, host, reservations, (local, localHost, localReservations) =>
      convert(local, localHost, sharedExecutor, localReservations),
    );
  }
  const writer = chooseWriter(given, host);
  await checkRequest(given, host);
  checkVerifiable(given, writer, host);
  const request = { ...given, output: outputName(given.output, writer.format) };
  const isFile = writer.fileStem === null && request.output !== "-";
  const isRewritten = isFile && request.append === true && !writer.capabilities.updatesInPlace;
  // Changes in place are planned for the file as the run before has left it.
  const isChanged = isFile && (request.append === true || isUpdatedInPlace(request, writer));
  using appendLock = isChanged ? await AppendLock.acquire(request.output, host.signal) : null;
  // A writer that changes files in place refuses to replace one while it is changed.
  if (isFile && !isChanged && writer.capabilities.updatesInPlace) await awaitAppends(request.output, host.signal);
  if (isFile) recoverOutput(request.output, request.append === true);
  const pathPlan = planPaths(request, host, writer, reservations);
  if (request.ifNewer && isUpToDate(request.output, request.inputs, writer.format, host.registry))
    return upToDateReport(pathPlan.inputNames);
  const sources = new InputFileStates(
    isRewritten ? [...request.inputs, request.output] : request.inputs,
    (path) => host.registry.findSiblingExtensions(path),
    host.displayNames,
  );
  const converted = withOpenConversion(request, host, writer, pathPlan, sharedExecutor, async (conversion, files) => {
    await using run = await ConversionRun.open(conversion);
    try {
      for (const file of await run.plan(files)) await run.write(file);
      await checkGuards(conversion);
      await run.verify();
      run.removeStaleOutputs();
      const report = await run.createReport();
      await run.commit(report, async () => {
        if (isFile && !isChanged) for (const { path } of files) await awaitAppends(path, host.signal);
        sources.checkUnchanged();
        appendLock?.checkHeld();
      });
      return report;
    } catch (error) {
      await run.abort();
      if (host.signal.aborted) throw createError("interrupted", {}, error);
      throw error;
    }
  });
  // Awaited here, since `using` releases the lock when the function returns.
  return await converted.catch((error: unknown) => {
    throw sources.explain(error);
  });
}
