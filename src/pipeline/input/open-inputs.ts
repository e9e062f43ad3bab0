import { createError, GeoferryError } from "../../errors.js";
import { type OpenedInput, openInput } from "../../io/input/open-input.js";
import { AddressSource, type HostSource } from "../../io/input/source.js";
import type { Spool } from "../../io/input/spool.js";
import type { Dataset, Layer, OmittedContent } from "../../model/layer.js";
import type { Format } from "../../plugin/format.js";
import { parseOptions } from "../../plugin/options.js";
import type { Registry } from "../../plugin/registry.js";
import type { Executor } from "../execute/executor.js";
import { type Findings, HostContext } from "../execute/host-context.js";
import type { FormatRef, ScanSpec } from "../execute/task.js";
import { parseCrsOption } from "../plan/parse-crs-option.js";
import { splitList } from "../plan/split-list.js";
import type { ConvertRequest, Host } from "../request.js";
import { parseMapInput } from "./expand-inputs.js";
import { withFailedInput } from "./failed-input.js";

/** Maximum number of layer names in a message. */
const maxListedNames = 20;

/** A layer that is open on this thread, with the data that another thread needs to open it. */
export interface OpenLayer {
  /** The input as in the request. */
  readonly address: string;
  readonly layer: Layer;
  /** Index of the layer in its dataset. */
  readonly layerIndex: number;
  readonly source: HostSource;
  readonly reader: FormatRef;
  readonly scanResult: unknown;
  /** Whether this is the existing output of `--append`, which is copied unchanged. */
  readonly isExisting: boolean;
  /** Whether the source has no other layer. */
  readonly isOnlyLayer: boolean;
  /** The attribute that gets the feature IDs. */
  readonly fid: string | undefined;
  /** Collects what the reader reports on this thread while it finds splits, or reads a layer without splits. */
  readonly context: HostContext;
}

export interface OpenInputs extends AsyncDisposable {
  readonly layers: readonly OpenLayer[];
  /** What the readers reported while opening. */
  readonly findings: readonly Findings[];
}

/**
 * Parses the options of a reader. `fid` is the field that gets the feature IDs, unless the reader has such an option.
 * @throws option-unknown, option-invalid
 */
export function parseReaderOptions(
  { id, reader }: Format,
  { fid, ...given }: Readonly<Record<string, string>>,
): { readonly options: FormatRef["options"]; readonly fid: string | undefined } {
  const table = reader!.options;
  const isReaderOption = fid !== undefined && Object.hasOwn(table, "fid");
  const options = parseOptions(id, table, isReaderOption ? { ...given, fid } : given);
  return { options, fid: isReaderOption ? undefined : fid };
}

type OpenInputsRequest = Pick<
  ConvertRequest,
  "from" | "readerOptions" | "layers" | "skipErrors" | "maxInputBytes" | "sourceCrs" | "swapXy" | "bbox" | "limit"
> & {
  /** Features whose geometry cannot be read are kept without it. */
  readonly keepsBadGeometries?: boolean;
  /** Whether the target can hold lines of one position; readers with this choice then keep them. */
  readonly onePointLines?: boolean;
  /** Refuses more fields than the target can hold. @throws unsupported */
  readonly checkFieldCount?: (source: string, count: number) => void;
  /** Threads that also scan the inputs. */
  readonly executor?: Executor | undefined;
};

/** Whether a folder is one dataset: by its name, or because the requested format reads folders. */
function isDatasetFolder(path: string, from: string | undefined, registry: Registry): boolean {
  return registry.isDatasetFolder(path) || (from !== undefined && registry.get(from).folderExtensions !== undefined);
}

/** Whether a request may need only some features of an input. */
const isPartWanted = ({ bbox, limit }: OpenInputsRequest): boolean => bbox !== undefined || limit !== undefined;

/** Whether the requested format, or one with the extension of the file, reads parts of a file. */
function mayReadParts(name: string, { from }: OpenInputsRequest, registry: Registry): boolean {
  const formats = from === undefined ? registry.findByExtension(name) : [registry.get(from)];
  return formats.some(({ reader }) => reader?.readsParts);
}

/** The reader of a file; undefined if its format is not recognized. */
async function findReader(source: HostSource, head: Buffer, { from }: OpenInputsRequest, registry: Registry) {
  try {
    return (from === undefined ? await registry.identify(source, head) : registry.get(from)).reader;
  } catch (error) {
    if (error instanceof GeoferryError) return undefined;
    throw error;
  }
}

/** Adds reader options that depend on the target; options of the request take precedence. */
function readerOptionsFor({ reader }: Format, { readerOptions = {}, onePointLines }: OpenInputsRequest) {
  const keepsShortLines = onePointLines === true && reader?.options.shortLines?.type === "boolean";
  return keepsShortLines ? { shortLines: "yes", ...readerOptions } : readerOptions;
}

