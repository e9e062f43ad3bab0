/** `convert` and `write` for programs: inputs and outputs may be in memory. */
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable, type Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createError } from "../errors.js";
import { Spool } from "../io/input/spool.js";
import { Tally } from "../model/report.js";
import { convert } from "../pipeline/convert.js";
import type { ConvertReport } from "../pipeline/report.js";
import type { ConvertRequest, Host } from "../pipeline/request.js";
import type { Format } from "../plugin/format.js";
import { parseOptions } from "../plugin/options.js";
import { checkOptions, describeValue } from "./check-options.js";
import { FeatureJson } from "./feature-json.js";
import { type Input, type ResolvedInput, resolveInput } from "./resolve-input.js";
import { rewriteFlagsAsOptions, rewriteReport, withLibraryErrors } from "./rewrite-messages.js";
import { discardStream, writeToStream } from "./write-to-stream.js";

/**
 * A path, an s3 address or an address of a database; a URL; or a stream, which gets the bytes of the output once the
 * conversion has succeeded. A stream is closed after the last byte, and destroyed where the conversion fails.
 */
export type Output = string | URL | WritableStream<Uint8Array> | Writable;

/** The options of `geoferry convert`, with inputs and outputs that may be in memory. */
export interface ConversionRequest extends Omit<ConvertRequest, "inputs" | "output"> {
  /** One or several. */
  readonly inputs: Input | readonly Input[];
  /** Without it, the report has the bytes, in the format `to`. */
  readonly output?: Output | undefined;
}

/** A report with the output itself. */
export interface BytesReport extends ConvertReport {
  /** One file; a zip where the format has several (`shapefile`). */
  readonly bytes: Uint8Array;
}

const isOneInput = (inputs: ConversionRequest["inputs"]): inputs is Input => !Array.isArray(inputs);

/** @throws GeoferryError of every kind, with messages that name options of the library */
export async function convertInputs(
  request: ConversionRequest,
  host: Host,
): Promise<ConvertReport & { readonly bytes?: Uint8Array }> {
  const output = (request as Partial<ConversionRequest> | undefined)?.output;
  try {
    return await withLibraryErrors(async () => {
      checkOptions("convert", request, ["inputs", "output"]);
      if (request.inputs === undefined)
        throw createError("option-invalid", {
          option: "inputs",
          value: "undefined",
          expected: "an input, or an array of inputs",
        });
      return convertThroughFiles(request, host);
    }, host.signal);
  } catch (error) {
    await discardStream(output, error, host.signal);
    throw error;
  }
}

async function convertThroughFiles(
  { inputs, output, ...rest }: ConversionRequest,
  host: Host,
): Promise<ConvertReport & { readonly bytes?: Uint8Array }> {
  await using spool = new Spool();
  const { registry, signal } = host;
  const placed: ResolvedInput[] = [];
  for (const input of isOneInput(inputs) ? [inputs] : inputs)
    placed.push(await resolveInput(input, { spool, registry, signal, from: rest.from }));
  const displayNames = new Map(placed.map(({ address, name }) => [address, name]));
  const convertTo = async (path: string, rejects: string | undefined): Promise<ConvertReport> => {
    const addresses = placed.map(({ address }) => address);
    const whole = await convert(
      { ...rest, inputs: addresses, output: path, ...(rejects === undefined ? {} : { rejects }) },
      { ...host, displayNames, rewriteMessage: rewriteFlagsAsOptions },
    );
    return { ...rewriteReport(whole), inputs: placed.map(({ name }) => name) };
  };
  // Awaited here, since the spool is removed when the function returns.
  if (typeof output === "string") return await convertTo(output, rest.rejects);
  if (output instanceof URL) return await convertTo(fileUrlToOutput(output), rest.rejects);
  const { id, extensions, writer } = requireWritableFormat(rest.to, host);
  const { supportsStreaming } = writer.capabilities(parseOptions(id, writer.options, rest.writerOptions ?? {}));
  const report = await convertTo(
    join(spool.folder(), `output.${extensions[0]!}`),
    rest.rejects ?? join(spool.folder(), "rejects.geojsonl"),
  );
  const publicReport = { ...report, ...withoutTemporaryPaths(report, rest.rejects) };
  const bytes = await openOutput(singleOutputPath(report), supportsStreaming, host.now);
  if (output === undefined) return { ...publicReport, bytes: new Uint8Array(await buffer(bytes)) };
  await writeToStream(bytes, output, signal);
  return publicReport;
}

const fileUrlToOutput = (output: URL): string => (output.protocol === "file:" ? fileURLToPath(output) : output.href);

