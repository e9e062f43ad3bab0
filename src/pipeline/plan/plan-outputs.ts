/** Plans the output of a conversion: the writer, the names of the files, and the layers of each. */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { createError, type GeoferryError } from "../../errors.js";
import { maxNameBytes, shortenName } from "../../io/output/temporary-names.js";
import { reservedInNames } from "../../io/output/windows-names.js";
import { redact } from "../../io/redact.js";
import type { Format, WriterCapabilities } from "../../plugin/format.js";
import { formatIds } from "../../plugin/format-family.js";
import { parseOptions } from "../../plugin/options.js";
import type { ConversionContext } from "../conversion-context.js";
import type { FormatRef } from "../execute/task.js";
import type { OpenLayer } from "../input/open-inputs.js";
import type { ConvertRequest, Host } from "../request.js";

/** The writer of a conversion with its parsed options. */
export interface ChosenWriter {
  readonly format: Format;
  readonly formatRef: FormatRef;
  readonly capabilities: WriterCapabilities;
  /** If the output is an address: the stem for names of files such as the rejects file. Null if it is a file. */
  readonly fileStem: string | null;
}

/** The ids of the formats that can be written. */
export const writableFormatIds = ({ registry }: Host): string[] =>
  formatIds(registry.all().filter((format) => format.writer || format.family));

/** URLs and the names of GDAL for them; as a path, they would become a local folder such as `https:`. */
const foreignAddress = /^((?!s3:)[a-z][a-z0-9+.-]+:[/\\]|gdal:|[/\\]vsi[a-z0-9]+[/\\])/i;

/** @throws format-undecided, format-cannot-write, option-unknown, option-invalid, output-is-address, usage */
export function chooseWriter(request: ConvertRequest, host: Host): ChosenWriter {
  const { registry } = host;
  const addressed = registry.findByAddress(request.output);
  if (!addressed && foreignAddress.test(request.output))
    throw createError("output-is-address", {
      output: redact(request.output, registry).replace(/^(gdal:[^:]*:).*/is, "$1…"),
    });
  const fileStem = addressed?.addresses.fileStem(request.output) ?? null;
  const byName = addressed ?? registry.findByExtension(request.output).find((format) => format.writer);
  const format = request.to === undefined ? byName : registry.get(request.to);
  if (format?.addresses && !addressed) {
    const reason = `${request.output}: is not an address of ${format.label}; such an address starts with ${format.addresses.syntax}`;
    throw createError("usage", { reason });
  }
  if (addressed && format !== addressed)
    throw createError("usage", {
      reason: `${request.output}: is an address of ${addressed.label}; omit --to ${request.to}`,
    });
  if (!format) throw formatUndecidedError(request.output, host);
  if (!format.writer) throw createError("format-cannot-write", { format: format.id });
  const given = { ...format.writer.impliedOptions?.(request.output), ...request.writerOptions };
  const options = parseOptions(format.id, format.writer.options, given);
  const capabilities = format.writer.capabilities(options);
  if (request.output === "-" && !capabilities.supportsStreaming)
    throw createError("output-not-stream", { format: format.id });
  return {
    format,
    formatRef: { id: format.id, module: registry.getModule(format.id), options },
    capabilities,
    fileStem,
  };
}

function formatUndecidedError(output: string, host: Host): GeoferryError {
  const { registry } = host;
  const known = writableFormatIds(host);
  const extension = output === "-" ? "" : extname(output).slice(1);
  if (extension === "") return createError("format-undecided", { output, known });
  const readable = registry.findByExtension(output)[0]?.label;
  const extensions = registry.all().flatMap((format) => (format.writer ? format.extensions : []));
  return createError("format-undecided", { output, known, extension, extensions, ...(readable && { readable }) });
}

/** The output path; for a format with companion files the extension is added if it is missing. */
export function outputName(output: string, format: Format): string {
  if (format.addresses) return output;
  const isFixed = output === "-" || (existsSync(output) && !statSync(output).isFile());
  return isFixed || extname(output) !== "" || !format.companionExtensions
    ? output
    : `${output}.${format.extensions[0]}`;
}

/** Notes that `--to` writes one format under the extension of another, since programs that decide by name would misread it. */
export function noteForeignExtension({ request, host, writer, reportBuilder }: ConversionContext): void {
  const { output } = request;
  const { format } = writer;
  if (request.to === undefined || output === "-" || format.addresses) return;
  const others = host.registry.findByExtension(output);
  const isOwn = format.extensions.some((extension) => output.toLowerCase().endsWith(`.${extension}`));
  if (others.length === 0 || isOwn) return;
  const [, extension] = splitExtension(output, others[0]!);
  const example = `written as ${format.label} because of --to ${request.to}, although ${extension} is an extension of ${others[0]!.label}; programs that decide by name would misread it, so name it .${format.extensions[0]}`;
  reportBuilder.notices.add("foreign-extension", basename(output), undefined, 1, example);
}

/** Whether the output is a folder that is one dataset, by its name: `x.gdb`. */
export function isDatasetFolderName(output: string, { folderExtensions = [] }: Format): boolean {
  return folderExtensions.some((extension) => output.toLowerCase().endsWith(`.${extension}`));
}

/** A layer of the output and the input layers that it is written from. */
export interface OutputLayer {
  readonly name: string;
  /** The name before it was adapted to the format and made unique. */
  readonly requestedName: string;
  readonly inputs: readonly OpenLayer[];
}

