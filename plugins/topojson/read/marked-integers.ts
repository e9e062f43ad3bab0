/** Integers beyond 2^53, which are texts with a mark in a parsed document. */
import type { Feature } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

export class MarkedIntegers {
  constructor(
    private readonly mark: string,
    private readonly context: Pick<ReadContext, "reportLoss">,
  ) {}

  /** Replaces them in the properties and ids of the features of a batch, by bigints or plain texts. */
  restore(features: Feature[]): void {
    const found = new Set<string>();
    for (const { properties } of features)
      for (const [name, value] of Object.entries(properties)) {
        if (typeof value === "object" && value !== null)
          defineProperty(properties, name, this.restoreNested(value, name));
        else if (this.isMarked(value)) found.add(name);
      }
    for (const name of found) {
      // A column of int64 and double would round it.
      const isExact = features.every(({ properties }) => this.isWhole(own(properties, name)));
      for (const { properties } of features) {
        const value = own(properties, name);
        if (this.isMarked(value)) defineProperty(properties, name, this.integerOf(value, isExact, name));
      }
    }
    for (const [row, feature] of features.entries())
      if (this.isMarked(feature.id)) features[row] = { ...feature, id: feature.id.slice(this.mark.length) };
  }

  private isMarked(value: unknown): value is string {
    return typeof value === "string" && value.startsWith(this.mark);
  }

  private isWhole(value: unknown): boolean {
    if (this.isMarked(value)) return true;
    return typeof value !== "number" || Number.isSafeInteger(value);
  }

  private integerOf(marked: string, isExact: boolean, name: string): bigint | string {
    const text = marked.slice(this.mark.length);
    const integer = BigInt(text);
    if (isExact && integer >= minInt64 && integer <= maxInt64) return integer;
    this.lose(name, text);
    return text;
  }

  private lose(name: string, text: string): void {
    this.context.reportLoss("int64-as-text", name, `${text} became text, because a number would round it`);
  }

  /** Integers in lists and objects become texts. */
  private restoreNested(value: object, name: string): unknown {
    const text = JSON.stringify(value);
    if (!text.includes(this.mark)) return value;
    this.lose(name, "a long integer in it");
    return JSON.parse(text.replaceAll(this.mark, ""));
  }
}

const own = (properties: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** A property may be named __proto__; plain assignment would set the prototype instead. */
export function defineProperty(properties: Readonly<Record<string, unknown>>, name: string, value: unknown): void {
  Object.defineProperty(properties, name, { value, enumerable: true, configurable: true, writable: true });
}
