import { join } from "node:path";
import { crsContext } from "../../crs/index.js";
import { GeoferryError } from "../../errors.js";
import { findDecoder, findEncoder } from "../../io/encodings.js";
import { Spool } from "../../io/input/spool.js";
import type { Crs } from "../../model/layer.js";
import { type Loss, type OperationUse, type Reject, type SkippedRange, Tally } from "../../model/report.js";
import type { CrsContext, ReadContext, ScanParts, WriteContext } from "../../plugin/format.js";
import type { StageContext } from "../../stages/stage.js";

/** What was said while one piece of work was done, as plain data. Records and lines are relative to the piece. */
export interface Findings {
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  readonly rejects: readonly Reject[];
  readonly skippedRanges: readonly SkippedRange[];
  readonly operationUses?: readonly OperationUse[];
  /** Records and lines of the source that the piece held. */
  readonly records: number;
  readonly lines: number;
}

/** The host's side of every context: it keeps what plugins and stages say until it is asked. */
export class HostContext implements ReadContext, WriteContext, StageContext, AsyncDisposable {
  /** What the source named as its CRS and no one understands; null where it named none. */
  unknownCrs: string | null = null;
  /** What the request says of the coordinates of the source. */
  requestedCrs: Crs | null = null;
  swapsXy = false;
  /** Refuses more fields than the target can have. */
  onFieldCount: (count: number) => void = () => {};
  readonly crs: CrsContext = { ...crsContext, parse: (definition) => this.parseCrs(definition) };
  readonly getTextDecoder = findDecoder;
  readonly getTextEncoder = findEncoder;
  private losses = new Tally();
  private notices = new Tally();
  private rejects: Reject[] = [];
  private skippedRanges: SkippedRange[] = [];
  private operationUses: OperationUse[] = [];
  private records = 0;
  private lines = 0;
  private readonly spool = new Spool();

  /** @param layer which what is said is of: of a writer of several, the one that features are appended to */
  constructor(
    public layer: string,
    readonly signal: AbortSignal,
    readonly skipErrors: boolean,
    readonly scanResult: unknown,
    readonly now: Date,
    readonly keepsBadGeometries = false,
    readonly scanParts?: ScanParts,
  ) {}

  private async parseCrs(definition: string): Promise<Crs> {
    try {
      return await crsContext.parse(definition);
    } catch (error) {
      if (error instanceof GeoferryError && error.code === "crs-unknown") this.unknownCrs = definition;
      throw error;
    }
  }

  reportLoss(code: string, field: string | undefined, example: string, count = 1): void {
    this.losses.add(code, this.layer, field, count, example);
  }

  reportNotice(code: string, field: string | undefined, example: string, count = 1): void {
    this.notices.add(code, this.layer, field, count, example);
  }

  reject(reject: Reject): void {
    this.rejects.push(reject);
  }

  countOperation(use: Omit<OperationUse, "layer">): void {
    this.operationUses.push({ ...use, layer: this.layer });
  }

  skipRange(gap: SkippedRange): void {
    this.skippedRanges.push(gap);
  }

  splitFinished(records: number, lines: number): void {
    this.records += records;
    this.lines += lines;
  }

  async createTemporaryPath(name: string): Promise<string> {
    return join(this.spool.folder(), name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.spool[Symbol.asyncDispose]();
  }

  /** What was said since the last call. `lastRecord` is the highest record that a batch had. */
  takeFindings(lastRecord: number): Findings {
    const found = {
      losses: this.losses.list(),
      notices: this.notices.list(),
      rejects: this.rejects,
      skippedRanges: this.skippedRanges,
      operationUses: this.operationUses,
      records: Math.max(this.records, lastRecord),
      lines: this.lines,
    };
    this.losses = new Tally();
    this.notices = new Tally();
    this.rejects = [];
    this.skippedRanges = [];
    this.operationUses = [];
    this.records = 0;
    this.lines = 0;
    return found;
  }
}
