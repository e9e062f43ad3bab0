import type { Batch, Feature } from "./batch.js";
import type { Field } from "./field.js";
import type { Extent, GeometryType } from "./geometry.js";
import type { LayerSummary } from "./layer-summary.js";
import type { LayerMetadata } from "./metadata.js";

/**
 * A coordinate reference system, as plain data that any thread can use. `definition` is what it was made from;
 * `src/crs` makes it and knows the rest.
 */
export interface Crs {
  /** "EPSG:25832", "OGC:CRS84", or null for one that has no code. */
  readonly id: string | null;
  readonly name: string;
  /** A code, a WKT of any flavor, or a PROJ string, from which it can be made again. */
  readonly definition: string;
  readonly kind: "geographic" | "projected" | "other";
}

/** A piece of a layer that a worker reads alone. Plain data; `bytes` is its share of the input, for progress. */
export interface Split {
  readonly bytes: number;
  readonly [key: string]: unknown;
}

/** What is known of a layer without reading its features; null if unknown cheaply. */
export interface LayerInfo {
  readonly name: string;
  /** What the source says; null if it says nothing. */
  readonly crs: Crs | null;
  /** The declared fields, or null if only the features tell (each batch then says its own). */
  readonly fields: readonly Field[] | null;
  readonly geometryTypes: readonly GeometryType[] | null;
  readonly featureCount: number | null;
  readonly extent: Extent | null;
  /** Other names that it answers to: `public.roads`. */
  readonly aliases?: readonly string[];
  /** It is taken only where it is asked for by name: a table without geometry in a database full of them. */
  readonly explicitOnly?: boolean;
}

/** What a summary that is told without decoding features is to be good for. */
export interface SummaryRequest {
  /**
   * Where points may be for all features to come out of the stages unchanged read; null if they may change or be
   * left out in any case, or where reading them takes no longer. With it a layer of points alone may be summed up, if
   * exactly and all are there.
   */
  readonly unchangedExtent: Extent | null;
  /** Whether no more than some features will be read: what looks at all of them takes longer then. */
  readonly isLimited: boolean;
  /** Whether the extent is wanted. Of a summary without it no use is made then. */
  readonly needsExtent: boolean;
  /** To be told of bytes looked at, where that is work that takes its time, for progress. */
  onBytesScanned?(bytes: number): void;
}

/** A batch, and its share of the input in bytes, for progress. */
export interface ScanBatch {
  readonly batch: Batch;
  readonly bytes: number;
}

export interface Layer extends LayerInfo {
  /** Bytes of input that reading it takes, for progress; 0 where unknown. */
  readonly bytes: number;
  /** What the file says of itself; of several layers of a file, the first has it. */
  readonly metadata?: LayerMetadata;
  readonly columnNames?: ColumnNames;
  /**
   * Pairs of fields that look like x and y, although no geometry was taken from them, the likeliest first: the options
   * `x` and `y` of the reader take a pair.
   */
  readonly likelyCoordinateFields?: readonly (readonly [x: string, y: string])[];
  /**
   * All batches, or those of one split. Can be called again. A simple reader may yield arrays of features.
   * @param fetched what `fetch` gave for the split, where it was called
   */
  batches(split?: Split, fetched?: unknown): AsyncIterable<Batch | Feature[]>;
  /**
   * What all features say together, where the reader can tell without decoding them all: from a scan that opening
   * made, or from headers. Counts and sizes may be upper bounds; types, kinds and dimensions that occur must be among
   * those it names. Null if it cannot tell.
   */
  summary?(asked: SummaryRequest): Promise<LayerSummary | null>;
  /** The pieces in order, each read alone by `batches(split)`; the same pieces at every call. */
  splits?(): AsyncIterable<Split>;
  /**
   * All batches, for a first look on one thread: what is said of features will be said again when they are read for
   * good, and is left out. Present where that costs less than looking for splits and reading each of them.
   */
  scanBatches?(): AsyncIterable<ScanBatch>;
  /**
   * Reads the bytes of a split while the one before it is worked on, for `batches`. It tells the context nothing: what
   * is wrong with the bytes is for `batches` to say.
   */
  prefetch?(split: Split): Promise<unknown>;
}

/** What the columns of a table are called that are no fields: a writer of tables uses them where nothing else is asked. */
export interface ColumnNames {
  readonly id?: string;
  readonly geometry?: string;
}

/** Something of a source that no layer has. Plain data. */
export interface OmittedContent {
  readonly kind: "loss" | "note";
  readonly code: string;
  /** The layer that it belongs to; absent if it is of the file: of no interest where layers are chosen by name. */
  readonly layer?: string;
  readonly count: number;
  readonly example: string;
}

export interface Dataset extends AsyncDisposable {
  readonly layers: readonly Layer[];
  /** What a conversion of the layers does not carry. */
  readonly omitted?: readonly OmittedContent[];
  /**
   * Plain data with which another thread opens the same dataset without scanning it again; it arrives there as
   * `context.scanResult`.
   */
  readonly scanResult?: unknown;
}