/** One file, or set of companions, that a conversion writes. */
export interface OutputFile {
  readonly path: string;
  readonly layers: readonly OutputLayer[];
}

/** Splits a path before the format's extension, which may have two parts. */
export function splitExtension(path: string, format: Format): [stem: string, extension: string] {
  const name = basename(path);
  const known = [...format.extensions].sort((a, b) => b.length - a.length);
  const found = known.find((extension) => name.toLowerCase().endsWith(`.${extension}`));
  const dot = found === undefined ? name.lastIndexOf(".") : name.length - found.length - 1;
  if (dot <= 0) return [path, ""];
  return [join(dirname(path), name.slice(0, dot)), name.slice(dot)];
}

/** `dir/places.shp` and `point` → `dir/places_point.shp` */
export function withSuffix(path: string, suffix: string, format: Format): string {
  const [stem, extension] = splitExtension(path, format);
  return `${stem}${suffix}${extension}`;
}

/** If the output is a zip archive by its name, the name of the main file in it. */
export function zipOptions(path: string, { extensions, archive }: Format): { zip?: { main: string } } {
  const name = basename(path);
  const ends = (extension: string) => name.toLowerCase().endsWith(`.${extension}`);
  const own = archive?.extensions.find(ends);
  const outer = own ?? (ends("zip") ? "zip" : undefined);
  if (outer === undefined) return {};
  if (own !== undefined && archive?.mainName !== undefined) return { zip: { main: archive.mainName } };
  const stem = name.slice(0, -outer.length - 1);
  const named = extensions.some((extension) => stem.toLowerCase().endsWith(`.${extension}`));
  return { zip: { main: named ? stem : `${stem}.${extensions[0]}` } };
}

/** Bytes reserved in a file name after the layer name: `_multipoint`, a number, the extension of a companion. */
const maxSuffixBytes = 24;
/** Bytes of the layer name that a file name keeps at least. */
const minNameBytes = 24;

const unsafeInFileNames = new RegExp(`[${reservedInNames}/\\\\\\u007f-\\u009f]`, "g");
const toFileName = (name: string) => name.replace(unsafeInFileNames, "_");

/**
 * Assigns layers to files. If the format holds one layer, each layer of a single input gets a file, and the layers of
 * several inputs are merged into one; if it holds many layers, they all go into one file.
 */
export function planOutputs(layers: readonly OpenLayer[], request: ConvertRequest, writer: ChosenWriter): OutputFile[] {
  const { output } = request;
  const stem = output === "-" ? (layers[0]?.layer.name ?? "") : basename(splitExtension(output, writer.format)[0]);
  if (writer.capabilities.layers === "many") {
    const wanted = layers.map((open) => request.layerName ?? open.layer.name);
    const names = makeUnique(wanted, writer.capabilities.normalizeLayerName ?? ((name) => name));
    const named = layers.map((open, n) => ({ name: names[n]!, requestedName: wanted[n]!, inputs: [open] }));
    return [{ path: output, layers: named }];
  }
  const createLayer = (name: string, inputs: readonly OpenLayer[]): OutputLayer => {
    const requestedName = request.layerName ?? name;
    return { name: requestedName, requestedName, inputs };
  };
  const several = request.inputs.length > 1 || layers.some((open) => open.isExisting);
  if (several || layers.length === 1)
    return [{ path: output, layers: [createLayer(several ? stem : layers[0]!.layer.name, layers)] }];
  if (output === "-") {
    throw createError("usage", {
      reason: `the input has ${layers.length} layers (${layers.map((open) => open.layer.name).join(", ")}) but stdout takes one; choose it with --layer`,
    });
  }
  const room = maxNameBytes - Buffer.byteLength(basename(output)) - maxSuffixBytes;
  const suffixes = makeUnique(
    layers.map((open) => open.layer.name),
    (name) => shortenName(toFileName(name), Math.max(minNameBytes, room)),
  );
  return layers.map((open, n) => ({
    path: withSuffix(output, `-${suffixes[n]}`, writer.format),
    layers: [createLayer(open.layer.name, [open])],
  }));
}

/** Adds a suffix to a name, of which less is kept if the whole is not allowed. */
function addSuffix(stem: string, suffix: string, normalize: (name: string) => string): string {
  for (let kept = stem.length; kept > 0; kept--) {
    const name = `${stem.slice(0, kept)}${suffix}`;
    if (normalize(name) === name) return name;
  }
  return `${stem}${suffix}`;
}

/**
 * Adapts the names with `normalize` and makes them unique regardless of case. A name that needs no adaptation is kept;
 * of several equal ones, the first.
 */
function makeUnique(wanted: readonly string[], normalize: (name: string) => string): string[] {
  const holders = new Map<string, number>();
  for (const [n, name] of wanted.entries()) {
    const key = name.toLowerCase();
    if (normalize(name) === name && !holders.has(key)) holders.set(key, n);
  }
  return wanted.map((name, n) => {
    if (holders.get(name.toLowerCase()) === n) return name;
    const stem = normalize(name);
    let candidate = stem;
    for (let k = 1; holders.has(candidate.toLowerCase()); k++) candidate = addSuffix(stem, `_${k}`, normalize);
    holders.set(candidate.toLowerCase(), n);
    return candidate;
  });
}
