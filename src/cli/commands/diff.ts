import type { CompareRequest, SideOptions } from "../../compare/request.js";
import { createError } from "../../errors.js";
import { omitUndefined } from "../../pipeline/request.js";
import type { Command } from "../command.js";
import { grouped } from "../options/flag.js";
import { gridOptions } from "../options/grid-options.js";
import { outputOptions } from "../options/output-options.js";
import { file, flag, gridsOf, readingOptions, several, shapingOptions, text } from "../options/source-options.js";
import { namesOf } from "../parse/arguments.js";
import { numberOf, pairs, wholeNumber } from "../parse/values.js";
import { mapInputOptions } from "../run/map-inputs.js";
import type { DiffArguments } from "../run/run-diff.js";

/** Most decimals of a coordinate that a double holds. */
const maxDecimals = 15;

const sideOptions = grouped("One side:", {
  "old-from": { ...readingOptions.from, describe: "Format of OLD" },
  "new-from": { ...readingOptions.from, describe: "Format of NEW" },
  "old-layer": { ...readingOptions.layer, describe: "Compare only these layers of OLD: a,b" },
  "new-layer": { ...readingOptions.layer, describe: "Compare only these layers of NEW: a,b" },
  "old-source-crs": { ...readingOptions["source-crs"], describe: "Coordinate reference system of OLD" },
  "new-source-crs": { ...readingOptions["source-crs"], describe: "Coordinate reference system of NEW" },
  "old-where": { ...text, describe: "Compare only features of OLD that match a condition" },
  "new-where": { ...text, describe: "Compare only features of NEW that match a condition" },
  "old-in": { ...readingOptions.in, describe: "Reader option for OLD: key=value" },
  "new-in": { ...readingOptions.in, describe: "Reader option for NEW: key=value" },
});

function sideOptionsOf(args: DiffArguments, side: "old" | "new"): SideOptions | undefined {
  const isOld = side === "old";
  const given = omitUndefined<SideOptions>({
    from: isOld ? args.oldFrom : args.newFrom,
    layers: isOld ? args.oldLayer : args.newLayer,
    sourceCrs: isOld ? args.oldSourceCrs : args.newSourceCrs,
    where: isOld ? args.oldWhere : args.newWhere,
    readerOptions: pairs(`--${side}-in`, isOld ? args.oldIn : args.newIn),
    swapXy: undefined,
  });
  return Object.keys(given).length === 0 ? undefined : given;
}

/** @throws usage, option-invalid */
export function parseCompareRequest(args: DiffArguments): CompareRequest {
  if (args.match !== undefined && args.match !== "id" && args.match !== "content")
    throw createError("option-invalid", { option: "--match", value: args.match, expected: "id or content" });
  if (args.match !== undefined && args.key !== undefined)
    throw createError("usage", { reason: `--key and --match ${args.match} exclude each other; omit one of them` });
  const { inputs } = args;
  const [old, recent] = inputs;
  if (old === undefined || recent === undefined || inputs.length > 2)
    throw createError("usage", { reason: "diff compares two inputs: geoferry diff old.gpkg new.gpkg" });
  const precision = wholeNumber("--precision", args.precision, 0);
  if (precision !== undefined && precision > maxDecimals)
    throw createError("option-invalid", {
      option: "--precision",
      value: args.precision!,
      expected: `a whole number from 0 to ${maxDecimals}`,
    });
  return omitUndefined<CompareRequest>({
    old,
    new: recent,
    from: args.from,
    layers: args.layer,
    sourceCrs: args.sourceCrs,
    where: args.where,
    swapXy: args.swapXy,
    readerOptions: pairs("--in", args.in),
    oldOptions: sideOptionsOf(args, "old"),
    newOptions: sideOptionsOf(args, "new"),
    accuracy: numberOf("--accuracy", args.accuracy, 0, false),
    grids: gridsOf(args.grid),
    skipErrors: args.skipErrors,
    workers: wholeNumber("--workers", args.workers, 1),
    maxInputBytes: wholeNumber("--max-input", args.maxInput, 1),
    key: args.key,
    match: args.match,
    precision,
    ignore: namesOf("--ignore", args.ignore),
  });
}

export const diffCommand: Command<DiffArguments> = {
  usage: "diff <inputs..>",
  summary: "Show what differs between two inputs: layers, fields, and features added, removed, changed and moved",
  positionals: {
    inputs: {
      type: "string",
      array: true,
      describe: "OLD NEW: files, zip files, addresses, map:ID, - for stdin",
      demandOption: true,
    },
  },
  options: {
    ...grouped("Matching:", {
      key: {
        ...text,
        accepts: "field",
        describe: "Field that identifies a feature on both sides; id for the ids of features",
        defaultDescription: "the best one, or else geometry and attributes",
      },
      match: {
        ...text,
        accepts: ["id", "content"],
        describe: "id: match by the ids of features; content: by geometry and attributes, without a key",
      },
    }),
    ...grouped("Comparison:", {
      precision: {
        ...text,
        describe: "Decimals of coordinates to compare",
        defaultDescription: "7 in degrees, 3 in projected systems",
      },
      ignore: { ...several, accepts: "field", describe: "Do not compare these fields: a,b" },
    }),
    ...grouped("Output:", {
      output: {
        ...text,
        alias: "o",
        accepts: "path",
        describe: "File for the changes, with old and new values, in any format: changes.gpkg",
      },
      to: { ...outputOptions.to, describe: "Format of that file; by default detected from the extension" },
      out: outputOptions.out,
      "target-crs": {
        ...outputOptions["target-crs"],
        describe: "Coordinate reference system of that file",
        defaultDescription: "that of the inputs, if the format holds it",
      },
      html: { ...file, describe: "Write a web page with a map of both versions and a table" },
      overwrite: { ...flag, describe: "Replace existing files" },
      "exit-code": { ...flag, describe: "Exit with status 20 if there are differences" },
    }),
    from: readingOptions.from,
    layer: { ...readingOptions.layer, describe: "Compare only these layers: a,b" },
    "source-crs": readingOptions["source-crs"],
    "swap-xy": shapingOptions["swap-xy"],
    accuracy: readingOptions.accuracy,
    grid: readingOptions.grid,
    ...gridOptions,
    where: { ...shapingOptions.where, describe: 'Compare only features that match a condition: "population > 1e6"' },
    in: readingOptions.in,
    "skip-errors": readingOptions["skip-errors"],
    ...sideOptions,
    workers: readingOptions.workers,
    "max-input": readingOptions["max-input"],
    ...mapInputOptions,
  },
  examples: [
    ["diff old.gpkg new.gpkg", "show what changed, matched by the field that identifies features"],
    ["diff old.shp new.shp --key ref --ignore updated", "match by ref, and do not compare updated"],
    ["diff old.gpkg new.gpkg -o changes.gpkg", "write the changes with old and new values"],
    ["diff old.gpkg new.gpkg --html changes.html", "show both versions on a map"],
    ["diff a.geojson b.csv --exit-code", "exit with status 20 if there are differences"],
  ],
  async run(args) {
    const request = parseCompareRequest(args);
    const { runDiff } = await import("../run/run-diff.js");
    return runDiff(request, args);
  },
};
