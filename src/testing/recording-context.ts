import { join } from "node:path";
import { crsContext } from "../crs/index.js";
import { findDecoder, findEncoder } from "../io/encodings.js";
import { Spool } from "../io/input/spool.js";
import type { Crs } from "../model/layer.js";
import { type Loss, type Notice, type Reject, type SkippedRange, Tally } from "../model/report.js";
import type { ReadContext, WriteContext } from "../plugin/format.js";
import type { HttpClient, HttpClientOptions } from "../plugin/http.js";

/** The context that both halves of a plugin get; this one remembers what was said to it. */
export class RecordingContext implements ReadContext, WriteContext {
  readonly now = new Date("2001-02-03T04:05:06Z");
  readonly crs = crsContext;
  readonly getTextDecoder = findDecoder;
  readonly getTextEncoder = findEncoder;
  readonly rejects: Reject[] = [];
  readonly skippedRanges: SkippedRange[] = [];
  /** What a request would say of the coordinates. */
  requestedCrs: Crs | null = null;
  swapsXy = false;
  /** What `passed` said so far, added up. */
  records = 0;
  lines = 0;
  /** Whether features whose geometry cannot be read go on without it. */
  keepsBadGeometries = false;
  private readonly lossTally = new Tally();
  private readonly noticeTally = new Tally();
  private readonly spool = new Spool();

  constructor(
    readonly skipErrors = false,
    readonly scanResult: unknown = undefined,
    readonly signal: AbortSignal = new AbortController().signal,
  ) {}

  /** What was lost, by code and field. */
  get losses(): Loss[] {
    return this.lossTally.list();
  }

  get notices(): Notice[] {
    return this.noticeTally.list();
  }

  reportLoss(code: string, field: string | undefined, example: string, count = 1): void {
    this.lossTally.add(code, "", field, count, example);
  }

  reportNotice(code: string, field: string | undefined, example: string, count = 1): void {
    this.noticeTally.add(code, "", field, count, example);
  }

  reject(reject: Reject): void {
    this.rejects.push(reject);
  }

  async createHttpClient(options: HttpClientOptions): Promise<HttpClient> {
    const { HostHttpClient } = await import("../io/http/http-client.js");
    return new HostHttpClient(options, this.signal);
  }

  async createTemporaryPath(name: string): Promise<string> {
    return join(this.spool.folder(), name);
  }

  skipRange(gap: SkippedRange): void {
    this.skippedRanges.push(gap);
  }

  splitFinished(records: number, lines: number): void {
    this.records += records;
    this.lines += lines;
  }
}
