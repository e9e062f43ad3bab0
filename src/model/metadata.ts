/** What a file says of itself beside its name: GPX's metadata, elements of a KML Document, a GeoPackage's description. */

export interface MetadataLink {
  readonly href: string;
  readonly text?: string;
  /** A media type: `text/html`. */
  readonly type?: string;
}

/** Plain data. */
export interface LayerMetadata {
  readonly description?: string;
  readonly author?: { readonly name?: string; readonly email?: string; readonly link?: MetadataLink };
  readonly copyright?: { readonly author?: string; readonly year?: string; readonly license?: string };
  readonly links?: readonly MetadataLink[];
  /** Words parted by commas. */
  readonly keywords?: string;
  /** When the file was made, as the source writes it (XML Schema's dateTime). */
  readonly time?: string;
}

export type MetadataTerm = keyof LayerMetadata;

/** All terms, in the order of GPX 1.1 (metadataType). */
export const metadataTerms: readonly MetadataTerm[] = [
  "description",
  "author",
  "copyright",
  "links",
  "time",
  "keywords",
];
