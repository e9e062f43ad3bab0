/** Receives the elements between the features of a document. */
import type { CapturedElement } from "./element-capture.js";
import type { StyleProperties } from "./style-reader.js";

/** An open container, with its name once it has been read. Plain data. */
export interface OpenContainer {
  readonly depth: number;
  name: string | null;
  /** Whether it is the outermost document, whose name is that of the layer. */
  readonly isRoot: boolean;
}

/** The depth of containers around a linked document: they are in another document. */
export const outerContainerDepth = -1;

/** Receives what is between features, in document order. Without a visitor, only features are read. */
export interface DocumentVisitor {
  schema(id: string, typed: string | null, name: string): void;
  schemaField(name: string, type: string): void;
  /** A field of the Schema with arrays of this type. */
  schemaArray(name: string, type: string): void;
  /** The display name of a field of the Schema. */
  schemaTitle(field: string, title: string): void;
  style(id: string, style: StyleProperties): void;
  styleAlias(id: string, target: string): void;
  /** The style of a StyleMap for highlighted features. */
  styleHighlight(id: string, target: string): void;
  /** The element opened last has attributes; `code` determines which of them are read. */
  attributes(code: number): void;
  /** Geoferry's declaration of a field: its type, or that it holds the feature ids. */
  ownField(role: string, schema: string, name: string, type: string): void;
  /** The name of a container has been read. */
  named(container: OpenContainer): void;
  /** The root element begins. Its namespace is empty for none, null for a prefix that is not declared. */
  root(namespace: string | null): void;
  /** A NetworkLink, overlay or tour was left out, with a notice. */
  noted(): void;
  /** A NetworkLink to this address. @returns true where the target is to be read; else `noted` follows */
  link(href: string, name: string): boolean;
  /** An element between features that is not KML's. */
  unknown(name: string): void;
  /** An element of the open container that is kept as written. */
  described(description: string): void;
  detail(element: CapturedElement): void;
  /** An element that is left out. */
  leftOut(name: string): void;
}
