/** What the scan of a GPX file finds: the fields of its layers, and where features begin. */
import type { LayerMetadata, SkippedRange } from "../../../src/model/index.js";
import type { ElementField } from "../../shared/xml/batch-columns.js";
import type { XmlPosition } from "../../shared/xml/reader.js";

/** A range of the file that begins and ends between features. */
export interface GpxSplit {
  readonly [key: string]: unknown;
  readonly bytes: number;
  readonly from: number;
  readonly to: number;
  /** The number of features of each kind. */
  readonly counts: readonly [number, number, number];
}

/** A field of a layer. */
export interface GpxField extends ElementField {
  /** The element of GPX that holds it under another name, as geoferry's writer declared. */
  readonly standard?: string;
}

/** The result of reading the whole file once. Plain data, which is sent to worker threads. */
export interface GpxScanResult {
  /** The position for readers of splits; null where there is no feature. */
  readonly start: XmlPosition | null;
  readonly splits: readonly GpxSplit[];
  readonly counts: readonly [number, number, number];
  /** The fields of each kind of feature, and of all kinds: those of the schema in its order, then by first occurrence. */
  readonly fields: { readonly byKind: readonly (readonly GpxField[])[]; readonly all: readonly GpxField[] };
  /** The name in the metadata; empty for none. */
  readonly name: string;
  /** The metadata, without the name and the bounds, which the layer has. */
  readonly metadata: LayerMetadata | null;
  /** Elements of the metadata that are left out. */
  readonly left: readonly string[];
  /** The ranges that were skipped because of damage. */
  readonly gaps: readonly SkippedRange[];
}
