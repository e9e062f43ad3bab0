import type { Batch } from "../../../src/model/index.js";
import type { JsonCursor } from "../json/cursor.js";
import type { SplitFeatureReader } from "../scan/split-finder.js";
import { FeatureParser, type IssueReporter } from "./feature-parser.js";

/** Keeps the features of the split that is walked over, batch after batch. */
export class BatchCollector implements SplitFeatureReader {
  private readonly parser: FeatureParser;
  batches: Batch[] = [];

  constructor(teller: IssueReporter, idField: string | undefined) {
    // Who is refused is told by whoever reads the features for good.
    this.parser = new FeatureParser(teller, () => undefined, idField);
  }

  get cursor(): JsonCursor {
    return this.parser.cursor;
  }

  load(bytes: Buffer): void {
    // Of a split that was given up some may be left.
    this.parser.finish();
    this.batches = [];
    this.parser.records = 0;
    this.parser.load(bytes);
  }

  read(): void {
    this.parser.read(false);
  }

  behind(ends: boolean): void {
    const batch = ends || this.parser.full ? this.parser.finish() : null;
    if (batch) this.batches.push(batch);
  }
}
