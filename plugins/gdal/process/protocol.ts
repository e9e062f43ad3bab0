import type { BatchData, FieldType } from "../../../src/model/index.js";

/** Driver metadata of GDAL. */
export interface DriverInfo {
  readonly name: string;
  readonly label: string;
  readonly extensions: readonly string[];
  readonly reads: boolean;
  readonly writes: boolean;
  /** Whether a dataset can have several layers. */
  readonly layers: boolean;
  readonly z: boolean;
  readonly m: boolean;
  /** OGR's names of field types and subtypes that can be created. */
  readonly fieldTypes: readonly string[];
  readonly fieldSubtypes: readonly string[];
  /** Option lists as XML; empty if there are none. */
  readonly openOptions: string;
  readonly datasetOptions: string;
  readonly layerOptions: string;
}

export interface DriverCatalog {
  readonly version: string;
  readonly drivers: readonly DriverInfo[];
}

/** An OGR field and the field type it becomes. */
export interface FieldPlan {
  readonly name: string;
  /** OGR's type: `OFTInteger` … */
  readonly ogrType: string;
  readonly type: FieldType;
  readonly width: number;
  readonly decimals: number;
}

export interface LayerInfo {
  readonly name: string;
  /** WKT 2, or empty. */
  readonly wkt: string;
  readonly fields: readonly FieldPlan[];
  /** Whether the layer has no geometry. */
  readonly isTable: boolean;
  /** Null if GDAL would have to read the layer to count. */
  readonly featureCount: number | null;
  /** Whether the driver stores ids, rather than counting. */
  readonly keepsIds: boolean;
  /** Why GDAL cannot read the layer; null if it can. */
  readonly error: string | null;
}

/** Number of repairs of the geometries of a batch. */
export interface GeometryRepairs {
  readonly curves: number;
  readonly closedRings: number;
  /** Geometries with an unreadable part. */
  readonly unreadable: number;
}

/** A feature whose geometry could not be read and is null in the batch; `record` counts from 1. */
export interface UnreadableGeometry {
  readonly record: number;
  readonly fid: number;
  readonly reason: string;
}

export interface WrittenValues {
  /** Number of values that are not null; null if unknown. */
  readonly count: number | null;
  /** Sum of numbers, or of text sizes in bytes; null for other types or if unknown. */
  readonly sum: number | null;
}

/** A layer of the output, read back after writing. */
export interface WrittenLayer {
  readonly name: string;
  readonly features: number;
  /** Empty if it has no CRS. */
  readonly wkt: string;
  /** No geometry at all. */
  readonly isTable: boolean;
  /** Min x, min y, max x, max y; null if unknown. */
  readonly extent: readonly number[] | null;
  readonly fields: readonly {
    readonly name: string;
    readonly type: FieldType;
    readonly values: WrittenValues;
  }[];
}

/** Requests to the GDAL process, one at a time. */
export type GdalRequest =
  | {
      readonly kind: "open";
      readonly path: string;
      /** Driver to open it with; null: any that follows no references. */
      readonly driver: string | null;
      readonly options: readonly string[];
    }
  | { readonly kind: "start"; readonly layer: number; readonly ids: boolean }
  | { readonly kind: "rows" }
  | {
      readonly kind: "write";
      /** Path of the VRT that holds the layers. */
      readonly source: string;
      readonly path: string;
      readonly driver: string;
      /** Arguments of GDAL's vector translate (ogr2ogr). */
      readonly args: readonly string[];
    };

export type GdalReply = (
  | { readonly kind: "open"; readonly driver: string; readonly layers: readonly LayerInfo[] }
  | { readonly kind: "start" }
  | {
      readonly kind: "rows";
      readonly batches: readonly BatchData[];
      readonly tally: GeometryRepairs;
      readonly unreadable: readonly UnreadableGeometry[];
      /** Number of integers in lists that were rounded to a double. */
      readonly rounded: number;
      /** By field: dates and times that became null, as the calendar lacks them. */
      readonly dates: readonly number[];
      readonly done: boolean;
    }
  /** Null if the output cannot be read back. */
  | { readonly kind: "write"; readonly layers: readonly WrittenLayer[] | null }
  | { readonly kind: "error"; readonly message: string }
) & {
  /** GDAL's warnings since the last reply. */
  readonly warnings: readonly string[];
};
