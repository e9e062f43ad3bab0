/**
 * Cuts lines and polygons with unwrapped longitudes along meridians. Only crossing geometries reach this code, so it is
 * simple rather than fast.
 */

/** Longitude, latitude, height (NaN if there is none). */
export type Position = readonly [number, number, number];
/** A line, or a closed ring. */
export type Ring = Position[];

/** Whether the shorter path between two longitudes crosses the antimeridian. */
export function crossesAntimeridian(from: number, to: number): boolean {
  const step = Math.abs(to - from);
  return step > 180 && !(step === 360 && Math.abs(from) === 180);
}

/** The same line with longitudes that continue beyond ±180° instead of jumping. */
export function unwrap(line: Ring): Ring {
  let turns = 0;
  return line.map(([x, y, z], k) => {
    const before = k > 0 ? line[k - 1]![0] : x;
    if (crossesAntimeridian(before, x)) turns += x < before ? 360 : -360;
    return [x + turns, y, z];
  });
}

function interpolateAt(a: Position, b: Position, x: number): Position {
  const t = (x - a[0]) / (b[0] - a[0]);
  return [x, a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])];
}

/** The world copy that contains a longitude: 0 for −180° to 180°, 1 for the one east of it. */
const worldIndex = (x: number): number => Math.floor((x + 180) / 360);

/** Shifts a piece into −180° to 180° by its middle. */
export function shiftIntoRange(piece: Ring): Ring {
  return shiftByTurns(piece, -worldIndex(middleLongitude(piece)));
}

function shiftByTurns(line: Ring, turns: number): Ring {
  return turns === 0 ? line : line.map(([x, y, z]) => [x + 360 * turns, y, z]);
}

function minMax(values: readonly number[]): [number, number] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

/** The meridians 180° + n · 360° strictly between the minimum and the maximum longitude. */
function crossedMeridians(line: Ring): number[] {
  const [least, most] = minMax(line.map((p) => p[0]));
  const found: number[] = [];
  for (let x = 360 * worldIndex(least) + 180; x < most; x += 360) if (x > least) found.push(x);
  return found;
}

/** Splits an unwrapped line at the antimeridians. */
export function splitLineAtMeridians(line: Ring): Ring[] {
  let pieces = [line];
  for (const x of crossedMeridians(line)) pieces = pieces.flatMap((piece) => splitLineAt(piece, x));
  return pieces;
}

function splitLineAt(line: Ring, x: number): Ring[] {
  const pieces: Ring[] = [];
  let piece: Ring = [];
  let side = 0;
  for (let k = 0; k < line.length; k++) {
    const position = line[k]!;
    const now = Math.sign(position[0] - x);
    if (now !== 0 && side !== 0 && now !== side) {
      const before = line[k - 1]!;
      const crossing = before[0] === x ? before : interpolateAt(before, position, x);
      if (before[0] !== x) piece.push(crossing);
      pieces.push(piece);
      piece = [crossing];
    }
    piece.push(position);
    if (now !== 0) side = now;
  }
  pieces.push(piece);
  return pieces.filter((p) => p.length > 1);
}

/**
 * Splits a polygon, with its holes, at the antimeridians. A ring that runs around the world encloses the nearer pole.
 */
export function splitPolygonAtMeridians(rings: readonly Ring[]): Ring[][] {
  const [first, ...rest] = rings;
  if (!first) return [];
  const shell = closeAtPole(unwrap(first));
  const holes = rest.map((hole) => shiftToShell(unwrap(hole), shell));
  let pieces: Ring[][] = [[shell, ...holes]];
  for (const x of crossedMeridians(shell)) pieces = pieces.flatMap((piece) => splitPolygonAt(piece, x));
  return pieces.map((piece) => {
    const turns = -worldIndex(middleLongitude(piece[0]!));
    return piece.map((ring) => shiftByTurns(ring, turns));
  });
}

function middleLongitude(ring: Ring): number {
  const [least, most] = minMax(ring.map((p) => p[0]));
  return (least + most) / 2;
}

function closeAtPole(ring: Ring): Ring {
  const start = ring[0]!;
  const end = ring.at(-1)!;
  if (Math.abs(end[0] - start[0]) < 180) return ring;
  const latitude = ring.reduce((sum, p) => sum + p[1], 0) < 0 ? -90 : 90;
  return [...ring, [end[0], latitude, end[2]], [start[0], latitude, start[2]], start];
}

