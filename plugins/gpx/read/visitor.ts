import type { XmlName } from "../../shared/xml/reader.js";
import type { MetadataElement } from "../metadata.js";
import type { ShapePoint } from "../route-shape.js";
import type { ValuePath } from "./paths.js";

/**
 * Receives the features of a file in document order. Texts are `bytes[from … to]`, in `reader.content` or in the reader's
 * window; they are valid until their feature ends.
 */
export interface FeatureVisitor {
  /** A wpt, rte or trk begins. @returns false to skip it */
  begin(kind: number): boolean;
  /** A simple element of the feature, by its index in `standardFields`. */
  standard(index: number, bytes: Buffer, from: number, to: number): void;
  extension(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  /** An attribute of an element in extensions. */
  attribute(path: ValuePath, value: string): void;
  link(link: GpxLink): void;
  /** The geometry type before geoferry converted it to one of GPX; the text is in `reader.content`. */
  geometryType(): void;
  /** A segment begins. @returns false to skip it */
  segment(): boolean;
  /** An element in the extensions of a segment. */
  segmentExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  /** An attribute of an element in the extensions of a segment. */
  segmentAttribute(path: ValuePath, value: string): void;
  /** A segment that was skipped has extensions. */
  skippedSegmentExtensions?(): void;
  /** Whether positions of points are used; where not, they are not parsed. */
  readonly wantsPlaces: boolean;
  /** A point of a line begins. @returns false to skip its values */
  beginPoint(longitude: number, latitude: number): boolean;
  pointStandard(index: number, bytes: Buffer, from: number, to: number): void;
  pointExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  pointAttribute(path: ValuePath, value: string): void;
  /** A position that Garmin's devices add between this route point and the next. */
  pointShape(path: ValuePath, point: ShapePoint): void;
  pointLink(link: GpxLink): void;
  /** The point ends. @param height in metres, NaN for none or for one that is not a number */
  endPoint(height: number): void;
  /** A feature ends. For a wpt, the arguments are its position. */
  end(longitude: number, latitude: number, height: number): void;
  /** Text in a feature where GPX has elements only. */
  strayText(): void;
  /** A height is not a number. */
  badHeight(): void;
}

/** Receives what is beside the features, in document order. Without a file visitor, only features are read. */
export interface FileVisitor {
  /** The root element begins. Its namespace is empty for none, null for a prefix that is not declared. */
  root(namespace: string | null): void;
  /** A child of the root element that is not GPX's. */
  unknown(name: XmlName): void;
  /** An element of the metadata, or in the root for GPX 1.0. */
  metadata(name: XmlName, element: MetadataElement): void;
  /** The declaration of a field's type at the end of the file, with the GPX element that holds it under another name. */
  declaration(name: string, type: string, element: string | null): void;
  /** An element in the extensions of the file itself. */
  leftOut(name: XmlName): void;
  /** Text between the features, where GPX has elements only. */
  textBesideFeatures(): void;
}

export interface GpxLink {
  href: string | null;
  text: string | null;
  type: string | null;
}
