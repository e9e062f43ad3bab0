import { join } from "node:path";
import { crsContext } from "../../crs/index.js";
import { GeoferryError } from "../../errors.js";
import { findDecoder, findEncoder } from "../../io/encodings.js";
import { Spool } from "../../io/input/spool.js";
import type { Crs } from "../../model/layer.js";
import { type Loss, type OperationUse, type Reject, type SkippedRange, Tally } from "../../model/report.js";
import type { CrsContext, ReadContext, ScanParts, WriteContext } from "../../plugin/format.js";
import type { HttpClient, HttpClientOptions } from "../../plugin/http.js";
import type { StageContext } from "../../stages/stage.js";

/** Losses, notices and rejects of one piece, as plain data. Records and lines are relative to the piece. */
export interface Findings {
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  readonly rejects: readonly Reject[];
  readonly skippedRanges: readonly SkippedRange[];
  readonly operationUses?: readonly OperationUse[];
  /** Number of source records and lines in the piece. */
  readonly records: number;
  readonly lines: number;
}

/** The host's implementation of the contexts of plugins and stages: collects what they report until `takeFindings`. */
export class HostContext implements ReadContext, WriteContext, StageContext, AsyncDisposable {
  /** The CRS definition of the source that could not be parsed; null if there is none. */
  unknownCrs: string | null = null;
  /** The CRS that the request declares for the source (`--source-crs`). */
  requestedCrs: Crs | null = null;
  swapsXy = false;
  /** Called with the number of fields; throws if the target cannot hold them. */
  onFieldCount: (count: number) => void = () => {};
  /** Called with the progress of a download. */
  onDownload: (features: number) => void = () => {};
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

  /** @param layer the layer that reports are about; a writer of several layers changes it as it appends */
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

  skipRange(range: SkippedRange): void {
    this.skippedRanges.push(range);
  }

  splitFinished(records: number, lines: number): void {
    this.records += records;
    this.lines += lines;
  }

  async createHttpClient(options: HttpClientOptions): Promise<HttpClient> {
    const { HostHttpClient } = await import("../../io/http/http-client.js");
    return new HostHttpClient(options, this.signal);
  }

  async createTemporaryPath(name: string): Promise<string> {
    return join(this.spool.folder(), name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.spool[Symbol.asyncDispose]();
  }

  /** Returns what was reported since the last call. @param lastRecord the highest record number of the batches */
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
