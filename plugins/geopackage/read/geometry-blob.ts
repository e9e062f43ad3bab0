/** Size of the envelope in bytes by its indicator code (OGC 12-128r19, 2.1.3.1.1): none, xy, xyz, xym, xyzm. */
export const envelopeBytes = [0, 32, 48, 48, 64];
export const headerBytes = 8;
export const [letterG, letterP] = [0x47, 0x50];

/**
 * Returns the offset of the WKB in a geometry blob, or the reason why the blob cannot be read. The envelope and the
 * empty flag are ignored: the WKB is authoritative.
 */
export function findWkbStart(bytes: Buffer, from: number, to: number): number | string {
  if (to - from < 5) return `a blob of ${to - from} bytes is not a geometry`;
  if (bytes[from] !== letterG || bytes[from + 1] !== letterP) return foreignBlobReason(bytes, from, to);
  if (to - from < headerBytes) return "the header of the geometry is cut off";
  if (bytes[from + 2] !== 0) return `version ${bytes[from + 2]} of the geometry encoding is not known`;
  const flags = bytes[from + 3]!;
  const envelope = envelopeBytes[(flags >> 1) & 7];
  if (envelope === undefined) return `there is no envelope of kind ${(flags >> 1) & 7}`;
  const start = from + headerBytes + envelope;
  if (start >= to) return "the blob ends before the geometry";
  if ((flags & 0x20) !== 0) {
    const code = bytes.toString("latin1", start, Math.min(to, start + 4)).replace(/[^\x20-\x7e]/g, "?");
    return `the geometry is of a type of the extension "${code}", which is not of the standard`;
  }
  return start;
}

/** The srs_id in the header of a geometry blob. */
export function readSrsId(bytes: Buffer, from: number): number {
  return (bytes[from + 3]! & 1) === 1 ? bytes.readInt32LE(from + 4) : bytes.readInt32BE(from + 4);
}

/** Some programs write plain WKB instead of a GeoPackage blob; SpatiaLite has its own encoding. */
function foreignBlobReason(bytes: Buffer, from: number, to: number): number | string {
  if (bytes[from] === 0 && to - from > 43 && bytes[from + 38] === 0x7c && bytes[to - 1] === 0xfe) {
    return "the geometry is SpatiaLite's, not a GeoPackage's";
  }
  return bytes[from]! <= 1 ? from : "the blob does not start with GP, as a geometry does";
}
