import { asGeoferryError, createError } from "../../errors.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { groupDigits } from "../../format-count.js";
import { redact } from "../../io/redact.js";
import { expandInputs } from "../../pipeline/input/expand-inputs.js";
import type { ExistingMapData } from "../../pipeline/input/layer-warnings.js";
import { type InspectReport, type InspectRequest, inspect, type LayerReport } from "../../pipeline/inspect.js";
import type { Host } from "../../pipeline/request.js";
import type { Command } from "../command.js";
import { exitStatus, worstStatus } from "../exit.js";
import { openHost } from "../host.js";
import { takes } from "../options/flag.js";
import type { GridArguments } from "../options/grid-options.js";
import { gridsOf, readingOptions, shapingOptions } from "../options/source-options.js";
import { describeReference, refusalOf } from "../output/crs-text.js";
import { ProgressDisplay } from "../output/progress.js";
import { renderError, renderLeftOut, renderLosses, renderSkippedRanges } from "../output/render.js";
import { statisticsLines } from "../output/statistics-text.js";
import { columnsOf } from "../output/terminal.js";
import { namesOf } from "../parse/arguments.js";
import { numberOf, pairs, wholeNumber } from "../parse/values.js";
import { type MapInputArguments, mapInputOptions } from "../run/map-inputs.js";

export interface InfoArguments extends MapInputArguments, GridArguments {
  readonly inputs: readonly string[];
  readonly from?: string;
  readonly layer?: readonly string[];
  readonly in?: readonly string[];
  readonly sourceCrs?: string;
  readonly accuracy?: string;
  readonly grid?: readonly string[];
  readonly skipErrors?: boolean;
  readonly workers?: string;
  readonly where?: string;
  readonly select?: readonly string[];
  readonly stats?: boolean;
  readonly head?: string;
}

export const inspectOptions = {
  from: readingOptions.from,
  layer: readingOptions.layer,
  in: readingOptions.in,
  "source-crs": readingOptions["source-crs"],
  accuracy: readingOptions.accuracy,
  grid: readingOptions.grid,
  "standard-grids": readingOptions["standard-grids"],
  "skip-errors": readingOptions["skip-errors"],
  workers: readingOptions.workers,
  ...mapInputOptions,
} as const;

/**
 * Inspects inputs for `info` and `check`, and reports each one when it is done. An invalid input does not stop the
 * others.
 * @returns the exit status
 */
export async function inspectInputs(
  args: InfoArguments,
  { thorough, held }: { readonly thorough: boolean; readonly held?: ExistingMapData },
  onReport: (report: InspectReport) => number,
): Promise<number> {
  const readerOptions = pairs("--in", args.in);
  const workers = wholeNumber("--workers", args.workers, 1);
  const accuracy = numberOf("--accuracy", args.accuracy, 0, false);
  const head = wholeNumber("--head", args.head, 1);
  const select = namesOf("--select", args.select);
  const grids = gridsOf(args.grid);
  const display = ProgressDisplay.of(args);
  const host = await openHost(args, display.callback);
  const statuses: number[] = [];
  const onLeftOut = (paths: readonly string[]) => renderLeftOut(paths, args);
  const inputs = await expandInputs(args.inputs, host.registry, host.signal, args.from, onLeftOut);
  for (const { address, error: refused } of inputs) {
    const request = {
      inputs: [address],
      ...(args.from === undefined ? {} : { from: args.from }),
      ...(args.layer === undefined ? {} : { layers: args.layer }),
      ...(args.sourceCrs === undefined ? {} : { sourceCrs: args.sourceCrs }),
      ...(accuracy === undefined ? {} : { accuracy }),
      ...(grids === undefined ? {} : { grids }),
      ...(workers === undefined ? {} : { workers }),
      ...(readerOptions === undefined ? {} : { readerOptions }),
      ...(held === undefined ? {} : { existingMap: held }),
      ...(args.where === undefined ? {} : { where: args.where }),
      ...(select === undefined ? {} : { select }),
      ...(args.stats ? { statistics: true } : {}),
      skipErrors: args.skipErrors ?? false,
    };
    try {
      if (refused) throw refused;
      if (head !== undefined) await showHead(request, host, head, args);
      if (head !== undefined && !args.stats) continue;
      const report = await inspect(request, host, thorough);
      display.clear();
      statuses.push(onReport(report));
      if (report.skippedRanges.length > 0) statuses.push(exitStatus.rejected);
      renderSkippedRanges(report.skippedRanges, args);
    } catch (thrown) {
      display.clear();
      const error = host.signal.aborted ? createError("interrupted", {}, thrown) : asGeoferryError(thrown);
      renderError(error, args, { input: redact(address, host.registry) });
      statuses.push(exitStatus[error.kind]);
      if (host.signal.aborted) break;
    }
  }
  return worstStatus(statuses);
}

