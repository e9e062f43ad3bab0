/** Reads headers and counts of WKB, without positions. */

const minGeometryBytes: u32 = 9;
const pointType: u32 = 1;
const lineType: u32 = 2;
const multiPointType: u32 = 4;
const multiPolygonType: u32 = 6;

let at: usize = 0;
let end: usize = 0;
let isLittle: bool = true;

function uint32(): u32 {
  const value = load<u32>(at);
  at += 4;
  return isLittle ? value : bswap<u32>(value);
}

/** Byte order and type; 0 for a type that must be decoded: heights, measures, SRIDs, curves. */
function header(): u32 {
  if (end - at < 5) return 0;
  const order = load<u8>(at++);
  if (order > 1) return 0;
  isLittle = order === 1;
  const type = uint32();
  return type <= multiPolygonType ? type : 0;
}

/** A count of items of at least `least` bytes; −1 if they exceed the blob. */
function count(least: u32): i64 {
  if (end - at < 4) return -1;
  const items = uint32();
  return <u64>items * least > <u64>(end - at) ? -1 : <i64>items;
}

function skipLine(): bool {
  const positions = count(16);
  if (positions < 0) return false;
  at += 16 * <usize>positions;
  return true;
}

function skipPolygon(): bool {
  for (let rings = count(4); rings !== 0; rings--) if (rings < 0 || !skipLine()) return false;
  return true;
}

function skipPoint(): bool {
  if (end - at < 16) return false;
  at += 16;
  return true;
}

function skipSingle(type: u32): bool {
  return type === pointType ? skipPoint() : type === lineType ? skipLine() : skipPolygon();
}

function skipMembers(type: u32): bool {
  for (let members = count(minGeometryBytes); members !== 0; members--)
    if (members < 0 || header() !== type || !skipSingle(type)) return false;
  return true;
}

/**
 * The kind of the geometry `from … to`: its WKB type from 1 (Point) to 6 (MultiPolygon); 0 if it must be decoded:
 * collections, curves, heights, measures and damaged blobs.
 */
export function flatKind(from: usize, to: usize): u32 {
  at = from;
  end = to;
  const type = header();
  if (type === 0) return 0;
  const isWhole = type < multiPointType ? skipSingle(type) : skipMembers(type - 3);
  return isWhole && at === end ? type : 0;
}
