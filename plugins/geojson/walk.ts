import type { Batch } from "../../src/model/index.js";
import type { SourceFile } from "../../src/plugin/format.js";
import { FeatureParser, type Teller } from "./feature-parser.js";
import type { FeatureSplit } from "./feature-split.js";
import { Damage } from "./json-cursor.js";

/** Bytes read beyond the size of a split, for the feature that ends it. */
const margin = 1 << 16;
/** After so many splits whose end was not found, it is no longer looked for. */
const mostFailures = 3;

/** A split whose end was found by reading its features. */
interface Walked {
  readonly start: number;
  readonly end: number;
  readonly batches: readonly Batch[];
}

/**
 * Finds where the splits of an array end by reading its features, and keeps these: who reads them all on one thread
 * need not have brackets counted before. What is anything but sound features is left to those who tell what is wrong.
 */
export class Walker {
  private walked: Walked | null = null;
  /** What is read while the features before it are worked on. */
  private next: { readonly start: number; readonly bytes: Promise<Buffer> } | null = null;
  private failures = 0;

  constructor(
    private readonly file: SourceFile,
    private readonly splitSize: number,
    private readonly idField: string | undefined,
    private readonly teller: Teller,
  ) {}

  /**
   * The end of the split that begins at `start`: that of the first object or array which ends `splitSize` bytes or
   * more from there on. Null where that is not found.
   * @param opens whether it begins with a feature, not with the comma before one
   */
  async end(start: number, opens: boolean): Promise<number | null> {
    this.walked = null;
    if (this.failures >= mostFailures) return null;
    const bytes = await (this.next?.start === start ? this.next.bytes : this.read(start));
    this.walked = this.walk(bytes, start, opens);
    if (this.walked) {
      const { end } = this.walked;
      this.next = { start: end, bytes: this.read(end) };
      return end;
    }
    this.next = null;
    this.failures++;
    return null;
  }

  private read(start: number): Promise<Buffer> {
    const bytes = this.file.read(start, this.splitSize + margin);
    // It is awaited in its turn; until then its failure must not count as unhandled.
    bytes.catch(() => undefined);
    return bytes;
  }

  private walk(bytes: Buffer, start: number, opens: boolean): Walked | null {
    // Who is refused is told by whoever reads the features for good.
    const parser = new FeatureParser(this.teller, () => undefined, this.idField);
    const { cursor } = parser;
    const batches: Batch[] = [];
    parser.load(bytes);
    try {
      for (let comma = !opens; ; comma = true) {
        let byte = cursor.space();
        if (comma) {
          if (byte !== 44) return null;
          cursor.at++;
          byte = cursor.space();
        }
        parser.read(false);
        const ends = (byte === 123 || byte === 91) && cursor.at >= this.splitSize;
        const batch = ends || parser.full ? parser.finish() : null;
        if (batch) batches.push(batch);
        if (ends) return { start, end: start + cursor.at, batches };
      }
    } catch (error) {
      if (error instanceof Damage) return null;
      throw error;
    }
  }

  /** The features of the split, where it was the last whose end was found. */
  batchesOf({ start, end }: FeatureSplit): readonly Batch[] | null {
    const { walked } = this;
    return walked?.start === start && walked.end === end ? walked.batches : null;
  }
}
