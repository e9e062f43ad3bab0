/**
 * Runs the conversions of a request: one for each input if the output is a folder, in one shared pool, else a single one.
 * A failed input of a folder does not stop the others.
 */
import { existsSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { asGeoferryError, createError, type GeoferryError } from "../errors.js";
import { redact, redactEach, redactInputs } from "../io/redact.js";
import { isBucketAddress, separatorFor, toAbsolute } from "../io/s3/bucket-address.js";
import type { Registry } from "../plugin/registry.js";
import { convert } from "./convert.js";
import { fileSize, openExecutor } from "./execute/choose-executor.js";
import { type ExpandedInput, expandInputs, isAddress, isGlob } from "./input/expand-inputs.js";
import { failedInput, skippableInput } from "./input/failed-input.js";
import { chooseWriter, splitExtension, writableFormatIds } from "./plan/plan-outputs.js";
import { type ConvertReport, upToDateReport } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";

/** The result of one of many conversions: a report or an error. */
export type Outcome =
  | { readonly input: string; readonly output: string; readonly report: ConvertReport; readonly error?: undefined }
  | { readonly input: string; readonly output: string; readonly error: GeoferryError; readonly report?: undefined };

/** Called before a conversion starts: returns the request to run, or null to leave the output unchanged. */
export type ConfirmRequest = (request: ConvertRequest) => Promise<ConvertRequest | null>;

/** Whether the path is an existing folder, or ends with a slash. */
export function isFolder(output: string): boolean {
  return /[/\\]$/.test(output) || (existsSync(output) && statSync(output).isDirectory());
}

/** Whether the output is a folder that is one dataset, such as `.gdb`. */
const isDatasetOutput = ({ output, to }: ConvertRequest, { registry }: Host): boolean =>
  registry.isDatasetFolder(output) && (to === undefined || registry.get(to).folderExtensions !== undefined);

/** Whether the output is a folder of separate files. */
const isFolderOutput = (request: ConvertRequest, host: Host): boolean =>
  isFolder(request.output) && !isDatasetOutput(request, host);

/** Removes the slash that shells append when they complete the name of a dataset folder. */
const trimTrailingSlash = (request: ConvertRequest, host: Host): ConvertRequest =>
  isDatasetOutput(request, host) ? { ...request, output: request.output.replace(/[/\\]+$/, "") } : request;

/** An input that is a folder or a glob implies an output folder, unless the output has the extension of a known format. */
function impliesFolderOutput(request: ConvertRequest, host: Host): boolean {
  if (isAddress(request.output, host.registry) || host.registry.findByExtension(request.output).length > 0)
    return false;
  return request.inputs.some((input) => !isAddress(input, host.registry) && (isGlob(input) || isFolder(input)));
}

/** The conversions of a request: one for each input, or one into a single file. */
export interface ConversionPlan {
  readonly request: ConvertRequest;
  /** Whether all inputs go into one file. */
  readonly isSingle: boolean;
  /** Whether the single file may be written without inputs that fail. */
  readonly skipsFailedInputs: boolean;
  readonly conversions: readonly { readonly inputs: readonly string[]; readonly output: string }[];
  /** Inputs that cannot be listed or opened. */
  readonly failed: readonly Outcome[];
}

/**
 * @param maySkipFailed whether a single file may be written without inputs that fail. A job must not: it replaces its
 * output as a whole, and would lose the layers of the failed input
 * @throws usage errors, input-missing, format-undecided, output-collision
 */
export async function planConversions(
  given: ConvertRequest,
  host: Host,
  maySkipFailed = false,
): Promise<ConversionPlan> {
  const request = trimTrailingSlash(given, host);
  const expanded = await expandInputs(request.inputs, host.registry, host.signal, request.from, host.onLeftOut);
  const isSingle =
    host.registry.findByAddress(request.output) !== undefined ||
    (!isFolderOutput(request, host) && !(impliesFolderOutput(request, host) && request.to !== undefined));
  const skipsFailedInputs = maySkipFailed && isSingle && canSkipInputs(request, expanded, host);
  const failed = expanded.flatMap(({ address: input, error }) =>
    error ? [{ input: redact(input, host.registry), output: request.output, error }] : [],
  );
  // One file gets all inputs or none, unless each input has layers of its own in it.
  if (isSingle && failed[0] && !skipsFailedInputs) throw failed[0].error;
  const readable = expanded.filter(({ error }) => !error);
  const conversions = isSingle
    ? readable.length > 0
      ? [{ inputs: readable.map((input) => input.address), output: request.output }]
      : []
    : planFolderOutputs(excludeOutputs(expanded, request.output, host.registry), request, host);
  return { request, isSingle, skipsFailedInputs, conversions, failed };
}

/**
 * Converts into one file or, if the output is a folder, each input into a file of its own there.
 * @param onOutcome called as soon as an input was converted or has failed
 * @param confirm called just before each conversion starts
 * @throws usage errors, before anything starts; an error of one input is in its outcome
 */
export async function convertMany(
  given: ConvertRequest,
  host: Host,
  onOutcome: (outcome: Outcome) => void = () => {},
  confirm?: ConfirmRequest,
): Promise<Outcome[]> {
  const { request, skipsFailedInputs, conversions, failed } = await planConversions(given, host, confirm === undefined);
  for (const outcome of failed) onOutcome(outcome);

  await using executor = conversions.length > 1 ? await openExecutor(request, host) : undefined;
  const reservations = new Set<string>();
  const limit = executor ? await createLimiter(executor.parallelism) : runUnlimited;
  // Awaited here, since `await using` closes the executor when the function returns.
  const outcomes = await Promise.all(
    conversions.map(({ inputs, output }) =>
      limit(inputs, async () => {
        const one = { ...request, inputs, output };
        if (skipsFailedInputs) return convertSkippingFailed(one, host, onOutcome);
        const run = async (one: ConvertRequest) => {
          const confirmed = confirm ? await confirm(one) : one;
          return confirmed === null
            ? upToDateReport(redactEach(one.inputs, host.registry))
            : convert(confirmed, host, executor, reservations);
        };
        const outcome = await tryConvert(one, host, run);
        onOutcome(outcome);
        return [outcome];
      }),
    ),
  );
  return [...failed, ...outcomes.flat()];
}

/** Whether an input can be read twice, unlike stdin and pipes. */
const isRereadable = (input: string): boolean => {
  if (input === "-") return false;
  const stat = statSync(input, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() || stat.isDirectory();
};

/**
 * Whether one file may be written without the inputs that fail: each input has layers of its own in it, and no existing
 * file would lose the layers of a failed input.
 */
function canSkipInputs(request: ConvertRequest, inputs: readonly ExpandedInput[], host: Host): boolean {
  const { output, overwrite } = request;
  if (inputs.length < 2 || output === "-" || !inputs.every(({ address }) => isRereadable(address))) return false;
  if (overwrite && (isBucketAddress(output) || existsSync(output))) return false;
  try {
    const { capabilities, fileStem } = chooseWriter(request, host);
    return capabilities.layers === "many" && (fileStem !== null || !existsSync(output) || request.append === true);
  } catch {
    // The conversion itself reports the error.
    return false;
  }
}

/** Converts, and repeats without the input that failed until the remaining inputs can be converted. */
async function convertSkippingFailed(
  request: ConvertRequest,
  host: Host,
  onOutcome: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let { inputs } = request;
  while (inputs.length > 0) {
    const outcome = await tryConvert({ ...request, inputs }, host, (one) => convert(one, host));
    outcomes.push(outcome);
    onOutcome(outcome);
    const failed = outcome.error && skippableInput(outcome.error);
    if (failed === undefined || !inputs.includes(failed)) break;
    inputs = inputs.filter((input) => input !== failed);
  }
  return outcomes;
}

/** Runs a conversion of these inputs as soon as the concurrency limit allows. */
type RunLimited = <R>(inputs: readonly string[], run: () => Promise<R>) => Promise<R>;

const runUnlimited: RunLimited = (_, run) => run();

/** Inputs smaller than this (bytes) take little memory while they are converted. */
const smallInputBytes = 1024 * 1024;

/** Concurrent conversions of small inputs for each thread: they mostly wait for the disk. */
const smallInputsPerThread = 4;

/** Limits concurrent conversions to the number of threads, with more for small inputs. */
async function createLimiter(width: number): Promise<RunLimited> {
  const { default: pLimit } = await import("p-limit");
  const large = pLimit(width);
  const all = pLimit(width * smallInputsPerThread);
  return (inputs, run) => (inputs.every(isSmallFile) ? all(run) : large(() => all(run)));
}

function isSmallFile(path: string): boolean {
  const bytes = fileSize(path);
  return bytes !== null && bytes < smallInputBytes;
}

/**
 * Leaves out files in the output folder if that lies inside the searched folder or glob: they are outputs of an earlier
 * run.
 */
function excludeOutputs(inputs: readonly ExpandedInput[], output: string, registry: Registry): ExpandedInput[] {
  const folder = toAbsolute(output) + separatorFor(output);
  const isOutput = ({ address, relativePath }: ExpandedInput) => {
    const path = toAbsolute(address);
    const root = path.slice(0, path.length - relativePath.length);
    return path.startsWith(folder) && folder.startsWith(root) && folder !== root;
  };
  return inputs.filter((input) => !input.error && (isAddress(input.address, registry) || !isOutput(input)));
}

async function tryConvert(
  request: ConvertRequest,
  host: Host,
  run: (request: ConvertRequest) => Promise<ConvertReport>,
): Promise<Outcome> {
  const { output } = request;
  const input = redactInputs(request.inputs, host.registry);
  try {
    host.signal.throwIfAborted();
    return { input, output, report: await run(request) };
  } catch (error) {
    if (host.signal.aborted) return { input, output, error: createError("interrupted", {}, error) };
    // Conversions that share the threads may end with the same error.
    const failed = request.inputs.find((each) => each === failedInput(error));
    const failedName = failed === undefined ? input : redact(failed, host.registry);
    return { input: failedName, output, error: asGeoferryError(error) };
  }
}

/** The path of a file in a folder, or the address of an object below a prefix. */
function joinPath(folder: string, name: string): string {
  if (!isBucketAddress(folder)) return join(folder, name);
  return `${folder.replace(/([^/])$/, "$1/")}${name.replaceAll(sep, "/")}`;
}

/** @throws format-undecided, output-collision */
function planFolderOutputs(
  inputs: readonly ExpandedInput[],
  request: ConvertRequest,
  host: Host,
): { inputs: string[]; output: string }[] {
  const { registry } = host;
  if (request.rejects !== undefined) {
    throw createError("usage", {
      reason:
        "--rejects names one file, but with an output folder each output has a rejects file beside it; omit --rejects",
    });
  }
  if (request.to === undefined)
    throw createError("format-undecided", {
      output: request.output.replace(/([^/\\])$/, "$1/"),
      known: writableFormatIds(host),
    });
  const target = registry.get(request.to);
  const extension = target.extensions[0]!;
  const planned = new Map<string, { inputs: string[]; output: string }>();
  const clashing: { readonly address: string; readonly stem: string }[] = [];
  for (const input of inputs) {
    const from = registry.findByExtension(input.relativePath)[0];
    const stem = from ? splitExtension(input.relativePath, from)[0] : input.relativePath.replace(/\.[^./\\]+$/, "");
    const output = joinPath(request.output, `${stem}.${extension}`);
    // Names that differ only in case are the same file on case-insensitive file systems.
    const key = output.toLowerCase();
    const other = planned.get(key);
    if (!other) planned.set(key, { inputs: [input.address], output });
    else if (request.onNameClash === "number")
      clashing.push({ address: input.address, stem: output.slice(0, -extension.length - 1) });
    else {
      const inputs = redactEach([other.inputs[0]!, input.address], registry);
      throw createError("output-collision", { output, inputs, remedy: "number them with --on-name-clash number" });
    }
  }
  // Outputs with a unique name keep it; numbered names avoid them.
  for (const { address, stem } of clashing) {
    for (let n = 1; ; n++) {
      const output = `${stem}_${n}.${extension}`;
      if (planned.has(output.toLowerCase())) continue;
      planned.set(output.toLowerCase(), { inputs: [address], output });
      break;
    }
  }
  return [...planned.values()];
}
