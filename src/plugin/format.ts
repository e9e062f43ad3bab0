import type { Batch } from "../model/batch.js";
import type { Field, FieldType } from "../model/field.js";
import type { GeometryType } from "../model/geometry.js";
import type { ColumnNames, Crs, Dataset } from "../model/layer.js";
import type { LayerSummary } from "../model/layer-summary.js";
import type { LayerMetadata, MetadataTerm } from "../model/metadata.js";
import type { Reject, SkippedRange } from "../model/report.js";
import type { HttpClient, HttpClientOptions } from "./http.js";
import type { OptionTable, OptionValues } from "./options.js";

/** The version of this contract. The host refuses a plugin that names another one. */
export const apiVersion = 1;

/**
 * A file with random access. The host spools zip entries, stdin and downloads into a temporary file first. For a format
 * with `addresses`, an address instead, which has no bytes.
 */
export interface Source {
  /** The name that the user gave, for messages: `data.zip/roads.shp`. */
  readonly name: string;
  /** The path of the file on disk, for libraries that need one; or the address. */
  readonly path: string;
  /** Size in bytes; 0 for an address. */
  readonly size: number;
  /** The file with the same stem and this extension (`"dbf"`, case ignored), or null. */
  findSibling(extension: string): Source | null;
  /** For the main file of an archive: the other entries that the format's `Archive.isLinked` accepts. */
  readonly entries?: ArchiveEntries;
  open(): Promise<SourceFile>;
}

/** Entries of an archive. Paths are relative to the archive and use `/`. */
export interface ArchiveEntries {
  /** The path of the main file. */
  readonly main: string;
  /** The paths of the other entries that can be opened, in archive order. */
  readonly paths: readonly string[];
  /** The paths of entries that cannot be opened, since no format reads them: images and other resources. */
  readonly otherPaths: readonly string[];
  /** The entry with one of these paths. */
  getSource(path: string): Source;
}

export interface SourceFile extends AsyncDisposable {
  readonly size: number;
  /**
   * Reads `length` bytes from `position`; fewer only at the end of the file. Returns a new buffer, or a view of `into`,
   * which must hold at least `length` bytes.
   */
  read(position: number, length: number, into?: Uint8Array): Promise<Buffer>;
  close(): Promise<void>;
}

/** Decodes bytes to text. */
export type Decode = (bytes: Uint8Array) => string;

/** Services of the host for readers and writers. */
export interface PluginContext {
  readonly signal: AbortSignal;
  /** Reports data that the target cannot hold or that was not kept. Counted by code and field. */
  reportLoss(code: string, field: string | undefined, example: string, count?: number): void;
  /** Reports a repair that a standard allows, or an oddity of the data. Counted by code and field. */
  reportNotice(code: string, field: string | undefined, example: string, count?: number): void;
  readonly crs: CrsContext;
  /**
   * Returns a path for a temporary file of this name. The host removes the file when the dataset is closed or the output
   * is finished or aborted. @throws output-failed
   */
  createTemporaryPath(name: string): Promise<string>;
}

export interface CrsContext {
  /** Parses a code (`EPSG:25832`), a URN, WKT of any dialect or a PROJ string. @throws crs-unknown */
  parse(definition: string): Promise<Crs>;
  /** Returns the definition in this dialect of WKT, or null if the dialect cannot express it. */
  toWkt(crs: Crs, flavour: "esri" | "wkt1" | "wkt2"): Promise<string | null>;
  /** Returns the definition as PROJJSON (an object for `JSON.stringify`), or null if it cannot be expressed. */
  toProjJson(crs: Crs): Promise<Readonly<Record<string, unknown>> | null>;
  /**
   * Returns the share (0 to 1) of positions (`xy`: interleaved x and y in units of `crs`) inside or near the area of use
   * of `crs`. Null if the area is unknown or too large to decide anything.
   */
  computeShareInArea(crs: Crs, xy: Float64Array): Promise<number | null>;
  /**
   * Whether the authority of the system declares the latitude or northing before the longitude or easting, so that texts
   * in the order of the authority have to be exchanged. (The plugin knows whether its source means EPSG:4326 or OGC:CRS84,
   * which are one `Crs`.)
   */
  isNorthFirst(crs: Crs): Promise<boolean>;
  /** Longitude and latitude in degrees on WGS84 (OGC:CRS84). */
  readonly wgs84: Crs;
}

