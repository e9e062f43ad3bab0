import type { Crs, Field, LayerMetadata, GeometryType as TypeName } from "../../../src/model/index.js";
import type { Level } from "../index/levels.js";

export interface ColumnPlan {
  /** ColumnType of header.fbs. */
  readonly type: number;
  readonly field: Field;
}

export interface IndexPlan {
  /** Position in the file. */
  readonly at: number;
  readonly nodeSize: number;
  readonly levels: readonly Level[];
}

/** How a file is read, as plain data. */
export interface FgbPlan {
  readonly name: string;
  readonly crs: Crs | null;
  readonly columns: readonly ColumnPlan[];
  /** GeometryType of header.fbs; 0 if each feature has its own. */
  readonly geometryType: number;
  readonly hasZ: boolean;
  readonly hasM: boolean;
  /** What features can have; null if unknown. */
  readonly geometryTypes: readonly TypeName[] | null;
  /** Number of features that the header declares; 0 if unknown. */
  readonly featureCount: number;
  readonly index: IndexPlan | null;
  /** Position of the first feature. */
  readonly featuresAt: number;
  readonly metadata: LayerMetadata;
}
