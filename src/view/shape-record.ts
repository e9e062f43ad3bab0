/**
 * Records of shapes: the rings of a feature in units of the world, with simplified versions.
 *
 * A record consists of 32-bit words: the number of versions; zoom, start and length in words of each version, from the
 * coarsest on; then the versions: the number of rings, a head for each ring, the positions. A head is the ring's type
 * (`RingType`) times 2^28 plus its number of positions. A version is exact to half a pixel at its zoom.
 */
export const RingType = { points: 1, line: 2, shell: 3, hole: 4 } as const;

/** The factor of the type in the head of a ring, and a limit of its positions. */
export const ringTypeFactor = 2 ** 28;

/** Zoom of the version that is not simplified. */
export const fullZoom = 99;

/** Index in a record of the coarsest version that is exact enough for a zoom: its zoom, start and length. */
export function versionAt(record: Int32Array, zoom: number): number {
  const count = record[0]!;
  let at = 1;
  for (let v = 1; v < count && record[at]! < zoom; v++) at += 3;
  return at;
}

/** A ring of a record: positions are `words[from … from + 2 × count]`. */
export type VisitRing = (type: number, words: Int32Array, from: number, count: number) => void;

export function forEachRing(record: Int32Array, zoom: number, visit: VisitRing): void {
  const start = record[versionAt(record, zoom) + 1]!;
  const rings = record[start]!;
  let from = start + 1 + rings;
  for (let r = 0; r < rings; r++) {
    const head = record[start + 1 + r]!;
    const count = head % ringTypeFactor;
    visit(Math.floor(head / ringTypeFactor), record, from, count);
    from += 2 * count;
  }
}
