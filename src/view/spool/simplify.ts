/** Simplification of lines and rings (Douglas and Peucker 1973). */

/**
 * @param xy interleaved positions
 * @param from index of the first position; the last one is `to - 1`, and both are kept
 * @param keep gets 1 at the index of each kept position
 */
export function markKept(xy: ArrayLike<number>, from: number, to: number, tolerance: number, keep: Uint8Array): void {
  keep[from] = 1;
  keep[to - 1] = 1;
  const limit = tolerance * tolerance;
  const pending = [from, to - 1];
  while (pending.length > 0) {
    const last = pending.pop()!;
    const first = pending.pop()!;
    const [x, y] = [xy[2 * first]!, xy[2 * first + 1]!];
    const [dx, dy] = [xy[2 * last]! - x, xy[2 * last + 1]! - y];
    const square = dx * dx + dy * dy;
    let farthest = 0;
    let at = -1;
    for (let k = first + 1; k < last; k++) {
      let [px, py] = [xy[2 * k]! - x, xy[2 * k + 1]! - y];
      if (square > 0) {
        const share = Math.max(0, Math.min(1, (px * dx + py * dy) / square));
        px -= share * dx;
        py -= share * dy;
      }
      const distance = px * px + py * py;
      if (distance > farthest) {
        farthest = distance;
        at = k;
      }
    }
    if (at < 0 || farthest <= limit) continue;
    keep[at] = 1;
    pending.push(first, at, at, last);
  }
}
