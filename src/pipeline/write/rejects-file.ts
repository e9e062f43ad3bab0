import { createError, describePlace, type Place } from "../../errors.js";
import type { OutputSet } from "../../io/output/output-set.js";
import type { Reject } from "../../model/report.js";
import type { SinkFile, WriterCapabilities } from "../../plugin/format.js";
import type { Threshold } from "../plan/thresholds.js";
import type { ConvertRequest } from "../request.js";

/** Converts a place in a piece to one in the source. @param record records before the piece @param line lines before it */
export function toAbsolutePlace<T extends { readonly place: Place }>(found: T, record: number, line: number): T {
  const { place } = found;
  return {
    ...found,
    place: {
      ...place,
      ...(place.record === undefined ? {} : { record: place.record + record }),
      ...(place.line === undefined ? {} : { line: place.line + line }),
    },
  };
}

/** Whether a feature whose geometry cannot be written is kept with a null geometry. */
export const nullsBadGeometry = (
  { onBadGeometry = "null" }: Pick<ConvertRequest, "onBadGeometry">,
  { nullGeometry }: Pick<WriterCapabilities, "nullGeometry">,
): boolean => nullGeometry && onBadGeometry === "null";

/** The number of rejected features that are not kept with a null geometry. */
export const countDropped = (rejects: readonly Reject[]): number =>
  rejects.reduce((count, { kept }) => (kept ? count : count + 1), 0);

/** A rejected feature. */
export interface RejectExample {
  readonly input: string;
  /** "record 12, line 14"; empty if unknown. */
  readonly place: string;
  readonly reason: string;
}

/** The rejected features of one kind. */
export interface RejectSummary {
  readonly code: string;
  readonly layer: string;
  /** Whether they are kept without their geometry. */
  readonly isKept: boolean;
  readonly count: number;
  /** The first ones. */
  readonly examples: readonly RejectExample[];
}

const maxExamples = 3;

/**
 * Writes rejected features as newline-delimited GeoJSON, each with a member `reject` with reason and place. The file is
 * created with the first reject and committed with the output.
 */
export class RejectsFile {
  private file: SinkFile | undefined;
  count = 0;
  /** Rejected features that were kept with a null geometry. */
  kept = 0;
  /** The inputs that the rejects are of. */
  readonly inputs = new Set<string>();
  private readonly summaries = new Map<string, { count: number; readonly summary: Omit<RejectSummary, "count"> }>();
  private first: { readonly source: string; readonly place: Place; readonly reason: string } | null = null;

  /** @param path null to only count the rejects */
  constructor(
    private readonly path: string | null,
    private readonly threshold: Threshold | null,
    private readonly outputs: OutputSet,
    /** Returns advice for the features that were rejected so far. */
    private readonly getAdvice: () => Promise<readonly string[]>,
    /** Replaces flags in reasons, for jobs and the library. */
    private readonly rewriteMessage: (sentence: string) => string = (sentence) => sentence,
  ) {}

  /** @throws guard-rejects */
  async add(input: string, layer: string, rejects: readonly Reject[], record: number, line: number): Promise<void> {
    if (rejects.length === 0) return;
    this.count += rejects.length;
    this.inputs.add(input);
    const found = rejects.map((reject) => toAbsolutePlace(reject, record, line));
    const { place, reason } = found[0]!;
    this.first ??= { source: input, place, reason };
    for (const reject of found) this.summarize(input, layer, reject);
    this.kept += rejects.length - countDropped(rejects);
    if (this.threshold && this.count > this.threshold.maxCount) await this.throwThresholdExceeded();
    if (this.path === null) return;
    if (!this.file) {
      const sink = await this.outputs.create(this.path, { overwrite: true });
      this.file = await sink.create();
    }
    const lines = found.map(({ code, place, feature, text, kept, ...others }) => {
      const reason = this.rewriteMessage(others.reason);
      const known = feature ?? { type: "Feature", geometry: null, properties: {} };
      return `${JSON.stringify({ ...known, reject: { code, reason, input, layer, ...place, ...(kept ? { kept } : {}), ...(text === undefined ? {} : { text }) } })}\n`;
    });
    await this.file.write(Buffer.from(lines.join("")));
  }

  private summarize(input: string, layer: string, { code, place, reason, kept }: Reject): void {
    const isKept = kept ?? false;
    const key = JSON.stringify([code, layer, isKept]);
    let known = this.summaries.get(key);
    if (!known) {
      known = { count: 0, summary: { code, layer, isKept, examples: [] } };
      this.summaries.set(key, known);
    }
    known.count++;
    const { examples } = known.summary;
    if (examples.length < maxExamples)
      (examples as RejectExample[]).push({ input, place: describePlace(place), reason: this.rewriteMessage(reason) });
  }

  /** The rejects by code and layer. */
  summarizeRejects(): RejectSummary[] {
    return [...this.summaries.values()].map(({ count, summary }) => ({ ...summary, count }));
  }

  /** @throws guard-rejects if the share of rejects exceeds the limit */
  async checkShare(read: number): Promise<void> {
    if (this.threshold && this.count > this.threshold.maxShare * read) await this.throwThresholdExceeded();
  }

  private async throwThresholdExceeded(): Promise<never> {
    throw createError("guard-rejects", {
      rejected: this.count,
      limit: this.threshold?.text ?? "",
      ...this.first,
      advice: await this.getAdvice(),
    });
  }

  /** Returns the path of the file; null if there are no rejects, and the file of an earlier run is removed. */
  close(): string | null {
    if (this.path === null || this.file) return this.path;
    this.outputs.remove(this.path);
    return null;
  }
}
