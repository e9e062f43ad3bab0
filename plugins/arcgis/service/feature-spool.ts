/** Features of a layer in a temporary file, as parts that threads read independently. */
import { type FileHandle, open } from "node:fs/promises";
import { createError } from "../../../src/plugin/index.js";
import { defaultSplitBytes } from "../../shared/split-size.js";
import type { FeatureRange } from "../json/structure-scanner.js";
import type { Json } from "../json/values.js";

/** Plain data. */
export interface SpooledFeatures {
  readonly path: string;
  readonly ranges: readonly FeatureRange[];
  readonly records: number;
  readonly bytes: number;
}

export class FeatureSpool {
  private readonly ranges: FeatureRange[] = [];
  private size = 0;
  private rangeStart = 0;
  private rangeRecords = 0;
  private records = 0;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
  ) {}

  /** Creates an empty file, or empties one. */
  static async create(path: string): Promise<FeatureSpool> {
    return new FeatureSpool(path, await open(path, "w"));
  }

  async append(features: readonly Json[]): Promise<void> {
    const text: string[] = [];
    for (const feature of features)
      text.push(this.rangeRecords + text.length === 0 ? "" : ",\n", JSON.stringify(feature));
    if (features.length === 0) return;
    const bytes = Buffer.from(text.join(""));
    await this.file.write(bytes, 0, bytes.length, this.size).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw createError("output-failed", { output: this.path, reason }, error);
    });
    this.size += bytes.length;
    this.rangeRecords += features.length;
    this.records += features.length;
    if (this.size - this.rangeStart >= defaultSplitBytes) this.endRange();
  }

  private endRange(): void {
    if (this.rangeRecords === 0) return;
    this.ranges.push({ start: this.rangeStart, end: this.size, records: this.rangeRecords });
    this.rangeStart = this.size;
    this.rangeRecords = 0;
  }

  async finish(): Promise<SpooledFeatures> {
    this.endRange();
    await this.close();
    return { path: this.path, ranges: this.ranges, records: this.records, bytes: this.size };
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}
