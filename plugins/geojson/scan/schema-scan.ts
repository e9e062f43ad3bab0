import { GeoferryError } from "../../../src/errors.js";
import type { Extent, LayerSummary, SummaryRequest } from "../../../src/model/index.js";
import type { SourceFile } from "../../../src/plugin/format.js";
import { JsonSyntaxError } from "../../shared/json/cursor.js";
import type { IssueReporter } from "../read/feature-parser.js";
import { maxChunkBytes } from "../read/split-reader.js";
import { CannotInfer } from "./column-stats.js";
import { FeatureScanner } from "./feature-scanner.js";
import type { FeatureSplit } from "./feature-split.js";
import { SplitFinder } from "./split-finder.js";

/**
 * Summarizes a file by skimming its features, which also finds the ends of its splits. It gives up at any damage or
 * irregularity, or if the result could differ from that of the reader, which then reports the cause.
 */
export class SchemaScan {
  private readonly scanner: FeatureScanner;
  readonly splitFinder: SplitFinder;

  /** @param within where points may lie; null if there may be none */
  constructor(
    private readonly file: SourceFile,
    splitSize: number,
    teller: IssueReporter,
    within: Extent | null,
    private readonly signal: AbortSignal,
  ) {
    this.scanner = new FeatureScanner(teller, within);
    this.splitFinder = new SplitFinder(file, splitSize, this.scanner);
  }

  /** The summary of these splits, which the `SplitFinder` found; null if only the reader can determine it. */
  async summary(
    splits: AsyncIterable<FeatureSplit>,
    looked: SummaryRequest["onBytesScanned"],
  ): Promise<LayerSummary | null> {
    try {
      for await (const split of splits) {
        this.signal.throwIfAborted();
        const { bytes } = split;
        const sound = this.splitFinder.validBytesOf(split);
        if (sound < bytes) await this.rest(split, sound);
        looked?.(bytes);
      }
      return this.scanner.summary();
    } catch (error) {
      const isDamage = error instanceof JsonSyntaxError || (error instanceof GeoferryError && error.kind === "input");
      if (isDamage || error instanceof CannotInfer) return null;
      throw error;
    }
  }

  /**
   * Skims the bytes after the first `sound` bytes, which the `SplitFinder` has read. Two features on one line are left
   * to the reader, which rejects them. @throws JsonSyntaxError, CannotInfer
   */
  private async rest({ start, bytes: size, form, opens }: FeatureSplit, sound: number): Promise<void> {
    if (size - sound > maxChunkBytes || (form !== "array" && form !== "lines")) throw new CannotInfer();
    const bytes = await this.file.read(start + sound, size - sound);
    if (bytes.length < size - sound) throw new CannotInfer();
    const { scanner } = this;
    const { cursor } = scanner;
    scanner.load(bytes);
    for (let comma = form === "array" && (sound > 0 || !opens); cursor.space() !== -1; comma = form === "array") {
      if (comma) {
        if (cursor.bytes[cursor.at] !== 44) throw new CannotInfer();
        cursor.at++;
        cursor.space();
      }
      scanner.read();
    }
  }
}
