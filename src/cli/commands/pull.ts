import { type ConvertRequest, omitUndefined } from "../../pipeline/request.js";
import type { Command } from "../command.js";
import { gridOptions } from "../options/grid-options.js";
import { existingOptions, type OutputArguments, outputOptions, outputRequest } from "../options/output-options.js";
import {
  readingOptions,
  rejectOptions,
  type SourceArguments,
  shapingOptions,
  sourceRequestOf,
} from "../options/source-options.js";
import { mapIdOf, mapOption } from "../options/sync-options.js";
import { convertAndReport } from "../run/convert-and-report.js";
import { type MapInputArguments, mapInputOptions } from "../run/map-inputs.js";

export interface PullArguments extends SourceArguments, OutputArguments, MapInputArguments {
  readonly output: string;
  readonly map: string;
}

/** A pull is a conversion with a map as input. */
export function parsePullRequest(args: PullArguments): ConvertRequest {
  return omitUndefined<ConvertRequest>({
    ...sourceRequestOf(args),
    ...outputRequest(args, args.output),
    inputs: [`map:${mapIdOf(args.map)}`],
  });
}

export const pullCommand: Command<PullArguments> = {
  usage: "pull <output>",
  summary: "Write the features of a map to OUTPUT in any format",
  positionals: { output: { type: "string", describe: "OUTPUT, - for stdout", demandOption: true } },
  options: {
    ...mapOption,
    to: outputOptions.to,
    layer: {
      ...readingOptions.layer,
      placeholder: "KIND",
      accepts: ["point", "line", "polygon", "collection", "none"],
      describe: "Read only features with these geometries: point,line,polygon,collection,none",
    },
    "layer-name": outputOptions["layer-name"],
    "target-crs": outputOptions["target-crs"],
    reproject: outputOptions.reproject,
    accuracy: readingOptions.accuracy,
    grid: readingOptions.grid,
    ...gridOptions,
    ...shapingOptions,
    in: readingOptions.in,
    out: outputOptions.out,
    ...rejectOptions,
    strict: outputOptions.strict,
    ...existingOptions,
    workers: readingOptions.workers,
    "max-input": { ...readingOptions["max-input"], describe: "Maximum size of the map's features" },
    ...mapInputOptions,
  },
  examples: [
    ["pull parks.gpkg --map 7c0e6a52-…", "write a map to a GeoPackage"],
    ["pull parks.shp --map 7c0e6a52-… --target-crs EPSG:25832 --overwrite", "replace a Shapefile in UTM"],
    ["pull - --map 7c0e6a52-… --to csv --where \"kind = 'park'\"", "filter, and write to stdout"],
  ],
  async run(args) {
    return convertAndReport(parsePullRequest(args), args);
  },
};
