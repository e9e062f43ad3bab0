import { hash } from "node:crypto";
import { forEachPosition } from "../../model/for-each-position.js";
import { type Extent, type Geometry, Kind } from "../../model/geometry.js";
import { GeometryExtent } from "../../model/geometry-extent.js";

/** What is looked at of a feature. */
interface FeatureContent {
  readonly geometry: Geometry | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

/** Decimals that a double between −180 and 180 can have: from here on they are those of its last bits. */
const maxDecimals = 15;
const powersOfTen = Array.from({ length: maxDecimals + 1 }, (_, decimals) => 10 ** decimals);

/** The number of `Kind` of a geometry. */
export const geometryKind = (geometry: Geometry | null): number =>
  geometry === null ? Kind.none : Kind[geometry.type];

/** What all features of a map say together, gathered as they are read. */
export class SnapshotStats {
  /** Features with a value, by the name of the property. */
  readonly fields = new Map<string, number>();
  /** Features by the number of `Kind` of their geometry. */
  readonly kinds = Array.from({ length: 8 }, () => 0);
  /** Most decimals of a longitude or latitude. */
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

  /** A number has at most d decimals where the double nearest to the decimal fraction of d digits is itself. */
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

/** One of the words of a hexadecimal text. */
const parseWord = (text: string, i: number): number =>
  Number.parseInt(text.slice(i * wordDigits, (i + 1) * wordDigits), 16);

/** Stands for a set of ids with their digests, whatever their order: the exclusive or of a hash of each. */
export class Fingerprint {
  private readonly words: number[] = [];

  /** @param of a set, as `toString` gave it; the empty one where absent */
  constructor(of = "0".repeat(wordCount * wordDigits)) {
    for (let i = 0; i < wordCount; i++) this.words.push(parseWord(of, i));
  }

  /** Adds what is not in the set, or takes out what is. */
  toggle(id: string, digest: string): void {
    const member = hash("sha256", `${id} ${digest}`, "hex");
    for (let i = 0; i < wordCount; i++) this.words[i]! ^= parseWord(member, i);
  }

  /** Hexadecimal. */
  toString(): string {
    return this.words.map((word) => (word >>> 0).toString(16).padStart(wordDigits, "0")).join("");
  }
}
