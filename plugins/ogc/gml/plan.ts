/** What is needed to read the features of a GML document. Plain data. */
import type { Crs, Field, GeometryType } from "../../../src/model/index.js";
import type { XmlPosition } from "../../shared/xml/reader.js";
import type { WalkState } from "./feature-walker.js";
import type { ReferenceSystem } from "./srs-name.js";

export interface GmlField {
  readonly field: Field;
  /** The property that it comes from. */
  readonly property: string;
  /** The path of the value in the property; null if the whole property is JSON. */
  readonly path: string | null;
  /** Whether the JSON is a list, because features have the property more than once. */
  readonly isList: boolean;
  /** Whether a schema declares it, so that a feature without it has null. */
  readonly isDeclared: boolean;
}

export interface GmlLayerPlan {
  readonly name: string;
  /** The feature type: the element of a feature. */
  readonly typeName: string;
  readonly namespace: string | null;
  readonly crs: Crs | null;
  /** Identifies the reference system among those of the type. */
  readonly crsKey: string;
  /** Whether features of the type without geometry belong to this layer. */
  readonly hasNullGeometries: boolean;
  readonly fields: readonly GmlField[];
  readonly geometryProperty: string | null;
  /** Whether the user named the property, so that no other geometry takes its place. */
  readonly isOnlyGeometry: boolean;
  readonly geometryTypes: readonly GeometryType[];
  readonly hasIds: boolean;
  readonly featureCount: number;
}

/** A part of the document between two features. */
export interface GmlSplit {
  readonly bytes: number;
  /** Absent: the beginning of the document. */
  readonly start?: XmlPosition;
  readonly state?: WalkState;
  /** Absent: the end of the document. */
  readonly to?: number;
  /** The layers with features in it, by their numbers. */
  readonly layers: readonly number[];
}

export interface GmlPlan {
  readonly layers: readonly GmlLayerPlan[];
  readonly systems: readonly ReferenceSystem[];
  readonly splits: readonly GmlSplit[];
}