export interface ReadContext extends PluginContext {
  /** Skip corrupt parts of the input (`--skip-errors`) and report each one with `skipRange`. */
  readonly skipErrors: boolean;
  /** `Dataset.scanResult` of the thread that opened the source first; undefined on that thread. */
  readonly scanResult: unknown;
  /** The reference system that the request sets (`--source-crs`). It overrides the one that the source declares. */
  readonly requestedCrs?: Crs | null;
  /**
   * The reader calls this with the number of fields as soon as it knows it, before any expensive work.
   * @throws unsupported if the target cannot hold that many fields
   */
  onFieldCount?(count: number): void;
  /** Whether the host exchanges x and y after reading (`--swap-xy`). */
  readonly swapsXy?: boolean;
  /**
   * If true, a feature with an unreadable geometry is kept with a null geometry, and its reject has `kept: true`. If
   * false, the feature is left out like any other reject.
   */
  readonly keepsBadGeometries: boolean;
  /** Reports a feature that could not be read. Record and line numbers count from the start of the split. */
  reject(reject: Reject): void;
  /** With `skipErrors`: reports a byte range that the reader skipped. The run exits with 5, as with rejects. */
  skipRange(range: SkippedRange): void;
  /**
   * Call once at the end of a split if records were skipped or line numbers matter: the host adds the counts to the
   * record and line numbers of later splits. Without a call it counts the features of the batches.
   */
  splitFinished(records: number, lines: number): void;
  /** Returns a client for requests to a web service. */
  createHttpClient(options: HttpClientOptions): Promise<HttpClient>;
  /** Reports the progress of a download: the number of features so far. */
  onDownload?(features: number): void;
  /** Returns a decoder for `utf-8`, `windows-1252`, `cp850` … @throws option-invalid */
  getTextDecoder(encoding: string): Decode;
  /**
   * Runs the reader's `scanPart` for each part on other threads and yields the results in order. Absent if the run has
   * only one thread; the reader must then scan by itself with the same result.
   */
  readonly scanParts?: ScanParts;
}

/** Maps parts of a source to the result of `scanPart` for each, in order. */
export type ScanParts = (parts: AsyncIterable<unknown>) => AsyncIterable<unknown>;

export interface ReaderModule<O> {
  /**
   * Opens a source and lists its layers. A reader that must scan the file for its schema does it here, if
   * `context.scanResult` is undefined, and returns what it found as `Dataset.scanResult`.
   */
  open(source: Source, options: O, context: ReadContext): Promise<Dataset>;
  /**
   * Scans one part of a source that another thread is opening (see `ReadContext.scanParts`). `part` and the result are
   * plain data. The host discards notices and losses reported here.
   */
  scanPart?(source: Source, part: unknown, context: ReadContext): Promise<unknown>;
}

/**
 * A distinction that a format does not make: between an empty text and null, between texts with and without blanks at the
 * end, or between types of fields, which its reader infers from the values.
 */
export type Indistinction = "empty-text" | "trailing-blanks" | "field-types";

export interface Reader<T extends OptionTable = OptionTable> {
  readonly options: T;
  /** What the format cannot tell apart, so that a comparison with another format does not report it. */
  readonly indistinct?: readonly Indistinction[];
  /** Companion files that the reader opens, so that the host downloads them with the main file. Absent: all companions. */
  readonly siblingExtensions?: readonly string[];
  /**
   * The reader needs only parts of a file if a request has a box or a limit: it uses `Source.open`, and neither
   * `Source.path` nor siblings. The host then downloads these parts only, and `identify` gets the first 4 KiB.
   */
  readonly readsParts?: true;
  load(): Promise<ReaderModule<OptionValues<T>>>;
}

