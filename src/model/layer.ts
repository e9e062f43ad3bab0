import type { Batch, Feature } from "./batch.js";
import type { Field } from "./field.js";
import type { Extent, GeometryType } from "./geometry.js";
import type { LayerSummary } from "./layer-summary.js";
import type { LayerMetadata } from "./metadata.js";

/**
 * A coordinate reference system, as plain data for any thread. Created by `src/crs` from `definition`.
 */
export interface Crs {
  /** "EPSG:25832", "OGC:CRS84", or null for one that has no code. */
  readonly id: string | null;
  readonly name: string;
  /** A code, WKT of any dialect, or a PROJ string from which it can be created again. */
  readonly definition: string;
  readonly kind: "geographic" | "projected" | "other";
}

/** A part of a layer that can be read independently. Plain data; `bytes` is its size in the input, for progress. */
export interface Split {
  readonly bytes: number;
  readonly [key: string]: unknown;
}

/** A comparison of a field with a value; text is compared by its bytes in UTF-8. */
export interface SplitCondition {
  readonly field: string;
  readonly comparison: "=" | "<" | "<=" | ">" | ">=";
  readonly value: number | bigint | string;
}

/**
 * What features of a layer must meet to be wanted, as far as a reader can decide it for many at once: they meet one of the
 * boxes, in the coordinates of the layer, and all conditions. The host examines each feature again.
 */
export interface SplitFilter {
  readonly boxes: readonly Extent[] | null;
  readonly conditions: readonly SplitCondition[];
}

/** Properties of a layer that are known without reading its features; null if unknown. */
export interface LayerInfo {
  readonly name: string;
  /** The declared CRS; null if there is none. */
  readonly crs: Crs | null;
  /** The declared fields; null if only the features have them (each batch then has its own). */
  readonly fields: readonly Field[] | null;
  readonly geometryTypes: readonly GeometryType[] | null;
  readonly featureCount: number | null;
  readonly extent: Extent | null;
  /** Other names for selecting it: `public.roads`. */
  readonly aliases?: readonly string[];
  /** Whether it is read only if selected by name, such as a table without geometry in a database. */
  readonly explicitOnly?: boolean;
}

/** What the host needs from a summary that is made without decoding features. */
export interface SummaryRequest {
  /**
   * The extent within which the stages do not change or remove points. If set, the reader may summarize a layer that
   * contains only points, if the summary is exact. Null if stages may change points, or if reading them is as fast.
   */
  readonly unchangedExtent: Extent | null;
  /** Whether only some features will be read (`--limit`), so that a summary of all would take longer. */
  readonly isLimited: boolean;
  /** Whether the summary must have an extent. */
  readonly needsExtent: boolean;
  /** To be called with the bytes read by a slow scan, for progress. */
  onBytesScanned?(bytes: number): void;
}

/** A batch and its size in the input in bytes, for progress. */
export interface ScanBatch {
  readonly batch: Batch;
  readonly bytes: number;
}

/** Two fields that look like coordinates: the longitude or easting first, unless the order of the two is unknown. */
export type CoordinateCandidate = readonly [x: string, y: string, order?: "order-unknown"];

export interface Layer extends LayerInfo {
  /** Size of the layer in the input in bytes, for progress; 0 if unknown. */
  readonly bytes: number;
  /** Metadata of the file; in a file with several layers, that of the first layer. */
  readonly metadata?: LayerMetadata;
  readonly columnNames?: ColumnNames;
  /**
   * Pairs of fields that look like coordinates but were not read as such, the likeliest first. The reader has options `x`
   * and `y` for them.
   */
  readonly likelyCoordinateFields?: readonly CoordinateCandidate[];
  /** Columns of coordinates with formulas whose results the file does not have. */
  readonly uncalculatedCoordinates?: readonly string[];
  /**
   * All batches, or those of one split. Can be called again. A simple reader may yield arrays of features.
   * @param fetched the result of `prefetch` for the split, if it was called
   */
  batches(split?: Split, fetched?: unknown): AsyncIterable<Batch | Feature[]>;
  /**
   * Summarizes all features without decoding them: from a scan at opening, or from headers. Counts and sizes may be upper
   * bounds; all types, kinds and dimensions that occur must be included. Null if this is not possible.
   */
  summary?(request: SummaryRequest): Promise<LayerSummary | null>;
  /**
   * The parts in order, each read by `batches(split)`; the same parts at every call. A part in which no feature meets the
   * filter may be read as one without features.
   */
  splits?(filter?: SplitFilter): AsyncIterable<Split>;
  /** Whether the splits refer to temporary files, so that only threads of this process can read them. */
  readonly hasLocalSplits?: boolean;
  /**
   * All batches, for a scan on one thread, without reporting losses, notices and rejects. Present if this is faster than
   * reading all splits, or makes the reading after it faster.
   */
  scanBatches?(): AsyncIterable<ScanBatch>;
  /**
   * Reads the bytes of a split for `batches` while the previous one is processed. It reports nothing to the context; `batches`
   * reports errors.
   */
  prefetch?(split: Split): Promise<unknown>;
}

/** Names of the ID and geometry columns of a table. Table writers use them by default. */
export interface ColumnNames {
  readonly id?: string;
  readonly geometry?: string;
}

/** Content of a source that is not in any layer. Plain data. */
export interface OmittedContent {
  readonly kind: "loss" | "note";
  readonly code: string;
  /** The layer that it belongs to; absent if it belongs to the file, and then ignored if layers are selected by name. */
  readonly layer?: string;
  readonly count: number;
  readonly example: string;
}

export interface Dataset extends AsyncDisposable {
  readonly layers: readonly Layer[];
  /** Content that a conversion does not include. */
  readonly omitted?: readonly OmittedContent[];
  /**
   * Plain data with which another thread opens the same dataset without scanning it again; it arrives there as
   * `context.scanResult`.
   */
  readonly scanResult?: unknown;
}
