import type { XmlName } from "../../shared/xml/reader.js";
import type { MetadataElement } from "../metadata.js";
import type { ShapePoint } from "../route-shape.js";
import type { ValuePath } from "./paths.js";

/**
 * What a walk over a file meets, in its order. Texts are `bytes[from … to]`, in `reader.content` or where the document has
 * them, which stay there until their feature has ended.
 */
export interface GpxVisitor {
  /** The outermost element begins, in this namespace: empty for none, null for a prefix that nothing declares. */
  root(namespace: string | null): void;
  /** A child of the outermost element that is none of GPX's. */
  unknown(name: XmlName): void;
  /** A wpt, rte or trk begins; false where it is of no interest. */
  begin(kind: number): boolean;
  /** Its simple element of this index in `standardFields`. */
  standard(index: number, bytes: Buffer, from: number, to: number): void;
  extension(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  /** An attribute of an element in extensions. */
  attribute(path: ValuePath, value: string): void;
  link(link: GpxLink): void;
  /** What our writer says that the geometry was before it became one of GPX, in `reader.content`. */
  geometryType(): void;
  /** A segment begins; false where its points are of no interest. */
  segment(): boolean;
  /** An element in the extensions of a segment. */
  segmentExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  /** An attribute of an element there. */
  segmentAttribute(path: ValuePath, value: string): void;
  /** A segment that was passed over has extensions. */
  segmentExtended(): void;
  /** Whether places of points are wanted; where not, any may be given. */
  readonly wantsPlaces: boolean;
  /** A point of a line begins; false where its values are of no interest. */
  beginPoint(longitude: number, latitude: number): boolean;
  pointStandard(index: number, bytes: Buffer, from: number, to: number): void;
  pointExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  pointAttribute(path: ValuePath, value: string): void;
  /** A position that Garmin's devices put between this point of a route and the next. */
  pointShape(path: ValuePath, point: ShapePoint): void;
  pointLink(link: GpxLink): void;
  /** The point ends; NaN for the height that it does not have, or that is none. */
  endPoint(height: number): void;
  /** A feature ends; of a wpt, where it is and how high. */
  end(longitude: number, latitude: number, height: number): void;
  /** The declaration of a field's type at the end of the file, and of GPX's element that has it under another name. */
  declaration(name: string, type: string, element: string | null): void;
  /** An element of the metadata, or what GPX 1.0 has in its place. */
  metadata(name: XmlName, element: MetadataElement): void;
  /** An element in the extensions of the file itself. */
  leftOut(name: XmlName): void;
  /** Text where GPX has elements only: beside the features, or in one. */
  strayText(isBeside: boolean): void;
  /** A height that is no number. */
  badHeight(): void;
}

export interface GpxLink {
  href: string | null;
  text: string | null;
  type: string | null;
}
