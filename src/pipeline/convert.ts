/** The story of a conversion: open, decide, scan where needed, write, check, commit. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fault } from "../errors.js";
import { Spool } from "../io/spool.js";
import { chooseExecutor } from "./choose-executor.js";
import type { Executor } from "./executor.js";
import { isUpToDate, openExisting, outputCrs } from "./existing.js";
import { openInputs } from "./inputs.js";
import { checkCompanions, checkOutput, chooseWriter, outputName, planOutputs } from "./outputs.js";
import { parseRejectLimit, RejectsFile } from "./rejects.js";
import { type ConvertReport, describeLoss, Gathered } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";
import { Run } from "./run.js";

/**
 * Converts the inputs into one output, which appears whole or not at all.
 * @param shared where to run, for several conversions at once; made for this one alone where absent
 * @param claims the outputs of all of them, lest two write one
 * @throws GeoferryError of every kind but "rejected": rejected features are in the report
 */
export async function convert(
  asked: ConvertRequest,
  host: Host,
  shared?: Executor,
  claims: Set<string> = new Set(),
): Promise<ConvertReport> {
  const writer = chooseWriter(asked, host);
  const request = { ...asked, output: outputName(asked.output, writer.format) };
  const replace = replaces(request, writer.accepts.layers);
  checkOutput(request.output, request.inputs, replace || request.append === true);
  checkCompanions(request.output, request.inputs, writer.format);
  checkRejects(request);
  if (request.update && isUpToDate(request.output, request.inputs)) return nothingToDo(request);

  await using spool = new Spool();
  await using existing = await openExisting(request, writer, host, spool);
  const gathered = new Gathered();
  await using inputs = await openInputs(request.inputs, request, host, spool);
  for (const found of inputs.findings) gathered.add(found);
  const layers = [...(existing?.layers ?? []), ...inputs.layers];
  const files = planOutputs(layers, request, writer);
  for (const file of files) if (file.path !== request.output) checkOutput(file.path, request.inputs, replace);

  const owned = shared ? undefined : await chooseExecutor(request, host, layers);
  const executor = shared ?? owned!;
  const rejects = new RejectsFile(rejectsPath(request), parseRejectLimit(request.maxRejects));
  const run = new Run(
    request,
    host,
    executor,
    writer,
    await outputCrs(request, existing),
    gathered,
    rejects,
    replace,
    claims,
  );
  try {
    for (const file of files) await run.write(file);
    rejects.check(gathered.read);
    const losses = gathered.losses.list();
    if (request.strict && losses.length > 0) throw fault("lossy", { losses: losses.map(describeLoss) });
    run.guardEmpty();
    const outputs = await run.commit();
    const path = await rejects.commit();
    const written = outputs.reduce((sum, output) => sum + output.features, 0);
    return {
      inputs: request.inputs,
      outputs,
      read: gathered.read,
      written,
      rejected: rejects.count,
      losses,
      notices: gathered.notices.list(),
      rejects: path,
      upToDate: false,
    };
  } catch (error) {
    await run.abort();
    await rejects.abort();
    if (host.signal.aborted) throw fault("interrupted", {}, error);
    throw error;
  } finally {
    await owned?.[Symbol.asyncDispose]();
  }
}

/** Whether files that are there may be replaced by the outputs. */
const replaces = (request: ConvertRequest, layers: "one" | "many"): boolean =>
  Boolean(request.overwrite || request.update || (request.replaceLayer && layers === "one"));

/** A rejects file that was named must not be another file of the person's. @throws output-exists, output-is-input */
function checkRejects({ rejects, inputs, output, overwrite }: ConvertRequest): void {
  if (rejects === undefined) return;
  if (resolve(rejects) === resolve(output))
    throw fault("usage", { reason: `${rejects}: is named as output and for --rejects; give two names` });
  if (!statSync(rejects, { throwIfNoEntry: false })?.isFile()) return;
  checkOutput(rejects, inputs, overwrite === true);
}

function rejectsPath(request: ConvertRequest): string | null {
  return request.rejects ?? (request.output === "-" ? null : `${request.output}.rejects.geojsonl`);
}

function nothingToDo(request: ConvertRequest): ConvertReport {
  return {
    inputs: request.inputs,
    outputs: [],
    read: 0,
    written: 0,
    rejected: 0,
    losses: [],
    notices: [],
    rejects: null,
    upToDate: true,
  };
}
