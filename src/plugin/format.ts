import type { Batch } from "../model/batch.js";
import type { Field, FieldType } from "../model/field.js";
import type { GeometryType } from "../model/geometry.js";
import type { ColumnNames, Crs, Dataset } from "../model/layer.js";
import type { LayerSummary } from "../model/layer-summary.js";
import type { LayerMetadata, MetadataTerm } from "../model/metadata.js";
import type { Reject, SkippedRange } from "../model/report.js";
import type { OptionTable, OptionValues } from "./options.js";

/** The version of this contract; a plugin that names another is refused. */
export const apiVersion = 1;

/**
 * A file that can be read at any place. Zip entries, stdin and downloads are spooled into one first. For a format with
 * `addresses`: one of them, which has no bytes of its own.
 */
export interface Source {
  /** What the person wrote, for messages: `data.zip/roads.shp`. */
  readonly name: string;
  /** Where the bytes are, for libraries that need a path; or the address. */
  readonly path: string;
  /** Size in bytes; 0 of an address. */
  readonly size: number;
  /** The file beside it with this extension (`"dbf"`, any case), or null. */
  findSibling(extension: string): Source | null;
  /** Of the main file of an archive: the other entries that the format's `Archive.linked` names. */
  readonly entries?: ArchiveEntries;
  open(): Promise<SourceFile>;
}

/** Entries of an archive by their paths in it, with `/`. */
export interface ArchiveEntries {
  /** The path of the main file. */
  readonly main: string;
  /** The paths of the others, in the order of the archive. */
  readonly paths: readonly string[];
  /** The entry with one of these paths. */
  getSource(path: string): Source;
}

export interface SourceFile extends AsyncDisposable {
  readonly size: number;
  /**
   * `length` bytes from `position`, fewer only at the end of the file. The buffer is the caller's own, or that of `into`,
   * which must have room for them.
   */
  read(position: number, length: number, into?: Uint8Array): Promise<Buffer>;
  close(): Promise<void>;
}

/** Turns bytes into text. */
export type Decode = (bytes: Uint8Array) => string;

/** What both halves of a plugin get from the host. */
export interface PluginContext {
  readonly signal: AbortSignal;
  /** Something the target cannot hold, or that could not be kept; counted by code and field. */
  reportLoss(code: string, field: string | undefined, example: string, count?: number): void;
  /** A repair that a standard allows, or an oddity worth telling; counted likewise. */
  reportNotice(code: string, field: string | undefined, example: string, count?: number): void;
  readonly crs: CrsContext;
  /**
   * A path for a temporary file of this name, which the host removes when the dataset is closed, or the output is
   * finished or given up. @throws output-failed
   */
  createTemporaryPath(name: string): Promise<string>;
}

export interface CrsContext {
  /** From a code (`EPSG:25832`), URN, WKT of any flavour or PROJ string. @throws crs-unknown */
  parse(definition: string): Promise<Crs>;
  /** The definition in the flavour that a file needs, or null where it cannot be said in it. */
  toWkt(crs: Crs, flavour: "esri" | "wkt1" | "wkt2"): Promise<string | null>;
  /**
   * The share, 0 to 1, of positions (x and y in turn) that lie in or near the area of use of a system; null where it has
   * none, or one so wide that it says nothing.
   */
  computeShareInArea(crs: Crs, xy: Float64Array): Promise<number | null>;
  /** The ordinary longitude/latitude of WGS84. */
  readonly wgs84: Crs;
}

