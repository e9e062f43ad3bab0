import type { SourceFile } from "../../../src/plugin/format.js";
import { type JsonCursor, JsonSyntaxError } from "../json/cursor.js";
import type { FeatureSplit } from "./feature-split.js";

/** Bytes read beyond the size of a split, for the feature that ends it. */
const marginBytes = 1 << 16;
/** After so many splits whose end was not found, it is no longer looked for. */
const maxFailures = 3;

/** Reads features one after another. */
export interface SplitFeatureReader {
  readonly cursor: JsonCursor;
  /** Goes on with these bytes. */
  load(bytes: Buffer): void;
  /** Reads the feature at the cursor. @throws Damage where it is no sound JSON */
  read(): void;
  /** To be called behind each feature. @param ends whether it is the last of its split */
  behind(ends: boolean): void;
}

/**
 * Finds where the splits of an array end by having their features read: who reads them all on one thread need not have
 * brackets counted before. What is anything but sound features is left to those who tell what is wrong.
 */
export class SplitFinder {
  /** The split walked over last: where it starts, and how far it was sound. */
  private start = -1;
  private sound = 0;
  private isWhole = false;
  /** What is read while the features before it are worked on. */
  private next: { readonly start: number; readonly bytes: Promise<Buffer> } | null = null;
  private failures = 0;

  constructor(
    private readonly file: SourceFile,
    private readonly splitSize: number,
    private readonly reader: SplitFeatureReader,
  ) {}

  /**
   * The end of the split that begins at `start`: that of the first object or array which ends `splitSize` bytes or
   * more from there on. Null where that is not found.
   * @param opens whether it begins with a feature, not with the comma before one
   */
  async end(start: number, opens: boolean): Promise<number | null> {
    this.start = start;
    this.sound = 0;
    this.isWhole = false;
    if (this.failures >= maxFailures) return null;
    const bytes = await (this.next?.start === start ? this.next.bytes : this.read(start));
    this.next = null;
    if (!this.walk(bytes, opens)) {
      this.failures++;
      return null;
    }
    this.isWhole = true;
    const end = start + this.sound;
    this.next = { start: end, bytes: this.read(end) };
    return end;
  }

  private read(start: number): Promise<Buffer> {
    const bytes = this.file.read(start, this.splitSize + marginBytes);
    // It is awaited in its turn; until then its failure must not count as unhandled.
    bytes.catch(() => undefined);
    return bytes;
  }

  private walk(bytes: Buffer, opens: boolean): boolean {
    const { reader } = this;
    const { cursor } = reader;
    reader.load(bytes);
    try {
      for (let comma = !opens; ; comma = true) {
        let byte = cursor.space();
        if (comma) {
          if (byte !== 44) return false;
          cursor.at++;
          byte = cursor.space();
        }
        reader.read();
        const ends = (byte === 123 || byte === 91) && cursor.at >= this.splitSize;
        reader.behind(ends);
        this.sound = cursor.at;
        if (ends) return true;
      }
    } catch (error) {
      if (error instanceof JsonSyntaxError) return false;
      throw error;
    }
  }

  /** Whether this is the split walked over last, and its end was found. */
  hasPassed({ start }: FeatureSplit): boolean {
    return this.isWhole && start === this.start;
  }

  /** How many bytes of the split, from its start on, are features that were read. */
  soundBytes({ start }: FeatureSplit): number {
    return start === this.start ? this.sound : 0;
  }
}
