import { GeoferryError } from "../../src/errors.js";
import { type Extent, Kind, type LayerSummary, Summariser } from "../../src/model/index.js";
import type { SourceFile } from "../../src/plugin/format.js";
import type { Teller } from "./feature-parser.js";
import { FeatureSkimmer } from "./feature-skimmer.js";
import type { FeatureSplit } from "./feature-split.js";
import { Damage } from "./json-cursor.js";
import { pieceSize } from "./split-reader.js";
import { Unclear } from "./value-facts.js";
import { type FeatureReader, Walker } from "./walk.js";

/**
 * Sums up a file by skimming its features, which also tells where its splits end. It knows no better than to give up
 * where anything is damaged, unusual, or different from what a reading might find: that is for a reading to say.
 */
export class Skim implements FeatureReader {
  private readonly skimmer: FeatureSkimmer;
  readonly walker: Walker;

  /** @param within where points may be; null where there may be none */
  constructor(
    private readonly file: SourceFile,
    splitSize: number,
    teller: Teller,
    private readonly within: Extent | null,
  ) {
    this.skimmer = new FeatureSkimmer(teller, within !== null);
    this.walker = new Walker(file, splitSize, this);
  }

  get cursor() {
    return this.skimmer.cursor;
  }

  load(bytes: Buffer): void {
    this.skimmer.settle();
    this.skimmer.load(bytes);
  }

  read(): void {
    this.skimmer.read();
  }

  passed(): void {
    // Nothing is kept of a feature.
  }

  /** What the features of these splits, as the walker finds them, say together; null where reading must tell. */
  async summary(
    splits: AsyncIterable<FeatureSplit>,
    passed: SummaryPassed = () => undefined,
  ): Promise<LayerSummary | null> {
    try {
      for await (const split of splits) {
        const { bytes } = split;
        const sound = this.walker.soundBytes(split);
        if (sound < bytes) await this.rest(split, sound);
        passed(bytes);
      }
      this.skimmer.settle();
      const whole = new Summariser(true);
      whole.merge(this.skimmer.state());
      const summary = whole.summary();
      return this.isSpared(summary) ? summary : null;
    } catch (error) {
      const isDamage = error instanceof Damage || (error instanceof GeoferryError && error.kind === "input");
      if (isDamage || error instanceof Unclear) return null;
      throw error;
    }
  }

  /** Skims what the walker has not, the first `sound` bytes. @throws Damage, Unclear */
  private async rest({ start, bytes: size, form, opens }: FeatureSplit, sound: number): Promise<void> {
    if (size - sound > pieceSize || (form !== "array" && form !== "lines")) throw new Unclear();
    const bytes = await this.file.read(start + sound, size - sound);
    if (bytes.length < size - sound) throw new Unclear();
    this.load(bytes);
    const { cursor } = this;
    for (let comma = form === "array" && (sound > 0 || !opens); cursor.space() !== -1; comma = form === "array") {
      if (comma) {
        if (cursor.bytes[cursor.at] !== 44) throw new Unclear();
        cursor.at++;
        cursor.space();
      }
      this.read();
    }
  }

  /** Whether points, if there are any, are where they may be. */
  private isSpared({ kinds }: LayerSummary): boolean {
    const { count, box } = kinds[Kind.Point]!;
    if (count === 0 || !this.within) return count === 0;
    const [minX, minY, maxX, maxY] = this.within;
    return box[0] >= minX && box[1] >= minY && box[2] <= maxX && box[3] <= maxY;
  }
}

type SummaryPassed = (bytes: number) => void;