/** Prints the first features of each layer. */
async function showHead(request: InspectRequest, host: Host, count: number, args: InfoArguments): Promise<void> {
  const [{ readHead }, { headRecords, headText }] = await Promise.all([
    import("../../pipeline/head.js"),
    import("../output/head-table.js"),
  ]);
  const { layers, losses, notices, skippedRanges } = await readHead(request, host, count);
  for (const layer of layers)
    process.stdout.write(args.json ? headRecords(layer) : headText(layer, columnsOf(process.stdout, process.env)));
  // The statistics report the same.
  if (args.stats) return;
  renderLosses(notices, losses, args);
  renderSkippedRanges(skippedRanges, args);
}

const formatNumber = (value: number): string => String(Number(value.toFixed(7)));

function describeGeometry(layer: LayerReport): string {
  if (layer.geometryTypes.length === 0) return "none";
  const dimensions = `${layer.hasZ ? " with Z" : ""}${layer.hasM ? " with M" : ""}`;
  return `${layer.geometryTypes.join(", ")}${dimensions}`;
}

function describeField(field: LayerReport["fields"][number], width: number): string {
  const declared = field.width === undefined ? "" : ` (${field.width}${field.decimals ? `.${field.decimals}` : ""})`;
  return `    ${field.name.padEnd(width)}  ${field.type}${declared}`;
}

export function describeLayer(layer: LayerReport): string {
  const crs = layer.crs ? [layer.crs.id, layer.crs.name].filter((part) => part).join(" ") : "unknown";
  const reference = layer.reference ? describeReference(layer.reference) : [];
  const { fields } = layer;
  const width = Math.min(
    40,
    fields.reduce((most, field) => Math.max(most, field.name.length), 0),
  );
  const parts = [
    joinPrintable([
      `${layer.input}: ${layer.layer} (${layer.format})`,
      `  features  ${groupDigits(layer.featureCount)}${layer.nullGeometries > 0 ? `, ${groupDigits(layer.nullGeometries)} without geometry` : ""}`,
      `  geometry  ${describeGeometry(layer)}`,
      `  crs       ${crs}`,
      ...reference.map(([word, sentence]) => `  ${word.padEnd(9)} ${sentence}`),
      `  extent    ${layer.extent ? layer.extent.map(formatNumber).join(", ") : "none"}`,
      `  fields    ${fields.length}`,
    ]),
  ];
  if (layer.statistics)
    parts.push(statisticsLines(layer.statistics, fields.length, columnsOf(process.stdout, process.env)).join("\n"));
  else
    for (let from = 0; from < fields.length; from += linesPerChunk)
      parts.push(joinPrintable(fields.slice(from, from + linesPerChunk).map((field) => describeField(field, width))));
  const refusal = refusalOf(layer);
  const remarks = [...(refusal === null ? [] : [refusal]), ...layer.warnings];
  return [...parts, joinPrintable([...remarks.map((sentence) => `  warning   ${sentence}`), ""])].join("\n");
}

/** Joining in chunks limits memory for layers with very many fields. */
const linesPerChunk = 512;

const joinPrintable = (lines: readonly string[]): string => lines.map(escapeControlCharacters).join("\n");

const ofContents = "Contents:";

export const infoCommand: Command<InfoArguments> = {
  usage: "info <inputs..>",
  summary: "Show the layers of INPUT: fields, coordinate reference system, count, extent and warnings",
  positionals: { inputs: { type: "string", array: true, describe: "INPUT...", demandOption: true } },
  options: {
    stats: {
      type: "boolean",
      group: ofContents,
      describe:
        "Show statistics: values, nulls, distinct values, quantiles, frequent values, keys, lengths and areas (check counts invalid geometries)",
    },
    head: { ...takes("N"), group: ofContents, describe: "Show only the first N features of each layer" },
    where: shapingOptions.where,
    select: shapingOptions.select,
    ...inspectOptions,
    accuracy: { ...inspectOptions.accuracy, defaultDescription: "100" },
  },
  examples: [
    ["info roads.shp", "show the contents of a Shapefile"],
    ["info parcels.gpkg --stats", "show statistics of every field and of the geometries"],
    ["info addresses.csv --stats --where \"city = 'Oslo'\" --select street,number", "of some features and fields"],
    ["info addresses.csv --head 5", "show the first five features as a table"],
    ["info data.zip --json", "print JSON records"],
  ],
  async run(args) {
    return inspectInputs(args, { thorough: false }, (report) => {
      for (const layer of report.layers) {
        const { problems: _, ...record } = layer;
        process.stdout.write(args.json ? `${JSON.stringify({ type: "layer", ...record })}\n` : describeLayer(layer));
      }
      renderLosses(report.notices, report.losses, args);
      return 0;
    });
  },
};