/** What a format can hold. The pipeline splits, renames, casts and scans so that no writer has to. */
export interface WriterCapabilities {
  /** Whether coordinates can be in any reference system, or in WGS84 longitude/latitude only. */
  readonly crs: "any" | "wgs84";
  /** The format cannot express longitudes beyond ±180° or latitudes beyond ±90°, even if the user keeps coordinates as is. */
  readonly degreesOnly?: boolean;
  /**
   * The format can hold longitudes up to ±360°, as features on both sides of the antimeridian have in many files. Absent:
   * the host rejects such features.
   */
  readonly continuousLongitudes?: boolean;
  readonly layers: "one" | "many";
  /** Layer metadata that the format can hold. The rest is reported as lost (`metadata-left-out`). */
  readonly metadata?: readonly MetadataTerm[];
  /** Maps a layer name to one that the format allows. Idempotent. Absent if the format allows every name. */
  readonly normalizeLayerName?: (name: string) => string;
  readonly geometryTypes: readonly GeometryType[];
  /**
   * Sets of types that can share one layer; each set becomes an output of its own, with `suffix` added to its name:
   * `places_point`. Absent: all of `geometryTypes` can share a layer.
   */
  readonly families?: readonly { readonly suffix: string; readonly types: readonly GeometryType[] }[];
  /**
   * The format can hold lines of one position, as a GPX track segment can. Otherwise the host leaves them out. If true,
   * the host also sets the boolean reader option `shortLines`, where there is one, so that the reader keeps such lines.
   */
  readonly onePointLines?: boolean;
  readonly nullGeometry: boolean;
  readonly z: boolean;
  readonly m: boolean;
  /** Field types that the format holds. The pipeline casts values of other types. */
  readonly fieldTypes: readonly FieldType[];
  /** The largest number of fields of a layer. Absent: unlimited. */
  readonly maxFields?: number;
  /** Each feature stores every field, even absent ones. The host refuses a wide layer that is mostly empty. */
  readonly storesEveryCell?: boolean;
  readonly fieldNames?: {
    /** In `encoding`. */
    readonly maxBytes?: number;
    /** The encoding of the names. The host replaces characters that it lacks by underscores. Absent: UTF-8. */
    readonly encoding?: string;
    readonly ignoreCase?: boolean;
    readonly pattern?: RegExp;
    /** Matches one allowed character. The host replaces any other by an underscore. */
    readonly allowedCharacter?: RegExp;
    /** Names that a field cannot have. The host adds a number to them. */
    readonly reserved?: readonly string[];
  };
  /**
   * Where feature ids are stored: `true` if the format holds ids of any type; a field name if it holds none; or the id
   * types that it holds and the field for ids of other types.
   */
  readonly ids: true | string | { readonly types: readonly FieldType[]; readonly fallbackField: string };
  /**
   * What the writer must know before the first feature. With `summary` or `extent` the host scans the input first if the
   * reader cannot summarize it cheaply; `extent` costs more, since some readers must decode every position for it.
   */
  readonly requiredScan: "nothing" | "summary" | "extent";
  /** The writer can write to a stream: it needs no `patch` and no companion files. */
  readonly supportsStreaming: boolean;
  /**
   * Files of the format differ in notation: delimiter, line ends, decimal signs. The host notes if appending rewrites
   * existing rows in another notation.
   */
  readonly hasDialects?: true;
  /** The writer can add layers and rows to an existing file in one transaction. */
  readonly updatesInPlace?: true;
}

/** A layer as the writer must write it, already fitted to its capabilities. */
export interface TargetLayer {
  readonly name: string;
  readonly crs: Crs | null;
  /** The fields; null if `requiredScan` is `nothing` and the source does not declare them. */
  readonly fields: readonly Field[] | null;
  /** Summary of the features of this layer; null if `requiredScan` is `nothing`. */
  readonly summary: LayerSummary | null;
  /** Metadata of the inputs, restricted to `WriterCapabilities.metadata`. */
  readonly metadata?: LayerMetadata;
  /** Names of the id and geometry columns, if all inputs agree on them. */
  readonly columnNames?: ColumnNames;
}

/** The result of `encode` and the argument of `append`: plain data, transferred between threads. */
export type Chunk = object;

export interface Encoder<C extends Chunk = Chunk> {
  /** Encodes a batch. Pure: the same batch yields the same chunk on any thread. */
  encode(batch: Batch): C;
}

export interface Assembler<C extends Chunk = Chunk> {
  /**
   * Receives the chunks in order. `layer` is an index into the layers passed to `createAssembler`. The host frees the
   * buffers of the chunk when the promise resolves, so copy what you keep.
   */
  append(chunk: C, layer: number): Promise<void>;
  /** Writes what follows the last feature. The host then commits the sink. */
  finish(): Promise<void>;
  /** Commits changes made in place (`Sink.inPlaceTarget`). Called once, after `finish` of every output of the run. */
  commit?(): Promise<void>;
  /**
   * Closes everything and rolls back changes made in place. Called once after any failure, in this writer or elsewhere
   * in the run. An unfinished file needs only to be closed: the host removes it.
   */
  abort?(): Promise<void>;
}

