import { createHash } from "node:crypto";
import { createSink, type HostSink } from "../../io/output/create-sink.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { SinkFile } from "../../plugin/format.js";
import type { OpenPlan, PlanAction, PlanCounts, PlanEnd, PlanFileHeader, PlannedFeature } from "./plan.js";
import { type CreateAction, formatCreateLine } from "./plan-creates.js";
import { openWrittenPlan } from "./written-plan.js";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A create with the JSON text of the feature. */
export type CreateWithText = Omit<CreateAction, "feature"> & { readonly text: string };

type WritableAction = PlanAction | CreateWithText;

const zeroCounts: PlanCounts = {
  create: 0,
  update: 0,
  delete: 0,
  same: 0,
  unmanaged: 0,
  protected: 0,
  onlyOnMap: 0,
  geometryLost: 0,
};

/** Adds one action to the counts. */
export function countAction(counts: Mutable<PlanCounts>, action: WritableAction): void {
  if (action.action === "keep") counts[action.why === "only-on-map" ? "onlyOnMap" : action.why] += 1;
  else counts[action.action] += 1;
  if (action.action === "update" && action.before.geometry !== null && action.feature.geometry === null)
    counts.geometryLost += 1;
}

export const createCounts = (): Mutable<PlanCounts> => ({ ...zeroCounts });

/** Characters to buffer before a write. */
const chunkSize = 1 << 18;

/** Writes a plan. Its file appears complete and flushed to disk, or not at all. */
export class PlanWriter implements AsyncDisposable {
  private readonly counts = createCounts();
  private readonly hash = createHash("sha256");
  private buffer: string;

  private constructor(
    private readonly sink: HostSink,
    private readonly file: SinkFile,
    private readonly path: string,
    private readonly header: PlanFileHeader,
  ) {
    this.buffer = `${JSON.stringify(header)}\n`;
  }

  /** @throws output-exists, output-failed */
  static async create(path: string, header: PlanFileHeader, overwrite: boolean): Promise<PlanWriter> {
    const sink = await createSink(path, { overwrite });
    return new PlanWriter(sink, await sink.create(), path, header);
  }

  /** @returns a promise to await before the next call, if any @throws output-failed */
  add(action: WritableAction): Promise<void> | undefined {
    countAction(this.counts, action);
    this.buffer += `${formatAction(action)}\n`;
    return this.buffer.length >= chunkSize ? this.flush() : undefined;
  }

  /** @param fitsOnePut decides from the final counts whether one PUT suffices @throws output-failed */
  async finish(fitsOnePut: (counts: PlanCounts) => boolean): Promise<OpenPlan> {
    await this.flush();
    const put = fitsOnePut(this.counts);
    const end: PlanEnd = { type: "end", put, counts: this.counts, sha256: this.hash.digest("hex") };
    await this.file.write(Buffer.from(`${JSON.stringify(end)}\n`));
    await this.sink.commit();
    return openWrittenPlan(this.path, { ...this.header, put }, this.counts);
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.from(this.buffer);
    this.buffer = "";
    this.hash.update(bytes);
    await this.file.write(bytes);
  }

  /** Removes an unfinished plan. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.sink[Symbol.asyncDispose]();
  }
}

function formatAction(action: WritableAction): string {
  if (action.action !== "create") return stringifyExactly(action);
  return formatCreateLine(action.key, "text" in action ? action.text : featureText(action.feature), action.agreement);
}

/** Fixed member order, on which `CreateLine` relies. */
const featureText = ({ id, geometry, properties }: PlannedFeature): string =>
  stringifyExactly({ type: "Feature", ...(id !== undefined && { id }), geometry, properties });
