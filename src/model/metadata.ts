/** Metadata of a file or layer: GPX metadata, elements of a KML Document, the description in a GeoPackage. */

export interface MetadataLink {
  readonly href: string;
  readonly text?: string;
  /** A media type: `text/html`. */
  readonly type?: string;
}

/** A document of metadata, such as an ISO 19139 record: a row of a GeoPackage's gpkg_metadata. */
export interface MetadataContent {
  /** Scope of the description: `dataset`, `attribute` … (OGC 12-128r19, Table 15). */
  readonly scope: string;
  /** The URI of the standard that it follows. */
  readonly standard: string;
  readonly mediaType: string;
  readonly text: string;
}

/** A document and what it is about. */
export interface MetadataDocument extends MetadataContent {
  /** The described column; if absent, the whole file with `isOfFile`, else the layer. */
  readonly column?: string;
  readonly isOfFile?: boolean;
  /** When the reference was made, as the source writes it. */
  readonly time?: string;
  /** The document above it in a hierarchy. */
  readonly parent?: MetadataContent;
}

/** A constraint of a column (OGC 12-128r19, Annex F.9); an enum has several rows. */
export interface ColumnConstraint {
  readonly name: string;
  readonly rows: readonly {
    readonly type: string;
    readonly value: string | null;
    readonly min: number | string | null;
    readonly minInclusive: boolean | null;
    readonly max: number | string | null;
    readonly maxInclusive: boolean | null;
    readonly description: string | null;
  }[];
}

/** Metadata of a column: a row of gpkg_data_columns in a GeoPackage. */
export interface ColumnMetadata {
  readonly column: string;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly mediaType?: string;
  readonly constraint?: ColumnConstraint;
}

/** Elements by their names, each as text of the format. */
export type ElementTexts = readonly (readonly [name: string, text: string])[];

/** Elements that only a file of the same format can hold. Plain data. */
export interface MetadataElements {
  /** The id of the format. */
  readonly format: string;
  /** Number of elements by kind, for reports. */
  readonly counts: Readonly<Record<string, number>>;
  /** Those of the layer itself. */
  readonly own?: ElementTexts;
  /** Those of the file around several layers; the first layer has them. */
  readonly outer?: ElementTexts;
  /** Those of the folders in the layer, by the paths that the field `folder` has. */
  readonly folders?: Readonly<Record<string, ElementTexts>>;
}

/** Plain data. */
export interface LayerMetadata {
  /** A title that differs from the name of the layer. */
  readonly title?: string;
  readonly description?: string;
  readonly author?: { readonly name?: string; readonly email?: string; readonly link?: MetadataLink };
  readonly copyright?: { readonly author?: string; readonly year?: string; readonly license?: string };
  readonly links?: readonly MetadataLink[];
  /** Comma-separated words. */
  readonly keywords?: string;
  /** When the file was made, as the source writes it (XML Schema's dateTime). */
  readonly time?: string;
  readonly documents?: readonly MetadataDocument[];
  readonly columns?: readonly ColumnMetadata[];
  readonly elements?: MetadataElements;
}

export type MetadataTerm = keyof LayerMetadata;

/** All terms with their names for messages: from `description` to `keywords` those of GPX 1.1 (metadataType), in its order. */
export const metadataTerms: Readonly<Record<MetadataTerm, string>> = {
  title: "title",
  description: "description",
  author: "author",
  copyright: "copyright",
  links: "links",
  time: "time",
  keywords: "keywords",
  documents: "metadata documents",
  columns: "descriptions of columns",
  elements: "elements of the same format",
};
