import { hash } from "node:crypto";
import { forEachPosition } from "../../model/for-each-position.js";
import { type Extent, type Geometry, Kind } from "../../model/geometry.js";
import { GeometryExtent } from "../../model/geometry-extent.js";

/** The examined parts of a feature. */
interface FeatureContent {
  readonly geometry: Geometry | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

/** Maximum significant decimals of a double between −180 and 180. */
const maxDecimals = 15;
const powersOfTen = Array.from({ length: maxDecimals + 1 }, (_, decimals) => 10 ** decimals);

/** The `Kind` number of a geometry. */
export const geometryKind = (geometry: Geometry | null): number =>
  geometry === null ? Kind.none : Kind[geometry.type];

/** Statistics over the features of a map, collected while reading. */
export class SnapshotStats {
  /** Number of features with a value, by property name. */
  readonly fields = new Map<string, number>();
  /** Number of features by the `Kind` number of their geometry. */
  readonly kinds = Array.from({ length: 8 }, () => 0);
  /** Maximum decimals of a longitude or latitude. */
  decimals = 0;
  features = 0;
  private readonly box = new GeometryExtent();

  add({ geometry, properties }: FeatureContent): void {
    this.features += 1;
    this.kinds[geometryKind(geometry)]! += 1;
    for (const name in properties) {
      if (properties[name] === null) continue;
      this.fields.set(name, (this.fields.get(name) ?? 0) + 1);
    }
    forEachPosition(geometry, (position) => {
      this.box.grow(position);
      this.addDecimals(position[0]!);
      this.addDecimals(position[1]!);
    });
  }

  get extent(): Extent | null {
    return this.box.extent;
  }

  /** A number has at most d decimals if rounding it to d decimals yields the same double. */
  private addDecimals(value: number): void {
    while (this.decimals < maxDecimals) {
      const power = powersOfTen[this.decimals]!;
      if (Math.round(value * power) / power === value) return;
      this.decimals += 1;
    }
  }
}

const wordCount = 4;
const wordDigits = 8;

/** Parses one 32-bit word of a hexadecimal text. */
const parseWord = (text: string, i: number): number =>
  Number.parseInt(text.slice(i * wordDigits, (i + 1) * wordDigits), 16);

/** Order-independent hash of a set of ids with digests: the XOR of the hashes of its members. */
export class Fingerprint {
  private readonly words: number[] = [];

  /** @param of an earlier result of `toString`; defaults to the empty set */
  constructor(of = "0".repeat(wordCount * wordDigits)) {
    for (let i = 0; i < wordCount; i++) this.words.push(parseWord(of, i));
  }

  /** Adds a member, or removes it if it is in the set. */
  toggle(id: string, digest: string): void {
    const memberHash = hash("sha256", `${id} ${digest}`, "hex");
    for (let i = 0; i < wordCount; i++) this.words[i]! ^= parseWord(memberHash, i);
  }

  /** The hash in hexadecimal. */
  toString(): string {
    return this.words.map((word) => (word >>> 0).toString(16).padStart(wordDigits, "0")).join("");
  }
}