export interface ReadContext extends PluginContext {
  /** Read past damage of the container (`--skip-errors`); what is skipped is reported with `skipRange`. */
  readonly skipErrors: boolean;
  /** `dataset.scanResult` of the thread that opened the source first; undefined there. */
  readonly scanResult: unknown;
  /** What the request says that the coordinates are in (`--source-crs`), whatever the source says. */
  readonly requestedCrs?: Crs | null;
  /**
   * Called with the number of the fields as soon as it is known, before anything that takes long. @throws unsupported
   * where the target has no room for so many
   */
  onFieldCount?(count: number): void;
  /** Whether x and y are exchanged behind the reader (`--swap-xy`). */
  readonly swapsXy?: boolean;
  /**
   * A feature whose geometry cannot be read goes on with a null geometry, and its reject says `kept: true`; where
   * false, it is left out as every other reject is.
   */
  readonly keepsBadGeometries: boolean;
  /** One feature that could not be read. Places inside a split are relative to it, but for bytes. */
  reject(reject: Reject): void;
  /** With `skipErrors`: a stretch of the container that was given up. The run ends with 5, as with rejects. */
  skipRange(gap: SkippedRange): void;
  /**
   * How many records and lines of the source the split just read had, told once at its end: it makes the places in
   * later splits absolute. Batches count themselves; call it where records were skipped or lines matter.
   */
  splitFinished(records: number, lines: number): void;
  /** A decoder by name: `utf-8`, `windows-1252`, `cp850` … @throws option-invalid */
  getTextDecoder(encoding: string): Decode;
  /**
   * Has the reader's own `scanPart` look at each piece on other threads, and gives what it found in the order of the
   * pieces. Absent where there is this thread alone.
   */
  readonly scanParts?: ScanParts;
}

/** From pieces of a source to what was found in each, in their order. */
export type ScanParts = (pieces: AsyncIterable<unknown>) => AsyncIterable<unknown>;

export interface ReaderModule<O> {
  open(source: Source, options: O, context: ReadContext): Promise<Dataset>;
  /**
   * Looks at a piece of a source that is being opened on another thread (`context.scanParts`). Piece and findings are
   * plain data. Nothing that it tells the context is told to anybody.
   */
  scanPart?(source: Source, piece: unknown, context: ReadContext): Promise<unknown>;
}

export interface Reader<T extends OptionTable = OptionTable> {
  readonly options: T;
  /** Extensions of the files beside the main one that it opens: they are fetched with an address. Absent: all companions. */
  readonly siblingExtensions?: readonly string[];
  load(): Promise<ReaderModule<OptionValues<T>>>;
}

/** What a writer can hold; the pipeline splits, renames, casts and scans ahead so that no writer has to. */
export interface WriterCapabilities {
  /** Coordinates in any system, or in WGS84 longitude/latitude only. */
  readonly crs: "any" | "wgs84";
  /** Longitudes beyond ±180° and latitudes beyond ±90° are nothing that it can say, whatever the coordinates are in. */
  readonly degreesOnly?: boolean;
  readonly layers: "one" | "many";
  /** What of the metadata of a layer it has a place for; the rest is lost (`metadata-left-out`). */
  readonly metadata?: readonly MetadataTerm[];
  /** What a layer of this name is called, where the format does not take every name: the same for what it gives itself. */
  readonly normalizeLayerName?: (name: string) => string;
  readonly geometryTypes: readonly GeometryType[];
  /**
   * Types that may stand together in one layer, each set one output. Absent: all of `geometryTypes` together.
   * The name is what is added to the output's name: `places_point`.
   */
  readonly families?: readonly { readonly suffix: string; readonly types: readonly GeometryType[] }[];
  /**
   * Lines of one position have a place, which a track segment of GPX has. Elsewhere they are left out, as are rings of
   * fewer than four positions everywhere. A reader with a boolean option `shortLines` is asked to keep them then.
   */
  readonly onePointLines?: boolean;
  readonly nullGeometry: boolean;
  readonly z: boolean;
  readonly m: boolean;
  /** Field types it holds; others are cast by the pipeline's table. */
  readonly fieldTypes: readonly FieldType[];
  /** Fields that a layer can have. Absent: any number. */
  readonly maxFields?: number;
  /** Every feature takes room for every field, also for those that it lacks: a layer of mostly empty fields is refused. */
  readonly storesEveryCell?: boolean;
  readonly fieldNames?: {
    readonly maxBytes?: number;
    readonly ignoreCase?: boolean;
    readonly pattern?: RegExp;
    /** A character that a name may have; any other becomes an underscore. */
    readonly allowedCharacter?: RegExp;
    /** Names that no field can have: it gets one with a number. */
    readonly reserved?: readonly string[];
  };
  /**
   * The field feature ids become where the format has no place for them, or true where it has. Where it has a place for
   * ids of some types only: those, and the field that others become.
   */
  readonly ids: true | string | { readonly types: readonly FieldType[]; readonly fallbackField: string };
  /**
   * What must be known before the first feature: nothing, everything that a scan tells, or that and the extent, which
   * some readers tell only by reading all positions.
   */
  readonly requiredScan: "nothing" | "summary" | "extent";
  /** It can write to a stream that cannot go back: no patches, no companions. */
  readonly supportsStreaming: boolean;
  /** It can add layers and rows to an existing file, inside one transaction. */
  readonly updatesInPlace?: true;
}

