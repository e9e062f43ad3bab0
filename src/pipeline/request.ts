import type { FileSource } from "../io/input/source.js";
import type { Spool } from "../io/input/spool.js";
import type { StagedFile } from "../io/output/staged-file.js";
import type { FieldType } from "../model/field.js";
import type { LayerInfo } from "../model/layer.js";
import type { Tally } from "../model/report.js";
import type { Registry } from "../plugin/registry.js";
import type { HostGrids } from "./grids/grid-store.js";
import type { ConvertReport } from "./report.js";

/** Choices for features whose geometry cannot be written. */
export const badGeometryChoices = ["null", "reject"] as const;
export const badGeometryHelp =
  "Action if a geometry cannot be written: null keeps the feature without geometry and counts it as rejected; reject leaves it out";
export type BadGeometry = (typeof badGeometryChoices)[number];

/** The options of a conversion: the flags of `geoferry convert`. */
export interface ConvertRequest {
  /** Paths, http(s), s3 and database addresses, `map:ID` for a map of a service, or `-` for stdin. */
  readonly inputs: readonly string[];
  /** A path, an s3 or database address, or `-` for stdout. */
  readonly output: string;
  /** IDs of formats that override content and extension. */
  readonly from?: string;
  readonly to?: string;
  /** Names of the layers to read, also several separated by commas; by default all. */
  readonly layers?: readonly string[];
  /** Name of the layer in the output. */
  readonly layerName?: string;
  readonly sourceCrs?: string;
  readonly targetCrs?: string;
  /** False copies coordinates unchanged. */
  readonly reproject?: boolean;
  /** The worst allowed accuracy of a reprojection in metres; by default 100, or 5 with `strict`. */
  readonly accuracy?: number;
  /** Files and folders of shift grids for reprojections. */
  readonly grids?: readonly string[];
  readonly select?: readonly string[];
  readonly rename?: Readonly<Record<string, string>>;
  readonly cast?: Readonly<Record<string, FieldType>>;
  readonly where?: string;
  /** [least x, least y, greatest x, greatest y] in coordinates of the output; longitudes with west > east span the antimeridian. */
  readonly bbox?: readonly [number, number, number, number];
  readonly limit?: number;
  readonly geometryType?: string;
  readonly makeValid?: boolean;
  readonly swapXy?: boolean;
  /** Options of the reader and of the writer, as text. */
  readonly readerOptions?: Readonly<Record<string, string>>;
  readonly writerOptions?: Readonly<Record<string, string>>;
  /** File for rejected features; by default `<output>.rejects.geojsonl`. */
  readonly rejects?: string;
  /** `12` or `5%`: more rejects stop the conversion. */
  readonly maxRejects?: string;
  /**
   * Whether a feature whose geometry cannot be written is kept with a null geometry (the default) or left out. It counts
   * as rejected either way, and is left out if the target requires a geometry.
   */
  readonly onBadGeometry?: BadGeometry;
  /** `12` or `5%` of the features read: more lost values fail the conversion. */
  readonly maxLosses?: string;
  /** `12` or `5%` of the features written: more of them without a geometry fail the conversion. */
  readonly maxWithoutGeometry?: string;
  /** Set by jobs. `max` (`12` or `5%`): a greater decrease of the features read since the last run fails the conversion. */
  readonly decrease?: { readonly max: string; readonly before: number };
  /** Any loss fails the conversion. */
  readonly strict?: boolean;
  /** Reads the output again before it gets its name, and fails unless it has what was written but for the reported losses. */
  readonly verify?: boolean;
  /** Skip corrupt parts of the input. */
  readonly skipErrors?: boolean;
  readonly append?: boolean;
  readonly overwrite?: boolean;
  readonly replaceLayer?: boolean;
  /** For inputs whose outputs in a folder would have the same name: `number` appends a number to all but the first. */
  readonly onNameClash?: "error" | "number";
  /** Leave an output unchanged that is newer than its inputs. */
  readonly ifNewer?: boolean;
  readonly allowEmpty?: boolean;
  /** Number of threads; 1 uses only the calling thread. */
  readonly workers?: number;
  /** The largest accepted download or spooled stdin, in bytes. */
  readonly maxInputBytes?: number;
}

/** The members of a request that concern its output. */
export type OutputMember =
  | "output"
  | "to"
  | "layerName"
  | "targetCrs"
  | "reproject"
  | "writerOptions"
  | "append"
  | "overwrite"
  | "replaceLayer"
  | "onNameClash"
  | "ifNewer"
  | "allowEmpty"
  | "verify";

/** The same members, all of which may be undefined. */
export type WithUndefined<T> = { readonly [K in keyof T]: T[K] | undefined };

/** Removes members that are undefined. */
export function omitUndefined<T extends object>(members: WithUndefined<T>): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** The progress of a conversion. */
export interface Progress {
  /** Bytes of input processed so far, and in total if known. */
  readonly done: number;
  readonly total: number;
  readonly features: number;
  readonly phase: "download" | "scan" | "convert" | "verify";
}

/** The environment of a conversion. */
export interface Host {
  readonly registry: Registry;
  readonly signal: AbortSignal;
  /** Time of the run: `SOURCE_DATE_EPOCH` if it is set. */
  readonly now: Date;
  readonly onProgress?: (progress: Progress) => void;
  /** Called with the files of folders that were left out, since no format has their names. */
  readonly onLeftOut?: (paths: readonly string[]) => void;
  /** Called with the layers of the inputs once they are open, and the id of the format of each. */
  readonly onLayers?: (layers: readonly LayerInfo[], formats: readonly string[]) => void;
  /** Called and awaited when all files of an output are complete, before the first one is renamed to its final name. */
  readonly onCommit?: (output: string, files: readonly StagedFile[], report: ConvertReport) => void | Promise<void>;
  /** Called when all outputs have their final names; if it fails, the renames are undone. */
  readonly onCommitted?: (report: ConvertReport) => Promise<void>;
  /** Maps an input to its path in the working copy in which the output is written, if it is in the same bucket. */
  readonly originalPath?: (input: string) => string;
  /** The grid folders of the machine; without it only grids of the request are used. */
  readonly grids?: HostGrids;
  /** Replaces flags in a message by keys of a job or options of the library. */
  readonly rewriteMessage?: (sentence: string) => string;
  /** Names of inputs for messages, by temporary path. */
  readonly displayNames?: ReadonlyMap<string, string>;
  /** What the inputs lost before the pipeline reads them. Complete when the conversion begins. */
  readonly inputLosses?: Tally;
  /** Reads maps as inputs; absent if no service is configured. */
  readonly readMap?: ReadMapInput;
}

/** A map of a Map Features Service as an input. */
export interface MapInputRequest {
  /** ID or name of the map. */
  readonly id: string;
  /** Name of the input: `map:ID`. */
  readonly name: string;
  /** As in `ConvertRequest`. */
  readonly layers: readonly string[];
  /** Maximum size of the features in bytes. */
  readonly maxBytes?: number | undefined;
  /** Temporary folder for the files. */
  readonly spool: Spool;
  readonly onProgress: (features: number) => void;

  readonly signal: AbortSignal;
}

/** Downloads a map into one GeoJSON file for each of its layers, including the requested ones if the map has them. */
export type ReadMapInput = (request: MapInputRequest) => Promise<readonly FileSource[]>;
