import { fault } from "../../errors.js";
import { type FieldType, fieldTypes } from "../../model/field.js";
import { convertMany, type Outcome } from "../../pipeline/convert-many.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import { listOf, namesOf, outputOf, unprotect } from "../arguments.js";
import type { Command, CommonArguments } from "../command.js";
import { openHost } from "../host.js";
import { ProgressDisplay } from "../progress.js";
import { isInterrupted, renderInterruption, renderOutcome, statusOf } from "../render.js";

export interface ConvertArguments extends CommonArguments {
  readonly paths: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly layer?: readonly string[];
  readonly layerName?: string;
  readonly sourceCrs?: string;
  readonly targetCrs?: string;
  readonly reproject: boolean;
  readonly accuracy?: string;
  readonly select?: readonly string[];
  readonly rename?: readonly string[];
  readonly cast?: readonly string[];
  readonly where?: string;
  readonly bbox?: string;
  readonly limit?: string;
  readonly geometryType?: string;
  readonly makeValid?: boolean;
  readonly swapXy?: boolean;
  readonly in?: readonly string[];
  readonly out?: readonly string[];
  readonly rejects?: string;
  readonly maxRejects?: string;
  readonly strict?: boolean;
  readonly skipErrors?: boolean;
  readonly append?: boolean;
  readonly overwrite?: boolean;
  readonly replaceLayer?: boolean;
  readonly update?: boolean;
  readonly allowEmpty?: boolean;
  readonly workers?: string;
  readonly maxInput?: string;
}

/** `a=b` pairs, given once or more, separated by commas too. */
export function pairs(option: string, given: readonly string[] | undefined): Record<string, string> | undefined {
  if (!given) return undefined;
  const found = new Map<string, string>();
  for (const pair of given) {
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (at < 1 || value === "")
      throw fault("option-invalid", { option, value: pair, expected: "of the form name=value" });
    if (found.has(name)) throw fault("option-invalid", { option, value: pair, expected: `the only one for ${name}` });
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

function parseCasts(given: readonly string[] | undefined): Record<string, FieldType> | undefined {
  const casts = pairs("--cast", listOf(given));
  for (const type of Object.values(casts ?? {})) {
    if (!fieldTypes.includes(type as FieldType))
      throw fault("option-invalid", { option: "--cast", value: type, expected: `one of ${fieldTypes.join(", ")}` });
  }
  return casts as Record<string, FieldType> | undefined;
}

export function parseBox(text: string | undefined): ConvertRequest["bbox"] {
  if (text === undefined) return undefined;
  const numbers = text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map(Number);
  const [minX, minY, maxX, maxY] = numbers;
  const valid = numbers.length === 4 && numbers.every(Number.isFinite) && minY! <= maxY!;
  if (!valid)
    throw fault("option-invalid", {
      option: "--bbox",
      value: text,
      expected: "four numbers: least x, least y, greatest x, greatest y (west > east in degrees only)",
    });
  return [minX!, minY!, maxX!, maxY!];
}

/** Numbers are taken as text, so that what is none can be shown as it was written. @throws option-invalid */
function numberOf(option: string, text: string | undefined, least: number, whole: boolean): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < least || (whole && !Number.isInteger(value))) {
    const expected = whole ? `a whole number from ${least}` : `a number from ${least}`;
    throw fault("option-invalid", { option, value: text, expected });
  }
  return value;
}

export const wholeNumber = (option: string, text: string | undefined, least: number): number | undefined =>
  numberOf(option, text, least, true);

/** The arguments as a request; what is not given is not in it. */
export function requestOf(args: ConvertArguments): ConvertRequest {
  const paths = args.paths.map(unprotect);
  if (paths.length < 2)
    throw fault("usage", { reason: "convert needs an INPUT and an OUTPUT: geoferry convert roads.shp roads.geojson" });
  if (paths.at(-1) === "") throw fault("usage", { reason: "the name of OUTPUT is empty; is a variable not set?" });
  const request: { [K in keyof ConvertRequest]: ConvertRequest[K] | undefined } = {
    inputs: paths.slice(0, -1),
    output: outputOf(paths.at(-1)!),
    from: args.from,
    to: args.to,
    layers: args.layer,
    layerName: args.layerName,
    sourceCrs: args.sourceCrs,
    targetCrs: args.targetCrs,
    reproject: args.reproject,
    accuracy: numberOf("--accuracy", args.accuracy, 0, false),
    select: namesOf("--select", args.select),
    rename: pairs("--rename", listOf(args.rename)),
    cast: parseCasts(args.cast),
    where: args.where,
    bbox: parseBox(args.bbox),
    limit: wholeNumber("--limit", args.limit, 0),
    geometryType: args.geometryType,
    makeValid: args.makeValid,
    swapXy: args.swapXy,
    readerOptions: pairs("--in", args.in),
    writerOptions: pairs("--out", args.out),
    rejects: args.rejects && unprotect(args.rejects),
    maxRejects: args.maxRejects,
    strict: args.strict,
    skipErrors: args.skipErrors,
    append: args.append,
    overwrite: args.overwrite,
    replaceLayer: args.replaceLayer,
    update: args.update,
    allowEmpty: args.allowEmpty,
    workers: wholeNumber("--workers", args.workers, 1),
    maxInputBytes: wholeNumber("--max-input", args.maxInput, 1),
  };
  if (request.rejects === "-") throw fault("usage", { reason: "--rejects takes the name of a file" });
  if (request.append && request.overwrite)
    throw fault("usage", { reason: "--append adds to the output, --overwrite replaces it: choose one" });
  if (request.replaceLayer && (request.append || request.overwrite))
    throw fault("usage", {
      reason: `--replace-layer replaces one layer of the output, ${request.append ? "--append adds to it" : "--overwrite replaces all of it"}: choose one`,
    });
  const ofFile = (["append", "overwrite", "replaceLayer", "update"] as const).find((name) => request[name]);
  if (request.output === "-" && ofFile) {
    const name = ofFile === "replaceLayer" ? "replace-layer" : ofFile;
    throw fault("usage", {
      reason: `--${name} is for a file that is there already, and OUTPUT is stdout: leave it away`,
    });
  }
  if (request.reproject === false && request.targetCrs)
    throw fault("usage", {
      reason: "--no-reproject carries coordinates untouched, --target-crs changes them: choose one",
    });
  if (args.json && request.output === "-")
    throw fault("usage", { reason: "stdout takes the features (OUTPUT is -) or the records of --json, not both" });
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== undefined),
  ) as unknown as ConvertRequest;
}

