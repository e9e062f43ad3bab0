/** Rings matched the slow way, each with every other: what the index must not change. */
import { type RingAssignment, type Rings, signedArea } from "../../../../plugins/shared/rings/rings.js";

function side(x: number, y: number, { xy, starts, ends }: Rings, ring: number): number {
  let inside = -1;
  for (let k = starts[ring]!; k < ends[ring]!; k++) {
    const a = k === starts[ring] ? ends[ring]! - 1 : k - 1;
    const [xa, ya, xb, yb] = [xy[2 * a]!, xy[2 * a + 1]!, xy[2 * k]!, xy[2 * k + 1]!];
    const turn = (xb - xa) * (y - ya) - (x - xa) * (yb - ya);
    const spanned = x >= Math.min(xa, xb) && x <= Math.max(xa, xb) && y >= Math.min(ya, yb) && y <= Math.max(ya, yb);
    if (turn === 0 && spanned) return 0;
    if (ya > y !== yb > y && turn > 0 === yb > ya) inside = -inside;
  }
  return inside;
}

function sides(rings: Rings, outer: number, inner: number): number[] {
  const { xy, starts, ends } = rings;
  const found: number[] = [];
  for (let k = starts[inner]!; k < ends[inner]!; k++) found.push(side(xy[2 * k]!, xy[2 * k + 1]!, rings, outer));
  return found;
}

function contains(rings: Rings, outer: number, inner: number): boolean {
  const decisive = sides(rings, outer, inner).find((each) => each !== 0);
  if (decisive !== undefined) return decisive > 0;
  const { xy, starts } = rings;
  const k = starts[inner]!;
  return side((xy[2 * k]! + xy[2 * k + 2]!) / 2, (xy[2 * k + 1]! + xy[2 * k + 3]!) / 2, rings, outer) >= 0;
}

export function assignByBruteForce(rings: Rings): RingAssignment {
  const { xy, starts, ends } = rings;
  const all = starts.map((_, r) => r);
  const area = starts.map((from, r) => signedArea(xy, from, ends[r]!));
  const range = (r: number, axis: number) => {
    const values = [...xy.subarray(2 * starts[r]!, 2 * ends[r]!)].filter((_, i) => i % 2 === axis);
    return [Math.min(...values), Math.max(...values)] as const;
  };
  const ranges = all.map((r) => [range(r, 0), range(r, 1)] as const);
  const within = (inner: number, outer: number) =>
    [0, 1].every(
      (axis) =>
        ranges[inner]![axis]![0] >= ranges[outer]![axis]![0] && ranges[inner]![axis]![1] <= ranges[outer]![axis]![1],
    );
  const owners = Int32Array.from(all);
  const shells = all.filter((r) => area[r]! < 0).sort((a, b) => area[b]! - area[a]! || a - b);
  const lost: number[] = [];
  for (const r of all.filter((each) => !shells.includes(each))) {
    const around = shells.filter((shell) => within(r, shell));
    const sole = around.length === 1 && (shells.length === 1 || sides(rings, around[0]!, r).some((each) => each >= 0));
    const owner = sole ? around[0] : around.find((shell) => contains(rings, shell, r));
    if (owner === undefined) lost.push(r);
    else owners[r] = owner;
  }
  const isInside = (inner: number, outer: number) => within(inner, outer) && contains(rings, outer, inner);
  const reversed = shells.filter((shell) => lost.some((ring) => isInside(shell, ring)));
  const holes = all.filter((r) => !shells.includes(r) && reversed.includes(owners[r]!));
  const size = (r: number) => Math.abs(area[r]!);
  const bySize = [...lost, ...reversed, ...holes].sort((a, b) => size(b) - size(a) || a - b);
  let turned = 0;
  bySize.forEach((ring, i) => {
    const larger = bySize
      .slice(0, i)
      .reverse()
      .find((each) => isInside(ring, each));
    owners[ring] = larger !== undefined && owners[larger] === larger ? larger : ring;
    const isShell = owners[ring] === ring;
    if (isShell !== shells.includes(ring)) turned++;
  });
  return { owners, turned };
}
