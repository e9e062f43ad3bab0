import type { BatchData, FieldType } from "../../../src/model/index.js";

/** What GDAL says of a driver. */
export interface DriverInfo {
  readonly name: string;
  readonly label: string;
  readonly extensions: readonly string[];
  readonly reads: boolean;
  readonly writes: boolean;
  /** Several layers in one dataset. */
  readonly layers: boolean;
  readonly z: boolean;
  readonly m: boolean;
  /** OGR's names of field types and subtypes that can be created. */
  readonly fieldTypes: readonly string[];
  readonly fieldSubtypes: readonly string[];
  /** XML: an option list each, or empty. */
  readonly openOptions: string;
  readonly datasetOptions: string;
  readonly layerOptions: string;
}

export interface DriverCatalog {
  readonly version: string;
  readonly drivers: readonly DriverInfo[];
}

/** A field as OGR has it, and what it is read as. */
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
  /** No geometry at all. */
  readonly isTable: boolean;
  /** Where GDAL knows it without reading all. */
  readonly featureCount: number | null;
  /** The driver keeps ids of its own, rather than counting. */
  readonly keepsIds: boolean;
}

/** What is told about geometries of a batch: counts. */
export interface GeometryRepairs {
  readonly curves: number;
  readonly closedRings: number;
  /** Geometries of which a part could not be read. */
  readonly unreadable: number;
}

/** A feature whose geometry, null in its batch, could not be read; `record` counts from 1. */
export interface UnreadableGeometry {
  readonly record: number;
  readonly fid: number;
  readonly reason: string;
}

export interface WrittenValues {
  /** Of those that are not null; null where GDAL did not tell. */
  readonly count: number | null;
  /** Of numbers, or of the bytes of texts; null of other types, and where GDAL did not tell. */
  readonly sum: number | null;
}

/** What was asked of a driver, and what the layers of the output turned out to be. */
export interface WrittenLayer {
  readonly name: string;
  readonly features: number;
  /** Empty where it says no reference system. */
  readonly wkt: string;
  /** No geometry at all. */
  readonly isTable: boolean;
  /** Least x, least y, greatest x, greatest y; null where GDAL does not tell. */
  readonly extent: readonly number[] | null;
  readonly fields: readonly {
    readonly name: string;
    readonly type: FieldType;
    readonly values: WrittenValues;
  }[];
}

/** What the process is asked, one thing after the other. */
export type GdalRequest =
  | {
      readonly kind: "open";
      readonly path: string;
      /** The driver to open it with; null: any of those that reach for nothing else. */
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
      /** Of GDAL's vector translation. */
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
      /** Integers of lists that a double does not hold. */
      readonly rounded: number;
      readonly done: boolean;
    }
  /** Null where what was written cannot be looked at. */
  | { readonly kind: "write"; readonly layers: readonly WrittenLayer[] | null }
  | { readonly kind: "error"; readonly message: string }
) & {
  /** What GDAL warned of since the last reply. */
  readonly warnings: readonly string[];
};