/** An existing file, or the address of a database, that the writer changes in place. */
export interface InPlaceTarget {
  /** The path, or the address. */
  readonly path: string;
  /**
   * `append` adds rows to layers of the same name, `replace` replaces them; both create missing layers and keep the
   * others. Layer names are compared without case, and `TargetLayer.name` has the existing spelling. `add` (addresses
   * only) creates layers and fails with `output-exists` if one of them exists.
   */
  readonly mode: "append" | "replace" | "add";
}

/** One output with its companion files. It appears under its final name only when the host commits it. */
export interface Sink {
  /** The final path, for messages. */
  readonly name: string;
  /**
   * An existing file to change in place, for writers with the capability `updatesInPlace`; `create` is not called then.
   * Fields of an existing layer come with their existing types; other fields are new.
   */
  readonly inPlaceTarget: InPlaceTarget | null;
  /**
   * The path of the folder to create, if the output is a folder (`Format.folderExtensions`); `create` is not called
   * then. Absent if the output is a file.
   */
  readonly folderPath?: string;
  /** The existing file that the main file replaces on commit, for formats whose files other programs lock. */
  readonly replacedPath?: string | null;
  /** Creates the main file, or the companion with this extension (`"dbf"`). */
  create(extension?: string): Promise<SinkFile>;
}

export interface SinkFile {
  /** The temporary path before the commit, for libraries that need one; null for a stream. */
  readonly path: string | null;
  /** Bytes appended so far. */
  readonly size: number;
  write(bytes: Uint8Array): Promise<void>;
  /** Overwrites bytes already written. Not available on a stream. */
  patch(position: number, bytes: Uint8Array): Promise<void>;
}

export interface WriteContext extends PluginContext {
  /** The time of the run, or `SOURCE_DATE_EPOCH` if set. */
  readonly now: Date;
  /** Returns an encoder for a character encoding. Unmappable characters become `?`. @throws option-invalid */
  getTextEncoder(encoding: string): (text: string) => Uint8Array;
}

export interface WriterModule<O, C extends Chunk = Chunk> {
  /** Called on every thread that encodes. */
  createEncoder(layer: TargetLayer, options: O, context: WriteContext): Promise<Encoder<C>>;
  /** Called once per output, on the main thread. */
  createAssembler(sink: Sink, layers: readonly TargetLayer[], options: O, context: WriteContext): Promise<Assembler<C>>;
  /**
   * How to read an output with these layers and options. Absent: without reader options, and everything must come back
   * exactly, in order.
   */
  readBack?(layers: readonly TargetLayer[], options: O): ReadBack;
}

export interface Writer<T extends OptionTable = OptionTable> {
  readonly options: T;
  /** Writer options implied by the name of an output, as text: tabs for `.tsv`. Options that the user sets win. */
  impliedOptions?(name: string): Readonly<Record<string, string>>;
  /** What the format can hold with these options. */
  capabilities(options: OptionValues<T>): WriterCapabilities;
  load(): Promise<WriterModule<OptionValues<T>>>;
}

/** How an output is read for `convert --verify`, and what its files keep of what was written. */
export interface ReadBack {
  /** Options, as text, with which the format's reader returns what the writer wrote. */
  readonly readerOptions?: Readonly<Record<string, string>>;
  /** Decimals to which the writer rounds x and y, and heights; null keeps them. Absent: coordinates are exact. */
  readonly decimals?: { readonly xy: number | null; readonly z: number | null };
  /**
   * Where the file has types: `layer`, each field has one, which must come back (the default); `value`, each value has
   * its kind, as in JSON, and the reader infers the types of fields; `none`, there are only texts, and the host parses
   * those that the reader returns by the types that were written.
   */
  readonly types?: "layer" | "value" | "none";
  /** `any`: the file sorts or groups the features. Absent: they come back in the order of writing. */
  readonly order?: "written" | "any";
  /** Whether the file has no names of fields, which are then compared by position. */
  readonly isNameless?: boolean;
  /** False if the options leave out the feature ids; `text` if the format has no types for them. */
  readonly ids?: false | "text";
  /** Fields that the reader may add; they are compared only if a feature was written with them. */
  readonly addedFields?: readonly string[];
  /** Whether a MultiPoint becomes a feature for each of its positions. */
  readonly splitsMultiPoints?: boolean;
}

