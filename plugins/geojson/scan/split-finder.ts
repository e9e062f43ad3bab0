import type { SourceFile } from "../../../src/plugin/format.js";
import { type JsonCursor, JsonSyntaxError } from "../../shared/json/cursor.js";
import type { FeatureSplit } from "./feature-split.js";

/** Bytes read beyond the size of a split, for its last feature. */
const marginBytes = 1 << 16;
/** Number of splits without a found end after which the search stops. */
const maxFailures = 3;

/** Reads consecutive features. */
export interface SplitFeatureReader {
  readonly cursor: JsonCursor;
  /** Continues with these bytes. */
  load(bytes: Buffer): void;
  /** Reads the feature at the cursor. @throws JsonSyntaxError if it is not valid JSON */
  read(): void;
  /**
   * Passes over features behind one, up to the first that ends at `stop` or behind it; none without the member.
   * @returns whether there were any
   */
  skipRun?(stop: number): boolean;
  /** Whether to count brackets is faster. */
  readonly isSlow?: boolean;
  /** Called after each feature. @param ends whether it is the last of its split */
  afterFeature(ends: boolean): void;
}

/**
 * Finds the ends of the splits of an array by reading its features: on a single thread this makes counting brackets
 * first unnecessary. Leaves anything but valid features to the code that reports errors.
 */
export class SplitFinder {
  /** The last split: its start, and the end of its valid part. */
  private start = -1;
  private validBytes = 0;
  private isWhole = false;
  /** The read-ahead of the next bytes. */
  private next: { readonly start: number; readonly bytes: Promise<Buffer> } | null = null;
  private failures = 0;

  constructor(
    private readonly file: SourceFile,
    private readonly splitSize: number,
    private readonly reader: SplitFeatureReader,
  ) {}

  /**
   * The end of the split that begins at `start`: that of the first object or array which ends `splitSize` bytes or more
   * after it. Null if it is not found.
   * @param opens whether it begins with a feature rather than with the comma before one
   */
  async end(start: number, opens: boolean): Promise<number | null> {
    this.start = start;
    this.validBytes = 0;
    this.isWhole = false;
    if (this.failures >= maxFailures) return null;
    const bytes = await (this.next?.start === start ? this.next.bytes : this.read(start));
    this.next = null;
    if (!this.walk(bytes, opens)) {
      this.failures++;
      return null;
    }
    this.isWhole = true;
    const end = start + this.validBytes;
    this.next = { start: end, bytes: this.read(end) };
    return end;
  }

  private read(start: number): Promise<Buffer> {
    const bytes = this.file.read(start, this.splitSize + marginBytes);
    // It is awaited later; until then, a failure must not count as unhandled.
    bytes.catch(() => undefined);
    return bytes;
  }

  private walk(bytes: Buffer, opens: boolean): boolean {
    const { reader } = this;
    const { cursor } = reader;
    reader.load(bytes);
    try {
      for (let comma = !opens; ; comma = true) {
        if (comma && reader.skipRun?.(this.splitSize)) {
          this.validBytes = cursor.at;
          if (cursor.at >= this.splitSize) return true;
          continue;
        }
        let byte = cursor.space();
        if (comma) {
          if (byte !== 44) return false;
          cursor.at++;
          byte = cursor.space();
        }
        reader.read();
        if (reader.isSlow) return false;
        const ends = (byte === 123 || byte === 91) && cursor.at >= this.splitSize;
        reader.afterFeature(ends);
        this.validBytes = cursor.at;
        if (ends) return true;
      }
    } catch (error) {
      if (error instanceof JsonSyntaxError) return false;
      throw error;
    }
  }

  /** Whether this is the last split, and its end was found. */
  hasPassed({ start }: FeatureSplit): boolean {
    return this.isWhole && start === this.start;
  }

  /** Number of bytes, from the start of the split, that hold features already read. */
  validBytesOf({ start }: FeatureSplit): number {
    return start === this.start ? this.validBytes : 0;
  }
}