/**
 * Opens all layers of the inputs, or the requested ones.
 * @throws input-missing, input-unrecognized, layer-missing … and what the readers throw
 */
export async function openInputs(
  addresses: readonly string[],
  request: OpenInputsRequest,
  host: Host,
  spool: Spool,
  isExisting = false,
  /** Include layers that are otherwise only read when requested by name. */
  everyLayer = false,
): Promise<OpenInputs> {
  const datasets: Dataset[] = [];
  const contexts: HostContext[] = [];
  const findings: Findings[] = [];
  const layers: OpenLayer[] = [];
  const { registry, signal } = host;

  async function openSource(address: string, source: HostSource, from = request.from, head?: Buffer): Promise<void> {
    const format = from ? registry.get(from) : await registry.identify(source, head);
    if (!format.reader) throw createError("format-cannot-read", { format: format.id });
    const { options, fid } = parseReaderOptions(format, readerOptionsFor(format, request));
    const ref: FormatRef = { id: format.id, module: registry.getModule(format.id), options };
    const skipErrors = request.skipErrors ?? false;
    const { keepsBadGeometries = false } = request;
    const spec: ScanSpec = { source: source.spec, reader: ref, skipErrors, keepsBadGeometries };
    const { executor } = request;
    const scanParts = executor?.scanParts && ((parts: AsyncIterable<unknown>) => executor.scanParts!(spec, parts));
    const context = new HostContext(
      source.name,
      signal,
      skipErrors,
      undefined,
      host.now,
      keepsBadGeometries,
      scanParts,
    );
    context.requestedCrs =
      request.sourceCrs === undefined ? null : await parseCrsOption("--source-crs", request.sourceCrs);
    context.swapsXy = request.swapXy ?? false;
    context.onFieldCount = (count) => request.checkFieldCount?.(source.name, count);
    context.onDownload = (features) => host.onProgress?.({ done: 0, total: 0, features, phase: "download" });
    contexts.push(context);
    const reader = await format.reader.load();
    const dataset = await reader.open(source, options, context);
    datasets.push(dataset);
    findings.push(context.takeFindings(0));
    findings.push(omittedContent(dataset, source.name, request.layers));
    dataset.layers.forEach((layer, layerIndex) => {
      layers.push({
        address,
        layer,
        layerIndex,
        source,
        reader: ref,
        scanResult: dataset.scanResult,
        fid,
        context,
        isExisting,
        isOnlyLayer: dataset.layers.length === 1,
      });
    });
  }

  async function openMap(id: string, name: string): Promise<void> {
    if (id === "")
      throw createError("usage", {
        reason: "the id of the map in map:ID is empty; check whether a variable is unset",
      });
    const onProgress = (features: number) => host.onProgress?.({ done: 0, total: 0, features, phase: "download" });
    const { signal } = host;
    const sources = await host.readMap?.({
      id,
      name,
      layers: request.layers ?? [],
      maxBytes: request.maxInputBytes,
      spool,
      onProgress,
      signal,
    });
    if (!sources)
      throw createError("input-unreadable", {
        source: name,
        reason: "no Map Features Service is available here; read it with the geoferry command",
      });
    for (const source of sources) await openSource(name, source, "geojson");
  }

  async function openAddress(address: string): Promise<void> {
    const format = registry.findByAddress(address)!;
    format.addresses.fileStem(address);
    if (request.from !== undefined && registry.get(request.from).id !== format.id)
      throw createError("usage", {
        reason: `${address}: is an address of ${format.label}; omit --from ${request.from}`,
      });
    await openSource(address, new AddressSource(address), format.id);
  }

  async function openOne(address: string): Promise<void> {
    const map = parseMapInput(address);
    if (map !== null) await openMap(map, address);
    else if (registry.findByAddress(address)) await openAddress(address);
    else await openFile(address);
  }

  async function openFile(address: string): Promise<void> {
    const members = await openInput(address, {
      spool,
      signal,
      ...(host.displayNames ? { names: host.displayNames } : {}),
      ...(request.maxInputBytes === undefined ? {} : { maxBytes: request.maxInputBytes }),
      isPrimary: (name) => registry.canBeInput(name),
      isCompanion: (name) => registry.isCompanion(name),
      siblingsOf: (name) => registry.findSiblingExtensions(name),
      archiveOf: (name) => registry.findArchive(name),
      isDatasetFolder: (path) => isDatasetFolder(path, request.from, registry),
      keepZipped: (source, head) => registry.isZippedFormat(source, head),
      ...(isPartWanted(request) && {
        needsParts: (name) => mayReadParts(name, request, registry),
        canReadParts: async (source, head) => (await findReader(source, head, request, registry))?.readsParts === true,
      }),
      progress: (done: number, total: number | null) =>
        host.onProgress?.({ done, total: total ?? 0, features: 0, phase: "download" }),
    });
    if (members.length === 0) throw createError("input-unrecognized", { source: address, known: registry.formatIds() });
    for (const { source, head, ignoredEntries = [], otherEntries = [] } of members) {
      await openSource(address, source, request.from, head).catch((error: unknown) => {
        throw listZipEntries(error, address, members, registry);
      });
      const skipped = isExisting ? otherEntries : ignoredEntries;
      if (skipped.length > 0) findings.push(skippedEntries(source.name, skipped));
    }
  }

  const dispose = async () => {
    for (const dataset of datasets) await dataset[Symbol.asyncDispose]();
    for (const context of contexts) await context[Symbol.asyncDispose]();
  };
  try {
    for (const address of addresses) await withFailedInput(address, () => openOne(address));
    return {
      layers: everyLayer ? layers : chooseLayers(layers, request.layers, addresses.join(", ")),
      findings,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** If no file in a zip archive has a known extension, returns an error that lists its entries. */
function listZipEntries(error: unknown, address: string, members: readonly OpenedInput[], registry: Registry): unknown {
  const names = members.map(({ source }) => source.name);
  const isZipped = members.some(({ head }) => head === undefined);
  if (!isZipped || names.some((name) => registry.canBeInput(name))) return error;
  if (!(error instanceof GeoferryError) || error.code !== "input-unrecognized") return error;
  const entries = names.map((name) => (name.startsWith(`${address}/`) ? name.slice(address.length + 1) : name));
  return createError("input-unrecognized", { source: address, known: registry.formatIds(), entries }, error);
}

/** A notice about entries of an archive that could be read but are not part of its dataset. */
function skippedEntries(source: string, names: readonly string[]): Findings {
  const listed = `${names.slice(0, 5).join(", ")}${names.length > 5 ? " …" : ""}`;
  const example = `${source} is read as one dataset and also contains ${listed}; unpack the archive to read them`;
  const notice = { code: "zip-entries-ignored", layer: source, count: names.length, example };
  return { losses: [], notices: [notice], rejects: [], skippedRanges: [], records: 0, lines: 0 };
}

/** The losses and notices about content that the reader omits from the requested layers. */
function omittedContent({ omitted = [] }: Dataset, source: string, wanted: readonly string[] | undefined): Findings {
  const names = wanted && wanted.length > 0 ? new Set(wanted.flatMap((text) => [text, ...splitList(text)])) : null;
  const relevant = omitted.filter(({ layer }) => names === null || (layer !== undefined && names.has(layer)));
  const ofKind = (kind: OmittedContent["kind"]) =>
    relevant.flatMap((each) => {
      const { code, layer = source, count, example } = each;
      return each.kind === kind ? [{ code, layer, count, example }] : [];
    });
  return { losses: ofKind("loss"), notices: ofKind("note"), rejects: [], skippedRanges: [], records: 0, lines: 0 };
}

function chooseLayers(
  layers: readonly OpenLayer[],
  wanted: readonly string[] | undefined,
  source: string,
): readonly OpenLayer[] {
  if (!wanted || wanted.length === 0) return withoutExplicitOnly(layers, source);
  const names = new Set(layers.flatMap(({ layer }) => [layer.name, ...(layer.aliases ?? [])]));
  // A layer name may contain commas: text that is a layer name is not split.
  const chosen = new Set(wanted.flatMap((text) => (names.has(text) ? [text] : splitList(text))));
  for (const name of chosen)
    if (!names.has(name)) throw createError("layer-missing", { source, layer: name, layers: [...names] });
  return layers.filter(({ layer }) => [layer.name, ...(layer.aliases ?? [])].some((name) => chosen.has(name)));
}

/** @throws usage if all layers must be requested by name, unsupported if there are none */
function withoutExplicitOnly(layers: readonly OpenLayer[], source: string): readonly OpenLayer[] {
  const taken = layers.filter((open) => !open.layer.explicitOnly);
  if (taken.length > 0) return taken;
  if (layers.length === 0) throw createError("unsupported", { source, reason: "it has no readable table or layer" });
  const names = layers.slice(0, maxListedNames).map((open) => `"${open.layer.name}"`);
  const more = layers.length > maxListedNames ? ` and ${layers.length - maxListedNames} more` : "";
  throw createError("usage", {
    reason: `${source}: has no layer with geometry; choose a table with --layer: ${names.join(", ")}${more}`,
  });
}
