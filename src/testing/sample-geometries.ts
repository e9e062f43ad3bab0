import { type GeometryType, Kind } from "../model/geometry.js";
import type { GeometryBuilder } from "../model/geometry-builder.js";
import { Random } from "./random.js";

/** Which numbers the positions have beside x and y; `some-z` gives a height to every second feature only. */
export type Dimensions = "xy" | "xyz" | "xym" | "xyzm" | "some-z";

/** Degrees with at most seven decimals, so that no sensible text format rounds them. */
const roundDegrees = (value: number): number => Math.round(value * 1e7) / 1e7;
const roundCents = (value: number): number => Math.round(value * 100) / 100;

/** Adds sample geometries of one type to a builder; the same for the same seed. */
export class GeometrySampler {
  private readonly random: Random;
  private row = 0;

  constructor(
    private readonly builder: GeometryBuilder,
    private readonly dimensions: Dimensions,
    seed: number,
  ) {
    this.random = new Random(seed);
  }

  /**
   * The sample number `variant` of a type: 0 is the smallest, later ones have more positions, parts, holes; from 6 on
   * they are of random size. Shells run counter-clockwise and holes clockwise, as in RFC 7946.
   */
  add(type: GeometryType, variant: number, into: GeometryBuilder = this.builder): void {
    if (into === this.builder) this.row++;
    into.begin(Kind[type]);
    this.parts(type, variant, into);
    into.end();
  }

  /** A geometry without positions. */
  empty(type: GeometryType): void {
    this.row++;
    this.builder.begin(Kind[type]);
    if (type === "GeometryCollection") this.builder.beginMembers();
    this.builder.end();
  }

  none(): void {
    this.row++;
    this.builder.addNull();
  }

  private parts(type: GeometryType, variant: number, into: GeometryBuilder): void {
    const size = [1, 2, 3, 12, 40, 250][variant] ?? 1 + this.random.below(8);
    switch (type) {
      case "Point":
        into.beginPart();
        into.beginRing();
        this.point(variant, into);
        break;
      case "LineString":
        into.beginPart();
        this.line(size + 1, into);
        break;
      case "MultiPoint":
        into.beginPart();
        this.line(size, into);
        break;
      case "MultiLineString":
        into.beginPart();
        for (let line = 0; line < Math.min(size, 40); line++) this.line(2 + this.random.below(5), into);
        break;
      case "Polygon":
        this.polygon(size, this.random.between(-150, 150), this.random.between(-70, 70), into);
        break;
      case "MultiPolygon":
        for (let part = 0; part < Math.min(size, 40); part++) {
          // Apart from each other, so that the geometry is valid.
          this.polygon(part % 3, -170 + 8 * part, this.random.between(-70, 70), into);
        }
        break;
      case "GeometryCollection":
        this.members(variant, into);
    }
  }

  private point(variant: number, into: GeometryBuilder): void {
    const corners = [
      [0, 0],
      [-180, -90],
      [180, 90],
      [7.1234567, 51.7654321],
      [-0.0000001, 0.0000001],
    ];
    const [x, y] = corners[variant] ?? [this.random.between(-180, 180), this.random.between(-90, 90)];
    this.position(x!, y!, into);
  }

  private line(positions: number, into: GeometryBuilder): void {
    into.beginRing();
    let x = this.random.between(-170, 170);
    let y = this.random.between(-80, 80);
    for (let k = 0; k < positions; k++) {
      this.position(x, y, into);
      x = Math.max(-180, Math.min(180, x + this.random.between(-0.1, 0.1)));
      y = Math.max(-90, Math.min(90, y + this.random.between(-0.1, 0.1)));
    }
  }

  /** A star of `6 + size` corners around a center, with up to three holes in it. */
  private polygon(size: number, x: number, y: number, into: GeometryBuilder): void {
    into.beginPart();
    this.circle(x, y, 3, 6 + size, 1, into);
    const holes = Math.min(3, size - 1);
    for (let hole = 0; hole < holes; hole++) this.circle(x - 1 + hole, y, 0.3, 4, -1, into);
  }

  private circle(x: number, y: number, radius: number, corners: number, turn: 1 | -1, into: GeometryBuilder): void {
    into.beginRing();
    const ring: [number, number, number, number][] = [];
    for (let k = 0; k < corners; k++) {
      const angle = (turn * 2 * Math.PI * k) / corners;
      ring.push(this.numbers(x + radius * Math.cos(angle), y + radius * Math.sin(angle)));
    }
    ring.push(ring[0]!);
    for (const [px, py, z, m] of ring) into.addPositionZM(px, py, z, m);
  }

  private members(variant: number, into: GeometryBuilder): void {
    const members = into.beginMembers();
    if (variant === 0) this.add("Point", 3, members);
    else if (variant === 1) {
      this.add("Point", 3, members);
      this.add("LineString", 2, members);
      this.add("Polygon", 3, members);
    } else if (variant === 2) {
      this.add("GeometryCollection", 1, members);
      this.add("MultiPoint", 2, members);
    } else {
      this.add("MultiPolygon", 2, members);
      this.add("MultiLineString", 3, members);
      this.add("LineString", 1, members);
    }
  }

  private position(x: number, y: number, into: GeometryBuilder): void {
    into.addPositionZM(...this.numbers(x, y));
  }

  private numbers(x: number, y: number): [number, number, number, number] {
    const { dimensions } = this;
    const hasZ = dimensions === "xyz" || dimensions === "xyzm" || (dimensions === "some-z" && this.row % 2 === 1);
    const hasM = dimensions === "xym" || dimensions === "xyzm";
    const z = hasZ ? roundCents(this.random.between(-400, 8848)) : Number.NaN;
    const m = hasM ? roundCents(this.random.between(0, 100_000)) : Number.NaN;
    return [roundDegrees(x), roundDegrees(y), z, m];
  }
}
