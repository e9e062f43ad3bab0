import type { Batch } from "../../../src/model/index.js";
import type { JsonCursor } from "../../shared/json/cursor.js";
import type { SplitFeatureReader } from "../scan/split-finder.js";
import { FeatureParser, type IssueReporter } from "./feature-parser.js";

/** Collects the batches of the split that `SplitFinder` reads. */
export class BatchCollector implements SplitFeatureReader {
  private readonly parser: FeatureParser;
  batches: Batch[] = [];

  constructor(reporter: IssueReporter, idField: string | undefined) {
    // The regular reader reports rejected features.
    this.parser = new FeatureParser(reporter, () => undefined, idField);
  }

  get cursor(): JsonCursor {
    return this.parser.cursor;
  }

  load(bytes: Buffer): void {
    // A split that was abandoned may have left features.
    this.parser.finish();
    this.batches = [];
    this.parser.records = 0;
    this.parser.load(bytes);
  }

  read(): void {
    this.parser.read(false);
  }

  afterFeature(ends: boolean): void {
    const batch = ends || this.parser.full ? this.parser.finish() : null;
    if (batch) this.batches.push(batch);
  }
}
