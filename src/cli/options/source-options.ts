import { createError } from "../../errors.js";
import { gridFolders } from "../../io/grid-folders.js";
import {
  type BadGeometry,
  badGeometryChoices,
  badGeometryHelp,
  type ConvertRequest,
  type OutputMember,
  type WithUndefined,
} from "../../pipeline/request.js";
import type { CommonArguments, Flag } from "../command.js";
import { listOf, namesOf } from "../parse/arguments.js";
import { numberOf, pairs, parseBox, parseCasts, wholeNumber } from "../parse/values.js";
import { takes, takesLimit } from "./flag.js";
import { type GridArguments, gridOptions } from "./grid-options.js";

/** Flags of commands that read features. */
export interface SourceArguments extends CommonArguments, GridArguments {
  readonly from?: string;
  readonly layer?: readonly string[];
  readonly sourceCrs?: string;
  readonly accuracy?: string;
  readonly grid?: readonly string[];
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
  readonly rejects?: string;
  readonly maxRejects?: string;
  readonly onBadGeometry?: string;
  readonly maxLosses?: string;
  readonly maxWithoutGeometry?: string;
  readonly strict?: boolean;
  readonly skipErrors?: boolean;
  readonly allowEmpty?: boolean;
  readonly workers?: string;
  readonly maxInput?: string;
}

export const several = { type: "string", array: true, requiresArg: true } as const;
export const text = { type: "string", requiresArg: true } as const;
/** A local path of a file. */
export const file = { ...takes("FILE"), isPath: true } as const;
/** A local path of a folder. */
export const folder = { ...takes("FOLDER"), isPath: true } as const;
export const flag = { type: "boolean" } as const;

const ofInput = "Input:";
const ofCoordinates = "Coordinates:";
const ofFeatures = "Features:";
const ofRejects = "Rejects and losses:";

export const readingOptions = {
  from: {
    ...text,
    group: ofInput,
    accepts: "input-format",
    describe: "Input format; by default detected from content and extension",
  },
  layer: { ...several, group: ofInput, accepts: "layer", describe: "Read only these layers: a,b" },
  "source-crs": {
    ...text,
    group: ofCoordinates,
    accepts: "crs",
    describe: "Coordinate reference system of the input: EPSG:25832, WKT or PROJ string",
  },
  accuracy: {
    ...takes("METRES"),
    group: ofCoordinates,
    describe: "Required accuracy of a reprojection",
    defaultDescription: "100, or 5 with --strict",
  },
  grid: {
    ...several,
    placeholder: "PATH",
    group: ofCoordinates,
    isPath: true,
    describe: "Shift grid for reprojections (.gsb, .tif), or a folder of them",
  },
  ...gridOptions,
  in: {
    ...several,
    group: ofInput,
    accepts: "reader-option",
    describe: "Reader option: key=value (see geoferry formats FORMAT)",
  },
  "skip-errors": { ...flag, group: ofInput, describe: "Skip corrupt parts of the input" },
  "max-input": { ...takes("BYTES"), group: ofInput, describe: "Maximum size of a download or stdin" },
  workers: {
    ...takes("N"),
    group: "Speed:",
    describe: "Number of threads",
    defaultDescription: "one for small inputs, else the number of cores",
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** Flags that filter and change features. */
export const shapingOptions = {
  select: { ...several, group: ofFeatures, accepts: "field", describe: "Keep only these fields: a,b" },
  rename: { ...several, group: ofFeatures, accepts: "field=name", describe: "Rename a field: old=new" },
  cast: { ...several, group: ofFeatures, accepts: "field=type", describe: "Change a field's type: name=text" },
  where: {
    ...takes("CONDITION"),
    group: ofFeatures,
    describe: "Keep only features that match the condition: \"population > 1e6 and name like 'B%'\"",
  },
  bbox: {
    ...takes("BOX"),
    group: ofFeatures,
    describe:
      "Keep only features in the box: minX,minY,maxX,maxY in the coordinates of the output; minX > maxX, in degrees, spans the antimeridian",
  },
  limit: { ...takes("N"), group: ofFeatures, describe: "Stop after this many features" },
  "geometry-type": {
    ...text,
    group: ofFeatures,
    accepts: ["point", "line", "polygon", "multi"],
    describe: "Keep only points, lines or polygons; multi turns single geometries into multi-geometries",
  },
  "make-valid": { ...flag, group: ofFeatures, describe: "Repair invalid geometries" },
  "swap-xy": { ...flag, group: ofCoordinates, describe: "Swap x and y of every position" },
} as const satisfies Readonly<Record<string, Flag>>;

/** Flags for rejected features and losses. */
export const rejectOptions = {
  rejects: {
    ...takes("FILE"),
    group: ofRejects,
    accepts: "path",
    describe: "File for rejected features",
    defaultDescription: "OUTPUT.rejects.geojsonl",
  },
  "max-rejects": {
    ...takesLimit,
    group: ofRejects,
    describe: "Fail if more features than this are rejected: 100 or 5%",
  },
  "on-bad-geometry": {
    ...text,
    group: ofRejects,
    accepts: ["null", "reject"],
    describe: badGeometryHelp,
    defaultDescription: "null",
  },
  "max-losses": {
    ...takesLimit,
    group: ofRejects,
    describe: "Fail if there are more losses than this: 100, or 5% of the features read",
  },
  "max-without-geometry": {
    ...takesLimit,
    group: ofRejects,
    describe: "Fail if more features than this would be written without geometry: 100 or 5%",
  },
} as const satisfies Readonly<Record<string, Flag>>;

type SourceMember = Exclude<keyof ConvertRequest, OutputMember | "inputs">;

/** The source part of a request, without the members that are not given. @throws option-invalid */
export function sourceRequestOf(args: SourceArguments): WithUndefined<Pick<ConvertRequest, SourceMember>> {
  return {
    from: args.from,
    layers: args.layer,
    sourceCrs: args.sourceCrs,
    accuracy: numberOf("--accuracy", args.accuracy, 0, false),
    grids: gridsOf(args.grid),
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
    rejects: rejectsOf(args.rejects),
    maxRejects: args.maxRejects,
    onBadGeometry: badGeometryOf(args.onBadGeometry),
    maxLosses: args.maxLosses,
    maxWithoutGeometry: args.maxWithoutGeometry,
    strict: args.strict,
    skipErrors: args.skipErrors,
    workers: wholeNumber("--workers", args.workers, 1),
    maxInputBytes: wholeNumber("--max-input", args.maxInput, 1),
  };
}

/** The paths of `--grid`, then those of `GEOFERRY_GRIDS`; undefined if there are none. */
export function gridsOf(
  given: readonly string[] | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): string[] | undefined {
  const all = [...(given ?? []), ...gridFolders(environment)];
  return all.length > 0 ? all : undefined;
}

/** @throws option-invalid */
function badGeometryOf(value: string | undefined): BadGeometry | undefined {
  const found = badGeometryChoices.find((choice) => choice === value);
  if (value === undefined || found !== undefined) return found;
  const expected = `one of ${badGeometryChoices.join(", ")}`;
  throw createError("option-invalid", { option: "--on-bad-geometry", value, expected });
}

/** An address is allowed, so `checkPaths` does not check it. */
function rejectsOf(value: string | undefined): string | undefined {
  if (value !== "-") return value;
  throw createError("usage", { reason: "--rejects needs a file name, not -" });
}
