/** What a reading of a document tells of what stands between its features. */
import type { CapturedElement } from "./element-capture.js";
import type { StyleProperties } from "./style-reader.js";

/** A container that is open, with its name once it is known. Plain data. */
export interface OpenContainer {
  readonly depth: number;
  name: string | null;
  /** The outermost document: its name is that of the layer. */
  readonly isRoot: boolean;
}

/** The depth of containers around a document that a NetworkLink leads to: they are in another one. */
export const outerContainerDepth = -1;

/** What is found between features, in the order of the document. Without it, only features are read. */
export interface DocumentVisitor {
  schema(id: string, typed: string | null, name: string): void;
  schemaField(name: string, type: string): void;
  /** A field of the Schema whose values are arrays of this type. */
  schemaArray(name: string, type: string): void;
  /** What a field of the Schema is called for people. */
  schemaTitle(field: string, title: string): void;
  style(id: string, style: StyleProperties): void;
  styleAlias(id: string, target: string): void;
  /** The style that a StyleMap shows features with that are pointed at. */
  styleHighlight(id: string, target: string): void;
  /** The element opened last has attributes; `code` tells which of them are read. */
  attributes(code: number): void;
  /** What geoferry says of a field: its type, or that it holds the feature ids. */
  ownField(role: string, schema: string, name: string, type: string): void;
  /** A container's name is known. */
  named(container: OpenContainer): void;
  /** The root element has begun, in this namespace: empty for none, null for a prefix that nothing declares. */
  root(namespace: string | null): void;
  /** A NetworkLink, overlay or tour was left out, and a notice says so. */
  noted(): void;
  /** A NetworkLink leads to this address. True where that is read; else `noted` follows. */
  link(href: string, name: string): boolean;
  /** An element between features that is none of KML's. */
  unknown(name: string): void;
  /** The container that is open says something of itself. */
  described(description: string): void;
  detail(element: CapturedElement): void;
  /** An element of which nothing is kept. */
  leftOut(name: string): void;
}
