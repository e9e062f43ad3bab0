/** What an open element is, as far as its children and its text are concerned. */
export const ElementScope = {
  document: 0,
  root: 1,
  feature: 2,
  segment: 3,
  point: 4,
  /** Its text counts, and that of all elements in it. */
  field: 5,
  link: 6,
  extensions: 7,
  extension: 8,
  metadata: 9,
  /** Extensions of the file itself. */
  declarations: 10,
  declared: 11,
  skip: 12,
  /** Garmin's extension of points, which is so common that what is in it goes by its own name. */
  garmin: 13,
  /** In the metadata. */
  described: 14,
  /** A position between points of a route. */
  shape: 15,
} as const;

/** What a text is for. */
export const TextUse = {
  none: 0,
  standard: 1,
  height: 2,
  linkText: 3,
  linkType: 4,
  linkHref: 5,
  extension: 6,
  geometry: 8,
  /** Of a standard element of which only counts that it is there. */
  unwanted: 9,
  subclass: 10,
} as const;