/** Shifts the hole into the world copy of the shell: unwrapping may have left them 360° apart. */
function shiftToShell(hole: Ring, shell: Ring): Ring {
  const [least, most] = minMax(shell.map((p) => p[0]));
  const [low, high] = minMax(hole.map((p) => p[0]));
  for (const turns of [0, 1, -1, 2, -2]) {
    if (low + 360 * turns >= least && high + 360 * turns <= most) return shiftByTurns(hole, turns);
  }
  return hole;
}

/** A run of positions on one side of the meridian, with both ends on it. */
type Chain = Ring;

/**
 * Splits a polygon along a meridian. The crossings of its rings, in order of latitude, alternately enter and leave the
 * polygon: those pairs are joined, and every resulting loop is a shell.
 */
function splitPolygonAt(rings: readonly Ring[], x: number): Ring[][] {
  return [-1, 1].flatMap((side) => {
    const chains: Chain[] = [];
    const whole: Ring[] = [];
    for (const ring of rings) collectSide(ring, x, side, chains, whole);
    const shells = joinChains(chains).filter((loop) => loop.some((p) => p[0] !== x));
    const shellIsWhole = whole.length > 0 && whole[0] === rings[0];
    const pieces: Ring[][] = [...shells.map((shell) => [shell]), ...(shellIsWhole ? [[whole[0]!]] : [])];
    for (const hole of shellIsWhole ? whole.slice(1) : whole) {
      const owner = pieces.find(([shell]) => isInside(shell!, hole));
      owner?.push(hole);
    }
    return pieces;
  });
}

/** Collects the parts of the ring on this side: chains if it crosses the meridian, else the whole ring. */
function collectSide(ring: Ring, x: number, side: number, chains: Chain[], whole: Ring[]): void {
  // A position on the meridian counts as east, so that each edge crosses at most once.
  const isHere = (p: Position) => (p[0] < x ? -1 : 1) === side;
  const open = ring.slice(0, -1);
  const firstOut = open.findIndex((p) => !isHere(p));
  if (firstOut < 0) {
    whole.push(ring);
    return;
  }
  let chain: Chain | null = null;
  let before = open[firstOut]!;
  for (let k = 1; k <= open.length; k++) {
    const position = open[(firstOut + k) % open.length]!;
    const here = isHere(position);
    if (here !== isHere(before)) {
      const crossing = position[0] === x ? position : before[0] === x ? before : interpolateAt(before, position, x);
      if (here) chain = [crossing];
      else if (chain) {
        chain.push(crossing);
        chains.push(chain);
        chain = null;
      }
    }
    if (here && chain && chain.at(-1) !== position) chain.push(position);
    before = position;
  }
}

/** Closes chains along the meridian into loops. */
function joinChains(chains: readonly Chain[]): Ring[] {
  const ends = chains.flatMap((chain, c) => [
    { chain: c, last: false, latitude: chain[0]![1] },
    { chain: c, last: true, latitude: chain.at(-1)![1] },
  ]);
  ends.sort((a, b) => a.latitude - b.latitude || a.chain - b.chain);
  const partner = (chain: number, last: boolean) =>
    ends[ends.findIndex((e) => e.chain === chain && e.last === last) ^ 1]!;
  const used = new Set<number>();
  const loops: Ring[] = [];
  for (let c = 0; c < chains.length; c++) {
    if (used.has(c)) continue;
    const loop: Ring = [];
    let next = { chain: c, last: false };
    while (!used.has(next.chain)) {
      used.add(next.chain);
      const chain = chains[next.chain]!;
      loop.push(...(next.last ? [...chain].reverse() : chain));
      next = partner(next.chain, !next.last);
    }
    loop.push(loop[0]!);
    loops.push(loop.filter((p, k) => k === 0 || p[0] !== loop[k - 1]![0] || p[1] !== loop[k - 1]![1]));
  }
  return loops;
}

/** Whether the hole is inside the shell, tested by its first position. */
function isInside(shell: Ring, hole: Ring): boolean {
  const [x, y] = hole[0]!;
  let inside = false;
  for (let k = 1; k < shell.length; k++) {
    const [ax, ay] = shell[k - 1]!;
    const [bx, by] = shell[k]!;
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
  }
  return inside;
}
