/** A few known words, recognized in bytes without creating strings. */
export class KeywordTable<W extends string> {
  private readonly byLength: { readonly bytes: Uint8Array; readonly word: W }[][] = [];

  constructor(words: readonly W[]) {
    for (const word of words) {
      const list = this.byLength[word.length] ?? [];
      list.push({ bytes: Buffer.from(word, "latin1"), word });
      this.byLength[word.length] = list;
    }
  }

  /** The word at `bytes[from … to]`, or null. */
  find(bytes: Uint8Array, from: number, to: number): W | null {
    const list = this.byLength[to - from];
    if (!list) return null;
    for (let w = 0; w < list.length; w++) {
      const entry = list[w]!;
      let i = 0;
      while (i < entry.bytes.length && bytes[from + i] === entry.bytes[i]) i++;
      if (i === entry.bytes.length) return entry.word;
    }
    return null;
  }
}

/** Member names that GeoJSON defines (RFC 7946, sections 3 and 5). */
export const memberNames = new KeywordTable([
  "type",
  "id",
  "geometry",
  "properties",
  "bbox",
  "coordinates",
  "geometries",
  "features",
]);

export const typeNames = new KeywordTable([
  "Feature",
  "FeatureCollection",
  "Point",
  "LineString",
  "Polygon",
  "MultiPoint",
  "MultiLineString",
  "MultiPolygon",
  "GeometryCollection",
]);
