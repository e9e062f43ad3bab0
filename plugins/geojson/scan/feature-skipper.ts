import type { JsonCursor } from "../../shared/json/cursor.js";
import { FeatureParser, type IssueReporter } from "../read/feature-parser.js";
import type { SplitFeatureReader } from "./split-finder.js";

/** Features of a split that may be read one by one; to count the brackets of more is faster. */
const maxSingleFeatures = 64;

/** Passes over points that are written one like the other, to find the ends of splits. */
export class FeatureSkipper implements SplitFeatureReader {
  private readonly parser: FeatureParser;
  /** Features of the current split that were read one by one. */
  private single = 0;

  constructor(reporter: IssueReporter) {
    // The regular reader reports rejected features.
    this.parser = new FeatureParser(reporter, () => undefined, undefined);
  }

  get cursor(): JsonCursor {
    return this.parser.cursor;
  }

  get isSlow(): boolean {
    return this.single > maxSingleFeatures;
  }

  load(bytes: Buffer): void {
    this.parser.discard();
    this.parser.load(bytes);
    this.single = 0;
  }

  read(): void {
    this.single++;
    this.parser.read(false);
  }

  skipRun(stop: number): boolean {
    return this.parser.skipRun(stop);
  }

  afterFeature(): void {
    if (this.parser.full) this.parser.discard();
  }
}
