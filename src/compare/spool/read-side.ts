/** Reads a side of a comparison through the pipeline into temporary files. */
import { join } from "node:path";
import type { Spool } from "../../io/input/spool.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { redact } from "../../io/redact.js";
import type { Crs } from "../../model/layer.js";
import type { Loss, SkippedRange } from "../../model/report.js";
import { convert } from "../../pipeline/convert.js";
import type { Executor } from "../../pipeline/execute/executor.js";
import type { ConvertReport } from "../../pipeline/report.js";
import type { ConvertRequest, Host } from "../../pipeline/request.js";
import type { Registry } from "../../plugin/registry.js";
import type { CompareRequest, SideOptions } from "../request.js";
import {
  type ComparisonChunk,
  comparisonFormatId,
  createComparisonFormat,
  type EncoderRules,
} from "./comparison-format.js";
import { manifestName, SpooledLayer, writeManifest } from "./spooled-side.js";

export const sideNames = ["old", "new"] as const;
export type SideName = (typeof sideNames)[number];

export interface SpooledSide extends Disposable {
  /** The input, without secrets. */
  readonly name: string;
  readonly layers: readonly SpooledLayer[];
  /** Features that could not be read. */
  readonly rejected: number;
  /** Why the first of them could not. */
  readonly rejectReason: string | null;
  readonly skippedRanges: readonly SkippedRange[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
}

/** The format of temporary files beside those of the host. */
export function withComparisonFormat(
  registry: Registry,
  open?: Parameters<typeof createComparisonFormat>[0],
): Registry {
  const copy = registry.copy();
  copy.add(createComparisonFormat(open), "#comparison-format");
  return copy;
}

interface SpoolResult {
  readonly layers: readonly SpooledLayer[];
  readonly report: ConvertReport;
  /** Why the first rejected feature was; null if none was. */
  readonly rejectReason: string | null;
}

/** Converts into spooled layers, which the caller closes. */
async function spoolLayers(
  request: Omit<ConvertRequest, "output">,
  rules: EncoderRules,
  host: Host,
  spool: Spool,
  executor: Executor | null,
  formatOf?: string,
): Promise<SpoolResult> {
  const layers: SpooledLayer[] = [];
  let formats: readonly string[] = [];
  const registry = withComparisonFormat(host.registry, (targets) => {
    targets.forEach(({ name, crs, fields }, at) => {
      layers.push(new SpooledLayer(spool.folder(), name, crs, fields, formatOf ?? formats[at] ?? ""));
    });
    return (chunk: ComparisonChunk, layer) => layers[layer]!.add(chunk);
  });
  const onLayers: NonNullable<Host["onLayers"]> = (_, opened) => {
    formats = opened;
  };
  const output = join(spool.folder(), `side.${comparisonFormatId}`);
  const rejects = join(spool.folder(), "rejects.geojsonl");
  try {
    const report = await convert(
      {
        ...request,
        output,
        to: comparisonFormatId,
        writerOptions: { rules: JSON.stringify(rules) },
        rejects,
        allowEmpty: true,
      },
      { ...host, registry, onLayers },
      executor ?? undefined,
    );
    return { layers, report, rejectReason: report.rejected > 0 ? await firstReason(rejects) : null };
  } catch (error) {
    for (const layer of layers) layer[Symbol.dispose]();
    throw error;
  }
}

async function firstReason(path: string): Promise<string | null> {
  for await (const lines of readTextLines(path))
    for (const { text } of lines) return (JSON.parse(text) as { reject: { reason: string } }).reject.reason;
  return null;
}

/** The options of a side: its own ones, or those of both sides. */
export function optionsOf(request: CompareRequest, side: SideName): SideOptions {
  const { from, layers, sourceCrs, where, swapXy, readerOptions } = request;
  const both = { from, layers, sourceCrs, where, swapXy, readerOptions, ...request[`${side}Options`] };
  return Object.fromEntries(Object.entries(both).filter(([, value]) => value !== undefined));
}

/**
 * Reads a side, in its own coordinates.
 * @throws errors of `convert`
 */
export async function readSide(
  request: CompareRequest,
  side: SideName,
  rules: EncoderRules,
  host: Host,
  spool: Spool,
  executor: Executor | null,
): Promise<SpooledSide> {
  const { skipErrors, workers, maxInputBytes } = request;
  const shared = { skipErrors, workers, maxInputBytes };
  const given = Object.fromEntries(Object.entries(shared).filter(([, value]) => value !== undefined));
  const { layers, report, rejectReason } = await spoolLayers(
    { ...given, ...optionsOf(request, side), inputs: [request[side]], reproject: false },
    rules,
    host,
    spool,
    executor,
  );
  const { rejected, skippedRanges, losses, notices } = report;
  return {
    name: redact(request[side], host.registry),
    layers,
    rejected,
    rejectReason,
    skippedRanges,
    losses,
    notices,
    [Symbol.dispose]: () => {
      for (const layer of layers) layer[Symbol.dispose]();
    },
  };
}

export interface RespoolOptions extends Pick<CompareRequest, "accuracy" | "grids" | "workers"> {
  /** Reprojects from this system to WGS 84; null keeps the coordinates. */
  readonly toWgs84From: Crs | null;
}

/**
 * Spools a layer again with other rules, or in another reference system.
 * @throws crs-no-operation
 */
export async function respoolLayer(
  layer: SpooledLayer,
  rules: EncoderRules,
  { toWgs84From, ...given }: RespoolOptions,
  host: Host,
  spool: Spool,
  executor: Executor | null,
): Promise<{ readonly layer: SpooledLayer } & Omit<SpoolResult, "layers">> {
  const manifest = join(spool.folder(), manifestName);
  writeManifest(manifest, [layer]);
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { layers, ...result } = await spoolLayers(
    {
      ...options,
      inputs: [manifest],
      from: comparisonFormatId,
      ...(toWgs84From === null
        ? { reproject: false }
        : layer.crs === null
          ? { sourceCrs: toWgs84From.definition }
          : {}),
    },
    rules,
    { ...host, displayNames: new Map([[manifest, layer.name]]) },
    spool,
    executor,
    layer.format,
  );
  return { layer: layers[0]!, ...result };
}