/** Zip files with an extension that belongs to a format, such as `.kmz` and `.shz`. */
export interface Archive {
  /** Lower case, without the dot; each is also listed in `Format.extensions`: `kmz`, `shp.zip`. */
  readonly extensions: readonly string[];
  /**
   * Picks the main entry (paths use `/`), or undefined if there is none. Entries with the same stem become its siblings;
   * others are ignored. Absent: each entry is an input of its own, as in any zip.
   */
  findMain?(entries: readonly string[]): string | undefined;
  /**
   * Whether the main file can link to this entry. The host unpacks such entries too and passes them as `Source.entries`;
   * the reader reports those that it does not read (`zip-entries-ignored`).
   */
  isLinked?(entry: string): boolean;
  /** The name of the main file in a written zip: `doc.kml`. Absent: the stem of the zip and the first extension. */
  readonly mainName?: string;
}

/**
 * Addresses of databases. The reader gets the address as `Source.path`, the writer as `Sink.inPlaceTarget.path`, which
 * is always set.
 */
export interface AddressScheme {
  /** The prefix, for help texts: `pg:`. */
  readonly syntax: string;
  /** Whether the text is such an address. Cheap, never throws. */
  match(text: string): boolean;
  /**
   * Returns a file name stem for files about this address, such as rejects. The host calls it before it prints or opens
   * the address, so this is where an address with a password is refused, without repeating it. @throws usage
   */
  fileStem(text: string): string;
  /** The address without passwords, user names and other secrets, for messages, reports and pages. */
  redact(text: string): string;
}

/**
 * Many formats behind one plugin, addressed as `id:NAME` (`gdal:S57`). Both members may start another process, so the
 * host calls them only for a format that the user names and for the list of formats.
 */
export interface FormatFamily {
  /** The format of this name, case ignored, or null. @throws unsupported */
  find(name: string): Format | null;
  /** The formats available on this machine; `unavailable` says how to install them if there are none. */
  list(): { readonly formats: readonly Format[]; readonly unavailable: string | null };
}

/** The certainty of `identify`. */
export type Confidence = "yes" | "maybe" | "no";

/** A format plugin. Cheap to load: `load()` imports the code of reader and writer. A missing ability is a missing member. */
export interface Format<R extends OptionTable = OptionTable, W extends OptionTable = OptionTable> {
  readonly apiVersion: 1;
  readonly id: string;
  readonly label: string;
  /** Lower case, without the dot; outputs get the first one. May have two parts: `shp.zip`. */
  readonly extensions: readonly string[];
  /** Extensions of companion files, which are not inputs by themselves: `shx`, `dbf`, `prj`. */
  readonly companionExtensions?: readonly string[];
  /** Those of `companionExtensions` that describe the dataset as a whole, so that they stay when features are appended. */
  readonly lastingCompanionExtensions?: readonly string[];
  /**
   * Extensions of companion files that may belong to a dataset of another format with the same name, as `roads.prj` does
   * beside `roads.csv` and `roads.shp`. Overwriting the output removes them only if no such dataset exists.
   */
  readonly sharedCompanionExtensions?: readonly string[];
  /**
   * The extensions that are folders, each one dataset: `gdb`. If the user names the format, a folder of any name is a
   * dataset. Absent: a folder is a folder of inputs.
   */
  readonly folderExtensions?: readonly string[];
  /** Zip files of this format. A zip with another extension is an archive of separate inputs. */
  readonly archive?: Archive;
  /** The format reads and writes addresses of this scheme, and no files. */
  readonly addresses?: AddressScheme;
  /** The plugin stands for other formats, addressed by name. */
  readonly family?: FormatFamily;
  /** Recognizes the format by content. `head` is the first 64 KiB of the file at most. Cheap, never throws. */
  identify(
    head: Buffer,
    source: { readonly name: string; readonly size: number; findSibling(extension: string): unknown },
  ): Confidence;
  readonly reader?: Reader<R>;
  readonly writer?: Writer<W>;
}

/** Declares a plugin and infers the option types of its reader and writer. */
export function defineFormat<const R extends OptionTable, const W extends OptionTable>(
  format: Format<R, W>,
): Format<R, W> {
  return format;
}