const several = { type: "string", array: true, requiresArg: true } as const;
const text = { type: "string", requiresArg: true } as const;
const flag = { type: "boolean" } as const;

export const convertCommand: Command<ConvertArguments> = {
  usage: "convert <paths..>",
  summary: "Convert INPUT... to OUTPUT: files, folders, globs, zip files, http(s) addresses, - for stdin or stdout",
  positionals: { paths: { type: "string", array: true, describe: "INPUT... OUTPUT", demandOption: true } },
  options: {
    from: { ...text, describe: "Format of the input, where content and extension shall not decide" },
    to: { ...text, describe: "Format of the output, where the extension shall not decide" },
    layer: { ...several, describe: "Take only these layers: a,b" },
    "layer-name": { ...text, describe: "Name of the layer in the output" },
    "source-crs": { ...text, describe: "What the coordinates of the input are in: EPSG:25832, WKT, PROJ string" },
    "target-crs": {
      ...text,
      describe: "What the coordinates of the output shall be in",
      defaultDescription: "WGS84 longitude/latitude",
    },
    reproject: { ...flag, default: true, describe: "--no-reproject carries the coordinates untouched" },
    accuracy: { ...text, describe: "Worst accuracy of a reprojection, in metres", defaultDescription: "5" },
    select: { ...several, describe: "Keep only these fields: a,b" },
    rename: { ...several, describe: "Rename a field: old=new" },
    cast: { ...several, describe: "Change a field's type: name=text" },
    where: { ...text, describe: "Keep only features that meet a condition: \"population > 1e6 and name like 'B%'\"" },
    bbox: {
      ...text,
      describe:
        "Keep only features in the box: minX,minY,maxX,maxY in the coordinates of the output; minX > maxX, in degrees, spans the antimeridian",
    },
    limit: { ...text, describe: "Stop after so many features" },
    "geometry-type": { ...text, describe: "Keep one kind of geometry, or promote: point, line, polygon, multi" },
    "make-valid": { ...flag, describe: "Repair invalid geometries" },
    "swap-xy": { ...flag, describe: "Swap x and y of every position" },
    in: { ...several, describe: "Option of the reader: key=value (see geoferry formats NAME)" },
    out: { ...several, describe: "Option of the writer: key=value (see geoferry formats NAME)" },
    rejects: { ...text, describe: "Where rejected features go", defaultDescription: "OUTPUT.rejects.geojsonl" },
    "max-rejects": { ...text, describe: "Stop when more features are rejected: 100 or 5%" },
    strict: { ...flag, describe: "Fail when the target cannot hold everything" },
    "skip-errors": { ...flag, describe: "Read past damage of the input" },
    append: { ...flag, describe: "Add to the output" },
    overwrite: { ...flag, describe: "Replace the output" },
    "replace-layer": { ...flag, describe: "Replace this layer of the output" },
    update: { ...flag, describe: "Leave outputs that are newer than their inputs" },
    "allow-empty": { ...flag, describe: "Let an empty input replace an output that is not" },
    workers: { ...text, describe: "Threads", defaultDescription: "the number of cores" },
    "max-input": { ...text, describe: "Largest download or stdin, in bytes" },
  },
  examples: [
    ["convert roads.shp roads.geojson", "Shapefile to GeoJSON in WGS84"],
    ["convert places.csv places.shp --target-crs EPSG:25832", "reproject on the way"],
    ["convert 'in/*.shp' out/ --to geojson", "every Shapefile of a folder, in parallel"],
    ["convert data.geojson - --to csv --where \"kind = 'park'\"", "filter, and write to stdout"],
  ],
  async run(args) {
    const request = requestOf(args);
    const display = new ProgressDisplay(process.stderr);
    const host = await openHost(args.plugin ?? [], args.quiet || args.json ? undefined : display.update);
    const outcomes = await convertMany(request, host, (outcome: Outcome) => {
      display.clear();
      // Those that an interruption left undone are told together.
      if (!isInterrupted(outcome)) renderOutcome(outcome, args);
    });
    renderInterruption(outcomes, args);
    return statusOf(outcomes);
  },
};
