import { createError } from "../../errors.js";
import { type ConvertRequest, omitUndefined } from "../../pipeline/request.js";
import type { Command } from "../command.js";
import { gridOptions } from "../options/grid-options.js";
import { existingOptions, type OutputArguments, outputOptions, outputRequest } from "../options/output-options.js";
import {
  file,
  flag,
  readingOptions,
  rejectOptions,
  type SourceArguments,
  shapingOptions,
  sourceRequestOf,
  text,
} from "../options/source-options.js";
import { convertAndReport } from "../run/convert-and-report.js";
import { type MapInputArguments, mapInputOptions } from "../run/map-inputs.js";

export interface ConvertArguments extends SourceArguments, OutputArguments, MapInputArguments {
  readonly report?: string;
  readonly paths: readonly string[];
}

/** The request of the arguments, without the members that are not given. */
export function parseConvertRequest(args: ConvertArguments): ConvertRequest {
  const { paths } = args;
  if (paths.length < 2)
    throw createError("usage", {
      reason: "convert needs an INPUT and an OUTPUT: geoferry convert roads.shp roads.geojson",
    });
  return omitUndefined<ConvertRequest>({
    ...sourceRequestOf(args),
    ...outputRequest(args, paths.at(-1)!),
    inputs: paths.slice(0, -1),
  });
}

export const convertCommand: Command<ConvertArguments> = {
  usage: "convert <paths..>",
  summary:
    "Convert INPUT... to OUTPUT: files, folders, globs, zip files, http(s) and s3 addresses, ArcGIS, WFS and OGC API services, pg: for a database, map:ID for a map of a service, - for stdin or stdout",
  positionals: { paths: { type: "string", array: true, describe: "INPUT... OUTPUT", demandOption: true } },
  options: {
    from: readingOptions.from,
    to: outputOptions.to,
    layer: readingOptions.layer,
    "layer-name": outputOptions["layer-name"],
    "source-crs": readingOptions["source-crs"],
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
    verify: outputOptions.verify,
    report: {
      ...file,
      group: "Rejects and losses:",
      describe: "Write a protocol of the conversion for filing: inputs, counts, losses, proof; .html or .json",
    },
    "skip-errors": readingOptions["skip-errors"],
    append: existingOptions.append,
    overwrite: existingOptions.overwrite,
    "replace-layer": existingOptions["replace-layer"],
    "if-newer": { ...flag, group: "Output:", describe: "Convert only inputs that are newer than their outputs" },
    "allow-empty": existingOptions["allow-empty"],
    "on-name-clash": {
      ...text,
      group: "Output:",
      accepts: ["error", "number"],
      describe: "Action if several inputs would get the same output name: error, or number all but the first",
      defaultDescription: "error",
    },
    workers: readingOptions.workers,
    "max-input": readingOptions["max-input"],
    ...mapInputOptions,
  },
  examples: [
    ["convert roads.shp roads.geojson", "convert a Shapefile to GeoJSON in WGS84"],
    ["convert places.csv places.shp --target-crs EPSG:25832", "convert and reproject"],
    ["convert 'in/*.shp' out/ --to geojson", "convert all Shapefiles of a folder, in parallel"],
    ["convert data.geojson - --to csv --where \"kind = 'park'\"", "filter, and write to stdout"],
  ],
  async run(args) {
    return convertAndReport(parseConvertRequest(args), args);
  },
};
