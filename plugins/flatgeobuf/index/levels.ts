/** The layout of a packed R-tree (packedrtree.h of FlatGeobuf): its levels follow each other, the root first. */

/** An entry: least x, least y, greatest x and greatest y as doubles, and an unsigned 64-bit integer. */
export const entryBytes = 40;
/** Position of the integer: the offset of a feature, or the index of the first child. */
export const entryOffsetAt = 32;

/** A level of the tree: the entries `from … to`, counted from the root. */
export interface Level {
  readonly from: number;
  readonly to: number;
}

/** The levels of a tree, that of the features first. @param nodeSize at least 2 */
export function treeLevels(features: number, nodeSize: number): Level[] {
  const sizes = [features];
  for (let size = features; size > 1 || sizes.length === 1; ) {
    size = Math.ceil(size / nodeSize);
    sizes.push(size);
  }
  let end = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map((size) => {
    const level = { from: end - size, to: end };
    end -= size;
    return level;
  });
}

/** Size in bytes. */
export const treeBytes = (levels: readonly Level[]): number => levels[0]!.to * entryBytes;