/** A layer as the writer should write it: already fitted to what it accepts. */
export interface TargetLayer {
  readonly name: string;
  readonly crs: Crs | null;
  /** Present where the writer needs a summary, or the source declares its fields. */
  readonly fields: readonly Field[] | null;
  /** Of the features that go into this layer; present where the writer needs it. */
  readonly summary: LayerSummary | null;
  /** What the inputs say of themselves, in the terms that the writer accepts. */
  readonly metadata?: LayerMetadata;
  /** What the inputs call the columns of ids and geometries, where all say the same. */
  readonly columnNames?: ColumnNames;
}

/** What `encode` gives and `append` takes: plain data, handed between threads. */
export type Chunk = object;

export interface Encoder<C extends Chunk = Chunk> {
  /** Pure: the same batch gives the same chunk, on any thread. */
  encode(batch: Batch): C;
}

export interface Assembler<C extends Chunk = Chunk> {
  /**
   * Takes the chunks in order; `layer` is an index into the layers given to `assembler`. The chunk's buffers are freed
   * when the promise is fulfilled: what is kept of them must be copied.
   */
  append(chunk: C, layer: number): Promise<void>;
  /** Writes what comes after the last feature. The host commits the sink after it. */
  finish(): Promise<void>;
  /** Makes lasting what was changed in place (`sink.update`); called once, after `finish` of every output of the run. */
  commit?(): Promise<void>;
  /**
   * Lets go of everything and leaves what was changed in place as it was; called once after any failure, be it of
   * `append`, of `finish`, of `commit`, or elsewhere before or after `finish`. Of a file in the making it only closes
   * what is open: the host removes it.
   */
  abort?(): Promise<void>;
}

/** An existing file, or a database by its address, that is changed in place. */
export interface InPlaceTarget {
  /** The path, or the address. */
  readonly path: string;
  /**
   * `append`: rows are added to layers of the same name, other layers stay. `replace`: layers of the same name are
   * replaced, others stay. Names differ whatever their case; a layer that is there keeps the spelling it has, and the
   * target layer comes with it. One that is not there is added. `add`: none of the layers is there, or `output-exists`;
   * of addresses only.
   */
  readonly mode: "append" | "replace" | "add";
}

/** One output with its companions. Nothing is seen under its name before the host commits it. */
export interface Sink {
  /** The path that it will have, for messages. */
  readonly name: string;
  /**
   * An existing file to change in place instead of making one: only for writers whose `capabilities.updatesInPlace` is true. Nothing
   * is created then. Fields that the layer has come with the types it has; those it lacks are new.
   */
  readonly inPlaceTarget: InPlaceTarget | null;
  /**
   * Where the output is a folder (`Format.folders`): the path to make it at, of which nothing is there yet. Nothing is
   * created by `create` then. Absent: it is a file.
   */
  readonly folderPath?: string;
  /** The main file, or the companion with this extension (`"dbf"`). */
  create(extension?: string): Promise<SinkFile>;
}

export interface SinkFile {
  /** Where the bytes go until the commit, for libraries that need a path; null for a stream. */
  readonly path: string | null;
  /** Bytes appended so far. */
  readonly size: number;
  write(bytes: Uint8Array): Promise<void>;
  /** Overwrites bytes written before. Not on a stream. */
  patch(position: number, bytes: Uint8Array): Promise<void>;
}

export interface WriteContext extends PluginContext {
  /** When the run says it is: `SOURCE_DATE_EPOCH` where set. */
  readonly now: Date;
  /** An encoding of text; characters it lacks become `?`. @throws option-invalid */
  getTextEncoder(encoding: string): (text: string) => Uint8Array;
}

export interface WriterModule<O, C extends Chunk = Chunk> {
  /** May be asked several times, on several threads. */
  createEncoder(layer: TargetLayer, options: O, context: WriteContext): Promise<Encoder<C>>;
  createAssembler(sink: Sink, layers: readonly TargetLayer[], options: O, context: WriteContext): Promise<Assembler<C>>;
}

