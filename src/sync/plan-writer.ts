import { createSink, type HostSink } from "../io/sink.js";
import type { SinkFile } from "../plugin/format.js";
import type { OpenPlan, PlanAction, PlanCounts, PlanEnd, PlanHeader } from "./plan.js";
import { writtenPlan } from "./written-plan.js";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const none: PlanCounts = {
  create: 0,
  update: 0,
  delete: 0,
  same: 0,
  unmanaged: 0,
  protected: 0,
  onlyOnMap: 0,
  geometryLost: 0,
};

/** Adds one action to what was counted. */
export function count(counts: Mutable<PlanCounts>, action: PlanAction): void {
  if (action.action === "keep") counts[action.why === "only-on-map" ? "onlyOnMap" : action.why] += 1;
  else counts[action.action] += 1;
  if (action.action === "update" && action.before.geometry !== null && action.feature.geometry === null)
    counts.geometryLost += 1;
}

export const newCounts = (): Mutable<PlanCounts> => ({ ...none });

/** Characters that are put together before they are written. */
const chunkSize = 1 << 18;

/** Writes a plan: under its name it appears whole, on the disk, or not at all. */
export class PlanWriter implements AsyncDisposable {
  private readonly counts = newCounts();
  private waiting = "";

  private constructor(
    private readonly sink: HostSink,
    private readonly file: SinkFile,
    private readonly path: string,
    private readonly header: Omit<PlanHeader, "put">,
    /** Where the header says whether one PUT does it all, in bytes. */
    private readonly putAt: number,
  ) {}

  /** @throws output-exists, output-failed */
  static async create(path: string, header: Omit<PlanHeader, "put">, overwrite: boolean): Promise<PlanWriter> {
    const sink = await createSink(path, { overwrite });
    const text = JSON.stringify({ ...header, put: false });
    const writer = new PlanWriter(sink, await sink.create(), path, header, Buffer.byteLength(text) - "false}".length);
    writer.waiting = `${text}\n`;
    return writer;
  }

  /** @throws output-failed */
  async add(action: PlanAction): Promise<void> {
    count(this.counts, action);
    this.line(action);
    if (this.waiting.length >= chunkSize) await this.flush();
  }

  /** @param fitsOnePut whether one PUT does it all, now that all is known @throws output-failed */
  async finish(fitsOnePut: (counts: PlanCounts) => boolean): Promise<OpenPlan> {
    this.line({ type: "end", counts: this.counts });
    await this.flush();
    const put = fitsOnePut(this.counts);
    if (put) await this.file.patch(this.putAt, Buffer.from("true "));
    await this.sink.commit();
    return writtenPlan(this.path, { ...this.header, put }, this.counts);
  }

  private line(record: PlanAction | PlanEnd): void {
    this.waiting += `${JSON.stringify(record)}\n`;
  }

  private async flush(): Promise<void> {
    const text = this.waiting;
    this.waiting = "";
    await this.file.write(Buffer.from(text));
  }

  /** A plan that was not finished leaves nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.sink[Symbol.asyncDispose]();
  }
}
