import { GeoferryError } from "../../../src/errors.js";
import type { Extent, LayerSummary, SummaryRequest } from "../../../src/model/index.js";
import type { SourceFile } from "../../../src/plugin/format.js";
import { JsonSyntaxError } from "../json/cursor.js";
import type { IssueReporter } from "../read/feature-parser.js";
import { maxChunkBytes } from "../read/split-reader.js";
import { CannotInfer } from "./column-stats.js";
import { FeatureScanner } from "./feature-scanner.js";
import type { FeatureSplit } from "./feature-split.js";
import { SplitFinder } from "./split-finder.js";

/**
 * Sums up a file by skimming its features, which also tells where its splits end. It knows no better than to give up
 * where anything is damaged, unusual, or different from what a reading might find: that is for a reading to say.
 */
export class SchemaScan {
  private readonly skimmer: FeatureScanner;
  readonly walker: SplitFinder;

  /** @param within where points may be; null where there may be none */
  constructor(
    private readonly file: SourceFile,
    splitSize: number,
    teller: IssueReporter,
    within: Extent | null,
    private readonly signal: AbortSignal,
  ) {
    this.skimmer = new FeatureScanner(teller, within);
    this.walker = new SplitFinder(file, splitSize, this.skimmer);
  }

  /** What the features of these splits, as the walker finds them, say together; null where reading must tell. */
  async summary(
    splits: AsyncIterable<FeatureSplit>,
    looked: SummaryRequest["onBytesScanned"],
  ): Promise<LayerSummary | null> {
    try {
      for await (const split of splits) {
        this.signal.throwIfAborted();
        const { bytes } = split;
        const sound = this.walker.soundBytes(split);
        if (sound < bytes) await this.rest(split, sound);
        looked?.(bytes);
      }
      return this.skimmer.summary();
    } catch (error) {
      const isDamage = error instanceof JsonSyntaxError || (error instanceof GeoferryError && error.kind === "input");
      if (isDamage || error instanceof CannotInfer) return null;
      throw error;
    }
  }

  /**
   * Skims what the walker has not passed, which is all but the first `sound` bytes. Two features on one line are for a
   * reading to refuse. @throws Damage, Unclear
   */
  private async rest({ start, bytes: size, form, opens }: FeatureSplit, sound: number): Promise<void> {
    if (size - sound > maxChunkBytes || (form !== "array" && form !== "lines")) throw new CannotInfer();
    const bytes = await this.file.read(start + sound, size - sound);
    if (bytes.length < size - sound) throw new CannotInfer();
    const { skimmer } = this;
    const { cursor } = skimmer;
    skimmer.load(bytes);
    for (let comma = form === "array" && (sound > 0 || !opens); cursor.space() !== -1; comma = form === "array") {
      if (comma) {
        if (cursor.bytes[cursor.at] !== 44) throw new CannotInfer();
        cursor.at++;
        cursor.space();
      }
      skimmer.read();
    }
  }
}
