import type { FileSource } from "../io/input/source.js";
import type { Spool } from "../io/input/spool.js";
import type { StagedFile } from "../io/output/staged-file.js";
import type { FieldType } from "../model/field.js";
import type { LayerInfo } from "../model/layer.js";
import type { Registry } from "../plugin/registry.js";
import type { HostGrids } from "./grids/grid-store.js";
import type { ConvertReport } from "./report.js";

/** What becomes of features whose geometry alone cannot be carried. */
export const badGeometryChoices = ["null", "reject"] as const;
export const badGeometryHelp =
  "When a geometry cannot be written: null keeps the feature without geometry and counts it as rejected; reject leaves it out";
export type BadGeometry = (typeof badGeometryChoices)[number];

/** A conversion as a person asks for it: the flags of `geoferry convert`. */
export interface ConvertRequest {
  /** Paths, http(s) and s3 addresses, `map:ID` for a map of a service, or `-` for stdin. */
  readonly inputs: readonly string[];
  /** A path, an s3 address, or `-` for stdout. */
  readonly output: string;
  /** Ids of formats, where neither content nor extension should decide. */
  readonly from?: string;
  readonly to?: string;
  /** The layers to take, by name, or several names with commas between them; all where absent. */
  readonly layers?: readonly string[];
  /** What the layer is called in the output. */
  readonly layerName?: string;
  readonly sourceCrs?: string;
  readonly targetCrs?: string;
  /** False carries coordinates untouched. */
  readonly reproject?: boolean;
  /** The worst accuracy of a reprojection that is used, in metres; 100 where absent, 5 with `strict`. */
  readonly accuracy?: number;
  /** Files of shift grids for reprojections, and folders of them. */
  readonly grids?: readonly string[];
  readonly select?: readonly string[];
  readonly rename?: Readonly<Record<string, string>>;
  readonly cast?: Readonly<Record<string, FieldType>>;
  readonly where?: string;
  /** [least x, least y, greatest x, greatest y] in the coordinates of the output; of longitudes west > east spans the antimeridian. */
  readonly bbox?: readonly [number, number, number, number];
  readonly limit?: number;
  readonly geometryType?: string;
  readonly makeValid?: boolean;
  readonly swapXy?: boolean;
  /** Options of the reader and of the writer, as text. */
  readonly readerOptions?: Readonly<Record<string, string>>;
  readonly writerOptions?: Readonly<Record<string, string>>;
  /** File for rejected features; `<output>.rejects.geojsonl` where absent. */
  readonly rejects?: string;
  /** `12` or `5%`: more rejects than that stop the conversion. */
  readonly maxRejects?: string;
  /**
   * What becomes of a feature whose geometry cannot be carried while its attributes can: it keeps its place with a null
   * geometry, the default, or is left out. It counts as rejected either way. Left out where the target needs a geometry.
   */
  readonly onBadGeometry?: BadGeometry;
  /** `12` or `5%` of the features read: more lost values than that fail the conversion. */
  readonly maxLosses?: string;
  /** `12` or `5%` of the features written: more of them without a geometry than that fail the conversion. */
  readonly maxWithoutGeometry?: string;
  /** Any loss is a failure. */
  readonly strict?: boolean;
  /** Read past damage of the container. */
  readonly skipErrors?: boolean;
  readonly append?: boolean;
  readonly overwrite?: boolean;
  readonly replaceLayer?: boolean;
  /** Of inputs whose outputs in a folder would have one name: `number` gives all but the first another. */
  readonly onNameClash?: "error" | "number";
  /** Leave an output that is newer than its inputs. */
  readonly ifNewer?: boolean;
  readonly allowEmpty?: boolean;
  /** Threads; 1 works on the calling thread. */
  readonly workers?: number;
  /** The largest download or spooled stdin that is put up with, in bytes. */
  readonly maxInputBytes?: number;
}

/** What a request says of its output; the rest is of its inputs and what becomes of them. */
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
  | "allowEmpty";

/** Members that may be undefined, as arguments are. */
export type WithUndefined<T> = { readonly [K in keyof T]: T[K] | undefined };

/** Without the members that are not given. */
export function omitUndefined<T extends object>(members: WithUndefined<T>): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** How far a conversion is. */
export interface Progress {
  /** Bytes of input done and, where known, to do. */
  readonly done: number;
  readonly total: number;
  readonly features: number;
  readonly phase: "download" | "scan" | "convert";
}

/** What a conversion runs in. */
export interface Host {
  readonly registry: Registry;
  readonly signal: AbortSignal;
  /** What the run calls now: `SOURCE_DATE_EPOCH` where it is set. */
  readonly now: Date;
  readonly onProgress?: (progress: Progress) => void;
  /** What the inputs of a conversion turned out to be, once they are open. */
  readonly onLayers?: (layers: readonly LayerInfo[]) => void;
  /** Told of an output when its files are whole, and waited for, before the first of them gets its name. */
  readonly onCommit?: (output: string, files: readonly StagedFile[], report: ConvertReport) => void | Promise<void>;
  /** Takes the outputs further when all have their names; where it fails, they lose them again. */
  readonly onCommitted?: (report: ConvertReport) => Promise<void>;
  /** The path that an input has beside the output, where both are elsewhere and the output is made in a copy. */
  readonly originalPath?: (input: string) => string;
  /** Where grids are searched that the request does not name; nowhere where absent. */
  readonly grids?: HostGrids;
  /** A sentence with flags of the command line in other words: keys of a job, options of the library. As it is where absent. */
  readonly rewriteMessage?: (sentence: string) => string;
  /** What messages call inputs by their paths, where these are temporary. */
  readonly displayNames?: ReadonlyMap<string, string>;
  /** Reads maps as inputs; absent where there is no service to ask. */
  readonly readMap?: ReadMapInput;
}

/** A map of a Map Features Service as an input. */
export interface MapInputRequest {
  /** MAP_ID. */
  readonly id: string;
  /** What the input is called: `map:ID`. */
  readonly name: string;
  /** As in `ConvertRequest`. */
  readonly layers: readonly string[];
  /** The most bytes of its features. */
  readonly maxBytes?: number | undefined;
  /** Where the files go. */
  readonly spool: Spool;
  readonly onProgress: (features: number) => void;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** Puts a map on disk: a file of GeoJSON for each of its layers. The layers asked for are among them, if it has them. */
export type ReadMapInput = (question: MapInputRequest) => Promise<readonly FileSource[]>;
