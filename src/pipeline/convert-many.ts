/** Many inputs into a folder: one conversion each, side by side in one pool; a bad one does not stop the others. */
import { existsSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { asGeoferryError, createError, type GeoferryError } from "../errors.js";
import { redact, redactInputs } from "../io/redact.js";
import { isBucketAddress, separatorFor, toAbsolute } from "../io/s3/bucket-address.js";
import type { Registry } from "../plugin/registry.js";
import { convert } from "./convert.js";
import { fileSize, openExecutor } from "./execute/choose-executor.js";
import { type ExpandedInput, expandInputs, isAddress, isGlob } from "./input/expand-inputs.js";
import { failedInput, skippableInput } from "./input/failed-input.js";
import { chooseWriter, splitExtension, writableFormatIds } from "./plan/plan-outputs.js";
import { type ConvertReport, upToDateReport } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";

/** What became of one input of many. */
export type Outcome =
  | { readonly input: string; readonly output: string; readonly report: ConvertReport; readonly error?: undefined }
  | { readonly input: string; readonly output: string; readonly error: GeoferryError; readonly report?: undefined };

/** See `convertMany`. */
export type ConfirmRequest = (request: ConvertRequest) => Promise<ConvertRequest | null>;

/** Whether the output is meant as a folder: it is one, or is written as one. */
export function isFolder(output: string): boolean {
  return /[/\\]$/.test(output) || (existsSync(output) && statSync(output).isDirectory());
}

/** Whether the output is a folder that is itself the dataset that is written, as `.gdb` is. */
const isDatasetOutput = ({ output, to }: ConvertRequest, { registry }: Host): boolean =>
  registry.isDatasetFolder(output) && (to === undefined || registry.get(to).folderExtensions !== undefined);

/** Whether the output is a folder of files. */
const isFolderOutput = (request: ConvertRequest, host: Host): boolean =>
  isFolder(request.output) && !isDatasetOutput(request, host);

/** Shells complete the name of such a folder with a slash. */
const trimTrailingSlash = (request: ConvertRequest, host: Host): ConvertRequest =>
  isDatasetOutput(request, host) ? { ...request, output: request.output.replace(/[/\\]+$/, "") } : request;

/** A folder or a pattern as input, and a name that is no file of a known format as output, mean a folder. */
function impliesFolderOutput(request: ConvertRequest, host: Host): boolean {
  if (isAddress(request.output, host.registry) || host.registry.findByExtension(request.output).length > 0)
    return false;
  return request.inputs.some((input) => !isAddress(input, host.registry) && (isGlob(input) || isFolder(input)));
}

/** What a request for many comes to: a conversion each, or one into a single file. */
export interface ConversionPlan {
  readonly request: ConvertRequest;
  /** Whether all goes into one file. */
  readonly isSingle: boolean;
  /** Whether inputs that fail may be left out of the single file: the others keep their layers there. */
  readonly skipsFailedInputs: boolean;
  readonly conversions: readonly { readonly inputs: readonly string[]; readonly output: string }[];
  /** Inputs that cannot even be looked at. */
  readonly failed: readonly Outcome[];
}

/**
 * @param mayFail whether inputs that fail may be left out of a single file: what a job has written is replaced as a whole,
 * and without one of its inputs would lose what it had of that
 * @throws usage errors, input-missing, format-undecided, output-collision
 */
export async function planConversions(given: ConvertRequest, host: Host, mayFail = false): Promise<ConversionPlan> {
  const request = trimTrailingSlash(given, host);
  const expanded = await expandInputs(request.inputs, host.registry, host.signal, request.from);
  const isSingle =
    host.registry.findByAddress(request.output) !== undefined ||
    (!isFolderOutput(request, host) && !(impliesFolderOutput(request, host) && request.to !== undefined));
  const skipsFailedInputs = mayFail && isSingle && canSkipInputs(request, expanded, host);
  const failed = expanded.flatMap(({ address: input, error }) =>
    error ? [{ input: redact(input, host.registry), output: request.output, error }] : [],
  );
  // Into one file goes everything or nothing, unless each input has layers of its own there.
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
 * Converts, into one file or, where the output is a folder, every input into a file of its own there.
 * @param onOutcome told as soon as an input is done or has failed
 * @param decide what to ask of one conversion of them, just before it begins; null leaves its output as it is
 * @throws usage errors, before anything starts; what goes wrong with one input is in its outcome
 */
export async function convertMany(
  given: ConvertRequest,
  host: Host,
  onOutcome: (outcome: Outcome) => void = () => {},
  decide?: ConfirmRequest,
): Promise<Outcome[]> {
  const { request, skipsFailedInputs, conversions, failed } = await planConversions(given, host, decide === undefined);
  for (const outcome of failed) onOutcome(outcome);

  await using executor = conversions.length > 1 ? await openExecutor(request, host) : undefined;
  const claims = new Set<string>();
  const limit = executor ? await createLimiter(executor.parallelism) : runUnlimited;
  // Awaited here: what stands behind `await using` is disposed of as soon as the function returns.
  const outcomes = await Promise.all(
    conversions.map(({ inputs, output }) =>
      limit(inputs, async () => {
        const one = { ...request, inputs, output };
        if (skipsFailedInputs) return convertSkippingFailed(one, host, onOutcome);
        const run = async (one: ConvertRequest) => {
          const decided = decide ? await decide(one) : one;
          return decided === null ? upToDateReport(one) : convert(decided, host, executor, claims);
        };
        const outcome = await tryConvert(one, host, run);
        onOutcome(outcome);
        return [outcome];
      }),
    ),
  );
  return [...failed, ...outcomes.flat()];
}

/** Whether an input can be opened a second time. */
const isRereadable = (input: string): boolean => {
  if (input === "-") return false;
  const stat = statSync(input, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() || stat.isDirectory();
};

/**
 * Whether the good ones of several inputs are worth writing into one file without the others: where each has layers of
 * its own, and no older file would lose those of an input that fails now.
 */
function canSkipInputs(request: ConvertRequest, inputs: readonly ExpandedInput[], host: Host): boolean {
  const { output, overwrite } = request;
  if (inputs.length < 2 || output === "-" || !inputs.every(({ address }) => isRereadable(address))) return false;
  if (overwrite && (isBucketAddress(output) || existsSync(output))) return false;
  try {
    const { capabilities, fileStem } = chooseWriter(request, host);
    return capabilities.layers === "many" && (fileStem !== null || !existsSync(output) || request.append === true);
  } catch {
    // The conversion says what is wrong with the request.
    return false;
  }
}

/** Converts, and again without an input that fails, until the rest can be converted. */
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

/** Runs the conversion of these inputs in its turn. */
type RunLimited = <R>(inputs: readonly string[], run: () => Promise<R>) => Promise<R>;

const runUnlimited: RunLimited = (_, run) => run();

/** Inputs below this many bytes hold little memory while they are converted. */
const smallInputBytes = 1024 * 1024;

/** So many small inputs are under way for each that is worked on: most of their time goes into waiting for the disk. */
const smallInputsPerThread = 4;

/** Lets as many conversions run at once as there are threads, and more of small inputs. */
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
 * What can be converted, without what lies in the output's folder where that is within the folder or pattern that is
 * gone through: those are the outputs of an earlier run.
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
    const behind = failedInput(error);
    const named = behind === undefined ? input : redact(behind, host.registry);
    return { input: named, output, error: asGeoferryError(error) };
  }
}

/** A file in a folder, or an object below a prefix. */
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
      reason: "--rejects names one file; with a folder as output each one has its own beside it",
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
    // Names that differ in case only are one name on many disks.
    const key = output.toLowerCase();
    const other = planned.get(key);
    if (!other) planned.set(key, { inputs: [input.address], output });
    else if (request.onNameClash === "number")
      clashing.push({ address: input.address, stem: output.slice(0, -extension.length - 1) });
    else {
      const inputs = [other.inputs[0]!, input.address].map((one) => redact(one, registry));
      throw createError("output-collision", { output, inputs, remedy: "number them with --on-name-clash number" });
    }
  }
  // Who has a name to itself keeps it, whatever the numbered ones would be called.
  for (const { address, stem } of clashing) {
    for (let n = 2; ; n++) {
      const output = `${stem}_${n}.${extension}`;
      if (planned.has(output.toLowerCase())) continue;
      planned.set(output.toLowerCase(), { inputs: [address], output });
      break;
    }
  }
  return [...planned.values()];
}