export interface Writer<T extends OptionTable = OptionTable> {
  readonly options: T;
  /** Options, as `--out` takes them, that the name of an output implies where they are not given: the tabs of `.tsv`. */
  impliedOptions?(name: string): Readonly<Record<string, string>>;
  /** What it holds, with these options. */
  capabilities(options: OptionValues<T>): WriterCapabilities;
  load(): Promise<WriterModule<OptionValues<T>>>;
}

/** Zips that are files of a format by their extension, as `.kmz` and `.shz` are. */
export interface Archive {
  /** Without the dot, lower case, each one also among the format's `extensions`: `kmz`, `shp.zip`. */
  readonly extensions: readonly string[];
  /**
   * Of the entries (paths with `/`), the one that such a zip is read from; those of the same stem become its siblings,
   * the others are passed over. Undefined where there is none. Absent: each entry is an input of its own, as in any zip.
   */
  findMain?(entries: readonly string[]): string | undefined;
  /**
   * Whether the main file may link to this entry. Such entries are unpacked, too, within the limits of zips; the reader
   * finds them in `source.entries` and notes those that it does not read (`zip-entries-ignored`).
   */
  isLinked?(entry: string): boolean;
  /** What the main file is called in a zip that is written: `doc.kml`. Absent: as the zip, with its own extension. */
  readonly mainName?: string;
}

/**
 * Addresses that stand for a database rather than for a file. Its reader is opened with one as `source.path`; its writer
 * always has `sink.update`, with one as `path`.
 */
export interface AddressScheme {
  /** How they begin, for people: `pg:`. */
  readonly syntax: string;
  /** Whether the text is one. Cheap, never throws. */
  match(text: string): boolean;
  /**
   * What files about it are called after. Asked before the address is told or opened: one that says a password is
   * refused here, without repeating it. @throws usage
   */
  fileStem(text: string): string;
  /** The address as messages, reports and pages may tell it: without passwords, users and whatever else is secret. */
  redact(text: string): string;
}

/**
 * Formats that one plugin knows by the dozen, each asked for as `id:NAME` (`gdal:S57`). Both members may start another
 * process: they are asked only for what a person names, and for the list of formats.
 */
export interface FormatFamily {
  /** The one of this name, in any case of its letters; null where there is none. @throws unsupported */
  find(name: string): Format | null;
  /** All that there are on this machine; none, with a sentence that says how to get them, where they are not installed. */
  list(): { readonly formats: readonly Format[]; readonly unavailable: string | null };
}

/** How sure `identify` is. */
export type Confidence = "yes" | "maybe" | "no";

/** A plugin: light to load; the reader's and writer's code comes with `load()`. A missing ability is a missing member. */
export interface Format<R extends OptionTable = OptionTable, W extends OptionTable = OptionTable> {
  readonly apiVersion: 1;
  readonly id: string;
  readonly label: string;
  /** Without the dot, lower case; the first is the one that outputs get. `shp.zip` may have two parts. */
  readonly extensions: readonly string[];
  /** Files that belong to another one of this format and are no inputs themselves: `shx`, `dbf`, `prj`. */
  readonly companionExtensions?: readonly string[];
  /**
   * Those of its extensions that are folders, each of which is one dataset: `gdb`. Where the format is named, a folder of
   * any name is one; absent: it is a folder of inputs.
   */
  readonly folderExtensions?: readonly string[];
  /** Zips of its own; a zip with any other name is a parcel of files. */
  readonly archive?: Archive;
  /** It is read from and written to by these, and no files are of it. */
  readonly addresses?: AddressScheme;
  /** It stands for others, which are asked for by name. */
  readonly family?: FormatFamily;
  /** By content: `head` is up to 64 KiB from the start of the file. Cheap, never throws. */
  identify(
    head: Buffer,
    source: { readonly name: string; readonly size: number; findSibling(extension: string): unknown },
  ): Confidence;
  readonly reader?: Reader<R>;
  readonly writer?: Writer<W>;
}

/** Declares a plugin; the types of the options flow into its reader and writer. */
export function defineFormat<const R extends OptionTable, const W extends OptionTable>(
  format: Format<R, W>,
): Format<R, W> {
  return format;
}
