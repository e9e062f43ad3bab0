/** Which features a reading got: their contents and ids as numbers, so that millions of them need little memory. */
import { createHash } from "node:crypto";

/** A feature of a page. */
export interface FeatureKey {
  /** The id that the service gives it; null for none. */
  readonly id: string | null;
  /** Its content as text, without the id. */
  readonly content: string;
}

class NumberList {
  private values = new BigUint64Array(1024);
  length = 0;

  push(value: bigint): void {
    if (this.length === this.values.length) {
      const grown = new BigUint64Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }

  sorted(): BigUint64Array {
    return this.values.slice(0, this.length).sort();
  }
}

/** 64 bits: among a hundred million features, two different ones are equal with a probability of 1 in 3,700. */
const digest = (text: string): bigint => createHash("sha1").update(text).digest().readBigUInt64LE();

export class FeatureLedger {
  pages = 0;
  private readonly contents = new NumberList();
  private readonly identities = new NumberList();
  private readonly ids = new NumberList();
  private readonly pageDigests = new Set<bigint>();
  /** Why the pages cannot be right, known before all of them are read; null if nothing is wrong with them. */
  flaw: string | null = null;

  get features(): number {
    return this.contents.length;
  }

  addPage(features: readonly FeatureKey[]): void {
    const page = createHash("sha1");
    for (const { id, content } of features) {
      this.contents.push(digest(content));
      if (id !== null) {
        this.identities.push(digest(`${id}\0${content}`));
        this.ids.push(digest(id));
      }
      page.update(`${id}\0${content}\0`);
    }
    const whole = page.digest().readBigUInt64LE();
    if (features.length > 1 && this.pageDigests.has(whole)) this.flaw ??= "it sends the same page twice";
    this.pageDigests.add(whole);
    this.pages++;
  }

  /** What shows that features came more than once; null if nothing does. */
  get duplicates(): string | null {
    if (this.flaw !== null) return this.flaw;
    const identities = this.identities.sorted();
    for (let k = 1; k < identities.length; k++)
      if (identities[k] === identities[k - 1]) return "it sends the same feature on more than one page";
    return null;
  }

  /** Number of features with the id of another one, which has other content. */
  get repeatedIds(): number {
    const ids = this.ids.sorted();
    let repeated = 0;
    for (let k = 1; k < ids.length; k++) if (ids[k] === ids[k - 1]) repeated++;
    return repeated;
  }

  /** Whether another reading got features with the same contents, in any order. */
  equals(other: FeatureLedger): boolean {
    const [own, others] = [this.contents.sorted(), other.contents.sorted()];
    return own.length === others.length && own.every((value, k) => value === others[k]);
  }
}
