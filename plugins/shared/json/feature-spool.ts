/** Features of a layer in a temporary file, as parts that threads read independently. */

import type { Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { stringifyExactly } from "../../../src/model/index.js";
import { createError } from "../../../src/plugin/index.js";
import { defaultSplitBytes } from "../split-size.js";
import type { FeatureRange } from "./structure-scanner.js";
import type { Json } from "./values.js";

/** Plain data. */
export interface SpooledFeatures {
  readonly path: string;
  readonly ranges: readonly FeatureRange[];
  readonly records: number;
  readonly bytes: number;
}

/** What is needed to continue a file. Plain data. */
export interface SpoolState {
  readonly ranges: readonly FeatureRange[];
  readonly size: number;
  readonly rangeStart: number;
  readonly rangeRecords: number;
  readonly records: number;
}

const empty: SpoolState = { ranges: [], size: 0, rangeStart: 0, rangeRecords: 0, records: 0 };

export class FeatureSpool {
  private readonly ranges: FeatureRange[];
  private size: number;
  private rangeStart: number;
  private rangeRecords: number;
  private recordCount: number;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    state: SpoolState,
    private readonly digest: Hash | null,
  ) {
    this.ranges = [...state.ranges];
    this.size = state.size;
    this.rangeStart = state.rangeStart;
    this.rangeRecords = state.rangeRecords;
    this.recordCount = state.records;
  }

  /**
   * Creates an empty file or empties one; with a state continues it.
   * @param digest is updated with all bytes that are added
   * @throws output-failed
   */
  static async create(path: string, state: SpoolState = empty, digest: Hash | null = null): Promise<FeatureSpool> {
    try {
      const file = await open(path, state.size > 0 ? "r+" : "w");
      await file.truncate(state.size);
      return new FeatureSpool(path, file, state, digest);
    } catch (error) {
      throw failed(path, error);
    }
  }

  /** Features so far. */
  get records(): number {
    return this.recordCount;
  }

  /** @throws output-failed */
  async append(features: readonly Json[]): Promise<void> {
    if (features.length === 0) return;
    const texts = features.map((feature) => stringifyExactly(feature));
    const bytes = Buffer.from((this.rangeRecords > 0 ? ",\n" : "") + texts.join(",\n"));
    try {
      for (let at = 0; at < bytes.length; )
        at += (await this.file.write(bytes, at, bytes.length - at, this.size + at)).bytesWritten;
    } catch (error) {
      throw failed(this.path, error);
    }
    this.digest?.update(bytes);
    this.size += bytes.length;
    this.rangeRecords += features.length;
    this.recordCount += features.length;
    if (this.size - this.rangeStart >= defaultSplitBytes) this.endRange();
  }

  private endRange(): void {
    if (this.rangeRecords === 0) return;
    this.ranges.push({ start: this.rangeStart, end: this.size, records: this.rangeRecords });
    this.rangeStart = this.size;
    this.rangeRecords = 0;
  }

  /** The state that continues the file where it is now, after its bytes are on the disk. */
  async checkpoint(): Promise<SpoolState> {
    await this.file.datasync();
    const { ranges, size, rangeStart, rangeRecords, recordCount: records } = this;
    return { ranges, size, rangeStart, rangeRecords, records };
  }

  async finish(): Promise<SpooledFeatures> {
    this.endRange();
    await this.close();
    return { path: this.path, ranges: this.ranges, records: this.recordCount, bytes: this.size };
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}

const failed = (output: string, error: unknown) =>
  createError("output-failed", { output, reason: error instanceof Error ? error.message : String(error) }, error);