/** @throws format-undecided, format-unknown, format-cannot-write, output-not-stream */
function requireWritableFormat(to: string | undefined, { registry }: Host): Format & Required<Pick<Format, "writer">> {
  const known = registry.all().flatMap((format) => (format.writer ? [format.id] : []));
  if (to === undefined) throw createError("format-undecided", { output: "an output in memory", known });
  const format = registry.get(to);
  const { writer } = format;
  if (!writer) throw createError("format-cannot-write", { format: format.id });
  if (format.addresses || (format.folderExtensions?.length ?? 0) > 0)
    throw createError("output-not-stream", { format: format.id });
  return { ...format, writer };
}

/**
 * Opens the bytes of an output: the file, or a zip if the format has several files. Companions of a stream format (the .prj
 * file of a table) are left out, as on stdout.
 */
async function openOutput(file: string, isStream: boolean, now: Date): Promise<Readable> {
  const folder = dirname(file);
  const names = isStream ? [] : (await readdir(folder)).sort();
  if (names.length < 2) return createReadStream(file);
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  for (const name of names) zip.addFile(join(folder, name), name, { mtime: now, mode: 0o644 });
  zip.end();
  return Readable.from(zip.outputStream);
}

/** @throws usage */
function singleOutputPath({ outputs }: ConvertReport): string {
  const paths = [...new Set(outputs.map(({ path }) => path))];
  if (paths.length === 1) return paths[0]!;
  const names = paths.map((path) => basename(path)).join(", ");
  const reason = `the output would be several files (${names}) and one is asked for: choose a layer with --layer or a kind of geometries with --geometry-type, or write to a path`;
  throw createError("usage", { reason });
}

/** Removes temporary paths, which no longer exist, from a report. */
const withoutTemporaryPaths = ({ outputs, rejects }: ConvertReport, asked: string | undefined) => ({
  outputs: outputs.map((output) => ({ ...output, path: basename(output.path) })),
  rejects: asked === undefined ? null : rejects,
});

/** A feature to write (RFC 7946), with or without an ID; values may have `toJSON`, like dates. */
export interface FeatureToWrite {
  readonly type: "Feature";
  readonly id?: string | number;
  readonly geometry: object | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

export type FeaturesToWrite = Iterable<FeatureToWrite> | AsyncIterable<FeatureToWrite>;

/** Options of `write`. */
export type WriteOptions = Omit<ConversionRequest, "inputs" | "output" | "from" | "layers" | "readerOptions">;

/**
 * The features as lines of JSON, in constant memory.
 * @param onError called with an error of the features themselves
 */
async function* geoJsonLines(
  features: FeaturesToWrite,
  json: FeatureJson,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  let text = "";
  // Errors that the reader of the lines throws into this generator are not those of the features.
  let isOwn = false;
  try {
    for await (const feature of features) {
      isOwn = true;
      text += `${json.stringify(feature)}\n`;
      if (text.length >= 1 << 16) {
        yield Buffer.from(text);
        text = "";
      }
      isOwn = false;
    }
  } catch (error) {
    if (!isOwn) onError(error);
    throw error;
  }
  yield Buffer.from(text);
}

/** @throws what `convertInputs` throws, and what the features throw as they come */
export async function writeFeatures(
  features: FeaturesToWrite,
  output: Output | undefined,
  options: WriteOptions,
  host: Host,
): Promise<ConvertReport & { readonly bytes?: Uint8Array }> {
  const given: unknown = features;
  const isIterable =
    typeof given === "object" && given !== null && (Symbol.iterator in given || Symbol.asyncIterator in given);
  if (!isIterable) {
    const hint =
      typeof given === "object" && given !== null && "features" in given
        ? "; of a FeatureCollection pass .features"
        : "";
    throw createError("usage", {
      reason: `features are an array, a generator or another iterable of features, not ${describeValue(given)}${hint}`,
    });
  }
  const { layerName = "features" } = options;
  const inputLosses = new Tally();
  let failure: { readonly error: unknown } | null = null;
  const bytes = geoJsonLines(features, new FeatureJson(inputLosses, layerName), (error) => {
    failure = { error };
  });
  const request = { ...options, inputs: { name: `${layerName}.geojsonl`, bytes }, from: "geojsonseq", output };
  const { signal } = host;
  return convertInputs(request, { ...host, inputLosses }).catch((error: unknown) => {
    // Errors of the caller's generator are rethrown unchanged, except that of the aborted signal.
    const thrown = failure as { readonly error: unknown } | null;
    throw thrown && !(signal.aborted && isAbort(thrown.error, signal)) ? thrown.error : error;
  });
}

const isAbort = (error: unknown, signal: AbortSignal): boolean =>
  error === signal.reason || (error instanceof Error && error.name === "AbortError");
