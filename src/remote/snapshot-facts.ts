import { hash } from "node:crypto";
import { type Extent, type Geometry, Kind } from "../model/geometry.js";
import { GeometryExtent } from "../model/geometry-extent.js";
import { eachPosition } from "../model/positions.js";

/** What is looked at of a feature. */
interface Looked {
  readonly geometry: Geometry | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

/** Decimals that a double between −180 and 180 can have: from here on they are those of its last bits. */
const mostDecimals = 15;
const powers = Array.from({ length: mostDecimals + 1 }, (_, decimals) => 10 ** decimals);

/** The number of `Kind` of a geometry. */
export const kindOf = (geometry: Geometry | null): number => (geometry === null ? Kind.none : Kind[geometry.type]);

/** What all features of a map say together, gathered as they are read. */
export class SnapshotFacts {
  /** Features with a value, by the name of the property. */
  readonly fields = new Map<string, number>();
  /** Features by the number of `Kind` of their geometry. */
  readonly kinds = Array.from({ length: 8 }, () => 0);
  /** Most decimals of a longitude or latitude. */
  decimals = 0;
  features = 0;
  private readonly box = new GeometryExtent();

  add({ geometry, properties }: Looked): void {
    this.features += 1;
    this.kinds[kindOf(geometry)]! += 1;
    for (const name in properties) {
      if (properties[name] === null) continue;
      this.fields.set(name, (this.fields.get(name) ?? 0) + 1);
    }
    eachPosition(geometry, (position) => {
      this.box.grow(position);
      this.addDecimals(position[0]!);
      this.addDecimals(position[1]!);
    });
  }

  get extent(): Extent | null {
    return this.box.extent;
  }

  /** A number has at most d decimals where the double nearest to the decimal fraction of d digits is itself. */
  private addDecimals(value: number): void {
    while (this.decimals < mostDecimals) {
      const power = powers[this.decimals]!;
      if (Math.round(value * power) / power === value) return;
      this.decimals += 1;
    }
  }
}

const words = 4;
const wordDigits = 8;

/** One of the words of a hexadecimal text. */
const wordOf = (text: string, i: number): number =>
  Number.parseInt(text.slice(i * wordDigits, (i + 1) * wordDigits), 16);

/** Stands for a set of ids with their digests, whatever their order: the exclusive or of a hash of each. */
export class Fingerprint {
  private readonly words: number[] = [];

  /** @param of a set, as `toString` gave it; the empty one where absent */
  constructor(of = "0".repeat(words * wordDigits)) {
    for (let i = 0; i < words; i++) this.words.push(wordOf(of, i));
  }

  /** Adds what is not in the set, or takes out what is. */
  toggle(id: string, digest: string): void {
    const member = hash("sha256", `${id} ${digest}`, "hex");
    for (let i = 0; i < words; i++) this.words[i]! ^= wordOf(member, i);
  }

  /** Hexadecimal. */
  toString(): string {
    return this.words.map((word) => (word >>> 0).toString(16).padStart(wordDigits, "0")).join("");
  }
}
